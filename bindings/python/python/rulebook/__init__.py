"""Rulebook parses what a language model answered, and enforces what the answer may do.

The rules are data: a folder of TOML, called a pack, or a dict of its files. A program is a compiled pack; running it on an
answer gives an outcome: a verdict on every call, the effects to carry out, the message to show, and a finding for everything
that was wrong.

    import rulebook

    program = rulebook.Program.load("rules/lamp")
    outcome = program.run(program.session(), answer)
    outcome.message, outcome.effects, outcome.diagnostics, outcome.session

* `Program`, `Session`, `Outcome` and its parts, `Reader`, `Stream`, `Prompt`, `Turn`, `Heard`: objects that never change.
* `rulebook.effects`, `rulebook.events`, `rulebook.steps`: what is in lists of several kinds, to `match` on.
* `rulebook.files`: what an outcome changes below a folder, and writes it.
* `rulebook.types`: TypedDicts of what `to_dict` gives.
* `PackError`, `SessionError`, `ReplyError`, `HistoryError`, `CommitError`: what cannot be used, with diagnostics. No answer
  raises.
"""

from . import effects, events, files, steps, types
from ._contract import (
    Call,
    CheckedSum,
    ContentBlock,
    Diagnostic,
    DiagnosticLabel,
    FileLines,
    Ledger,
    Omitted,
    PastAnswer,
    PastCall,
    PastOutcome,
    PastSection,
    PastUtterance,
    PendingCall,
    PermitRow,
    PromptLayer,
    PromptMessage,
    RefusedCall,
    Section,
    TokenLedger,
    Utterance,
    Withheld,
)
from ._errors import CommitError, HistoryError, PackError, ReplyError, RulebookError, SessionError
from ._program import Exported, Limits, Miss, Program, Reader, check
from ._results import Checked, Finding, Heard, Outcome, Prompt, Session, Turn
from ._stream import Stream

__all__ = [
    "Call",
    "Checked",
    "CheckedSum",
    "CommitError",
    "ContentBlock",
    "Diagnostic",
    "DiagnosticLabel",
    "Exported",
    "FileLines",
    "Finding",
    "Heard",
    "HistoryError",
    "Ledger",
    "Limits",
    "Miss",
    "Omitted",
    "Outcome",
    "PackError",
    "PastAnswer",
    "PastCall",
    "PastOutcome",
    "PastSection",
    "PastUtterance",
    "PendingCall",
    "PermitRow",
    "Program",
    "Prompt",
    "PromptLayer",
    "PromptMessage",
    "Reader",
    "RefusedCall",
    "ReplyError",
    "RulebookError",
    "Section",
    "Session",
    "SessionError",
    "Stream",
    "TokenLedger",
    "Turn",
    "Utterance",
    "Withheld",
    "check",
    "effects",
    "events",
    "files",
    "steps",
    "types",
]
