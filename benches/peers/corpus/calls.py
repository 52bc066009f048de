"""Calls: what does a model write that calls tools in the forms of Hermes and Qwen 3 Coder?

In: a source of prose, and how long an answer should be.
Out: an answer, and the tools in the form of OpenAI's API.
Never: breaks an answer: here the readers have to agree.
"""

import json

from prose import Prose

TOOLS = {
    "search_docs": {"query": "string", "limit": "integer", "exact": "boolean"},
    "write_page": {"path": "string", "content": "string"},
    "update_status": {"task": "string", "status": "string", "labels": "array"},
    "run_check": {"scope": "string", "depth": "integer", "threshold": "number"},
    "get_weather": {"city": "string", "days": "integer"},
}


def tools() -> list[dict]:
    def tool(name: str, params: dict[str, str]) -> dict:
        properties = {key: {"type": kind} for key, kind in params.items()}
        return {
            "type": "function",
            "function": {"name": name, "parameters": {"type": "object", "properties": properties}},
        }

    return [tool(name, params) for name, params in TOOLS.items()]


def plain(text: str) -> str:
    return text.replace("<", "(").replace(">", ")")


def hermes(prose: Prose, size: int) -> str:
    return _answer(
        prose, size, lambda name, params: json.dumps({"name": name, "arguments": params}, ensure_ascii=False)
    )


def qwen_xml(prose: Prose, size: int) -> str:
    def written(name: str, params: dict) -> str:
        value = lambda value: value if isinstance(value, str) else json.dumps(value)
        fields = "".join(f"<parameter={key}>\n{value(param)}\n</parameter>\n" for key, param in params.items())
        return f"<function={name}>\n{fields}</function>"

    return _answer(prose, size, written)


def _answer(prose: Prose, size: int, written) -> str:
    dice, parts = prose.dice, []
    if dice.random() < 0.7:
        parts.append("<think>\n" + plain(prose.text(int(size * dice.uniform(0.1, 0.3)))) + "\n</think>")
    parts.append(plain(prose.text(int(size * dice.uniform(0.2, 0.5)))))
    total = sum(map(len, parts))
    while total < size:
        name = dice.choice(list(TOOLS))
        params = {key: _value(prose, key, kind, size - total) for key, kind in TOOLS[name].items()}
        part = f"<tool_call>\n{written(name, params)}\n</tool_call>"
        parts.append(part)
        total += len(part) + 1
    return "\n\n".join(parts)


def _value(prose: Prose, key: str, kind: str, rest: int) -> object:
    dice = prose.dice
    if kind == "integer":
        return dice.randint(0, 500)
    if kind == "number":
        return round(dice.random() * 10, 3)
    if kind == "boolean":
        return dice.random() < 0.5
    if kind == "array":
        return [prose.name() for _ in range(dice.randint(1, 4))]
    if key == "content":
        return plain(prose.paragraph(max(1, min(12, rest // 260))))
    return plain(prose.sentence()) if key in ("query", "scope") else prose.name()
