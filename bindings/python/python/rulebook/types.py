"""Types: what do `to_dict` and JSON hold? A TypedDict for each struct of the contracts."""

# Written by scripts/contract.py from the files in `schemas/`: change those, and run it again.

from typing import Any, Literal, Optional, TypedDict, Union

Span = Union[tuple[int, int], tuple[int, int, int]]
Code = str
Place = str
Ids = dict[str, int]
Leaf = Literal[
    "message",
    "thinking",
    "calls",
    "contents",
    "sections",
    "utterances",
    "markup",
    "stray",
    "dropped",
    "blank",
]
Matching = Literal["exact", "trimmed-lines"]
Resolution = Literal["confirmed", "declined", "dropped", "lapsed"]
Role = Literal["message", "thinking", "call", "content", "section", "utterance", "wrapper"]
Severity = Literal["info", "warning", "error"]
Speaker = Literal["system", "user", "assistant"]
Status = Literal["clean", "degraded", "refused"]
Strategy = Literal[
    "keep",
    "drop",
    "redact",
    "keep-as-text",
    "lift",
    "repair",
    "salvage",
    "coerce",
    "interpret",
    "default",
    "omit",
    "keep-first",
    "keep-last",
    "join",
    "take-stray-text",
    "refuse",
    "ask-again",
]
Verdict = Literal["accepted", "dropped", "pending"]
Provider = Literal["openai", "responses", "anthropic", "gemini", "mcp"]


class _Section(TypedDict):
    name: str
    text: str
    span: Span


class Section(_Section, total=False):
    """A named part of the reply: a block whose role is `section`."""

    value: Any


class ContentBlock(TypedDict):
    """Text to be stored under a key: a block whose role is `content`."""

    name: str
    key: str
    attributes: dict[str, Any]
    text: str
    span: Span


class Utterance(TypedDict):
    """What one speaker says: a block whose role is `utterance`."""

    speaker: str
    label: str
    text: str
    offset: int
    span: Span


class _Call(TypedDict):
    action: str
    params: dict[str, Any]
    verdict: Verdict
    span: Span


class Call(_Call, total=False):
    """One call: a use of an action in the response."""

    id: Optional[str]
    pending: Optional[str]


class Origin(TypedDict):
    """The place of a call or content in the response."""

    span: Span
    line: int
    column: int


class _SetEffect(TypedDict):
    kind: Literal["set"]
    path: str
    value: Any
    cause: Optional[Place]


class SetEffect(_SetEffect, total=False):
    """Set the state at `path` to `value`."""

    origin: Optional[Origin]


class _AppendEffect(TypedDict):
    kind: Literal["append"]
    path: str
    value: Any
    cause: Optional[Place]


class AppendEffect(_AppendEffect, total=False):
    """Add `value` to the list at `path`."""

    origin: Optional[Origin]


class _RemoveEffect(TypedDict):
    kind: Literal["remove"]
    path: str
    value: Any
    cause: Optional[Place]


class RemoveEffect(_RemoveEffect, total=False):
    """Remove the state at `path`."""

    origin: Optional[Origin]


class _EmitEffect(TypedDict):
    kind: Literal["emit"]
    event: str
    value: Any
    cause: Optional[Place]


class EmitEffect(_EmitEffect, total=False):
    """Send an event."""

    origin: Optional[Origin]


class _WriteEffect(TypedDict):
    kind: Literal["write"]
    key: str
    text: str
    cause: Optional[Place]


class WriteEffect(_WriteEffect, total=False):
    """Write a file, or whatever the key names."""

    executable: bool
    new: bool
    origin: Optional[Origin]


class _SayEffect(TypedDict):
    kind: Literal["say"]
    id: str
    text: str
    cause: Optional[Place]


class SayEffect(_SayEffect, total=False):
    """Say something to the user."""

    origin: Optional[Origin]


class Amendment(TypedDict):
    """An addition to a document."""

    key: str
    section: str
    marker: str
    text: str
    otherwise: str
    done: str
    missing: str


class _AmendEffect(TypedDict):
    kind: Literal["amend"]
    key: str
    section: str
    marker: str
    text: str
    otherwise: str
    done: str
    missing: str
    cause: Optional[Place]


class AmendEffect(_AmendEffect, total=False):
    """Add to the end of a section of a document, and change nothing else."""

    origin: Optional[Origin]


class _RecordEffect(TypedDict):
    kind: Literal["record"]
    key: str
    path: str
    value: Any
    cause: Optional[Place]


class RecordEffect(_RecordEffect, total=False):
    """Add to a list in a JSON document, and change nothing else."""

    origin: Optional[Origin]


class _Edit(TypedDict):
    key: str
    find: str
    put: str
    match: list[Matching]


class Edit(_Edit, total=False):
    """A replacement in a file. A patch gives one for each hunk.

    `find` is a text of the file as the effects before this one leave it. `\\r\\n` and `\\n` are equal in `find` and
    `put`; the result has the line breaks of the file.
    """

    after: list[str]
    all: bool
    end: bool
    line: Optional[int]
    lines: bool


class _EditEffect(TypedDict):
    kind: Literal["edit"]
    key: str
    find: str
    put: str
    match: list[Matching]
    cause: Optional[Place]


class EditEffect(_EditEffect, total=False):
    """Replace a text in a file, and change nothing else."""

    after: list[str]
    all: bool
    end: bool
    line: Optional[int]
    lines: bool
    origin: Optional[Origin]


class _DeleteEffect(TypedDict):
    kind: Literal["delete"]
    key: str
    cause: Optional[Place]


class DeleteEffect(_DeleteEffect, total=False):
    """Delete a file."""

    origin: Optional[Origin]
    text: Optional[str]


class _MoveEffect(TypedDict):
    kind: Literal["move"]
    key: str
    to: str
    cause: Optional[Place]


class MoveEffect(_MoveEffect, total=False):
    """Move a file to another key, where none is yet."""

    origin: Optional[Origin]


Effect = Union[
    SetEffect,
    AppendEffect,
    RemoveEffect,
    EmitEffect,
    WriteEffect,
    SayEffect,
    AmendEffect,
    RecordEffect,
    EditEffect,
    DeleteEffect,
    MoveEffect,
]


class FileLines(TypedDict):
    """Successive lines of a file."""

    line: int
    text: str


class _Finding(TypedDict):
    code: Code
    id: Optional[str]
    severity: Severity
    message: str
    span: Span
    line: int
    column: int
    rule: Optional[Place]
    strategy: Optional[Strategy]
    help: Optional[str]


class Finding(_Finding, total=False):
    """One diagnostic about the response, with its place in the response and in the pack."""

    file_lines: list[FileLines]
    to_model: Optional[str]


class Ledger(TypedDict):
    """The account of every byte of the response: the parts sum to `bytes`."""

    bytes: int
    message: int
    thinking: int
    calls: int
    contents: int
    sections: int
    utterances: int
    markup: int
    stray: int
    dropped: int
    blank: int


class _PendingCall(TypedDict):
    action: str
    params: dict[str, Any]
    question: str
    call: Optional[str]


class PendingCall(_PendingCall, total=False):
    """A call that waits until a person has confirmed it."""

    first: Optional[str]
    now: Optional[str]


class _ResolvedCall(TypedDict):
    action: str
    resolution: Resolution


class ResolvedCall(_ResolvedCall, total=False):
    """What became of a call that waited."""

    reported: bool


class _Session(TypedDict):
    mode: str
    state: dict[str, Any]
    now: Optional[str]
    ids: Ids


class Session(_Session, total=False):
    """Plain data that the host stores. The engine returns the next one: `{ "mode", "state", "now", "ids", "pending",
    "resolved" }`.

    Cloning is cheap: clones share the values of the state until one of them changes. `Program.resume` reads a session
    that was stored as JSON, and checks it against the pack; serde alone does not check it.
    """

    pending: dict[str, PendingCall]
    resolved: dict[str, ResolvedCall]


class ConditionPart(TypedDict):
    """A part of a condition and its value."""

    text: str
    value: str


class DialectStep(TypedDict):
    """A dialect was tried, or skipped."""

    step: Literal["dialect"]
    span: Span
    found: str
    rule: Optional[Place]
    parts: list[ConditionPart]


class BytesStep(TypedDict):
    """Bytes were counted."""

    step: Literal["bytes"]
    part: Leaf
    why: Optional[str]
    span: Span
    found: str
    rule: Optional[Place]
    parts: list[ConditionPart]


class InputStep(TypedDict):
    """A user's message was classified."""

    step: Literal["input"]
    span: Span
    found: str
    rule: Optional[Place]
    parts: list[ConditionPart]


class ShadowedStep(TypedDict):
    """A later input matches the message, too."""

    step: Literal["shadowed"]
    span: Span
    found: str
    rule: Optional[Place]
    parts: list[ConditionPart]


class BlockStep(TypedDict):
    """A block was recognised."""

    step: Literal["block"]
    span: Span
    found: str
    rule: Optional[Place]
    parts: list[ConditionPart]


class CallStep(TypedDict):
    """A call was judged."""

    step: Literal["call"]
    accepted: bool
    span: Span
    found: str
    rule: Optional[Place]
    parts: list[ConditionPart]


class PermitStep(TypedDict):
    """The permits of a mode were checked."""

    step: Literal["permit"]
    span: Span
    found: str
    rule: Optional[Place]
    parts: list[ConditionPart]


class ConditionStep(TypedDict):
    """A condition was evaluated."""

    step: Literal["condition"]
    span: Span
    found: str
    rule: Optional[Place]
    parts: list[ConditionPart]


class DefectStep(TypedDict):
    """A defect was found."""

    step: Literal["defect"]
    span: Span
    found: str
    rule: Optional[Place]
    parts: list[ConditionPart]


class GuardrailStep(TypedDict):
    """A guardrail tripped."""

    step: Literal["guardrail"]
    span: Span
    found: str
    rule: Optional[Place]
    parts: list[ConditionPart]


class StrategyStep(TypedDict):
    """A strategy answered the preceding finding."""

    step: Literal["strategy"]
    span: Span
    found: str
    rule: Optional[Place]
    parts: list[ConditionPart]


class RemarkStep(TypedDict):
    """A remark was made."""

    step: Literal["remark"]
    span: Span
    found: str
    rule: Optional[Place]
    parts: list[ConditionPart]


class RuleStep(TypedDict):
    """A rule fired."""

    step: Literal["rule"]
    span: Span
    found: str
    rule: Optional[Place]
    parts: list[ConditionPart]


_ModeStep = TypedDict(
    "_ModeStep",
    {
        "step": Literal["mode"],
        "from": str,
        "to": str,
        "span": Span,
        "found": str,
        "rule": Optional[Place],
        "parts": list[ConditionPart],
    },
)


class ModeStep(_ModeStep, total=False):
    """The mode changed."""


class EffectStep(TypedDict):
    """An effect was produced for the host."""

    step: Literal["effect"]
    span: Span
    found: str
    rule: Optional[Place]
    parts: list[ConditionPart]


Step = Union[
    DialectStep,
    BytesStep,
    InputStep,
    ShadowedStep,
    BlockStep,
    CallStep,
    PermitStep,
    ConditionStep,
    DefectStep,
    GuardrailStep,
    StrategyStep,
    RemarkStep,
    RuleStep,
    ModeStep,
    EffectStep,
]


class Withheld(TypedDict):
    """What was read of a response that was refused. It must not be displayed."""

    message: str
    thinking: list[str]
    sections: list[Section]
    contents: list[ContentBlock]
    utterances: list[Utterance]
    calls: list[Call]


class _Outcome(TypedDict):
    version: int
    status: Status
    dialect: Optional[str]
    mode: str
    message: str
    thinking: list[str]
    sections: list[Section]
    contents: list[ContentBlock]
    utterances: list[Utterance]
    calls: list[Call]
    effects: list[Effect]
    diagnostics: list[Finding]
    ask_again: Optional[str]
    ledger: Ledger
    redacted: list[Span]
    session: Session


class Outcome(_Outcome, total=False):
    """The outcome of one response.

    What a response may do: the text to show, the effects to carry out, and a finding for everything that was wrong.

    Lists keep the order of the response. What is absent is `""`, `[]` or `null`; a key is missing only where it says
    so.
    """

    trace: Optional[list[Step]]
    withheld: Optional[Withheld]


_Heard = TypedDict(
    "_Heard",
    {
        "version": int,
        "text": str,
        "refused": bool,
        "class": Optional[str],
        "captures": dict[str, Any],
        "say": list[str],
        "effects": list[Effect],
        "diagnostics": list[Finding],
        "session": Session,
    },
)


class Heard(_Heard, total=False):
    """The outcome of the user's words.

    The class of a user's message, and what follows from it.
    """

    trace: Optional[list[Step]]


class PromptMessage(TypedDict):
    """One message of a prompt."""

    role: Speaker
    content: str


class PromptLayer(TypedDict):
    """One layer of the prompt."""

    id: str
    source: Optional[str]
    variant: Optional[str]
    tokens: int
    budget: Optional[int]
    trimmed: Optional[str]


class TokenLedger(TypedDict):
    """The account of every token of a prompt."""

    model: str
    tier: str
    context: int
    reserve: int
    tokens: int
    estimated: bool
    layers: list[PromptLayer]


class Prompt(TypedDict):
    """The messages that Rulebook writes for a model.

    The messages for a model, and where every token in them comes from.
    """

    version: int
    messages: list[PromptMessage]
    ledger: TokenLedger
    diagnostics: list[Finding]


class _PastCall(TypedDict):
    action: str
    params: dict[str, Any]


class PastCall(_PastCall, total=False):
    """A call of a past answer that was accepted, or that waits."""

    pending: Optional[str]


class _Omitted(TypedDict):
    name: str


class Omitted(_Omitted, total=False):
    """A part of a past answer that is named and not repeated."""

    key: str


class _PastSection(TypedDict):
    name: str
    text: str


class PastSection(_PastSection, total=False):
    """A section of a past answer."""

    value: Any


class _PastUtterance(TypedDict):
    speaker: str
    text: str
    offset: int


class PastUtterance(_PastUtterance, total=False):
    """What one speaker said in a past answer."""

    label: str


class PastAnswer(TypedDict, total=False):
    """The parts of a past answer that counted. Nothing of what was refused, dropped, redacted or withheld is in it,
    and no reasoning.
    """

    calls: list[PastCall]
    message: Optional[str]
    omitted: list[Omitted]
    sections: list[PastSection]
    utterances: list[PastUtterance]


class _RefusedCall(TypedDict):
    action: str
    message: str


class RefusedCall(_RefusedCall, total=False):
    """A call of an answer that was not carried out."""

    help: Optional[str]
    pending: Optional[str]


class _PastOutcome(TypedDict):
    mode: str
    dialect: Optional[str]


class PastOutcome(_PastOutcome, total=False):
    """What a history has of an outcome, besides the text that the user saw."""

    answer: Optional[PastAnswer]
    refused: list[RefusedCall]


class _Turn(TypedDict):
    role: Speaker
    content: str


class Turn(_Turn, total=False):
    """One turn of the history that a prompt shows.

    One turn of a conversation. `content` is plain text, and what a host displays: a prompt reads no block in it, and
    escapes anything that looks like one.

    An answer of the model becomes a turn by `Turn.answer`, or by `Program.turn` if only its text is left. A prompt
    shows such a turn in the form in which the current mode asks for answers.
    """

    outcome: Optional[PastOutcome]


class DiagnosticLabel(TypedDict):
    """Another place that explains a diagnostic."""

    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    end_line: Optional[int]
    end_column: Optional[int]
    text: str


class Diagnostic(TypedDict):
    """One diagnostic as programs read it: what is wrong, where, and how to fix it.

    Lines and columns count from 1, columns in characters; the end is the place after the last character. Absent values
    are `null` or `[]`; no member is ever missing.
    """

    code: Code
    id: Optional[str]
    severity: Severity
    message: str
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    end_line: Optional[int]
    end_column: Optional[int]
    label: Optional[str]
    help: Optional[str]
    labels: list[DiagnosticLabel]


class CheckedSum(TypedDict):
    """The totals of `check`."""

    packs: int
    errors: int
    warnings: int
    infos: int


class PermitRow(TypedDict):
    """What a mode says of an action or a tool."""

    action: str
    mode: str
    permitted: str
    when: Optional[str]
    rule: Optional[Place]


class _Checked(TypedDict):
    version: int
    diagnostics: list[Diagnostic]
    summary: CheckedSum


class Checked(_Checked, total=False):
    """What `rulebook check` found.

    The report of `check`: every diagnostic of every pack, and totals.
    """

    permits: list[PermitRow]


class OpenedEvent(TypedDict):
    """A block opened."""

    event: Literal["opened"]
    block: int
    name: str
    role: Role
    called: Optional[str]
    start: int


class TextEvent(TypedDict):
    """Text as the outcome has it: decoded, trimmed and redacted. Parts of a message are separated as the pack says.
    What had to wait for the end of the answer (`[reply] hold`) comes last, without the number of its block.
    """

    event: Literal["text"]
    block: Optional[int]
    role: Optional[Role]
    text: str


class FieldEvent(TypedDict):
    """More of a parameter of a call: the pieces of one path, joined, are the text of the value there. Numbers, `true`,
    `false` and `null` are emitted as JSON; objects and lists by what is in them. What the outcome has of the calls
    that count is emitted once the answer has been judged. Only under `hold = "none"` the arguments of native calls
    are emitted while they come, as far as they are strict JSON, whether the call counts or not.
    """

    event: Literal["field"]
    call: int
    path: list[str]
    text: str


class ClosedEvent(TypedDict):
    """A block is complete."""

    event: Literal["closed"]
    block: int
    span: Span


class RefusedEvent(TypedDict):
    """The answer was refused: the host clears what it has shown of it. It is the last event."""

    event: Literal["refused"]
    emitted: int


Event = Union[OpenedEvent, TextEvent, FieldEvent, ClosedEvent, RefusedEvent]


class TextReplyPart(TypedDict):
    """Text for the user, or text in a dialect of the pack."""

    type: Literal["text"]
    text: str


class ThinkingReplyPart(TypedDict):
    """Reasoning."""

    type: Literal["thinking"]
    text: str


class _CallReplyPart(TypedDict):
    type: Literal["call"]
    name: str


class CallReplyPart(_CallReplyPart, total=False):
    """A native tool call."""

    arguments: Any
    id: Optional[str]


class OtherReplyPart(TypedDict):
    """Something that nothing reads, such as an image: the outcome has a finding about it."""

    type: Literal["other"]
    kind: str


ReplyPart = Union[TextReplyPart, ThinkingReplyPart, CallReplyPart, OtherReplyPart]


class Reply(TypedDict, total=False):
    """What a model answered through an API, in parts.

    Texts, reasoning and native tool calls.
    """

    parts: list[ReplyPart]
    reason: Optional[str]
    refused: bool
    truncated: bool
    unfinished: list[int]


__all__ = [
    "AmendEffect",
    "Amendment",
    "AppendEffect",
    "BlockStep",
    "BytesStep",
    "Call",
    "CallReplyPart",
    "CallStep",
    "Checked",
    "CheckedSum",
    "ClosedEvent",
    "Code",
    "ConditionPart",
    "ConditionStep",
    "ContentBlock",
    "DefectStep",
    "DeleteEffect",
    "Diagnostic",
    "DiagnosticLabel",
    "DialectStep",
    "Edit",
    "EditEffect",
    "Effect",
    "EffectStep",
    "EmitEffect",
    "Event",
    "FieldEvent",
    "FileLines",
    "Finding",
    "GuardrailStep",
    "Heard",
    "Ids",
    "InputStep",
    "Leaf",
    "Ledger",
    "Matching",
    "ModeStep",
    "MoveEffect",
    "Omitted",
    "OpenedEvent",
    "Origin",
    "OtherReplyPart",
    "Outcome",
    "PastAnswer",
    "PastCall",
    "PastOutcome",
    "PastSection",
    "PastUtterance",
    "PendingCall",
    "PermitRow",
    "PermitStep",
    "Place",
    "Prompt",
    "PromptLayer",
    "PromptMessage",
    "Provider",
    "RecordEffect",
    "RefusedCall",
    "RefusedEvent",
    "RemarkStep",
    "RemoveEffect",
    "Reply",
    "ReplyPart",
    "Resolution",
    "ResolvedCall",
    "Role",
    "RuleStep",
    "SayEffect",
    "Section",
    "Session",
    "SetEffect",
    "Severity",
    "ShadowedStep",
    "Span",
    "Speaker",
    "Status",
    "Step",
    "Strategy",
    "StrategyStep",
    "TextEvent",
    "TextReplyPart",
    "ThinkingReplyPart",
    "TokenLedger",
    "Turn",
    "Utterance",
    "Verdict",
    "Withheld",
    "WriteEffect",
]
