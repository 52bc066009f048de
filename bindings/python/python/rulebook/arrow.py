"""Arrow: what do the answers of a table come to?

`evaluate` takes whatever speaks the PyCapsule interface of Arrow (a table, a stream, a batch, or batches one after the other)
and gives its rows with what each answer came to. It needs `pyarrow`, which `pip install rulebook-rs[arrow]` brings along.
"""

from __future__ import annotations

import importlib
import itertools
import os
import sys
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple, Sequence

from . import _engine
from ._program import Program
from ._results import Session

if TYPE_CHECKING:
    from pyarrow import RecordBatchReader, Schema  # type: ignore[import-not-found, import-untyped, unused-ignore]

__all__ = ["ALL_COLUMNS", "COLUMNS", "evaluate", "schema"]

COLUMNS = ("status", "message", "codes", "calls", "accepted", "dropped", "ask_again", "outcome")
"""The columns that `evaluate` adds, unless others are named."""
ALL_COLUMNS = (*COLUMNS, "dialect")
"""The columns that it can add."""

_ROWS = 1024
_BYTES = 16 << 20
"""The most bytes of the answers that are judged together: what becomes of them is larger, and is all in memory."""


def evaluate(
    data: object,
    program: Program,
    *,
    column: str = "answer",
    session: Session | str | None = None,
    mode: str | None = None,
    dialect: str | None = None,
    truncated: bool | str = False,
    attempts: int | str = 0,
    keep: bool | Sequence[str] = True,
    columns: Sequence[str] = COLUMNS,
    prefix: str = "",
    threads: int | None = None,
) -> RecordBatchReader:
    """Judges each answer of a table, and gives its rows with what came of them.

    The result is a `pyarrow.RecordBatchReader`, which reads `data` while it is read itself: only some rows are in memory. It
    speaks the same interface, so that any library takes it; `.read_all()` gives a table, `for` its batches. The interpreter
    is free while answers are judged.

    * `data`: what has `__arrow_c_stream__` or `__arrow_c_array__`; or an iterable of such, with the same columns.
    * `column`: the name of the column of answers: texts or bytes of any type of Arrow.
    * `session`: the session before each answer: one for all (by default a new one), or the name of a column of sessions as
      JSON, where null is a new one.
    * `mode`: the mode of each answer: one of the pack for all (by default that of its session), or the name of a column,
      where null is that of the session.
    * `dialect`: reads with this dialect only: one of the pack for all, or the name of a column, where null is any.
    * `truncated`: whether the model ran out of tokens: for all, or the name of a column of booleans, where null is no.
    * `attempts`: how often the model had been asked again: for all, or the name of a column of whole numbers, where null is 0.
    * `keep`: which columns of `data` are in the result: all, none, or those named.
    * `columns`: which of `ALL_COLUMNS` are added. `outcome` is the longest by far.
    * `prefix`: what their names begin with, for a table that has such columns already.
    * `threads`: how many threads judge a batch; by default as many as there are processors. One, where the caller has a
      process for each processor, as Spark has.

    The columns are `status` (`clean`, `degraded`, `refused`), `message`, `codes` (the code of each finding), `calls` (the
    `action`, `verdict` and `params` of each, these as JSON), `accepted` and `dropped` (how many calls), `ask_again`, and
    `outcome` (`Outcome.to_json()`); and if it is named, `dialect`, the one that read the answer, null if none did. They are null
    where the answer is.

    Raises `TypeError` for what is no table of Arrow and for a column of another type; `ValueError` for a column, mode or
    dialect that does not exist, and, while the result is read, for what does not fit in a row. No answer raises.
    """
    pa = _pyarrow()
    if not isinstance(program, Program):
        raise TypeError(f"program is a Program, not {type(program).__name__}")
    if not isinstance(session, (Session, str, type(None))):
        raise TypeError(f"session is a Session or the name of a column, not {type(session).__name__}")
    threads = _processors() if threads is None else threads
    if threads < 1:
        raise ValueError("threads is at least 1")
    added = schema(columns, prefix)
    source, batches = _opened(data)
    if source is None:  # As for a part of a table of Spark that has no rows.
        return pa.RecordBatchReader.from_batches(added, iter(()))

    modes = _named_at(source, mode, "mode", program.modes, "give the mode by session=program.session().replace(mode=…)")
    dialects = _named_at(source, dialect, "dialect", program.dialects, "give the dialect as a column")
    judge = _Judge(
        engine=program._engine,
        answers=_texts_at(source, column, "column"),
        session=session if isinstance(session, Session) else program.session(),
        sessions=_texts_at(source, session, "session") if isinstance(session, str) else None,
        mode=mode if modes is None else None,
        modes=modes,
        dialect=dialect if dialects is None else None,
        dialects=dialects,
        truncated=_value_at(source, truncated, "truncated"),
        attempts=_value_at(source, attempts, "attempts"),
        wanted=_wanted(columns),
        threads=threads,
    )
    names = source.names if keep is True else () if keep is False else (keep,) if isinstance(keep, str) else keep
    kept = list(range(len(names))) if keep is True else [_at(source, name, "keep") for name in names]
    for name in added.names:
        if name in names:
            raise ValueError(f"the data has a column `{name}` already: give a prefix, or leave it out with keep")
    result = pa.schema([source.field(place) for place in kept] + list(added), source.metadata)

    def judged() -> Iterator[Any]:
        before = 0
        for batch in batches:
            if not batch.schema.equals(source):
                raise ValueError("a batch has other columns than the first")
            for first, end, arrays in judge.pieces(batch, before):
                piece = batch.slice(first, end - first)
                yield pa.RecordBatch.from_arrays([piece.column(place) for place in kept] + arrays, schema=result)
            before += len(batch)

    return pa.RecordBatchReader.from_batches(result, judged())


def schema(columns: Sequence[str] = COLUMNS, prefix: str = "") -> Schema:
    """The names and types of the columns that `evaluate` adds, as a `pyarrow.Schema`."""
    pa = _pyarrow()
    return pa.schema([(prefix + name, _type(name)) for name in _wanted(columns)])


class _Judge(NamedTuple):
    """What applies to all batches."""

    engine: _engine.Engine
    answers: int
    session: Session
    sessions: int | None
    mode: str | None
    modes: int | None
    dialect: str | None
    dialects: int | None
    truncated: _Column | bytes
    attempts: _Column | bytes
    wanted: tuple[str, ...]
    threads: int

    def pieces(self, batch: Any, before: int) -> Iterator[tuple[int, int, list[Any]]]:
        """The columns to add to a batch, for some rows after the other: from which row to which, and the columns."""
        answers = _Texts.of(batch.column(self.answers))
        sessions = None if self.sessions is None else _Texts.of(batch.column(self.sessions))
        modes = None if self.modes is None else _Texts.of(batch.column(self.modes))
        dialects = None if self.dialects is None else _Texts.of(batch.column(self.dialects))
        for first, end in answers.cuts():
            buffers = _engine.judge_column(
                self.engine,
                answers.buffers(first, end),
                self.session,
                None if sessions is None else sessions.buffers(first, end),
                self.mode,
                None if modes is None else modes.buffers(first, end),
                self.dialect,
                None if dialects is None else dialects.buffers(first, end),
                _part(self.truncated, batch, first, end),
                _part(self.attempts, batch, first, end),
                "outcome" in self.wanted,
                before + first,
                self.threads,
            )
            yield first, end, [_array(name, end - first, buffers) for name in self.wanted]


class _Column(NamedTuple):
    """A column of numbers or booleans."""

    place: int
    type: Any
    """What is passed on of each."""


def _part(column: _Column | bytes, batch: Any, first: int, end: int) -> bytes:
    """The values of some rows, 0 where they are null; or the one value for all."""
    if isinstance(column, bytes):
        return column
    pa = _pyarrow()
    array = batch.column(column.place).slice(first, end - first)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    array = array.cast(column.type).fill_null(0)
    width = column.type.bit_width // 8
    return memoryview(array.buffers()[1]).cast("B")[width * array.offset : width * (array.offset + len(array))].tobytes()


class _Texts(NamedTuple):
    """The buffers of a column of texts."""

    places: Any
    """Where each begins, and the last one ends."""
    bytes: Any
    nulls: Any
    """A byte for each that is not zero if the text is null; none if no text is."""

    @classmethod
    def of(cls, array: Any) -> _Texts:
        pa = _pyarrow()
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        array = array.cast(pa.large_binary())
        _, places, data = array.buffers()
        if not len(array):
            return cls(memoryview(bytes(8)).cast("q"), b"", b"")
        places = memoryview(places).cast("B")[8 * array.offset : 8 * (array.offset + len(array) + 1)].cast("q")
        nulls = array.is_null().cast(pa.uint8()).buffers()[1] if array.null_count else b""
        return cls(places, memoryview(b"" if data is None else data), memoryview(nulls))

    def cuts(self) -> Iterator[tuple[int, int]]:
        """Rows that are judged together: some, unless they are very long."""
        first, last = 0, len(self.places) - 1
        while first < last:
            end = min(first + _ROWS, last)
            end = max(first + 1, bisect_right(self.places, self.places[first] + _BYTES, first, end + 1) - 1)
            yield first, end
            first = end

    def buffers(self, first: int, end: int) -> tuple[bytes, bytes, bytes]:
        """The buffers of some rows."""
        return (
            self.places[first : end + 1].tobytes(),
            bytes(self.bytes[self.places[first] : self.places[end]]),
            bytes(self.nulls[first:end]),
        )


def _array(name: str, length: int, buffers: dict[str, Any]) -> Any:
    """A column of these buffers."""
    pa = _pyarrow()
    valid, column = buffers[{"ask_again": "asks", "dialect": "is_read"}.get(name, "valid")], buffers[name]
    if name in ("accepted", "dropped"):
        return pa.Array.from_buffers(_type(name), length, [pa.py_buffer(valid), pa.py_buffer(column)])
    if name not in ("codes", "calls"):
        return pa.Array.from_buffers(_type(name), length, [pa.py_buffer(one) for one in (valid, *column)])
    items = [
        pa.Array.from_buffers(pa.string(), len(places) // 4 - 1, [None, pa.py_buffer(places), pa.py_buffer(data)])
        for places, data in column[1:]
    ]
    item = items[0]
    if name == "calls":
        item = pa.Array.from_buffers(_type(name).value_type, len(items[0]), [None], children=items)
    ends = [pa.py_buffer(valid), pa.py_buffer(column[0])]
    return pa.Array.from_buffers(_type(name), length, ends, children=[item])


def _type(name: str) -> Any:
    """The type of a column that is added."""
    pa = _pyarrow()
    text = pa.string()
    if name == "calls":
        return pa.list_(pa.struct([("action", text), ("verdict", text), ("params", text)]))
    return {"codes": pa.list_(text), "accepted": pa.int32(), "dropped": pa.int32()}.get(name, text)


def _opened(data: object) -> tuple[Any, Iterator[Any]]:
    """The schema of the data, and its batches as they are read; no schema if there is no batch that tells it."""
    pa = _pyarrow()
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        try:
            if not hasattr(data, "__arrow_c_stream__"):
                batch = pa.record_batch(data)
                return batch.schema, iter([batch])
            reader = pa.RecordBatchReader.from_stream(data)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise TypeError(f"data is no table: {error}") from None
        return reader.schema, iter(reader)
    if not isinstance(data, Iterable) or isinstance(data, (str, bytes, bytearray, dict)):
        raise TypeError(
            "data is a table, a stream or batches of Arrow, with __arrow_c_stream__ or __arrow_c_array__,"
            f" not {type(data).__name__}"
        )
    batches = itertools.chain.from_iterable(map(_batches, data))
    first = next(batches, None)
    if first is None:
        return None, iter(())
    return first.schema, itertools.chain([first], batches)


def _batches(data: Any) -> Iterable[Any]:
    """The batches of one of several tables."""
    pa = _pyarrow()
    if isinstance(data, pa.RecordBatch):
        return (data,)
    if not (hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")):
        raise TypeError(f"data gives batches of Arrow, not {type(data).__name__}")
    return _opened(data)[1]


def _at(source: Any, name: object, argument: str) -> int:
    """The place of a column."""
    if not isinstance(name, str):
        raise TypeError(f"{argument} is the name of a column, not {type(name).__name__}")
    places: list[int] = source.get_all_field_indices(name)
    if len(places) != 1:
        how_many = f"{len(places)} columns" if places else "no column"
        raise ValueError(f"{argument}: the data has {how_many} `{name}`; it has {_list(source.names)}")
    return places[0]


def _texts_at(source: Any, name: object, argument: str) -> int:
    """The place of a column of texts."""
    place = _at(source, name, argument)
    kind = source.field(place).type
    plain = kind.value_type if _pyarrow().types.is_dictionary(kind) else kind
    if not any(is_one(plain) for is_one in _text_types()):
        raise TypeError(f"{argument}: the column `{name}` is of type {kind}, and not of texts or bytes")
    return place


def _named_at(source: Any, given: object, argument: str, known: Sequence[str], otherwise: str) -> int | None:
    """The place of a column of names of the pack, unless there is one name for all."""
    if given is None:
        return None
    if not isinstance(given, str):
        raise TypeError(f"{argument} is a {argument} or the name of a column, not {type(given).__name__}")
    if given not in known:
        if given in source.names:
            return _texts_at(source, given, argument)
        raise ValueError(
            f"{argument}: `{given}` is neither a {argument} of the pack, which has {_list(known)}, nor a column of the data"
        )
    if given in source.names:
        raise ValueError(
            f"{argument}: `{given}` is a {argument} of the pack and a column of the data; rename the column, or {otherwise}"
        )
    return None


def _value_at(source: Any, given: bool | int | str, argument: str) -> _Column | bytes:
    """A column of values, or the one value for all."""
    pa = _pyarrow()
    is_truth = argument == "truncated"
    if isinstance(given, str):
        place = _at(source, given, argument)
        kind = source.field(place).type
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        fits = pa.types.is_boolean(plain) if is_truth else pa.types.is_integer(plain)
        if not fits and not pa.types.is_null(plain):
            what = "booleans" if is_truth else "whole numbers"
            raise TypeError(f"{argument}: the column `{given}` is of type {kind}, and not of {what}")
        return _Column(place, pa.uint8() if is_truth else pa.int64())
    if isinstance(given, bool) if is_truth else isinstance(given, int) and not isinstance(given, bool):
        if given < 0:
            raise ValueError(f"{argument} is not negative")
        return bytes([given]) if is_truth else given.to_bytes(8, sys.byteorder)
    what = "a bool" if is_truth else "an int"
    raise TypeError(f"{argument} is {what} or the name of a column, not {type(given).__name__}")


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _text_types() -> list[Any]:
    types = _pyarrow().types
    names = ["string", "large_string", "string_view", "binary", "large_binary", "binary_view", "fixed_size_binary", "null"]
    # Old versions do not know all.
    return [getattr(types, f"is_{name}") for name in names if hasattr(types, f"is_{name}")]


def _wanted(columns: Sequence[str]) -> tuple[str, ...]:
    columns = (columns,) if isinstance(columns, str) else tuple(columns)
    for name in columns:
        if name not in ALL_COLUMNS:
            raise ValueError(f"columns: there is no `{name}`; there are {', '.join(ALL_COLUMNS)}")
    return columns


def _processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _pyarrow() -> Any:
    try:
        return importlib.import_module("pyarrow")
    except ImportError as error:
        raise ImportError("rulebook.arrow needs pyarrow: pip install 'rulebook-rs[arrow]'") from error
