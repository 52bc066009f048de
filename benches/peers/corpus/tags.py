"""Tags: what does a model write in the dialect of the pack `writers-factory`?

In: a source of prose, how long an answer should be, and whether it is malformed.
Out: one answer, broken in one of the ways in which models break it if it is to be malformed.
Never: writes what a reader of this repository makes of it.
"""

import json
import re
from collections.abc import Callable

from breaking import Break, changed, cut, maybe_broken
from prose import Prose

ACTIONS = (
    "query_notebook save_decision write_template update_status generate_scaffold apply_edit run_health_check"
).split()
FIELDS = "category key value source template status missing notebook_id query title content".split()
FITTING = "query_notebook save_decision save_decision generate_scaffold run_health_check write_scene".split()


def plain(text: str) -> str:
    """Text that no reader of tags takes for a tag."""
    return text.replace("<", "(").replace(">", ")").replace("&", "and")


def fit(prose: Prose, size: int, malformed: bool) -> str:
    """Calls that the pack permits, with the parameters that it declares."""
    dice = prose.dice

    def action() -> str:
        name = dice.choice(FITTING)
        place = {"chapter": dice.randint(1, 30), "scene": dice.randint(1, 9)}
        params: dict[str, object] = {
            "query_notebook": lambda: {"notebook_id": "nb-7f21", "query": plain(prose.sentence())},
            "save_decision": lambda: {
                "category": dice.choice(["structure", "character", "voice"]),
                "key": prose.name(),
                "value": plain(prose.sentence()),
            },
            "generate_scaffold": lambda: {**place, "title": plain(prose.sentence())[:40]},
            "run_health_check": lambda: {"scope": "chapter", "target": place["chapter"], "checks": "continuity, voice"},
            "write_scene": lambda: {**place, "text": plain(prose.paragraph(3))},
        }[name]()
        fields = "\n".join(f"  <{key}>{value}</{key}>" for key, value in params.items())
        return f'<action type="{name}">\n{fields}\n</action>'

    parts = _opening(prose, size, plain)
    written = sum(map(len, parts))
    while written < size:
        part = action() if dice.random() < 0.6 else _update(prose, size - written, plain)
        parts.append(part)
        written += len(part) + 2
    return maybe_broken(prose, malformed, "\n\n".join(parts), _broken_tags(prose))


def unfit(prose: Prose, size: int, malformed: bool) -> str:
    """Calls with parameters that the pack does not declare, and prose between them."""
    dice = prose.dice

    def action() -> str:
        name, fields = dice.choice(ACTIONS), []
        for key in dice.sample(FIELDS, dice.randint(2, 5)):
            if key == "missing":
                value = json.dumps([prose.name() for _ in range(dice.randint(1, 4))])
            elif key in ("value", "query"):
                value = prose.sentence()
            else:
                value = "\n" + prose.paragraph(3) + "\n  " if key == "content" else prose.name()
            fields.append(f"  <{key}>{value}</{key}>")
        kind = dice.random()
        opener = (
            f"<action type='{name}'>"
            if kind < 0.02
            else f'<action  type = "{name}" >'
            if kind < 0.04
            else f'<action type="{name}">'
        )
        return "\n".join([opener, *fields, "</action>"])

    parts = _opening(prose, size, str)
    written = sum(map(len, parts))
    while written < size:
        kind, rest = dice.random(), max(200, size - written)
        if kind < 0.55:
            part = action()
        else:
            part = _update(prose, rest, str) if kind < 0.75 else prose.text(min(rest, dice.randint(100, 700)))
        parts.append(part)
        written += len(part) + 2
    ways = [*_broken_tags(prose), changed("<thinking>", "<thinking>I should use <action>... ")]
    return maybe_broken(prose, malformed, "\n\n".join(parts), ways)


def _opening(prose: Prose, size: int, clean: Callable[[str], str]) -> list[str]:
    dice, parts = prose.dice, []
    if dice.random() < 0.8:
        parts.append(f"<thinking>\n{clean(prose.text(int(size * dice.uniform(0.1, 0.25))))}\n</thinking>")
    return [*parts, f"<message>\n{clean(prose.text(int(size * dice.uniform(0.35, 0.55))))}\n</message>"]


def _update(prose: Prose, rest: int, clean: Callable[[str], str]) -> str:
    target = f"chapter_{prose.dice.randint(1, 30)}_scene_{prose.dice.randint(1, 9)}"
    return (
        f'<content_update target="{target}">\n{clean(prose.paragraph(min(40, max(2, rest // 400))))}\n</content_update>'
    )


def _broken_tags(prose: Prose) -> list[Break]:
    return [
        cut(prose, 0.5),
        changed("</message>", ""),
        changed("</action>", "<action>"),
        lambda text: re.sub(r"</?message>", "", text),
        changed('type="', "type="),
        changed("</value>", "</val>"),
    ]
