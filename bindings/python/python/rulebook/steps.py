"""Steps: which declaration caused what? The trace of an outcome."""

# Written by scripts/contract.py from the files in `schemas/`: change those, and run it again.

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import Literal, TYPE_CHECKING, Union

from . import types
from ._part import Part, contract
from .types import Leaf, Place, Span


@contract("ConditionPart")
class ConditionPart(Part):
    """A part of a condition and its value."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The source of the part, as the pack writes it."""

    @property
    def value(self) -> str:
        """Its value as JSON, shortened; or the error, if there is no value."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.ConditionPart: ...


@contract("Step", tag=("step", "dialect"))
class Dialect(Part):
    """A dialect was tried, or skipped."""

    __slots__ = ()
    __match_args__ = ("span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["dialect"]:
        """The word that tells this struct from the others of its union."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.DialectStep: ...


@contract("Step", tag=("step", "bytes"))
class Bytes(Part):
    """Bytes were counted."""

    __slots__ = ()
    __match_args__ = ("part", "why", "span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["bytes"]:
        """The word that tells this struct from the others of its union."""

    @property
    def part(self) -> Leaf:
        """The part of the ledger under which they count."""

    @property
    def why(self) -> str | None:
        """For dropped bytes: why they were dropped."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.BytesStep: ...


@contract("Step", tag=("step", "input"))
class Input(Part):
    """A user's message was classified."""

    __slots__ = ()
    __match_args__ = ("span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["input"]:
        """The word that tells this struct from the others of its union."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.InputStep: ...


@contract("Step", tag=("step", "shadowed"))
class Shadowed(Part):
    """A later input matches the message, too."""

    __slots__ = ()
    __match_args__ = ("span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["shadowed"]:
        """The word that tells this struct from the others of its union."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.ShadowedStep: ...


@contract("Step", tag=("step", "block"))
class Block(Part):
    """A block was recognised."""

    __slots__ = ()
    __match_args__ = ("span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["block"]:
        """The word that tells this struct from the others of its union."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.BlockStep: ...


@contract("Step", tag=("step", "call"))
class Call(Part):
    """A call was judged."""

    __slots__ = ()
    __match_args__ = ("accepted", "span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["call"]:
        """The word that tells this struct from the others of its union."""

    @property
    def accepted(self) -> bool:
        """Whether it was accepted."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.CallStep: ...


@contract("Step", tag=("step", "permit"))
class Permit(Part):
    """The permits of a mode were checked."""

    __slots__ = ()
    __match_args__ = ("span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["permit"]:
        """The word that tells this struct from the others of its union."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.PermitStep: ...


@contract("Step", tag=("step", "condition"))
class Condition(Part):
    """A condition was evaluated."""

    __slots__ = ()
    __match_args__ = ("span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["condition"]:
        """The word that tells this struct from the others of its union."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.ConditionStep: ...


@contract("Step", tag=("step", "defect"))
class Defect(Part):
    """A defect was found."""

    __slots__ = ()
    __match_args__ = ("span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["defect"]:
        """The word that tells this struct from the others of its union."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.DefectStep: ...


@contract("Step", tag=("step", "guardrail"))
class Guardrail(Part):
    """A guardrail tripped."""

    __slots__ = ()
    __match_args__ = ("span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["guardrail"]:
        """The word that tells this struct from the others of its union."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.GuardrailStep: ...


@contract("Step", tag=("step", "strategy"))
class Strategy(Part):
    """A strategy answered the preceding finding."""

    __slots__ = ()
    __match_args__ = ("span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["strategy"]:
        """The word that tells this struct from the others of its union."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.StrategyStep: ...


@contract("Step", tag=("step", "remark"))
class Remark(Part):
    """A remark was made."""

    __slots__ = ()
    __match_args__ = ("span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["remark"]:
        """The word that tells this struct from the others of its union."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.RemarkStep: ...


@contract("Step", tag=("step", "rule"))
class Rule(Part):
    """A rule fired."""

    __slots__ = ()
    __match_args__ = ("span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["rule"]:
        """The word that tells this struct from the others of its union."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.RuleStep: ...


@contract("Step", tag=("step", "mode"))
class Mode(Part):
    """The mode changed."""

    __slots__ = ()
    __match_args__ = ("from_", "to", "span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["mode"]:
        """The word that tells this struct from the others of its union."""

    @property
    def from_(self) -> str:
        """The mode that was left."""

    @property
    def to(self) -> str:
        """The mode that was entered."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.ModeStep: ...


@contract("Step", tag=("step", "effect"))
class Effect(Part):
    """An effect was produced for the host."""

    __slots__ = ()
    __match_args__ = ("span", "found", "rule", "parts")

    @property
    def step(self) -> Literal["effect"]:
        """The word that tells this struct from the others of its union."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def found(self) -> str:
        """What was found, in words."""

    @property
    def rule(self) -> Place | None:
        """The declaration that was applied."""

    @property
    def parts(self) -> tuple[ConditionPart, ...]:
        """The parts of a condition and their values."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.EffectStep: ...


Step = Union[
    Dialect,
    Bytes,
    Input,
    Shadowed,
    Block,
    Call,
    Permit,
    Condition,
    Defect,
    Guardrail,
    Strategy,
    Remark,
    Rule,
    Mode,
    Effect,
]

__all__ = [
    "ConditionPart",
    "Dialect",
    "Bytes",
    "Input",
    "Shadowed",
    "Block",
    "Call",
    "Permit",
    "Condition",
    "Defect",
    "Guardrail",
    "Strategy",
    "Remark",
    "Rule",
    "Mode",
    "Effect",
    "Step",
]
