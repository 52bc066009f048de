"""Errors: what cannot be used, and why?

What a model answered never raises: it gives an outcome. What a host passes in may: an object of the wrong type is a
`TypeError`, a wrong value a `ValueError`, and a file that cannot be read an `OSError`.
"""

from __future__ import annotations

from ._contract import Diagnostic

__all__ = ["CommitError", "HistoryError", "PackError", "ReplyError", "RulebookError", "SessionError"]


class RulebookError(Exception):
    """Something cannot be used, for reasons that have a place in it.

    `str(error)` is the text that the command prints: each fault with the lines that it is about.
    """

    diagnostics: tuple[Diagnostic, ...]
    """Everything that was found, in order: errors, and what else is worth saying."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...], drawn: str) -> None:
        super().__init__(diagnostics, drawn)
        self.diagnostics = diagnostics
        self._drawn = drawn

    def __str__(self) -> str:
        return self._drawn


class PackError(RulebookError):
    """A pack, a list of tools or an export cannot be used."""


class SessionError(RulebookError, ValueError):
    """A session that a host saved does not fit the pack."""


class ReplyError(RulebookError, ValueError):
    """What an API returned is none of its messages, or says that the API failed."""


class HistoryError(RulebookError, ValueError):
    """A line of a history is no turn."""


class CommitError(RulebookError):
    """The files of an outcome cannot be written: all are as they were."""
