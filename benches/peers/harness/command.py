"""The command: how long does the whole process take, from its start to its end?

In: the command, built for release, the repository, and the corpus.
Out: figures by row and name, as a driver prints them.
Never: runs two processes at once.
"""

import json
import os
import subprocess
import time
from pathlib import Path

# What `replay` reads: the answers of a row in turn, with the pack and the mode that judge them.
REPLAYED = [
    ("brackets", "couple-ai", "chat"),
    ("tags-fit", "writers-factory", "director"),
    ("tags-unfit", "writers-factory", "director"),
    ("json-valid", "dce", "cycle"),
]
ANSWERS = 10_000
TIMES = 5


def process(command: list[str], text: bytes = b"") -> tuple[float, float]:
    """Seconds on the clock, and seconds of all processors."""
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert child.stdin is not None, "it was asked for"
    child.stdin.write(text)
    child.stdin.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - begin
    if child.returncode not in (0, 1):
        raise RuntimeError(f"status {child.returncode} of {' '.join(command)}")
    return seconds, usage.ru_utime + usage.ru_stime


def replay(command: str, repository: Path, corpus: Path, folder: Path) -> dict[tuple[str, str], float]:
    """Answers a second, and the time of a processor for one, without and with their outcomes in a file."""
    figures = {}
    for row, pack, mode in REPLAYED:
        source, out = folder / f"{row}.jsonl", folder / "outcomes.jsonl"
        if not source.exists():
            texts = (corpus / f"{row}.txt").read_bytes().decode().split("\x1e")
            with open(source, "w") as file:
                for number in range(ANSWERS):
                    line = {"id": f"{row}-{number}", "mode": mode, "response": texts[number % len(texts)]}
                    print(json.dumps(line, ensure_ascii=False), file=file)
        for name, more in (("", []), (" --out", ["--out", str(out)])):
            words = [command, "replay", str(repository / "rules" / pack), str(source), "--format", "json", *more]
            clock, processors = process(words)
            figures[f"replay {row}", f"answers/s{name}"] = ANSWERS / clock
            figures[f"replay {row}", f"µs of a processor{name}"] = processors * 1e6 / ANSWERS
        out.unlink(missing_ok=True)
    return figures


def startup(command: str, repository: Path) -> dict[tuple[str, str], float]:
    """Milliseconds of whole processes; the fastest of some."""
    rules = repository / "rules"
    runs = {
        "--version": (["--version"], b""),
        "run couple-ai": (["run", str(rules / "couple-ai"), "--format", "json"], b"Noted."),
        "run writers-factory": (
            ["run", str(rules / "writers-factory"), "--format", "json"],
            b"<message>Noted.</message>",
        ),
        "check rules/couple-ai": (["check", str(rules / "couple-ai")], b""),
        "check rules": (["check", str(rules)], b""),
        "test rules/couple-ai": (["test", str(rules / "couple-ai")], b""),
        "prompt writers-factory, counted": (["prompt", str(rules / "writers-factory"), "--model", "gpt-4o"], b""),
    }
    figures = {}
    for name, (words, text) in runs.items():
        times = [process([command, *words], text) for _ in range(TIMES)]
        figures[name, "ms"] = min(clock for clock, _ in times) * 1e3
        figures[name, "ms of processors"] = min(processors for _, processors in times) * 1e3
    return figures
