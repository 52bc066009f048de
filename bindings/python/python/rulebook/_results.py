"""Results: what can be done with an outcome, a prompt, a session?

The members of these classes are those of the contracts (`schemas/`), and live in `_contract`. What is here besides reads
them, or makes the next one: no object changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, cast

from . import _contract, _engine, types
from ._part import contract

__all__ = ["Checked", "Finding", "Heard", "Outcome", "Prompt", "Session", "Turn"]


class _Unchanged:
    def __repr__(self) -> str:
        return "unchanged"


UNCHANGED: Any = _Unchanged()


@contract("Outcome")
class Outcome(_contract.Outcome):
    __doc__ = _contract.Outcome.__doc__
    __slots__ = ()

    if TYPE_CHECKING:  # The engine makes objects of the classes here; those in `_contract` do not know them.

        @property
        def session(self) -> Session: ...
        @property
        def diagnostics(self) -> tuple[Finding, ...]: ...

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error. `status` only says whether a strategy acted."""
        return any(found.severity == "error" for found in self.diagnostics)

    def tool_results(self, provider: types.Provider) -> list[dict[str, Any]]:
        """What answers the native calls that were not carried out, in the form of the provider.

        For OpenAI messages, for its Responses API items of `input`, for Anthropic blocks of one user message, for Gemini
        parts, for MCP the `result` of the request. Each says why, in words for a model. Calls that were accepted are not among
        them: the host answers those. One that waits is answered by the outcome of `Program.confirm` or `decline`, which has it
        by its id: among these results, or accepted.

        Raises `ValueError` for a provider that nobody knows.
        """
        return _engine.tool_results(self, provider)

    def __repr__(self) -> str:
        return brief(self, ("status", "mode", "message"), ("calls", "effects", "diagnostics"))


@contract("Heard")
class Heard(_contract.Heard):
    __doc__ = _contract.Heard.__doc__
    __slots__ = ()

    if TYPE_CHECKING:  # The engine makes objects of the classes here; those in `_contract` do not know them.

        @property
        def session(self) -> Session: ...
        @property
        def diagnostics(self) -> tuple[Finding, ...]: ...

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error."""
        return any(found.severity == "error" for found in self.diagnostics)

    def __repr__(self) -> str:
        return brief(self, ("text", "refused", "class_", "say"), ("effects", "diagnostics"))


@contract("Prompt", extra=("text", "texts"))
class Prompt(_contract.Prompt):
    __doc__ = _contract.Prompt.__doc__
    __slots__ = ()

    @property
    def text(self) -> str:
        """The same prompt as one text, with the pack's separator between the layers. It is not in the JSON."""
        raise NotImplementedError

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each layer, in the order of the ledger. They are not in the JSON."""
        raise NotImplementedError

    if TYPE_CHECKING:

        @property
        def diagnostics(self) -> tuple[Finding, ...]: ...

    @property
    def has_errors(self) -> bool:
        """Whether there is an error, and therefore no prompt: then there are no messages."""
        return any(found.severity == "error" for found in self.diagnostics)

    def __repr__(self) -> str:
        return f"Prompt(tokens={self.ledger.tokens}, messages={len(self.messages)}, diagnostics={len(self.diagnostics)})"


@contract("Session")
class Session(_contract.Session):
    """What is remembered between two answers: plain data, which the host saves.

    Save `to_json()` in a database, and read it with `Program.resume`. The engine has no clock, and does not know what only
    the host does: `replace` makes a session with the time, and with values that the pack declares as `from = "host"`.
    """

    __slots__ = ()

    def replace(
        self,
        *,
        mode: str = UNCHANGED,
        now: str | None = UNCHANGED,
        state: Mapping[str, Any] = UNCHANGED,
    ) -> Session:
        """A session with another mode or time, and with these values in its state; all else stays.

        Whether values fit their schemas is checked by `Program.resume`, not here. Raises `TypeError` for what JSON does
        not have, `ValueError` for a number that it cannot write.
        """
        return cast(Session, _engine.replace(
            self,
            None if mode is UNCHANGED else mode,
            None if now is UNCHANGED else (now,),
            None if state is UNCHANGED else state,
        ))

    __replace__ = replace


@contract("Turn")
class Turn(_contract.Turn):
    """One turn of a conversation. `content` is plain text, and what a host displays: a prompt reads no block in it.

    Turns are JSON: save `to_dict()` with the session, and pass the list as `history`.
    """

    __slots__ = ()

    @staticmethod
    def user(text: str) -> Turn:
        """What a user said."""
        return cast(Turn, _engine.rebuild(Turn, {"role": "user", "content": text}))

    @staticmethod
    def system(text: str) -> Turn:
        """A text with the authority of the system. It must not come from a user."""
        return cast(Turn, _engine.rebuild(Turn, {"role": "system", "content": text}))

    @staticmethod
    def assistant(text: str) -> Turn:
        """The message that a user saw of an answer. It is never read: `Program.turn` is for a raw answer."""
        return cast(Turn, _engine.rebuild(Turn, {"role": "assistant", "content": text}))

    @staticmethod
    def answer(outcome: Outcome) -> Turn:
        """An answer of the model: what the user saw of it, and the parts that counted."""
        return cast(Turn, _engine.turn_of(outcome))


@contract("Finding")
class Finding(_contract.Finding):
    __doc__ = _contract.Finding.__doc__
    __slots__ = ()

    def __str__(self) -> str:
        """Everything in one line, with line and column, for a log."""
        place = f"{self.line}:{self.column}: " if self.line else ""
        help = f" ({self.help})" if self.help else ""
        return f"{place}{self.severity}[{self.code}]: {self.message}{help}"


@contract("Checked", extra=("drawn",))
class Checked(_contract.Checked):
    """Everything that can be known about a pack without a model, as `rulebook check` reports it."""

    __slots__ = ()

    @property
    def drawn(self) -> str:
        """The findings with the lines that they are about, as the command prints them. It is not in the JSON."""
        raise NotImplementedError

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error: then there is no program."""
        return self.summary.errors > 0

    def __repr__(self) -> str:
        summary = self.summary
        return f"Checked(errors={summary.errors}, warnings={summary.warnings}, infos={summary.infos})"


def brief(part: Any, listed: tuple[str, ...], counted: tuple[str, ...]) -> str:
    """A short form of a large object: some members, and how many others there are."""
    short = [f"{name}={cut(getattr(part, name, None))}" for name in listed if hasattr(part, name)]
    short += [f"{name}={len(getattr(part, name))}" for name in counted]
    return f"{type(part).__name__}({', '.join(short)})"


def cut(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:76]}...{text[-1]}"
