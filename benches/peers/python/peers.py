"""Driver: how long do the peers in Python take for the answers of a row?

In: `peers.py CORPUS MILLISECONDS ROW...`.
Out: lines of `row TAB engine TAB µs per 4 KB`.
Never: compares figures; the script `run` does.
"""

import json
import sys

import json_repair
import orjson
import readers
from pydantic import BaseModel
from timing import answers, measure


class Step(BaseModel):
    step: int
    description: str


class File(BaseModel):
    path: str
    content: str


class Cycle(BaseModel):
    """What an answer of the pack `dce` is, written as one object."""

    summary: str
    course_of_action: list[Step]
    files_updated: list[str] | None = None
    curator_activity: str | None = None
    files: list[File]


def repaired(text: str) -> Cycle:
    return Cycle.model_validate(json_repair.loads(text))


# Row, engine, reader, and how many answers a pass takes: `json_repair` needs milliseconds for one.
PEERS = [
    ("brackets", "python re, json", readers.brackets, None),
    ("transcript-3", "python re", readers.transcript, None),
    ("transcript-20", "python re", readers.transcript, None),
    ("tags-fit", "python re", readers.tags, None),
    ("tags-unfit", "python re", readers.tags, None),
    ("json-valid", "python json", json.loads, None),
    ("json-valid", "orjson", orjson.loads, None),
    ("json-valid", "pydantic", Cycle.model_validate_json, None),
    ("json-broken", "json_repair", json_repair.loads, 12),
    ("json-broken", "json_repair, pydantic", repaired, 12),
    ("files", "python re", readers.files, None),
]

if __name__ == "__main__":
    corpus, milliseconds, *rows = sys.argv[1:]
    for row, engine, read, most in PEERS:
        if row in rows:
            measure(row, engine, answers(corpus, row)[:most], read, int(milliseconds) / 1e3)
