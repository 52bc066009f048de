"""Contracts: what are the parts of an outcome, a prompt, a report?"""

# Written by scripts/contract.py from the files in `schemas/`: change those, and run it again.

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import Any, Mapping, TYPE_CHECKING

from . import types
from ._part import Part, contract
from .effects import Effect
from .steps import Step
from .types import Code, Ids, Place, Resolution, Severity, Span, Speaker, Status, Strategy, Verdict


@contract("Outcome")
class Outcome(Part):
    """The outcome of one response.

    What a response may do: the text to show, the effects to carry out, and a finding for everything that was wrong.

    Lists keep the order of the response. What is absent is `""`, `[]` or `null`; a key is missing only where it says
    so.
    """

    __slots__ = ()

    @property
    def version(self) -> int:
        """The version of this contract: 1."""

    @property
    def status(self) -> Status:
        """Whether a strategy had to act. A response that no dialect could read may be clean: the error is then in
        `diagnostics`.
        """

    @property
    def dialect(self) -> str | None:
        """The dialect that read the response; none if no dialect recognised a block."""

    @property
    def mode(self) -> str:
        """The mode in which the response was judged."""

    @property
    def message(self) -> str:
        """The text to show."""

    @property
    def thinking(self) -> tuple[str, ...]:
        """The model's reasoning, block by block."""

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections that no strategy removed."""

    @property
    def contents(self) -> tuple[ContentBlock, ...]:
        """The contents that no strategy removed."""

    @property
    def utterances(self) -> tuple[Utterance, ...]:
        """The utterances that no strategy removed."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every call, accepted or not, except those inside masks or thinking."""

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What the host should carry out, in order."""

    @property
    def diagnostics(self) -> tuple[Finding, ...]:
        """Everything that was wrong or worth reporting, ordered by place, then by code."""

    @property
    def ask_again(self) -> str | None:
        """A correction text to send to the model; none unless the strategy `ask-again` acted."""

    @property
    def ledger(self) -> Ledger:
        """The account of every byte of the response."""

    @property
    def redacted(self) -> tuple[Span, ...]:
        """The bytes that must not be displayed, since a guardrail replaced or removed them or refused the answer
        because of them, in order.
        """

    @property
    def session(self) -> Session:
        """The session after the response: pass it with the next one."""

    @property
    def trace(self) -> tuple[Step, ...] | None:
        """Which declaration caused what, step by step; absent unless a trace was asked for."""

    @property
    def withheld(self) -> Withheld | None:
        """What was read of a refused response; absent unless it was refused and the run asked for it."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.Outcome: ...


@contract("Section")
class Section(Part):
    """A named part of the reply: a block whose role is `section`."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def text(self) -> str:
        """Its text."""

    @property
    def span(self) -> Span:
        """The bytes of the whole block."""

    @property
    def value(self) -> Any:
        """Its value, typed by its schema; absent unless it is JSON other than a text, or declares how it is read."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.Section: ...


@contract("ContentBlock")
class ContentBlock(Part):
    """Text to be stored under a key: a block whose role is `content`."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the content's declaration."""

    @property
    def key(self) -> str:
        """The key to store it under, such as a path."""

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of its opener, by name, as conditions and effects see them."""

    @property
    def text(self) -> str:
        """Its text. Effects share it."""

    @property
    def span(self) -> Span:
        """The bytes of the whole block."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.ContentBlock: ...


@contract("Utterance")
class Utterance(Part):
    """What one speaker says: a block whose role is `utterance`."""

    __slots__ = ()

    @property
    def speaker(self) -> str:
        """The speaker's name."""

    @property
    def label(self) -> str:
        """The label written after the name."""

    @property
    def text(self) -> str:
        """What the speaker says."""

    @property
    def offset(self) -> int:
        """Where it belongs in the message: how many of its bytes come before."""

    @property
    def span(self) -> Span:
        """The bytes of the whole block."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.Utterance: ...


@contract("Call")
class Call(Part):
    """One call: a use of an action in the response."""

    __slots__ = ()

    @property
    def action(self) -> str:
        """The name of the action, as the response writes it."""

    @property
    def params(self) -> dict[str, Any]:
        """The parameters, typed by the action's schema."""

    @property
    def verdict(self) -> Verdict:
        """Whether the call counts."""

    @property
    def span(self) -> Span:
        """The bytes of the whole block."""

    @property
    def id(self) -> str | None:
        """The id of a native tool call, as the provider gave it; absent for a call that is written in the text."""

    @property
    def pending(self) -> str | None:
        """The id under which it waits in the session until a person has confirmed it; absent unless it is pending.
        """

    if TYPE_CHECKING:

        def to_dict(self) -> types.Call: ...


@contract("Finding")
class Finding(Part):
    """One diagnostic about the response, with its place in the response and in the pack."""

    __slots__ = ()

    @property
    def code(self) -> Code:
        """What kind of finding it is: a defect or remark of a response, such as `response/forbidden-call`."""

    @property
    def id(self) -> str | None:
        """The name of the guardrail that tripped, if one did."""

    @property
    def severity(self) -> Severity:
        """`error`, `warning` or `info`."""

    @property
    def message(self) -> str:
        """What is wrong, in one line."""

    @property
    def span(self) -> Span:
        """Where in the response."""

    @property
    def line(self) -> int:
        """The line of its first byte, from 1; 0 if it is not about a place."""

    @property
    def column(self) -> int:
        """The column of its first byte, in characters, from 1; 0 if it is not about a place."""

    @property
    def rule(self) -> Place | None:
        """The declaration to which the finding refers."""

    @property
    def strategy(self) -> Strategy | None:
        """The strategy that answered the defect; none for a remark."""

    @property
    def help(self) -> str | None:
        """How to fix it."""

    @property
    def file_lines(self) -> tuple[FileLines, ...]:
        """Lines of the file on which an edit failed: those most similar to its text, or the first of each place where
        the text occurs; absent from all other findings.
        """

    @property
    def to_model(self) -> str | None:
        """The message for a model, without the pack's conditions; absent if it is the same as `message`."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.Finding: ...


@contract("FileLines")
class FileLines(Part):
    """Successive lines of a file."""

    __slots__ = ()

    @property
    def line(self) -> int:
        """The number of the first line, from 1."""

    @property
    def text(self) -> str:
        """The lines, as the file has them, without the last line break."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.FileLines: ...


@contract("Ledger")
class Ledger(Part):
    """The account of every byte of the response: the parts sum to `bytes`."""

    __slots__ = ()

    @property
    def bytes(self) -> int:
        """The length of the response, in bytes; of a reply of an API, that of all its parts together."""

    @property
    def message(self) -> int:
        """Text shown to the user."""

    @property
    def thinking(self) -> int:
        """Reasoning."""

    @property
    def calls(self) -> int:
        """Payloads of calls."""

    @property
    def contents(self) -> int:
        """Bodies of contents."""

    @property
    def sections(self) -> int:
        """Bodies of sections."""

    @property
    def utterances(self) -> int:
        """Bodies of utterances."""

    @property
    def markup(self) -> int:
        """Openers, closers, keys, quotes, separators, removed fences."""

    @property
    def stray(self) -> int:
        """Text outside every block."""

    @property
    def dropped(self) -> int:
        """What a strategy removed, with its markup."""

    @property
    def blank(self) -> int:
        """White space outside blocks, and white space that was trimmed."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.Ledger: ...


@contract("Session")
class Session(Part):
    """Plain data that the host stores. The engine returns the next one: `{ "mode", "state", "now", "ids", "pending",
    "resolved" }`.

    Cloning is cheap: clones share the values of the state until one of them changes. `Program.resume` reads a session
    that was stored as JSON, and checks it against the pack; serde alone does not check it.
    """

    __slots__ = ()

    @property
    def mode(self) -> str:
        """The name of the mode."""

    @property
    def state(self) -> dict[str, Any]:
        """The values that the pack's `[state]` declares, in the order of declaration. A host may change them.
        `Program.resume` checks whether they are valid against their schemas; nothing is checked here.
        """

    @property
    def now(self) -> str | None:
        """The current time, which the host sets for each turn. The engine has no clock."""

    @property
    def ids(self) -> Ids:
        """The last number assigned for each kind of id."""

    @property
    def pending(self) -> Mapping[str, PendingCall]:
        """The calls that wait until a person has confirmed them, by the id of their request; absent if none does."""

    @property
    def resolved(self) -> Mapping[str, ResolvedCall]:
        """What became of calls that waited, by the id of their request: the newest hundred; absent if there are none.
        The prompt reports them to the model.
        """

    if TYPE_CHECKING:

        def to_dict(self) -> types.Session: ...


@contract("PendingCall")
class PendingCall(Part):
    """A call that waits until a person has confirmed it."""

    __slots__ = ()

    @property
    def action(self) -> str:
        """The name of its action."""

    @property
    def params(self) -> dict[str, Any]:
        """Its parameters."""

    @property
    def question(self) -> str:
        """The question to the person, in the words of the pack."""

    @property
    def call(self) -> str | None:
        """The id of the call in the reply, if the provider gave it one."""

    @property
    def first(self) -> str | None:
        """The id of the first request for the call, if a person was asked about it more than once."""

    @property
    def now(self) -> str | None:
        """The session's time when it was asked, if the host had set it."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.PendingCall: ...


@contract("ResolvedCall")
class ResolvedCall(Part):
    """What became of a call that waited."""

    __slots__ = ()

    @property
    def action(self) -> str:
        """The name of its action."""

    @property
    def resolution(self) -> Resolution:
        """What became of it."""

    @property
    def reported(self) -> bool:
        """Whether the model has answered since, so that the next prompt need not report it."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.ResolvedCall: ...


@contract("Withheld")
class Withheld(Part):
    """What was read of a response that was refused. It must not be displayed."""

    __slots__ = ()

    @property
    def message(self) -> str:
        """The text that would have been shown."""

    @property
    def thinking(self) -> tuple[str, ...]:
        """The model's reasoning, block by block."""

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections."""

    @property
    def contents(self) -> tuple[ContentBlock, ...]:
        """The contents."""

    @property
    def utterances(self) -> tuple[Utterance, ...]:
        """The utterances."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls, with their parameters."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.Withheld: ...


@contract("Heard")
class Heard(Part):
    """The outcome of the user's words.

    The class of a user's message, and what follows from it.
    """

    __slots__ = ()

    @property
    def version(self) -> int:
        """The version of this contract: 1."""

    @property
    def text(self) -> str:
        """The user's message as it may be stored and sent to a model: guardrails on the input have replaced what they
        redact. Empty if the message is refused.
        """

    @property
    def refused(self) -> bool:
        """Whether a guardrail refuses the message. Nothing follows from it, and a host must not store it."""

    @property
    def class_(self) -> str | None:
        """The class of the input that matched; none if no input of the mode matched."""

    @property
    def captures(self) -> dict[str, Any]:
        """What the pattern of the input captured."""

    @property
    def say(self) -> tuple[str, ...]:
        """The texts to show to the user, in order. They are the texts of the `say` effects: show each once."""

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What the host should carry out, in order."""

    @property
    def diagnostics(self) -> tuple[Finding, ...]:
        """Everything worth reporting."""

    @property
    def session(self) -> Session:
        """The session afterwards: pass it with the next message or response."""

    @property
    def trace(self) -> tuple[Step, ...] | None:
        """Which declaration caused what, step by step; absent unless a trace was asked for."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.Heard: ...


@contract("Prompt")
class Prompt(Part):
    """The messages that Rulebook writes for a model.

    The messages for a model, and where every token in them comes from.
    """

    __slots__ = ()

    @property
    def version(self) -> int:
        """The version of this contract: 1."""

    @property
    def messages(self) -> tuple[PromptMessage, ...]:
        """The messages in order; empty if there is an error."""

    @property
    def ledger(self) -> TokenLedger:
        """The account of every token."""

    @property
    def diagnostics(self) -> tuple[Finding, ...]:
        """Everything worth reporting about the prompt."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.Prompt: ...


@contract("PromptMessage")
class PromptMessage(Part):
    """One message of a prompt."""

    __slots__ = ()

    @property
    def role(self) -> Speaker:
        """Who says it."""

    @property
    def content(self) -> str:
        """Its text."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.PromptMessage: ...


@contract("TokenLedger")
class TokenLedger(Part):
    """The account of every token of a prompt."""

    __slots__ = ()

    @property
    def model(self) -> str:
        """The model, by its name in the pack; by the host's name if the pack does not declare it."""

    @property
    def tier(self) -> str:
        """The tier of the model."""

    @property
    def context(self) -> int:
        """The context window of the model, in tokens."""

    @property
    def reserve(self) -> int:
        """How many of these are reserved for the answer."""

    @property
    def tokens(self) -> int:
        """The tokens of the whole prompt, as one text."""

    @property
    def estimated(self) -> bool:
        """Whether the numbers are estimates, because the model's vocabulary is unknown."""

    @property
    def layers(self) -> tuple[PromptLayer, ...]:
        """Every layer of the prompt, in order."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.TokenLedger: ...


@contract("PromptLayer")
class PromptLayer(Part):
    """One layer of the prompt."""

    __slots__ = ()

    @property
    def id(self) -> str:
        """Its name."""

    @property
    def source(self) -> str | None:
        """The file of its text, after the folder of its pack if that is a used one; or `history`, `verdicts` or
        `message`.
        """

    @property
    def variant(self) -> str | None:
        """The tier whose variant was used; none for the layer's own text."""

    @property
    def tokens(self) -> int:
        """Its tokens."""

    @property
    def budget(self) -> int | None:
        """The most tokens that it may have; none without a budget."""

    @property
    def trimmed(self) -> str | None:
        """What was left out and why. Each part starts with the word of the pack that caused it."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.PromptLayer: ...


@contract("Turn")
class Turn(Part):
    """One turn of the history that a prompt shows.

    One turn of a conversation. `content` is plain text, and what a host displays: a prompt reads no block in it, and
    escapes anything that looks like one.

    An answer of the model becomes a turn by `Turn.answer`, or by `Program.turn` if only its text is left. A prompt
    shows such a turn in the form in which the current mode asks for answers.
    """

    __slots__ = ()

    @property
    def role(self) -> Speaker:
        """Whose turn it is. A turn of the `system` speaks with its authority, so it must not come from a user."""

    @property
    def content(self) -> str:
        """What was said. Of an answer, this is what its user saw."""

    @property
    def outcome(self) -> PastOutcome | None:
        """How the answer was read; absent if nothing is known of it, and in turns that are no answers."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.Turn: ...


@contract("PastOutcome")
class PastOutcome(Part):
    """What a history has of an outcome, besides the text that the user saw."""

    __slots__ = ()

    @property
    def mode(self) -> str:
        """The mode in which the answer was judged."""

    @property
    def dialect(self) -> str | None:
        """The dialect that read it; none if no dialect did."""

    @property
    def answer(self) -> PastAnswer | None:
        """The parts that counted, from which a prompt writes the answer again; absent if no dialect read it, if it was
        refused, or if the parts are too long. Such a turn is shown as its `content`.
        """

    @property
    def refused(self) -> tuple[RefusedCall, ...]:
        """The calls that were not carried out, with the reasons. The next prompt may report them to the model."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.PastOutcome: ...


@contract("PastAnswer")
class PastAnswer(Part):
    """The parts of a past answer that counted. Nothing of what was refused, dropped, redacted or withheld is in it,
    and no reasoning.
    """

    __slots__ = ()

    @property
    def calls(self) -> tuple[PastCall, ...]:
        """The calls that were accepted or wait, in order, except long ones."""

    @property
    def message(self) -> str | None:
        """The message; absent if it is the `content` of the turn."""

    @property
    def omitted(self) -> tuple[Omitted, ...]:
        """What is named and not repeated: contents, and calls whose parameters are long."""

    @property
    def sections(self) -> tuple[PastSection, ...]:
        """The sections, in order."""

    @property
    def utterances(self) -> tuple[PastUtterance, ...]:
        """The utterances, in order."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.PastAnswer: ...


@contract("PastCall")
class PastCall(Part):
    """A call of a past answer that was accepted, or that waits."""

    __slots__ = ()

    @property
    def action(self) -> str:
        """The name of the action."""

    @property
    def params(self) -> dict[str, Any]:
        """The parameters."""

    @property
    def pending(self) -> str | None:
        """The id of the request under which it waits, or waited; the session has what became of it."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.PastCall: ...


@contract("Omitted")
class Omitted(Part):
    """A part of a past answer that is named and not repeated."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the content or of the action."""

    @property
    def key(self) -> str:
        """The key of the content, such as a path; empty for a call."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.Omitted: ...


@contract("PastSection")
class PastSection(Part):
    """A section of a past answer."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def text(self) -> str:
        """Its text."""

    @property
    def value(self) -> Any:
        """Its value; absent unless it is JSON other than a text, or declares how it is read."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.PastSection: ...


@contract("PastUtterance")
class PastUtterance(Part):
    """What one speaker said in a past answer."""

    __slots__ = ()

    @property
    def speaker(self) -> str:
        """The speaker's name."""

    @property
    def text(self) -> str:
        """What the speaker said."""

    @property
    def offset(self) -> int:
        """How many bytes of the message come before it."""

    @property
    def label(self) -> str:
        """The label written after the name."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.PastUtterance: ...


@contract("RefusedCall")
class RefusedCall(Part):
    """A call of an answer that was not carried out."""

    __slots__ = ()

    @property
    def action(self) -> str:
        """The name of the action, as the answer wrote it."""

    @property
    def message(self) -> str:
        """The reason, in words for a model."""

    @property
    def help(self) -> str | None:
        """How to do better; absent if that is unknown."""

    @property
    def pending(self) -> str | None:
        """The id of the request under which it waits, or waited; the session has what became of it."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.RefusedCall: ...


@contract("Checked")
class Checked(Part):
    """What `rulebook check` found.

    The report of `check`: every diagnostic of every pack, and totals.
    """

    __slots__ = ()

    @property
    def version(self) -> int:
        """The version of this report: 1."""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every diagnostic, pack by pack."""

    @property
    def summary(self) -> CheckedSum:
        """The totals."""

    @property
    def permits(self) -> tuple[PermitRow, ...]:
        """What each mode says of each action and tool; absent unless the tools of a host are given."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.Checked: ...


@contract("Diagnostic")
class Diagnostic(Part):
    """One diagnostic as programs read it: what is wrong, where, and how to fix it.

    Lines and columns count from 1, columns in characters; the end is the place after the last character. Absent values
    are `null` or `[]`; no member is ever missing.
    """

    __slots__ = ()

    @property
    def code(self) -> Code:
        """What kind of diagnostic it is."""

    @property
    def id(self) -> str | None:
        """The name of the guardrail that tripped, if one did."""

    @property
    def severity(self) -> Severity:
        """`error`, `warning` or `info`."""

    @property
    def message(self) -> str:
        """What is wrong, in one line."""

    @property
    def file(self) -> str | None:
        """The file: as messages name it, or as the user typed it."""

    @property
    def line(self) -> int | None:
        """The line of its start."""

    @property
    def column(self) -> int | None:
        """The column of its start."""

    @property
    def end_line(self) -> int | None:
        """The line of its end."""

    @property
    def end_column(self) -> int | None:
        """The column of its end."""

    @property
    def label(self) -> str | None:
        """A few words to show at the place."""

    @property
    def help(self) -> str | None:
        """How to fix it."""

    @property
    def labels(self) -> tuple[DiagnosticLabel, ...]:
        """Other places that explain it."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.Diagnostic: ...


@contract("DiagnosticLabel")
class DiagnosticLabel(Part):
    """Another place that explains a diagnostic."""

    __slots__ = ()

    @property
    def file(self) -> str | None:
        """The file."""

    @property
    def line(self) -> int | None:
        """The line of its start."""

    @property
    def column(self) -> int | None:
        """The column of its start."""

    @property
    def end_line(self) -> int | None:
        """The line of its end."""

    @property
    def end_column(self) -> int | None:
        """The column of its end."""

    @property
    def text(self) -> str:
        """What is there."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.DiagnosticLabel: ...


@contract("CheckedSum")
class CheckedSum(Part):
    """The totals of `check`."""

    __slots__ = ()

    @property
    def packs(self) -> int:
        """How many packs were checked."""

    @property
    def errors(self) -> int:
        """How many diagnostics are errors."""

    @property
    def warnings(self) -> int:
        """How many diagnostics are warnings."""

    @property
    def infos(self) -> int:
        """How many diagnostics are remarks."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.CheckedSum: ...


@contract("PermitRow")
class PermitRow(Part):
    """What a mode says of an action or a tool."""

    __slots__ = ()

    @property
    def action(self) -> str:
        """The action."""

    @property
    def mode(self) -> str:
        """The mode."""

    @property
    def permitted(self) -> str:
        """`always`, `when` or `never`."""

    @property
    def when(self) -> str | None:
        """The condition; `confirmed` in it means that a person has to confirm each call. None if there is none."""

    @property
    def rule(self) -> Place | None:
        """The place of the permit; none without one."""

    if TYPE_CHECKING:

        def to_dict(self) -> types.PermitRow: ...


__all__ = [
    "Outcome",
    "Section",
    "ContentBlock",
    "Utterance",
    "Call",
    "Finding",
    "FileLines",
    "Ledger",
    "Session",
    "PendingCall",
    "ResolvedCall",
    "Withheld",
    "Heard",
    "Prompt",
    "PromptMessage",
    "TokenLedger",
    "PromptLayer",
    "Turn",
    "PastOutcome",
    "PastAnswer",
    "PastCall",
    "Omitted",
    "PastSection",
    "PastUtterance",
    "RefusedCall",
    "Checked",
    "Diagnostic",
    "DiagnosticLabel",
    "CheckedSum",
    "PermitRow",
]
