"""Driver: how long does a prompt of the same layers take in Python, after 200 turns?

In: `prompt.py DUMP VOCABULARY MILLISECONDS`: what the driver in Rust wrote; a vocabulary as tiktoken has it, gzipped.
Out: lines of `row TAB engine TAB milliseconds`.
Never: trims a layer, escapes for a dialect, or keeps a ledger, as the engine does. All layers but the state are taken
ready from the dump, although some are templates in the pack; that favours Python.
"""

import base64
import gzip
import json
import sys
import time
from pathlib import Path

import jinja2
import tiktoken

STATE = """<session_state>
  <completion_pct>{{ s.completion_pct }}</completion_pct>
  <project>{% for key, value in s.project.items() %}
    <{{ key }}>{{ value }}</{{ key }}>{% endfor %}
  </project>
  <active_context>{% for key, value in s.active_context.items() %}
    <{{ key }}>{{ value }}</{{ key }}>{% endfor %}
  </active_context>
  <knowledge_context>{% for entry in s.knowledge[-10:] %}
    <entry category="{{ entry.category }}" key="{{ entry.key }}">{{ entry.value }}</entry>{% endfor %}
  </knowledge_context>
  <notebooks>{% for notebook in s.notebooks %}
    <notebook id="{{ notebook.id }}" role="{{ notebook.role }}">{{ notebook.title }}</notebook>{% endfor %}
  </notebooks>
  <agent_memory>{% for note in s.agent_memory %}
    <memory kind="{{ note.kind }}">{{ note.text }}</memory>{% endfor %}
  </agent_memory>
</session_state>"""

# The pattern of o200k, which tiktoken only brings together with a download of the vocabulary.
PATTERN = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
# The last turns that the pack keeps, and what they may take.
TURNS, TOKENS = 10, 4000


def vocabulary(path: str) -> tiktoken.Encoding:
    lines = (line.split() for line in gzip.open(path, "rb").read().splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    return tiktoken.Encoding("o200k", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


def fastest(work, seconds: float) -> float:
    best, begin = float("inf"), time.perf_counter()
    work()
    while best == float("inf") or time.perf_counter() - begin < seconds:
        wall, processor = time.perf_counter(), time.process_time()
        work()
        best = min(best, time.process_time() - processor, time.perf_counter() - wall)
    return best * 1e3


def main() -> None:
    dump, path, milliseconds = sys.argv[1:]
    written = json.loads(Path(dump).read_text())
    encoding = vocabulary(path)
    count = lambda text: len(encoding.encode_ordinary(text))
    if count(written["text"]) != written["tokens"]:
        sys.exit("tiktoken and the engine do not count the same tokens")
    template = jinja2.Environment(autoescape=True).from_string(STATE)
    rendered = ("session_state", "history", "message")
    fixed = [text for layer, text in written["layers"] if layer not in rendered]

    def prompt() -> tuple[list[dict], int]:
        layers = [*fixed, template.render(s=written["state"])]
        tokens = sum(map(count, layers))
        history, used = [], 0
        for number in range(len(written["turns"]) - 1, -1, -1):
            content = written["turns"][number]
            taken = count(content)
            if len(history) == TURNS or used + taken > TOKENS:
                break
            used += taken
            history.append({"role": "assistant" if number % 2 else "user", "content": content})
        question = {"role": "user", "content": written["question"]}
        messages = [{"role": "system", "content": "\n\n---\n\n".join(layers)}, *history[::-1], question]
        return messages, tokens + used + count(written["question"])

    seconds = int(milliseconds) / 1e3
    print(f"prompt\tpython jinja2, tiktoken\t{fastest(prompt, seconds):.4f}")
    print(f"prompt\tpython tiktoken, the text alone\t{fastest(lambda: count(written['text']), seconds):.4f}")


if __name__ == "__main__":
    main()
