"""Time: how long does a reader take for the answers of a row?

In: a corpus, a row, and a function that reads one answer.
Out: a line `row TAB engine TAB µs per 4 KB`.
Never: counts an answer that could not be read as free; what a reader raises is caught, and its time counts.
"""

import time
from collections.abc import Callable, Iterable
from pathlib import Path

# How many seconds a part of a pass should take.
PART = 2e-3


def answers(corpus: str, row: str) -> list[str]:
    """The answers of a row."""
    return (Path(corpus) / f"{row}.txt").read_bytes().decode().split("\x1e")


def measure(row: str, engine: str, texts: list[str], read: Callable[[str], object], seconds: float) -> None:
    """Reads the answers once before the clock starts, then for this time, in parts of some milliseconds.

    The fastest time of each part counts, so that what else the machine does meanwhile is not charged to the reader:
    seldom is a longer time undisturbed.
    """

    def part_of(part: Iterable[str]) -> float:
        wall, processor = time.perf_counter(), time.process_time()
        for text in part:
            try:
                read(text)
            except Exception:  # noqa: BLE001 - whatever a peer raises, it has read the answer
                pass
        # The first is too long where others use the machine, the second where a runtime has threads of its own.
        return min(time.perf_counter() - wall, time.process_time() - processor)

    part_of(texts[: 1 + len(texts) // 4])
    length = max(1, round(len(texts) * min(1.0, PART / part_of(texts))))
    parts = [texts[start : start + length] for start in range(0, len(texts), length)]
    best = [float("inf")] * len(parts)
    begin = time.perf_counter()
    while best[-1] == float("inf") or time.perf_counter() - begin < seconds:
        best = [min(least, part_of(part)) for least, part in zip(best, parts)]
    size = sum(len(text.encode()) for text in texts)
    print(f"{row}\t{engine}\t{sum(best) * 1e6 * 4096 / size:.4f}", flush=True)
