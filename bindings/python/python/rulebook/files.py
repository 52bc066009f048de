"""Files: what does an outcome change below a folder, and is it written?

    from rulebook import files

    plan = files.plan("project", outcome)
    if plan.misses:
        outcome = program.reject(session, outcome, plan.misses)
    else:
        for change in plan.changes: print(change.kind, change.path)
        plan.commit()

A plan has read the files and carried the effects out in memory. A commit writes all files, or none. No effect leads out of the
folder, whatever links do. Other effects, such as events, are left to the host.
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Literal, cast

from . import _engine
from ._contract import Diagnostic
from ._errors import CommitError
from ._program import Miss
from ._results import Heard, Outcome

__all__ = ["Change", "Kind", "Plan", "plan"]

Kind = Literal["created", "replaced", "moved", "deleted", "unchanged", "left"]
"""What becomes of a file. It is `left` as it was if it, or another file of the outcome, cannot be written."""


@dataclasses.dataclass(frozen=True)
class Change:
    """What becomes of one file. A file that is moved is listed where it goes."""

    path: str
    """Its path below the folder, as the effect gives it."""
    kind: Kind
    """What becomes of it."""
    moved_from: str | None
    """The path from which it is moved."""
    size: int
    """The length of what it holds afterwards, in bytes."""
    before: bytes | None
    """What it held before, in a plan; none if there was no file, or if it is too large to be compared."""
    text: str | None
    """The text that it is to hold; none if it is deleted, or only moved."""
    notes: tuple[str, ...]
    """What the pack says about its edits."""
    diagnostics: tuple[Diagnostic, ...]
    """Why it cannot be written, as an error; and what is worth knowing."""


class Plan:
    """What an outcome changes below a folder. Nothing is written before `commit`."""

    __slots__ = ("_changes", "_drawn", "_misses", "_plan")

    def __init__(self, root: str, result: Outcome | Heard) -> None:
        self._plan, (files, misses) = _engine.Plan.make(root, result)
        self._changes, self._drawn = _changes(files)
        self._misses = tuple(cast("list[Miss]", misses))

    @property
    def changes(self) -> tuple[Change, ...]:
        """What would become of each file, in the order of the effects."""
        return self._changes

    @property
    def misses(self) -> tuple[Miss, ...]:
        """The effects that do not fit the files that they meet, for `Program.reject`: then the plan cannot be committed."""
        return self._misses

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Those of all files. An error is why the plan cannot be committed."""
        return tuple(found for change in self._changes for found in change.diagnostics)

    @property
    def can_commit(self) -> bool:
        """Whether nothing stands in its way so far: neither a miss nor an error."""
        return self._plan is not None

    def commit(self) -> tuple[Change, ...]:
        """Writes all files, and gives what became of them.

        Raises `CommitError` if nothing was written: something stood in the way of the plan, a file has been changed since, or
        it cannot be written. Raises `ValueError` for a plan that was committed before.
        """
        if self._plan is None:
            missed = [f"{len(self._misses)} of the effects fit no file as it is: see Program.reject"] if self._misses else []
            raise CommitError(self.diagnostics, "\n".join([*self._drawn, *missed]))
        changes, drawn = _changes(self._plan.commit()[0])
        found = tuple(found for change in changes for found in change.diagnostics)
        if any(one.severity == "error" for one in found):
            raise CommitError(found, "\n".join(drawn))
        return changes

    def __repr__(self) -> str:
        changes = ", ".join(f"{change.kind} {change.path}" for change in self._changes)
        return f"<Plan: {changes or 'no file changes'}; {len(self._misses)} misses>"


def plan(root: str | os.PathLike[str], result: Outcome | Heard) -> Plan:
    """Reads the files below the folder `root` that an outcome changes, or what followed from the words of a user.

    Raises `OSError` for a folder that cannot be opened.
    """
    path = os.fspath(root)
    if not isinstance(path, str):
        raise TypeError(f"root is a str or a path, not {type(root).__name__}")
    return Plan(path, result)


def _changes(files: Any) -> tuple[tuple[Change, ...], list[str]]:
    """The changes, and their diagnostics as texts."""
    changes, drawn = [], []
    for path, kind, moved_from, size, before, text, notes, (diagnostics, shown) in files:
        changes.append(Change(path, kind, moved_from, size, before, text, tuple(notes), diagnostics))
        drawn += [shown] if shown else []
    return tuple(changes), drawn
