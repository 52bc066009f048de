"""Overheads: what does an outcome take in Python, beyond what the engine takes?

    python scripts/overheads.py [ROUNDS]

All ways take turns on the same answers of 4 KB in each round, so that a machine that is busy for a while slows them all alike;
the figures are medians of the rounds, and ratios to the first way, which reads nothing of an outcome.
"""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import random
import statistics
import sys
import time
from typing import Any, Callable, Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "batches"))

import answers  # noqa: E402

import rulebook  # noqa: E402

COUNT, LENGTH = 400, 3900
MEMBERS = [name for name, one in vars(rulebook.Outcome).items() if isinstance(one, property)]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 41
    program = rulebook.Program.load(answers.PACK)
    session = program.session()
    texts = list(busy(COUNT, LENGTH))
    size = sum(len(text.encode()) for text in texts) / COUNT
    calls = sum(len(program.run(session, text).calls) for text in texts) / COUNT
    print(f"{COUNT} answers of {size:.0f} bytes, {calls:.1f} calls in each; {rounds} rounds; µs an answer: median (min to max), ratio")

    def each(use: Callable[[rulebook.Outcome], Any]) -> Callable[[], None]:
        def run() -> None:
            for text in texts:
                use(program.run(session, text))

        return run

    ways: dict[str, Callable[[], object]] = {
        "run, nothing read": each(lambda outcome: None),
        "message and verdicts read": each(lambda outcome: (outcome.message, [call.verdict for call in outcome.calls])),
        "all members read": each(members),
        "to_dict()": each(rulebook.Outcome.to_dict),
        "to_json()": each(rulebook.Outcome.to_json),
        "json.loads of to_json()": each(lambda outcome: json.loads(outcome.to_json())),
        "a property of a program": lambda: [program.name for _ in texts],
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            times[name].append(timed(way) * 1e6 / COUNT)
    for name, taken in times.items():
        del taken[0]  # The first round warms up.
        show(name, taken, times["run, nothing read"])

    # Two threads: half of the answers each, beside all of them in one.
    halves = [texts[::2], texts[1::2]]
    ratios = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:

        def judge(some: list[str]) -> None:
            for text in some:
                program.run(session, text)

        for _ in range(rounds):
            one, two = timed(lambda: judge(texts)), timed(lambda: list(pool.map(judge, halves)))
            ratios.append(one / two)
    print(f"{'two threads, as many times as fast as one':<44}{statistics.median(ratios):9.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


def busy(count: int, length: int) -> Iterator[str]:
    """Answers that do more than talk: what the cases of a pack answer, one after the other."""
    dice, parts = random.Random(1), answers.responses()
    for _ in range(count):
        text = dice.choice(parts)
        while len(text.encode()) < length:
            text += "\n\n" + dice.choice(parts)
        yield text


def members(outcome: rulebook.Outcome) -> list[Any]:
    return [getattr(outcome, name) for name in MEMBERS]


def timed(way: Callable[[], object]) -> float:
    started = time.perf_counter()
    way()
    return time.perf_counter() - started


def show(name: str, taken: list[float], base: list[float]) -> None:
    ratio = statistics.median(one / other for one, other in zip(taken, base))
    print(f"{name:<44}{statistics.median(taken):9.2f} ({min(taken):.2f} to {max(taken):.2f}){ratio:8.2f}")


if __name__ == "__main__":
    main()
