"""Events: what does a reader tell before the answer has ended?"""

# Written by scripts/contract.py from the files in `schemas/`: change those, and run it again.

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import Literal, TYPE_CHECKING, Union

from . import types
from ._part import Part, contract
from .types import Role, Span


@contract("Event", tag=("event", "opened"))
class Opened(Part):
    """A block opened."""

    __slots__ = ()
    __match_args__ = ("block", "name", "role", "called", "start")

    @property
    def event(self) -> Literal["opened"]:
        """The word that tells this struct from the others of its union."""

    @property
    def block(self) -> int:
        """Its number. Blocks are numbered from 0 in the order of their openers."""

    @property
    def name(self) -> str:
        """Its name in the pack."""

    @property
    def role(self) -> Role:
        """Its role."""

    @property
    def called(self) -> str | None:
        """What its opener calls it: the speaker of an utterance, the key of a content, the action of a call; for other
        blocks their name as written. None if that is not in the opener, since a payload may name a call, and a
        wrapper its contents; or if a guardrail may keep it from the outcome.
        """

    @property
    def start(self) -> int:
        """The offset of its opener, in bytes of `Reader.text`."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.OpenedEvent: ...


@contract("Event", tag=("event", "text"))
class Text(Part):
    """Text as the outcome has it: decoded, trimmed and redacted. Parts of a message are separated as the pack says.
    What had to wait for the end of the answer (`[reply] hold`) comes last, without the number of its block.
    """

    __slots__ = ()
    __match_args__ = ("block", "role", "text")

    @property
    def event(self) -> Literal["text"]:
        """The word that tells this struct from the others of its union."""

    @property
    def block(self) -> int | None:
        """The number of the block; none outside every block, and for what had to wait."""

    @property
    def role(self) -> Role | None:
        """The role of the text. `Role.Message` may be shown to a user already; this includes the text of a section
        that is shown as the message (`[reply]` `shows`). None only under `hold = "none"`, for text that is no part
        of the outcome unless a strategy makes it one.
        """

    @property
    def text(self) -> str:
        """The text."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.TextEvent: ...


@contract("Event", tag=("event", "field"))
class Field(Part):
    """More of a parameter of a call: the pieces of one path, joined, are the text of the value there. Numbers, `true`,
    `false` and `null` are emitted as JSON; objects and lists by what is in them. What the outcome has of the calls
    that count is emitted once the answer has been judged. Only under `hold = "none"` the arguments of native calls
    are emitted while they come, as far as they are strict JSON, whether the call counts or not.
    """

    __slots__ = ()
    __match_args__ = ("call", "path", "text")

    @property
    def event(self) -> Literal["field"]:
        """The word that tells this struct from the others of its union."""

    @property
    def call(self) -> int:
        """The index of the call in the `calls` of the outcome."""

    @property
    def path(self) -> tuple[str, ...]:
        """The path to the value in the parameters: keys, and the indexes of list items."""

    @property
    def text(self) -> str:
        """The text that follows what was announced of it before, decoded."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.FieldEvent: ...


@contract("Event", tag=("event", "closed"))
class Closed(Part):
    """A block is complete."""

    __slots__ = ()
    __match_args__ = ("block", "span")

    @property
    def event(self) -> Literal["closed"]:
        """The word that tells this struct from the others of its union."""

    @property
    def block(self) -> int:
        """Its number."""

    @property
    def span(self) -> Span:
        """The span of the whole block."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.ClosedEvent: ...


@contract("Event", tag=("event", "refused"))
class Refused(Part):
    """The answer was refused: the host clears what it has shown of it. It is the last event."""

    __slots__ = ()
    __match_args__ = ("emitted",)

    @property
    def event(self) -> Literal["refused"]:
        """The word that tells this struct from the others of its union."""

    @property
    def emitted(self) -> int:
        """How many bytes of text were announced before."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.RefusedEvent: ...


Event = Union[Opened, Text, Field, Closed, Refused]

__all__ = ["Opened", "Text", "Field", "Closed", "Refused", "Event"]
