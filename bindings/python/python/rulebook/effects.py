"""Effects: what does an outcome ask the host to do?"""

# Written by scripts/contract.py from the files in `schemas/`: change those, and run it again.

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import Any, Literal, TYPE_CHECKING, Union

from . import types
from ._part import Part, contract
from .types import Matching, Place, Span


@contract("Origin")
class Origin(Part):
    """The place of a call or content in the response."""

    __slots__ = ()

    @property
    def span(self) -> Span:
        """Its bytes."""

    @property
    def line(self) -> int:
        """The line of its first byte, from 1."""

    @property
    def column(self) -> int:
        """The column of its first byte, in characters, from 1."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.Origin: ...


@contract("Effect", tag=("kind", "set"))
class Set(Part):
    """Set the state at `path` to `value`."""

    __slots__ = ()
    __match_args__ = ("path", "value", "cause", "origin")

    @property
    def kind(self) -> Literal["set"]:
        """The word that tells this struct from the others of its union."""

    @property
    def path(self) -> str:
        """A path into the state, with dots."""

    @property
    def value(self) -> Any:
        """The value."""

    @property
    def cause(self) -> Place | None:
        """The declaration that caused it; none if no pack did."""

    @property
    def origin(self) -> Origin | None:
        """The call or content that asks for it; only for effects that may fail on a file: `edit`, `delete`, `move`,
        and `write` if the file must be new.
        """

    if TYPE_CHECKING:

        def to_dict(self) -> types.SetEffect: ...


@contract("Effect", tag=("kind", "append"))
class Append(Part):
    """Add `value` to the list at `path`."""

    __slots__ = ()
    __match_args__ = ("path", "value", "cause", "origin")

    @property
    def kind(self) -> Literal["append"]:
        """The word that tells this struct from the others of its union."""

    @property
    def path(self) -> str:
        """A path into the state, with dots."""

    @property
    def value(self) -> Any:
        """The value."""

    @property
    def cause(self) -> Place | None:
        """The declaration that caused it; none if no pack did."""

    @property
    def origin(self) -> Origin | None:
        """The call or content that asks for it; only for effects that may fail on a file: `edit`, `delete`, `move`,
        and `write` if the file must be new.
        """

    if TYPE_CHECKING:

        def to_dict(self) -> types.AppendEffect: ...


@contract("Effect", tag=("kind", "remove"))
class Remove(Part):
    """Remove the state at `path`."""

    __slots__ = ()
    __match_args__ = ("path", "value", "cause", "origin")

    @property
    def kind(self) -> Literal["remove"]:
        """The word that tells this struct from the others of its union."""

    @property
    def path(self) -> str:
        """A path into the state, with dots."""

    @property
    def value(self) -> Any:
        """The value that was there."""

    @property
    def cause(self) -> Place | None:
        """The declaration that caused it; none if no pack did."""

    @property
    def origin(self) -> Origin | None:
        """The call or content that asks for it; only for effects that may fail on a file: `edit`, `delete`, `move`,
        and `write` if the file must be new.
        """

    if TYPE_CHECKING:

        def to_dict(self) -> types.RemoveEffect: ...


@contract("Effect", tag=("kind", "emit"))
class Emit(Part):
    """Send an event."""

    __slots__ = ()
    __match_args__ = ("event", "value", "cause", "origin")

    @property
    def kind(self) -> Literal["emit"]:
        """The word that tells this struct from the others of its union."""

    @property
    def event(self) -> str:
        """The name of the event."""

    @property
    def value(self) -> Any:
        """The value of the event."""

    @property
    def cause(self) -> Place | None:
        """The declaration that caused it; none if no pack did."""

    @property
    def origin(self) -> Origin | None:
        """The call or content that asks for it; only for effects that may fail on a file: `edit`, `delete`, `move`,
        and `write` if the file must be new.
        """

    if TYPE_CHECKING:

        def to_dict(self) -> types.EmitEffect: ...


@contract("Effect", tag=("kind", "write"))
class Write(Part):
    """Write a file, or whatever the key names."""

    __slots__ = ()
    __match_args__ = ("key", "text", "cause", "executable", "new", "origin")

    @property
    def kind(self) -> Literal["write"]:
        """The word that tells this struct from the others of its union."""

    @property
    def key(self) -> str:
        """The key, such as a path."""

    @property
    def text(self) -> str:
        """The whole new text."""

    @property
    def cause(self) -> Place | None:
        """The declaration that caused it; none if no pack did."""

    @property
    def executable(self) -> bool:
        """Whether the file, if it is new, becomes executable. One that exists keeps its mode."""

    @property
    def new(self) -> bool:
        """Whether the file must not exist yet: an addition never replaces one."""

    @property
    def origin(self) -> Origin | None:
        """The call or content that asks for it; only for effects that may fail on a file: `edit`, `delete`, `move`,
        and `write` if the file must be new.
        """

    if TYPE_CHECKING:

        def to_dict(self) -> types.WriteEffect: ...


@contract("Effect", tag=("kind", "say"))
class Say(Part):
    """Say something to the user."""

    __slots__ = ()
    __match_args__ = ("id", "text", "cause", "origin")

    @property
    def kind(self) -> Literal["say"]:
        """The word that tells this struct from the others of its union."""

    @property
    def id(self) -> str:
        """The name of the message in the pack."""

    @property
    def text(self) -> str:
        """Its text."""

    @property
    def cause(self) -> Place | None:
        """The declaration that caused it; none if no pack did."""

    @property
    def origin(self) -> Origin | None:
        """The call or content that asks for it; only for effects that may fail on a file: `edit`, `delete`, `move`,
        and `write` if the file must be new.
        """

    if TYPE_CHECKING:

        def to_dict(self) -> types.SayEffect: ...


@contract("Effect", tag=("kind", "amend"))
class Amend(Part):
    """Add to the end of a section of a document, and change nothing else."""

    __slots__ = ()
    __match_args__ = ("key", "section", "marker", "text", "otherwise", "done", "missing", "cause", "origin")

    @property
    def kind(self) -> Literal["amend"]:
        """The word that tells this struct from the others of its union."""

    @property
    def key(self) -> str:
        """The key of the document."""

    @property
    def section(self) -> str:
        """The heading of the section to add to."""

    @property
    def marker(self) -> str:
        """A line that marks the addition; empty for none."""

    @property
    def text(self) -> str:
        """The text to add."""

    @property
    def otherwise(self) -> str:
        """A heading line to open a new section with if there is no such section; empty for none."""

    @property
    def done(self) -> str:
        """What to say afterwards, with `{section}` for the heading that was chosen; empty for nothing."""

    @property
    def missing(self) -> str:
        """What to say if the document does not exist; empty for nothing."""

    @property
    def cause(self) -> Place | None:
        """The declaration that caused it; none if no pack did."""

    @property
    def origin(self) -> Origin | None:
        """The call or content that asks for it; only for effects that may fail on a file: `edit`, `delete`, `move`,
        and `write` if the file must be new.
        """

    if TYPE_CHECKING:

        def to_dict(self) -> types.AmendEffect: ...


@contract("Effect", tag=("kind", "record"))
class Record(Part):
    """Add to a list in a JSON document, and change nothing else."""

    __slots__ = ()
    __match_args__ = ("key", "path", "value", "cause", "origin")

    @property
    def kind(self) -> Literal["record"]:
        """The word that tells this struct from the others of its union."""

    @property
    def key(self) -> str:
        """The key of the document."""

    @property
    def path(self) -> str:
        """The path of the list, with dots; a key that contains a dot is in double quotes, as a JSON text."""

    @property
    def value(self) -> Any:
        """The value to add."""

    @property
    def cause(self) -> Place | None:
        """The declaration that caused it; none if no pack did."""

    @property
    def origin(self) -> Origin | None:
        """The call or content that asks for it; only for effects that may fail on a file: `edit`, `delete`, `move`,
        and `write` if the file must be new.
        """

    if TYPE_CHECKING:

        def to_dict(self) -> types.RecordEffect: ...


@contract("Effect", tag=("kind", "edit"))
class Edit(Part):
    """Replace a text in a file, and change nothing else."""

    __slots__ = ()
    __match_args__ = ("key", "find", "put", "match", "after", "all", "end", "line", "lines", "cause", "origin")

    @property
    def kind(self) -> Literal["edit"]:
        """The word that tells this struct from the others of its union."""

    @property
    def key(self) -> str:
        """The key of the file."""

    @property
    def find(self) -> str:
        """The text to replace. If it is empty, `put` is added: right after the last line of `after`, or at the end of
        the file.
        """

    @property
    def put(self) -> str:
        """The text to put in its place."""

    @property
    def match(self) -> tuple[Matching, ...]:
        """How to compare `find` with the file: the first comparison that finds it counts."""

    @property
    def after(self) -> tuple[str, ...]:
        """Lines that come before, in this order, compared without the white space around them: the first occurrence
        after them counts.
        """

    @property
    def all(self) -> bool:
        """Whether every occurrence is replaced. Otherwise there must be exactly one, unless `line` or `after` decides.
        """

    @property
    def end(self) -> bool:
        """Whether the occurrence is at the end of the file."""

    @property
    def line(self) -> int | None:
        """The line of the file, from 1, at which `find` should start: of several occurrences, the one there counts.
        The number decides nothing else, since models count badly.
        """

    @property
    def lines(self) -> bool:
        """Whether `find` and `put` are whole lines, each with its line break: an occurrence begins at the start of a
        line. A last line without a line break is the last line of the file.
        """

    @property
    def cause(self) -> Place | None:
        """The declaration that caused it; none if no pack did."""

    @property
    def origin(self) -> Origin | None:
        """The call or content that asks for it; only for effects that may fail on a file: `edit`, `delete`, `move`,
        and `write` if the file must be new.
        """

    if TYPE_CHECKING:

        def to_dict(self) -> types.EditEffect: ...


@contract("Effect", tag=("kind", "delete"))
class Delete(Part):
    """Delete a file."""

    __slots__ = ()
    __match_args__ = ("key", "cause", "origin", "text")

    @property
    def kind(self) -> Literal["delete"]:
        """The word that tells this struct from the others of its union."""

    @property
    def key(self) -> str:
        """The key of the file."""

    @property
    def cause(self) -> Place | None:
        """The declaration that caused it; none if no pack did."""

    @property
    def origin(self) -> Origin | None:
        """The call or content that asks for it; only for effects that may fail on a file: `edit`, `delete`, `move`,
        and `write` if the file must be new.
        """

    @property
    def text(self) -> str | None:
        """The text that the file must have, compared line by line without the white space around the lines: the lines
        that a diff removes. None if the file is deleted whatever it contains.
        """

    if TYPE_CHECKING:

        def to_dict(self) -> types.DeleteEffect: ...


@contract("Effect", tag=("kind", "move"))
class Move(Part):
    """Move a file to another key, where none is yet."""

    __slots__ = ()
    __match_args__ = ("key", "to", "cause", "origin")

    @property
    def kind(self) -> Literal["move"]:
        """The word that tells this struct from the others of its union."""

    @property
    def key(self) -> str:
        """The key of the file."""

    @property
    def to(self) -> str:
        """Its new key."""

    @property
    def cause(self) -> Place | None:
        """The declaration that caused it; none if no pack did."""

    @property
    def origin(self) -> Origin | None:
        """The call or content that asks for it; only for effects that may fail on a file: `edit`, `delete`, `move`,
        and `write` if the file must be new.
        """

    if TYPE_CHECKING:

        def to_dict(self) -> types.MoveEffect: ...


Effect = Union[Set, Append, Remove, Emit, Write, Say, Amend, Record, Edit, Delete, Move]

__all__ = [
    "Origin",
    "Set",
    "Append",
    "Remove",
    "Emit",
    "Write",
    "Say",
    "Amend",
    "Record",
    "Edit",
    "Delete",
    "Move",
    "Effect",
]
