"""Arrow: does each answer of a table come to what it comes to alone?"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
from typing import Any, Iterator

import pytest
from conftest import ANSWER, LAMP

import rulebook

pa = pytest.importorskip("pyarrow")

from rulebook import arrow  # noqa: E402

ANSWERS = [
    ANSWER,
    "",
    None,
    "<message>Good night.</message>",
    '<action type="dim"><level>10</level></action>' * 3,
    '<action type="dim"><level>',
    "Grüße, \u4f60\u597d <b> \U0001f319",
    '<action type="dim"><level>200</level></action>',
    None,
]
TYPES = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]
TYPES += [getattr(pa, name)() for name in ("string_view", "binary_view") if hasattr(pa, name)]


def row(outcome: rulebook.Outcome | None) -> dict[str, Any]:
    """What the columns say of an outcome."""
    if outcome is None:
        return dict.fromkeys(arrow.COLUMNS)
    calls = [(call.action, call.verdict, json.dumps(call.params, separators=(",", ":"))) for call in outcome.calls]
    return {
        "status": outcome.status,
        "message": outcome.message,
        "codes": [finding.code for finding in outcome.diagnostics],
        "calls": [dict(zip(("action", "verdict", "params"), call)) for call in calls],
        "accepted": sum(call.verdict == "accepted" for call in outcome.calls),
        "dropped": sum(call.verdict == "dropped" for call in outcome.calls),
        "ask_again": outcome.ask_again,
        "outcome": outcome.to_json(),
    }


def expected(program: rulebook.Program, answers: list[Any], session: rulebook.Session | None = None) -> list[Any]:
    session = session or program.session()
    return [row(None if one is None else program.run(session, one)) for one in answers]


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_each_answer_comes_to_the_same_as_alone(lamp: rulebook.Program, kind: Any, threads: int) -> None:
    answers = ANSWERS * 100
    given = [one.encode() if one is not None and "binary" in str(kind) else one for one in answers]
    table = pa.table({"id": range(len(answers)), "answer": pa.array(given, kind)})
    judged = arrow.evaluate(table, lamp, threads=threads).read_all()
    judged.validate(full=True)
    assert judged.column_names == ["id", "answer", *arrow.COLUMNS]
    assert judged.select(["id", "answer"]).equals(table)
    assert judged.select(arrow.COLUMNS).to_pylist() == expected(lamp, answers)


def test_a_part_of_an_array_is_judged_and_nothing_else(lamp: rulebook.Program) -> None:
    table = pa.table({"answer": pa.array(ANSWERS * 2)})
    for first in range(len(ANSWERS)):
        for length in (0, 1, 5, 9):
            part = table.slice(first, length)
            assert arrow.evaluate(part, lamp, keep=False).read_all().to_pylist() == expected(
                lamp, part["answer"].to_pylist()
            )


def test_texts_of_a_dictionary_and_columns_of_nulls(lamp: rulebook.Program) -> None:
    for answers in (pa.array(ANSWERS).dictionary_encode(), pa.nulls(3), pa.array([], pa.string()), pa.array([None], pa.string())):
        judged = arrow.evaluate(pa.table({"answer": answers}), lamp, keep=False).read_all()
        judged.validate(full=True)
        assert judged.to_pylist() == expected(lamp, answers.to_pylist())


def test_bytes_that_are_no_text_are_reported(lamp: rulebook.Program) -> None:
    answers = [b"<message>\xff\xfe</message>", b"\xed\xa0\x80"]
    judged = arrow.evaluate(pa.table({"answer": answers}), lamp, keep=False).read_all()
    assert judged.to_pylist() == expected(lamp, answers)
    assert set(judged["codes"].to_pylist()[0]) == {"response/not-utf-8"}


def test_a_session_and_a_mode_for_all_or_for_each(lamp: rulebook.Program) -> None:
    away, home = lamp.session().replace(mode="away"), lamp.session()
    noted = home.replace(state={"note": "n", "reader": "Ada"})
    table = pa.table({
        "answer": [ANSWER] * 3,
        "saved": [noted.to_json(), None, away.to_json()],
        "which": ["away", "home", None],
    })

    def judged(**options: Any) -> list[Any]:
        return [json.loads(one) for one in arrow.evaluate(table, lamp, **options).read_all()["outcome"].to_pylist()]

    def alone(*sessions: rulebook.Session) -> list[Any]:
        return [lamp.run(session, ANSWER).to_dict() for session in sessions]

    assert judged() == alone(home, home, home)
    assert judged(mode="away") == alone(away, away, away)
    assert judged(session=noted) == alone(noted, noted, noted)
    assert judged(session=noted, mode="away") == alone(*[noted.replace(mode="away")] * 3)
    assert judged(session="saved", mode="away") == alone(noted.replace(mode="away"), away, away)
    assert judged(session="saved") == alone(noted, home, away)
    assert judged(mode="which") == alone(away, home, home)
    assert judged(session="saved", mode="which") == alone(noted.replace(mode="away"), home, away)
    assert judged(session=away, mode="which") == alone(away, home, away)


def test_a_session_or_mode_that_does_not_fit_names_its_row(lamp: rulebook.Program) -> None:
    many = 5000
    table = pa.table({"answer": [ANSWER] * many, "saved": [None] * (many - 2) + ['{"mode": "attic"}', "{"]})
    with pytest.raises(ValueError, match="row 4998: .*`attic`"):
        arrow.evaluate(table, lamp, session="saved").read_all()
    with pytest.raises(ValueError, match="row 4998: session: EOF"):
        arrow.evaluate(pa.concat_tables([table.slice(0, 4998), table.slice(4999)]), lamp, session="saved").read_all()
    with pytest.raises(ValueError, match="row 2: the pack has no mode `attic`"):
        arrow.evaluate(pa.table({"answer": ["", "", ""], "m": ["home", None, "attic"]}), lamp, mode="m").read_all()


TWO = {
    "pack.toml": LAMP["pack.toml"]
    + """
[dialects.other]
grammar = "tags"
blocks.say = { role = "message" }
[degradation]
truncated = "refuse"
unknown-action = "ask-again"
[ask_again]
most = 2
"""
}


def test_options_are_those_of_all_rows_or_of_each(lamp: rulebook.Program) -> None:
    two = rulebook.Program.load(TWO)
    answers = [ANSWER, "<say>Hello.</say>", '<message>Good night.</message><action type="fly"/>', "<message>Cut"] * 40
    rows = [
        (answer, dialect, truncated, attempts)
        for number, answer in enumerate(answers)
        for dialect, truncated, attempts in [
            ((None, "tags", "other")[number % 3], (None, False, True)[number % 5 % 3], (None, 0, 1, 2, 9)[number % 7 % 5])
        ]
    ]
    columns = dict(zip(("answer", "d", "t", "a"), map(list, zip(*rows))))
    names = [*arrow.COLUMNS, "dialect"]
    numbers = pa.array(columns["a"], pa.int32())
    for given in (numbers, numbers.cast(pa.uint8()), numbers.dictionary_encode()):
        table = pa.table({**columns, "a": given})
        # A part, so that neither buffer begins with it.
        table = table.slice(3)
        judged = arrow.evaluate(table, two, dialect="d", truncated="t", attempts="a", columns=names, keep=False, threads=2)
        alone = [
            two.run(two.session(), answer, dialect=dialect, truncated=bool(truncated), attempts=attempts or 0)
            for answer, dialect, truncated, attempts in rows[3:]
        ]
        result = judged.read_all()
        result.validate(full=True)
        assert result.to_pylist() == [{**row(one), "dialect": one.dialect} for one in alone]
        assert {one.dialect for one in alone} >= {"tags", "other"}
        assert len({(one.status, one.ask_again is None) for one in alone}) > 2
    table = pa.table({"answer": answers[:4]})
    for options in ({}, {"dialect": "other"}, {"truncated": True}, {"attempts": 2}):
        any_of: Any = options
        judged = arrow.evaluate(table, two, columns=names, keep=False, **any_of)
        alone = [two.run(two.session(), answer, **any_of) for answer in answers[:4]]
        assert judged.read_all().to_pylist() == [{**row(one), "dialect": one.dialect} for one in alone]
    nulls = arrow.evaluate(pa.table({"answer": [None, ""]}), two, columns="dialect", keep=False).read_all()
    assert nulls.to_pylist() == [{"dialect": None}] * 2
    assert arrow.evaluate(pa.table({"answer": [""], "t": pa.nulls(1)}), lamp, truncated="t", attempts="t").read_all()["status"]


def test_an_option_of_a_row_that_does_not_fit_names_the_row(lamp: rulebook.Program) -> None:
    table = pa.table({"answer": ["", ""], "d": ["tags", "json"], "a": [0, -1]})
    with pytest.raises(ValueError, match="row 1: the pack has no dialect `json`"):
        arrow.evaluate(table, lamp, dialect="d").read_all()
    with pytest.raises(ValueError, match="row 1: a number of attempts is not negative"):
        arrow.evaluate(table, lamp, attempts="a").read_all()


def test_what_is_in_the_result(lamp: rulebook.Program) -> None:
    table = pa.table({"id": [1], "answer": [ANSWER], "status": ["new"]})
    with pytest.raises(ValueError, match="a column `status` already"):
        arrow.evaluate(table, lamp)
    few = arrow.evaluate(table, lamp, keep=["id"], columns=["status", "accepted"])
    assert few.schema.names == ["id", "status", "accepted"]
    assert few.read_all().to_pylist() == [{"id": 1, "status": "degraded", "accepted": 1}]
    assert arrow.evaluate(table, lamp, keep="status", columns="codes").schema.names == ["status", "codes"]
    assert arrow.evaluate(table, lamp, prefix="judged_").schema.names[3:] == ["judged_" + one for one in arrow.COLUMNS]
    assert arrow.schema() == arrow.evaluate(table, lamp, keep=False).schema


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        ({"answer": [1]}, {}, TypeError, "the column `answer` is of type int64"),
        ({"answer": [[""]]}, {}, TypeError, "the column `answer` is of type list"),
        ({"text": [""]}, {}, ValueError, "no column `answer`; it has `text`"),
        ({"answer": [""]}, {"column": 1}, TypeError, "column is the name of a column, not int"),
        ({"answer": [""]}, {"session": 1}, TypeError, "not int"),
        ({"answer": [""]}, {"session": "saved"}, ValueError, "session: the data has no column `saved`"),
        ({"answer": [""]}, {"mode": "attic"}, ValueError, "neither a mode of the pack, which has `home`, `away`, nor"),
        ({"answer": [""], "home": [""]}, {"mode": "home"}, ValueError, "a mode of the pack and a column"),
        ({"answer": [""]}, {"dialect": "json"}, ValueError, "neither a dialect of the pack, which has `tags`, nor"),
        ({"answer": [""], "tags": [""]}, {"dialect": "tags"}, ValueError, "a dialect of the pack and a column"),
        ({"answer": [""]}, {"truncated": 1}, TypeError, "truncated is a bool or the name of a column, not int"),
        ({"answer": [""]}, {"truncated": "t"}, ValueError, "truncated: the data has no column `t`"),
        ({"answer": [""]}, {"truncated": "answer"}, TypeError, "of type string, and not of booleans"),
        ({"answer": [""]}, {"attempts": True}, TypeError, "attempts is an int or the name of a column, not bool"),
        ({"answer": [""]}, {"attempts": -1}, ValueError, "attempts is not negative"),
        ({"answer": [""]}, {"attempts": "answer"}, TypeError, "of type string, and not of whole numbers"),
        ({"answer": [""]}, {"keep": ["id"]}, ValueError, "keep: the data has no column `id`"),
        ({"answer": [""]}, {"columns": ["state"]}, ValueError, "there is no `state`"),
        ({"answer": [""]}, {"threads": 0}, ValueError, "at least 1"),
    ],
)
def test_wrong_arguments_raise_before_anything_is_read(
    lamp: rulebook.Program, given: dict[str, Any], options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        arrow.evaluate(pa.table(given), lamp, **options)


@pytest.mark.parametrize("data", [None, "answer", b"", {"answer": [""]}, 7, pa.array(["a"]), [7], [""]])
def test_what_is_no_table_is_a_type_error(lamp: rulebook.Program, data: Any) -> None:
    with pytest.raises(TypeError):
        arrow.evaluate(data, lamp)


def test_two_columns_of_one_name_are_ambiguous(lamp: rulebook.Program) -> None:
    table = pa.table([pa.array(["a"]), pa.array(["b"])], names=["answer", "answer"])
    with pytest.raises(ValueError, match="2 columns `answer`"):
        arrow.evaluate(table, lamp)


class Speaks:
    """Only what the interface needs."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self.batch.__arrow_c_array__(requested_schema)


class Streams(Speaks):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.batch.__arrow_c_stream__(requested_schema)


def test_anything_that_speaks_the_interface_is_judged(lamp: rulebook.Program) -> None:
    table = pa.table({"answer": ANSWERS})
    batch = table.to_batches()[0]
    alone = expected(lamp, ANSWERS)
    for data in (table, batch, table.to_reader(), Speaks(batch), Streams(batch), Streams(table)):
        assert arrow.evaluate(data, lamp, keep=False).read_all().to_pylist() == alone
    for batches in ([batch, batch], iter([Streams(table), Speaks(batch)]), (one for one in [batch, batch])):
        assert arrow.evaluate(batches, lamp, keep=False).read_all().to_pylist() == alone * 2
    assert arrow.evaluate(iter([]), lamp, keep=False).read_all().to_pylist() == []
    with pytest.raises(ValueError, match="other columns"):
        arrow.evaluate([batch, pa.RecordBatch.from_pydict({"answer": [b""]})], lamp).read_all()


def test_a_stream_is_read_as_the_result_is(lamp: rulebook.Program) -> None:
    read = []

    def batches() -> Iterator[Any]:
        for number in range(10):
            read.append(number)
            yield pa.RecordBatch.from_pydict({"answer": [ANSWER] * 10})

    judged = arrow.evaluate(batches(), lamp)
    assert len(read) <= 1
    assert len(next(judged)) == 10
    assert len(read) <= 2
    assert sum(len(batch) for batch in judged) == 90


def test_what_the_source_raises_passes_through(lamp: rulebook.Program) -> None:
    def batches() -> Iterator[Any]:
        yield pa.RecordBatch.from_pydict({"answer": [ANSWER]})
        raise KeyError("the disk is full")

    with pytest.raises(KeyError, match="the disk is full"):
        arrow.evaluate(batches(), lamp).read_all()


def test_long_answers_are_judged_a_few_at_a_time(lamp: rulebook.Program) -> None:
    long = "<message>" + "a" * (5 << 20) + "</message>"
    table = pa.table({"answer": pa.array(["", long, long, long, long, None, long + long * 4, ""], pa.large_string())})
    judged = arrow.evaluate(table, lamp, columns=["message"], keep=False)
    assert [len(batch) for batch in judged] == [4, 2, 1, 1]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_stream(lamp: rulebook.Program) -> None:
    def resident() -> int:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    batch = pa.RecordBatch.from_pydict({"answer": [ANSWER + "x" * 2000] * 1000})
    judged = arrow.evaluate((batch for _ in range(130)), lamp)
    sizes = []
    for number, one in enumerate(judged):
        if number >= 30 and number % 20 == 0:
            gc.collect()
            sizes.append(resident())
    # The outcomes of these answers take 500 MB.
    assert max(sizes) - min(sizes) < 48 << 20


def test_the_interpreter_is_free_while_a_batch_is_judged(lamp: rulebook.Program) -> None:
    ticks = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(1)
            done.wait(0.001)

    # One piece of less than 16 MiB, so that nothing of Python runs in between.
    table = pa.table({"answer": ["<message>" + "a <b> " * 200_000] * 12})
    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    arrow.evaluate(table, lamp, columns=["status"], keep=False, threads=1).read_all()
    during = len(ticks) - before
    done.set()
    thread.join()
    assert during > 3


def test_without_pyarrow_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'rulebook-rs\[arrow\]'"):
        arrow.evaluate([], rulebook.Program.load(LAMP))
