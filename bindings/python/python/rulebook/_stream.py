"""Streams: how does an answer reach its reader while it comes?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncGenerator, AsyncIterable, Generator, Iterable

from .events import Event

if TYPE_CHECKING:
    from . import types
    from ._program import Reader
    from ._results import Outcome

__all__ = ["Stream"]


class Stream:
    """The events of an answer that comes in pieces, and in the end its outcome.

    `async for` goes through an asynchronous source, `for` through an ordinary one; once. A stream that is left before its
    end closes its source, and has no outcome.
    """

    __slots__ = ("_outcome", "_pieces", "_provider", "_reader")

    def __init__(
        self, reader: Reader, pieces: AsyncIterable[Any] | Iterable[Any], provider: types.Provider | None
    ) -> None:
        if not isinstance(pieces, (AsyncIterable, Iterable)) or isinstance(pieces, (str, bytes, bytearray)):
            raise TypeError(f"pieces is an iterable or an asynchronous one, not {type(pieces).__name__}")
        self._reader = reader
        self._pieces: AsyncIterable[Any] | Iterable[Any] | None = pieces
        self._provider = provider
        self._outcome: Outcome | None = None

    @property
    def outcome(self) -> Outcome:
        """The outcome of the whole answer. Raises `ValueError` before the stream has ended."""
        if self._outcome is None:
            raise ValueError("the outcome is there when the stream has ended")
        return self._outcome

    async def __aiter__(self) -> AsyncGenerator[Event, None]:
        pieces = self._source(AsyncIterable, "async for").__aiter__()
        try:
            async for piece in pieces:
                for event in self._push(piece):
                    yield event
                if self._reader.is_too_large:
                    break
        finally:
            close = getattr(pieces, "aclose", None)
            if close is not None:
                await close()
        for event in self._finish():
            yield event

    def __iter__(self) -> Generator[Event, None, None]:
        pieces = iter(self._source(Iterable, "for"))
        try:
            for piece in pieces:
                yield from self._push(piece)
                if self._reader.is_too_large:
                    break
        finally:
            close = getattr(pieces, "close", None)
            if close is not None:
                close()
        yield from self._finish()

    def _source(self, kind: Any, word: str) -> Any:
        if self._pieces is None:
            raise ValueError("a stream is read once")
        if not isinstance(self._pieces, kind):
            raise TypeError(f"`{word}` cannot go through a {type(self._pieces).__name__}")
        pieces, self._pieces = self._pieces, None
        return pieces

    def _push(self, piece: Any) -> tuple[Event, ...]:
        if self._provider is None:
            return self._reader.push(piece)
        return self._reader.push_chunk(self._provider, piece)

    def _finish(self) -> tuple[Event, ...]:
        self._outcome, rest = self._reader.finish_with_events()
        return rest
