"""Properties: what holds for any text, cut in any way?"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

from conftest import ANSWER, LAMP
from hypothesis import given, settings
from hypothesis import strategies as some

import rulebook
from rulebook import events

PROGRAMS = [rulebook.Program.load(LAMP), rulebook.Program.load("std:hermes"), rulebook.Program.load("std:harmony")]

# Texts that look like answers, and texts that look like nothing: surrogates without their partner are among them.
fragments = some.sampled_from(
    [ANSWER, "<message>", "</message>", '<action type="dim">', "</action>", "<level>", "</level>", "10", "```", "\n", " ", "&lt;",
     "<tool_call>", "</tool_call>", '{"name": "dim", "arguments": {"level": 1}}', "<think>", "</think>", "\ud83d", "\ude00", "\x00"]
)
texts = some.lists(some.one_of(fragments, some.text(some.characters(), max_size=8)), max_size=12).map("".join)
programs = some.sampled_from(PROGRAMS)


def read(program: rulebook.Program, pieces: list[Any]) -> tuple[rulebook.Outcome, list[events.Event]]:
    reader = program.reader(program.session())
    told = [event for piece in pieces for event in reader.push(piece)]
    outcome, rest = reader.finish_with_events()
    return outcome, [*told, *rest]


def cut(whole: Any, places: list[int]) -> list[Any]:
    ends = sorted({0, len(whole), *(place % (len(whole) + 1) for place in places)})
    return [whole[start:end] for start, end in pairwise(ends)]


@settings(max_examples=400, deadline=None)
@given(programs, texts, some.lists(some.integers(0, 10_000), max_size=10))
def test_no_text_raises_and_any_cutting_comes_to_the_same(program: rulebook.Program, text: str, places: list[int]) -> None:
    whole = program.run(program.session(), text)
    outcome, told = read(program, cut(text, places))
    assert outcome == whole and outcome.to_json() == whole.to_json()
    written = text.encode("utf-8", "surrogatepass")
    assert read(program, cut(written, places))[0] == whole
    shown = "".join(event.text for event in told if isinstance(event, events.Text) and event.role == "message")
    assert whole.status == "refused" or shown == whole.message
    assert whole.ledger.bytes == len(written.decode("utf-8", "replace").encode())


@settings(max_examples=300, deadline=None)
@given(programs, some.binary(max_size=60), some.lists(some.integers(0, 100), max_size=6))
def test_no_bytes_raise(program: rulebook.Program, answer: bytes, places: list[int]) -> None:
    assert read(program, cut(answer, places))[0] == program.run(program.session(), answer)


@settings(max_examples=300, deadline=None)
@given(programs, texts)
def test_objects_and_json_say_the_same(program: rulebook.Program, text: str) -> None:
    outcome = program.run(program.session(), text, trace=True, withheld=True)
    plain = outcome.to_dict()
    assert json.loads(outcome.to_json()) == plain
    assert says(outcome, plain)
    assert program.resume(json.loads(outcome.session.to_json())) == outcome.session


def says(part: Any, plain: Any) -> bool:
    """Whether an object and what is in it have the members of a dict, and a value for each that it leaves out."""
    if isinstance(plain, dict) and hasattr(part, "to_dict"):
        for key, _, _, absent, extra in type(part).__members__:
            value = getattr(part, key if hasattr(part, key) else f"{key}_")
            assert says(value, plain[key]) if key in plain else extra or value == absent, key
        assert {name for name, *_ in type(part).__members__} >= set(plain)
        return True
    if isinstance(plain, list):
        assert isinstance(part, (tuple, list)) and len(part) == len(plain)
        return all(map(says, part, plain))
    if isinstance(plain, dict):
        assert list(part) == list(plain)
        return all(says(part[key], plain[key]) for key in plain)
    return bool(part == plain) and type(part) is type(plain)


json_values = some.recursive(
    some.one_of(some.none(), some.booleans(), some.integers(-(2**63), 2**64 - 1), some.floats(allow_nan=False, allow_infinity=False), some.text()),
    lambda inner: some.one_of(some.lists(inner, max_size=4), some.dictionaries(some.text(), inner, max_size=4)),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(json_values)
def test_values_come_back_as_they_went_in(value: Any) -> None:
    session = PROGRAMS[0].session().replace(state={"note": value})
    assert session.state["note"] == value
    assert session.to_dict()["state"]["note"] == value
    assert json.loads(session.to_json())["state"]["note"] == value
