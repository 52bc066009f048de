"""Programs: what may an answer do?

A `Program` is a compiled pack. It never changes, and all threads of a process may use it: the interpreter is free while
the engine works.
"""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import json
import os
import weakref
from types import TracebackType
from typing import Any, AsyncIterable, Callable, Iterable, Literal, Mapping, Sequence, TypedDict, Union, cast

from . import _engine, types
from ._contract import Diagnostic
from ._engine import Engine, Files
from ._errors import HistoryError, PackError, ReplyError, SessionError
from ._results import Checked, Heard, Outcome, Prompt, Session, Turn
from ._stream import Stream
from .events import Event

__all__ = ["Exported", "Limits", "Miss", "Program", "Reader", "check"]

Pack = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""A folder with a `pack.toml`, `std:NAME`, or the files of a pack: texts or bytes by their paths.

A dict among the files is the pack that `use` names by that path: `{"pack.toml": "…", "../house": {"pack.toml": "…"}}`.
"""

Text = Union[str, bytes, bytearray, memoryview]
Export = Literal["response-format", "json-object", "json-schema", "openai-tools", "anthropic-tools"]


class _Miss(TypedDict):
    effect: int
    kind: Literal["not-found", "ambiguous", "absent", "exists", "not-utf8"]


class Miss(_Miss, total=False):
    """An effect that does not fit the file that it meets: its place in the list of effects, and why.

    `at` has the lines that come nearest to the text, or each place where it occurs.
    """

    at: list[types.FileLines]


@dataclasses.dataclass(frozen=True)
class Exported:
    """What to send to a server."""

    value: Any
    """The value of the parameter."""
    diagnostics: tuple[Diagnostic, ...]
    """The rules that it cannot express."""


class Limits(TypedDict, total=False):
    """How much work one answer may cause. What is not named keeps its default; what is too large is reduced to what is possible."""

    input: int
    """The longest answer that is read, in bytes: 10 MiB by default. A longer one is refused: see `Reader.is_too_large`."""
    depth: int
    """The deepest nesting of blocks, and of values in payloads: 64 by default, at most 100."""
    blocks: int
    """The most blocks that are read: 10,000 by default."""
    calls: int
    """The most calls that are read: 1,000 by default."""
    diagnostics: int
    """The most findings of one outcome: 100 by default."""
    fields: int
    """The most fields of one payload, and the most attributes of one opener: 1,000 by default."""
    values: int
    """The most values in all payloads of one answer together: 10,000 by default."""
    effects: int
    """The most effects of one outcome: 10,000 by default."""
    steps_per_byte: int
    """The steps that the recogniser may take for each byte of the answer: 512 by default."""


class Program:
    """A compiled pack: what a model may do, in each mode, and what becomes of everything else.

    `Program.load` makes one. It is immutable, is shared by threads, survives `fork`, and pickles: a process that unpickles
    it compiles the files again, once.

    No answer raises. Texts may hold anything: in an answer, a surrogate without its partner becomes replacement characters
    with a finding `response/not-utf-8`, as bytes do that are not UTF-8; in other texts it becomes one replacement character.

        program = Program.load("rules/lamp")
        session = program.session()
        outcome = program.run(session, answer)
        print(outcome.message)
        for effect in outcome.effects: ...
        session = outcome.session
    """

    __slots__ = ("__weakref__", "_diagnostics", "_digest", "_engine", "_files", "_limits", "_tools")
    _diagnostics: tuple[Diagnostic, ...]
    _digest: str | None
    _engine: Engine
    _files: Files
    _limits: Limits
    _tools: str | None

    def __init__(self) -> None:
        raise TypeError("a program is loaded: Program.load(path)")

    @classmethod
    def load(
        cls, pack: Pack, *, tools: object = None, name: str | None = None, limits: Limits | None = None
    ) -> Program:
        """Reads, checks and compiles a pack.

        * `pack`: the path of a folder with a `pack.toml`, `std:NAME` for a pack of the engine, or a dict of files: texts or
          bytes by their paths. A dict among them is the pack that `use` names by that path.
        * `tools`: the tools of the host: a list as for OpenAI, Anthropic, Gemini or MCP, or its JSON.
        * `name`: what messages call the folder of a pack that is a dict; `pack` by default.
        * `limits`: how much work one answer may cause, such as `{"input": 100_000}`.

        Raises `PackError` with all faults if there are any, `OSError` for what cannot be read.
        """
        files = _files(pack, name)
        engine, diagnostics = _load(files)
        program = cls._of(engine, files, None, diagnostics, {})
        program = program if limits is None else program.with_limits(limits)
        return program if tools is None else program.with_tools(tools)

    @classmethod
    def _of(
        cls, engine: Engine, files: Files, tools: str | None, diagnostics: tuple[Diagnostic, ...], limits: Limits
    ) -> Program:
        program = cls.__new__(cls)
        program._engine = engine
        program._files = files
        program._tools = tools
        program._limits = limits
        program._diagnostics = diagnostics
        program._digest = None
        return program

    def with_tools(self, tools: object) -> Program:
        """The same program for a host with these tools. The pack is not compiled again.

        What is said of tools that cannot be used is in `diagnostics`. Raises `PackError` for what is no list of tools.
        """
        text = _engine.json_text(tools, "tools")
        engine, (diagnostics, drawn) = self._engine.with_tools(text)
        if engine is None:
            raise PackError(diagnostics, drawn)
        own = self._diagnostics if self._tools is None else _load(self._files)[1]
        return self._of(engine, self._files, text, own + diagnostics, self._limits)

    def with_limits(self, limits: Limits) -> Program:
        """The same program with these limits, and the default for each that is not named. The pack is not compiled again.

        Raises `TypeError` for a limit that there is not, `ValueError` for one that is negative.
        """
        given = cast(Limits, dict(sorted(limits.items())))
        engine = self._engine.with_limits(cast("dict[str, int]", given))
        return self._of(engine, self._files, self._tools, self._diagnostics, given)

    @property
    def name(self) -> str:
        """The name of the pack."""
        return self._engine.name

    @property
    def version(self) -> str | None:
        """The version of the pack, if it says one."""
        return self._engine.version

    @property
    def modes(self) -> tuple[str, ...]:
        """The names of the modes, in the order of declaration."""
        return self._engine.modes

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions, in the order of declaration."""
        return self._engine.actions

    @property
    def dialects(self) -> tuple[str, ...]:
        """The names of the dialects, in the order of declaration."""
        return self._engine.dialects

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was found when the pack was loaded, and about the tools: no errors, or there would be no program."""
        return self._diagnostics

    @property
    def digest(self) -> str:
        """The SHA-256 of the files, the tools and the limits: programs with the same digest come to the same outcomes."""
        if self._digest is None:
            digest = hashlib.sha256()
            _hash(digest, *self._files.content())
            _feed(digest, (self._tools or "").encode())
            if self._limits:
                _feed(digest, json.dumps(self._limits).encode())
            self._digest = digest.hexdigest()
        return self._digest

    def check(self) -> Checked:
        """Everything that can be known about the pack without a model, as `rulebook check` reports it."""
        return cast(Checked, _engine.check(self._files, self._tools))

    def session(self) -> Session:
        """A new session: the start mode, and the initial value of everything."""
        return cast(Session, self._engine.session())

    def resume(self, saved: Session | Mapping[str, Any] | Text) -> Session:
        """A session that the host saved: `Session.to_dict()`, or its JSON. What is missing takes its initial value.

        Raises `SessionError` for a mode or a value that the pack does not have, and for each value that does not fit its
        schema; `ValueError` for what is no JSON.
        """
        session, (lost, drawn) = self._engine.resume(saved)
        if lost:
            raise SessionError(lost, drawn)
        return cast(Session, session)

    def resume_lossy(self, saved: Session | Mapping[str, Any] | Text) -> tuple[Session, tuple[Diagnostic, ...]]:
        """The same as `resume`, for a session that may be older than the pack, and what of it was lost.

        What does not fit takes its initial value, and a mode that the pack no longer has becomes the start mode.
        """
        session, (lost, _) = self._engine.resume(saved)
        return cast(Session, session), lost

    def run(
        self,
        session: Session,
        answer: Text,
        *,
        dialect: str | None = None,
        trace: bool = False,
        truncated: bool = False,
        attempts: int = 0,
        thinking: bool | None = None,
        hold: bool = False,
        withheld: bool = False,
    ) -> Outcome:
        """Reads and judges one answer. Any answer gives an outcome.

        * `dialect`: reads with this dialect only.
        * `trace`: the outcome says which declaration caused what.
        * `truncated`: the model ran out of tokens.
        * `attempts`: how often the model has been asked again about this answer.
        * `thinking`: whether the prompt left reasoning open, so that the answer goes on with it; `None` if nobody knows.
        * `hold`: a stream has no event before the answer has been judged.
        * `withheld`: the outcome has what was read of an answer that is refused. Nobody may be shown that.

        Raises `TypeError` for what is no `str` or `bytes`, or no `Session`.
        """
        outcome = self._engine.run(session, answer, dialect, trace, truncated, attempts, thinking, hold, withheld)
        return cast(Outcome, outcome)

    def judge(
        self,
        session: Session,
        message: object,
        provider: types.Provider | None = None,
        *,
        dialect: str | None = None,
        trace: bool = False,
        truncated: bool = False,
        attempts: int = 0,
        thinking: bool | None = None,
        hold: bool = False,
        withheld: bool = False,
    ) -> Outcome:
        """Reads and judges what an API returned, with its native tool calls. The options are those of `run`.

        `message` is what the provider's SDK returned (any object with `model_dump_json`), a dict, or JSON: a chat completion
        or its message for `"openai"`, a response for `"responses"`, a message for `"anthropic"`, a response for `"gemini"`, a
        `tools/call` request for `"mcp"`. Without a provider it is a `types.Reply`: parts that the host has already.

        Raises `ReplyError` if it is no such message, or an error that the API returned, or has half of a surrogate pair,
        which no UTF-8 can hold.
        """
        outcome, (diagnostics, drawn) = self._engine.judge(
            session, provider, json_of(message, "message"), dialect, trace, truncated, attempts, thinking, hold, withheld
        )
        if outcome is None:
            raise ReplyError(diagnostics, drawn)
        return cast(Outcome, outcome)

    def reader(
        self,
        session: Session,
        *,
        dialect: str | None = None,
        trace: bool = False,
        truncated: bool = False,
        attempts: int = 0,
        thinking: bool | None = None,
        hold: bool = False,
        withheld: bool = False,
    ) -> Reader:
        """Starts to read an answer that comes in pieces. The options are those of `run`."""
        return Reader(
            self._engine.reader(session, dialect, trace, truncated, attempts, thinking, hold, withheld)
        )

    def stream(
        self,
        session: Session,
        pieces: AsyncIterable[Any] | Iterable[Any],
        *,
        provider: types.Provider | None = None,
        dialect: str | None = None,
        trace: bool = False,
        truncated: bool = False,
        attempts: int = 0,
        thinking: bool | None = None,
        hold: bool = False,
        withheld: bool = False,
    ) -> Stream:
        """Reads an answer while it comes: `async for` (or `for`) gives its events, and then `outcome` is there.

        `pieces` gives texts or bytes, cut anywhere; with a provider, the chunks of its API, as `judge` takes messages. What
        it raises passes through. If the answer becomes too large, no more pieces are asked for.

            stream = program.stream(session, pieces)
            async for event in stream:
                match event:
                    case events.Text(role="message", text=text): show(text)
                    case events.Refused(): clear()
            session = stream.outcome.session

        Raises `ReplyError` for what is no chunk of the provider.
        """
        reader = self.reader(
            session,
            dialect=dialect,
            trace=trace,
            truncated=truncated,
            attempts=attempts,
            thinking=thinking,
            hold=hold,
            withheld=withheld,
        )
        return Stream(reader, pieces, provider)

    def hear(self, session: Session, text: str, *, trace: bool = False) -> Heard:
        """What the words of a user mean, and what follows from them."""
        return cast(Heard, self._engine.hear(session, text, trace))

    def start(self, session: Session, *, trace: bool = False) -> Heard:
        """What the pack says and does when a session starts, before anybody has said anything."""
        return cast(Heard, self._engine.start(session, trace))

    def confirm(self, session: Session, id: str) -> Outcome:
        """Carries out a call that waited under `id` in `session.pending`: a person has confirmed it.

        It is judged anew, by the mode and the state of now. The session of the outcome no longer has it. If nothing waits
        under the id, the outcome is refused, and says so.
        """
        return cast(Outcome, self._engine.resolve_pending(session, id, True))

    def decline(self, session: Session, id: str) -> Outcome:
        """Takes out a call that waited under `id` in `session.pending`: a person has declined it."""
        return cast(Outcome, self._engine.resolve_pending(session, id, False))

    def reject(
        self,
        session: Session,
        outcome: Outcome,
        misses: Sequence[Miss],
        *,
        attempts: int = 0,
        withheld: bool = False,
    ) -> Outcome:
        """The outcome of an answer whose effects do not fit the files that they meet: nothing of it was carried out.

        `session` is the one before the answer. The answer is refused, or the model is asked again, as the pack says for
        `edit-not-found`, `edit-ambiguous` and `edit-conflict`.
        """
        return cast(Outcome, self._engine.reject(session, outcome, misses, attempts, withheld))

    def prompt(
        self,
        session: Session,
        message: str | None = None,
        *,
        history: Sequence[Turn | types.Turn | Mapping[str, Any]] = (),
        prompt: str | None = None,
        model: str | None = None,
        counter: Callable[[str], int] | None = None,
    ) -> Prompt:
        """Assembles what a model reads next. If that cannot be sent, there are no messages, and an error says why.

        * `message`: what the user says now.
        * `history`: the turns so far, the oldest first.
        * `prompt`, `model`: their names; by default the first prompt, and a model of the default tier.
        * `counter`: counts the tokens of a text, instead of what the pack declares for the model. What it raises passes
          through.
        """
        return cast(Prompt, self._engine.prompt(session, message, list(history), prompt, model, counter))

    def turn(self, session: Session, text: str) -> Turn:
        """The turn of an answer of which only the text is left: it is read once."""
        return cast(Turn, self._engine.turn(session, text))

    def history(self, session: Session, lines: Text) -> tuple[Turn, ...]:
        """The turns of a history in JSON lines, the oldest first, as `rulebook prompt --history` reads it.

        A line is `{"role": "user", "content": "…"}`, or `"assistant"`, whose content may be a message or a whole answer as it
        was written, with the `mode` in which it was given; or `Turn.to_json()`.

        Raises `HistoryError` with each line that is no turn.
        """
        turns, (diagnostics, drawn) = self._engine.history(session, lines)
        if turns is None:
            raise HistoryError(diagnostics, drawn)
        return cast("tuple[Turn, ...]", turns)

    def export(self, mode: str, what: Export, *, strict: bool = False) -> Exported:
        """What a model's server accepts, so that answers fit these rules in this mode.

        The permitted actions as `"openai-tools"` or `"anthropic-tools"`; an answer that is one object as `"json-schema"`,
        `"response-format"` or `"json-object"`. `strict` keeps to the subset of JSON Schema that servers enforce.

        Raises `PackError` if there is none: the pack has no such mode, or no dialect in it is an object.
        """
        value, (diagnostics, drawn) = self._engine.export(mode, what, strict)
        if value is None:
            raise PackError(diagnostics, drawn)
        return Exported(value, diagnostics)

    def __repr__(self) -> str:
        return f"<Program {self.name} {self.version or ''}".rstrip() + f": modes {', '.join(self.modes)}>"

    def __reduce__(self) -> tuple[Callable[..., Program], tuple[Any, ...]]:
        return _unpickled, (self.digest, self._files.content(), self._tools, self._limits)


class Reader:
    """An answer that comes in pieces: `push` gives what has become certain, `finish` the outcome.

    The outcome does not depend on how the answer was cut, and no event is ever taken back. Leaving a `with` block
    without `finish` throws the answer away.
    """

    __slots__ = ("_reader",)

    def __init__(self, reader: _engine.Reader) -> None:
        self._reader: _engine.Reader | None = reader

    def push(self, piece: Text) -> tuple[Event, ...]:
        """Reads a piece, cut anywhere, and gives the events that it made certain.

        Raises `TypeError` for what is no `str` or `bytes`, `ValueError` after the end.
        """
        return cast("tuple[Event, ...]", self._open().push(piece))

    def push_chunk(self, provider: types.Provider, chunk: object) -> tuple[Event, ...]:
        """Reads a chunk of an API's stream: the object of its SDK, a dict, or JSON.

        Raises `ReplyError` for what is no chunk of the provider, or an error that it sent.
        """
        certain, faults = self._open().push_chunk(provider, json_of(chunk, "chunk"))
        if faults is not None:
            raise ReplyError(*faults)
        return cast("tuple[Event, ...]", certain)

    @property
    def text(self) -> str:
        """The answer so far, as places count it: bytes that are not UTF-8 are replaced."""
        return self._open().text

    @property
    def is_too_large(self) -> bool:
        """Whether the answer is longer than what is read: stop the model, and call `finish`."""
        return self._open().is_too_large

    def finish(self) -> Outcome:
        """The outcome of the whole answer."""
        return self.finish_with_events()[0]

    def finish_with_events(self) -> tuple[Outcome, tuple[Event, ...]]:
        """The outcome, and the events that only the end made certain."""
        outcome, rest = self._open().finish()
        return cast(Outcome, outcome), cast("tuple[Event, ...]", rest)

    def _open(self) -> _engine.Reader:
        if self._reader is None:
            raise ValueError("the reader is closed")
        return self._reader

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reader = None


def check(pack: Pack, *, tools: object = None, name: str | None = None) -> Checked:
    """Everything that can be known about a pack without a model, as `rulebook check` reports it.

    The arguments are those of `Program.load`; faults of the pack are findings. Raises `OSError` for what cannot be read.
    """
    return cast(Checked, _engine.check(_files(pack, name), tools))


def json_of(message: object, name: str) -> object:
    """The JSON of a message. Half of a surrogate pair stays what it is: the engine says where it is."""
    if isinstance(message, (str, bytes, bytearray, memoryview)):
        return message
    dump = getattr(message, "model_dump_json", None)
    if callable(dump):
        return dump()
    try:
        return json.dumps(message, allow_nan=False)
    except RecursionError:
        raise ValueError(f"{name} is nested too deep") from None


def _files(pack: Pack, name: str | None) -> Files:
    if isinstance(pack, Mapping):
        return Files.of("pack" if name is None else name, pack)
    if name is not None:
        raise TypeError("name is for a pack that is a dict: a folder has a name")
    path = os.fspath(pack)
    if not isinstance(path, str):
        raise TypeError(f"the path of a pack is a str, not {type(path).__name__}")
    if not path.startswith("std:") and not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return Files.read(path)


def _load(files: Files) -> tuple[Engine, tuple[Diagnostic, ...]]:
    engine, (diagnostics, drawn) = Engine.load(files)
    if engine is None:
        raise PackError(diagnostics, drawn)
    return engine, diagnostics


def _feed(digest: Any, part: bytes) -> None:
    digest.update(len(part).to_bytes(8, "little") + part)


def _hash(digest: Any, name: str, files: Mapping[str, bytes], others: Mapping[str, Any]) -> None:
    _feed(digest, name.encode())
    for group in (files, others):
        digest.update(len(group).to_bytes(8, "little"))
        for path in group:
            _feed(digest, path.encode())
    for file in files.values():
        _feed(digest, file)
    for other in others.values():
        _hash(digest, *other)


# Each task of a pool unpickles the program anew: it is compiled once in a process.
_loaded: weakref.WeakValueDictionary[str, Program] = weakref.WeakValueDictionary()


def _unpickled(digest: str, content: tuple[Any, ...], tools: str | None, limits: Limits) -> Program:
    program = _loaded.get(digest)
    if program is None:
        files = Files.again(cast(Any, content))
        engine, diagnostics = _load(files)
        program = Program._of(engine, files, None, diagnostics, {})
        if limits:
            program = program.with_limits(limits)
        if tools is not None:
            program = program.with_tools(tools)
        if program.digest != digest:
            raise ValueError("the pickle of this program was changed")
        program = _loaded.setdefault(digest, program)
    return program
