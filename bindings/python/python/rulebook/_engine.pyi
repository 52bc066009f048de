"""The module in Rust. Its results are objects of the classes of the package, which it knows by their names."""

from typing import Any, Callable, Mapping, final

from typing_extensions import disjoint_base

from ._contract import Diagnostic

__all__ = [
    "Declared",
    "Engine",
    "Files",
    "Getter",
    "Part",
    "Plan",
    "Reader",
    "Seed",
    "check",
    "command",
    "declare",
    "json_text",
    "judge_column",
    "rebuild",
    "replace",
    "restore",
    "tool_results",
    "turn_of",
]

_Buffers = tuple[bytes, bytes, bytes]
_Found = tuple[tuple[Diagnostic, ...], str]

@disjoint_base
class Part:
    """A part of a contract: an outcome, a call, an event. It never changes."""

    def __new__(cls, seed: Seed) -> Part: ...
    def to_dict(self) -> Any:
        """The same as plain dicts, lists, texts and numbers, as `to_json` writes them. It is new each time, and yours."""

    def to_json(self) -> str:
        """The same as JSON text, as the command writes it."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

@final
class Seed: ...

@final
class Declared: ...

@final
class Getter:
    def __new__(cls, place: int) -> Getter: ...
    def __call__(self, part: Part) -> Any: ...

def declare(
    python: type[Any],
    name: str,
    members: list[tuple[str, str, str, Any, bool]],
    tag: tuple[str, str] | None = None,
) -> Declared: ...
def restore(name: str, json: str, extra: str) -> Part: ...
def rebuild(class_: type[Any], members: dict[str, Any]) -> Part: ...

@final
class Files:
    @staticmethod
    def read(path: str) -> Files: ...
    @staticmethod
    def of(name: str, files: Mapping[str, Any]) -> Files: ...
    def content(self) -> tuple[str, dict[str, bytes], dict[str, Any]]: ...
    @staticmethod
    def again(content: tuple[str, dict[str, bytes], dict[str, Any]]) -> Files: ...

@final
class Engine:
    @staticmethod
    def load(files: Files) -> tuple[Engine | None, _Found]: ...
    def with_limits(self, given: dict[str, int]) -> Engine: ...
    def with_tools(self, tools: object) -> tuple[Engine | None, _Found]: ...
    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str | None: ...
    @property
    def modes(self) -> tuple[str, ...]: ...
    @property
    def actions(self) -> tuple[str, ...]: ...
    @property
    def dialects(self) -> tuple[str, ...]: ...
    @property
    def keeps_pending(self) -> bool: ...
    def session(self) -> Part: ...
    def resume(self, saved: object) -> tuple[Part, _Found]: ...
    def run(
        self,
        session: Part,
        answer: str | bytes | bytearray | memoryview,
        dialect: str | None,
        trace: bool,
        truncated: bool,
        attempts: int,
        thinking: bool | None,
        hold: bool,
        withheld: bool,
    ) -> Part: ...
    def judge(
        self,
        session: Part,
        provider: str | None,
        message: object,
        dialect: str | None,
        trace: bool,
        truncated: bool,
        attempts: int,
        thinking: bool | None,
        hold: bool,
        withheld: bool,
    ) -> tuple[Part | None, _Found]: ...
    def reader(
        self,
        session: Part,
        dialect: str | None,
        trace: bool,
        truncated: bool,
        attempts: int,
        thinking: bool | None,
        hold: bool,
        withheld: bool,
    ) -> Reader: ...
    def hear(self, session: Part, text: str, trace: bool) -> Part: ...
    def start(self, session: Part, trace: bool) -> Part: ...
    def resolve_pending(self, session: Part, id: str, confirmed: bool) -> Part: ...
    def reject(self, session: Part, outcome: Part, misses: object, attempts: int, withheld: bool) -> Part: ...
    def prompt(
        self,
        session: Part,
        message: str | None,
        history: list[Any],
        prompt: str | None,
        model: str | None,
        counter: Callable[[str], int] | None,
    ) -> Part: ...
    def turn(self, session: Part, text: str) -> Part: ...
    def history(self, session: Part, lines: object) -> tuple[tuple[Part, ...] | None, _Found]: ...
    def export(self, mode: str, what: str, strict: bool) -> tuple[Any, _Found]: ...

_Changed = tuple[
    list[tuple[str, str, str | None, int, bytes | None, str | None, list[str], _Found]], list[dict[str, Any]]
]

@final
class Plan:
    @staticmethod
    def make(root: str, result: Part) -> tuple[Plan | None, _Changed]: ...
    def commit(self) -> _Changed: ...

@final
class Reader:
    def push(self, piece: str | bytes | bytearray | memoryview) -> tuple[Part, ...]: ...
    def push_chunk(self, provider: str, chunk: object) -> tuple[tuple[Part, ...] | None, _Found | None]: ...
    @property
    def text(self) -> str: ...
    @property
    def is_too_large(self) -> bool: ...
    def finish(self) -> tuple[Part, tuple[Part, ...]]: ...

def check(files: Files, tools: object = None) -> Part: ...
def json_text(object: object, name: str) -> str: ...
def judge_column(
    engine: Engine,
    answers: _Buffers,
    session: Part,
    sessions: _Buffers | None,
    mode: str | None,
    modes: _Buffers | None,
    dialect: str | None,
    dialects: _Buffers | None,
    truncated: bytes,
    attempts: bytes,
    outcomes: bool,
    before: int,
    threads: int,
) -> dict[str, Any]: ...
def tool_results(outcome: Part, provider: str) -> list[dict[str, Any]]: ...
def turn_of(outcome: Part) -> Part: ...
def replace(
    session: Part, mode: str | None, now: tuple[str | None] | None, state: Mapping[str, Any] | None
) -> Part: ...
def command(arguments: list[str]) -> int: ...
