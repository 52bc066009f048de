"""Answers: which texts are the batches made of?

Each is what a case of a shipped pack answers, which is a good or a faulty call more often than not, between paragraphs of
prose.
"""

from __future__ import annotations

import hashlib
import pathlib
import random
import re
from typing import Any, Iterable, Iterator

ROOT = pathlib.Path(__file__).resolve().parents[4]
PACK = ROOT / "rules" / "couple-ai"
SENTENCES = """The lantern had been lit for an hour before anybody came. She wrote the first page twice, and kept neither.
What the critic liked was the silence between the scenes. Nobody in the harbour remembered the name of the ship.
Is there a reason why the second chapter begins in winter? The letter says less than it seems to, and means more.
He counted the steps: forty-one, as on the day before. Let us leave the dialogue as it is, and cut the description.""".split("\n")


def responses() -> list[str]:
    """What the cases answer."""
    cases = [path.read_text(encoding="utf-8") for path in sorted((PACK / "tests").glob("*.case"))]
    found = [re.findall(r"^=== response ===\n(.*?)(?=^=== )", case, re.MULTILINE | re.DOTALL) for case in cases]
    all_of_them = [one.strip() for each in found for one in each if one.strip()]
    assert len(all_of_them) > 100
    return all_of_them


def answers(count: int, length: int = 1900) -> Iterator[str]:
    """This many answers of about this many bytes, always the same."""
    dice, parts = random.Random(1), responses()
    for _ in range(count):
        part = dice.choice(parts)
        before: list[str] = []
        after = [part]
        size = len(part.encode())
        while size < length:
            paragraph = " ".join(dice.choices(SENTENCES, k=4))
            size += len(paragraph) + 2
            dice.choice((before, after)).append(paragraph)
        yield "\n\n".join(before + after)


def counts(rows: Any) -> dict[str, Any]:
    """What all engines must agree on, of a table of Arrow: sums over its columns, and a checksum of the outcomes by their ids."""
    import pyarrow.compute as pc  # type: ignore[import-not-found, import-untyped, unused-ignore]

    statuses = {one["values"]: one["counts"] for one in pc.value_counts(rows["status"].drop_null()).to_pylist()}
    sums = {name: pc.sum(rows[name]).as_py() for name in ("accepted", "dropped")}
    codes = pc.sum(pc.list_value_length(rows["codes"])).as_py()
    outcomes = dict(zip(rows["id"].to_pylist(), rows["outcome"].to_pylist()))
    return {**statuses, **sums, "codes": codes, "checksum": checksum(outcomes[id] for id in sorted(outcomes))}


def checksum(outcomes: Iterable[str | None]) -> str:
    """A number for outcomes in this order."""
    digest = hashlib.sha256()
    for outcome in outcomes:
        digest.update(b"\n" if outcome is None else outcome.encode() + b"\n")
    return digest.hexdigest()
