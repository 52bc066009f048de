"""Conversations: what is the same in all frameworks when an answer is judged?

In: what a model's API returned, whole or in pieces. Out: outcomes, whether to ask the model again, and with which messages.
Never: imports a framework, calls a model, or runs a tool.
"""

from __future__ import annotations

import contextlib
import json
import uuid
import warnings
from typing import Any, AsyncIterable, AsyncIterator, Callable, Iterable, NamedTuple

from .._contract import Call
from .._program import Program
from .._results import Outcome, Session
from .._stream import Stream
from ..events import Event
from ..types import Provider

__all__ = ["Accepted", "Conversation", "accepted", "correction", "missing", "recorded", "events_of", "waits"]


class Conversation:
    """One conversation that a program judges. Not for two answers at the same time.

    * `session`: where it goes on from; by default a new one. After each answer it is that of the outcome: save it with the
      conversation. What waits for a person is in its `pending`.
    * `on_outcome`: is called with the outcome of each answer, in order: the place to carry out effects. What it raises
      passes through.
    * `hold`: streams show nothing before the whole answer has been judged, even where the pack would allow it.
    * `most`: how often a model is told why none of its native calls was carried out, before an answer without them is
      returned. Where the strategy is `ask-again`, the pack says how often (`[ask_again] most`).
    """

    def __init__(
        self,
        program: Program,
        session: Session | None = None,
        *,
        on_outcome: Callable[[Outcome], None] | None = None,
        hold: bool = False,
        most: int = 2,
    ) -> None:
        self.program = program
        self.session = program.session() if session is None else session
        self.outcome: Outcome | None = None
        """The outcome of the last answer; none before there was one."""
        self.unanswered: list[Any] = []
        """Calls beside accepted ones with what answers them, in the form of the adapter: the next request has them."""
        self._on_outcome = on_outcome
        self._hold = hold
        self._most = most

    def judge(self, message: object, provider: Provider | None = None, *, attempts: int = 0) -> Outcome:
        """Judges one whole answer, as `Program.judge` does, and goes on from its session."""
        return self.advance(self.program.judge(self.session, message, provider, attempts=attempts))

    def stream(self, pieces: AsyncIterable[Any] | Iterable[Any], provider: Provider, *, attempts: int = 0) -> Stream:
        """Reads an answer while it comes, as `Program.stream` does. Pass its outcome to `advance`."""
        return self.program.stream(self.session, pieces, provider=provider, attempts=attempts, hold=self._hold)

    def advance(self, outcome: Outcome) -> Outcome:
        """Goes on from the session of this outcome. Warns if a call waits that the next answer would drop."""
        if not self.program._engine.keeps_pending and any(call.pending for call in outcome.calls):
            warnings.warn(
                "a call waits for a person, and the pack drops it when the next answer is judged: write `pending = \"keep\"`"
                " in its table [pack]",
                RuntimeWarning,
                stacklevel=2,
            )
        self.session = outcome.session
        self.outcome = outcome
        if self._on_outcome is not None:
            self._on_outcome(outcome)
        return outcome

    def take_unanswered(self) -> list[Any]:
        """What the next request has besides its own messages: once."""
        taken, self.unanswered = self.unanswered, []
        return taken

    def asks_again(self, outcome: Outcome, attempts: int) -> bool:
        """Whether the model is called again after this answer: with `correction`, and one attempt more."""
        if outcome.ask_again is not None:
            return True
        futile = outcome.calls and not outcome.effects and all(call.verdict == "dropped" for call in outcome.calls)
        native = all(call.id is not None for call in outcome.calls)
        return bool(futile and native and outcome.status != "refused" and attempts < self._most)


def correction(outcome: Outcome, answer: Any, provider: Provider) -> list[Any]:
    """What is appended to the messages of a request: the answer with a result for each of its calls, or a correction text."""
    results: list[Any] = outcome.tool_results(provider)
    return [answer, *results] if results else [{"role": "user", "content": outcome.ask_again}]


def events_of(stream: Stream) -> contextlib.AbstractAsyncContextManager[AsyncIterator[Event]]:
    """The events of a stream. Closes its source if they are not read to the end."""
    return contextlib.aclosing(stream.__aiter__())


async def recorded(chunks: Any, read: list[Any]) -> AsyncIterator[Any]:
    """The same chunks, each of which is put into `read` as well. Closes their source if they are not read to the end."""
    try:
        async for chunk in chunks:
            read.append(chunk)
            yield chunk
    finally:
        close = getattr(chunks, "aclose", None)
        if close is not None:
            await close()


class Accepted(NamedTuple):
    """A call that a framework may run: with the name of the tool, and the arguments that were judged."""

    id: str
    name: str
    params: dict[str, Any]

    @property
    def arguments(self) -> str:
        """The arguments as JSON."""
        return json.dumps(self.params, ensure_ascii=False)


def accepted(outcome: Outcome) -> list[Accepted]:
    """The calls that a framework may run. One that is written in the text gets an id."""
    return [
        Accepted(call.id or f"call_{uuid.uuid4().hex[:24]}", call.action, call.params)
        for call in outcome.calls
        if call.verdict == "accepted"
    ]


def waits(outcome: Outcome, call: Call) -> str:
    """What a model reads in place of the result of a call that waits for a person."""
    return f"not carried out yet: a person is asked: {outcome.session.pending[call.pending or ''].question}"


def missing(module: str, package: str, version: str, error: ImportError) -> ImportError:
    """The error of an adapter without its framework."""
    needed = f"{package} {version} or newer"
    return ImportError(f"rulebook.integrations.{module} needs {needed}: pip install '{package}>={version}' ({error})")
