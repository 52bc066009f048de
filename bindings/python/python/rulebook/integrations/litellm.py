"""LiteLLM: a chat completion of which only what was accepted is left.

`acompletion` is for programs that call `litellm.acompletion` or a router; `Guard` is for the proxy of LiteLLM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncGenerator, AsyncIterator, Awaitable, Callable

from .. import events
from .._results import Outcome
from ._conversation import Conversation, accepted, correction, missing, recorded, events_of, waits

try:
    import litellm
    from litellm import EmbeddingResponse, ModelResponse
    from litellm.integrations.custom_logger import CustomLogger
    from litellm.types.utils import Choices, Delta, Message, ModelResponseStream, StreamingChoices
except ImportError as error:
    raise missing("litellm", "litellm", "1.108", error) from error

if TYPE_CHECKING:
    from litellm.proxy._types import UserAPIKeyAuth

__all__ = ["Guard", "acompletion"]

Ask = Callable[..., Awaitable[Any]]


async def acompletion(conversation: Conversation, *, ask: Ask | None = None, **request: Any) -> Any:
    """`litellm.acompletion`, judged. The request is the same.

    * returns: a `ModelResponse` with one choice: the message of the outcome, and the accepted calls with judged arguments.
      With `stream=True` an asynchronous iterator of `ModelResponseStream`: text as soon as it is final, then the calls.
      `finish_reason` is `content_filter` if the answer was refused.
    * `ask`: what calls the model, such as `router.acompletion`; `litellm.acompletion` by default.

    Asks the model again where the pack says so, and where none of its native calls could be carried out. Of calls beside
    accepted ones it reads with the next request why they were not carried out, or that they wait for a person: those are in
    `conversation.session.pending`, which needs `pending = "keep"` in the pack. Raises what LiteLLM raises, and `ReplyError` for what
    is no chat completion.
    """
    ask = litellm.acompletion if ask is None else ask
    request = {**request, "messages": [*request.get("messages", []), *conversation.take_unanswered()]}
    response = await ask(**request)
    return _stream(conversation, ask, request, response) if request.get("stream") else await _whole(conversation, ask, request, response)


async def _whole(conversation: Conversation, ask: Ask | None, request: dict[str, Any], response: ModelResponse) -> ModelResponse:
    attempts, messages = 0, request.get("messages", [])
    while True:
        outcome = conversation.judge(response, "openai", attempts=attempts)
        if ask is None or not conversation.asks_again(outcome, attempts):
            break
        messages = [*messages, *correction(outcome, _message(response), "openai")]
        attempts += 1
        response = await ask(**{**request, "messages": messages})
    _remember(conversation, outcome, _message(response))
    reason = _reason(outcome, response.choices[0].finish_reason)
    message = Message(role="assistant", reasoning_content=_thinking(outcome), **_content(outcome))
    usage = getattr(response, "usage", None)
    judged = ModelResponse(id=response.id, created=response.created, model=response.model, usage=usage)
    judged.choices = [Choices(index=0, finish_reason=reason, message=message)]
    return judged


async def _stream(
    conversation: Conversation, ask: Ask | None, request: dict[str, Any], chunks: Any
) -> AsyncIterator[ModelResponseStream]:
    attempts, messages = 0, request.get("messages", [])
    while True:
        read: list[Any] = []
        shown = False
        stream = conversation.stream(recorded(chunks, read), "openai", attempts=attempts)
        async with events_of(stream) as certain:
            async for event in certain:
                if isinstance(event, events.Text) and event.role in ("message", "thinking"):
                    shown = True
                    yield _chunk(read[-1], **{"content" if event.role == "message" else "reasoning_content": event.text})
        outcome = conversation.advance(stream.outcome)
        if ask is None or shown or not conversation.asks_again(outcome, attempts):
            break
        messages = [*messages, *correction(outcome, _message(litellm.stream_chunk_builder(read)), "openai")]
        attempts += 1
        chunks = await ask(**{**request, "messages": messages})
    if accepted(outcome):
        _remember(conversation, outcome, _message(litellm.stream_chunk_builder(read)))
    like = read[-1] if read else ModelResponseStream()
    for index, call in enumerate(_content(outcome)["tool_calls"] or []):
        yield _chunk(like, tool_calls=[{"index": index, **call}])
    reasons = [choice.finish_reason for chunk in read for choice in chunk.choices[:1] if choice.finish_reason]
    last = _chunk(like, reason=_reason(outcome, reasons[-1] if reasons else None))
    for chunk in read:
        if getattr(chunk, "usage", None):
            last.usage = chunk.usage
    yield last


class Guard(CustomLogger):
    """Judges the chat completions of LiteLLM's proxy: a callback in a Python file of its configuration.

    * `conversation`: gives the conversation of a request, from its data, such as one with the session that belongs to `data["metadata"]`.
    * `ask`: what calls the model again, such as `llm_router.acompletion`; without it, the model is never asked again.

    No request can turn it off, and what it raises fails the request: `TypeError` for what is neither a chat completion nor an
    embedding.
    """

    def __init__(self, conversation: Callable[[dict[str, Any]], Conversation], *, ask: Ask | None = None) -> None:
        super().__init__()
        self._conversation = conversation
        self._ask = ask

    async def async_post_call_success_hook(
        self, data: dict[str, Any], user_api_key_dict: UserAPIKeyAuth, response: Any
    ) -> Any:
        """Called by the proxy with a whole response: returns it judged."""
        if isinstance(response, EmbeddingResponse):
            return response
        if not isinstance(response, ModelResponse):
            raise TypeError(f"a chat completion can be judged, not a {type(response).__name__}")
        return await _whole(self._conversation(data), self._ask, data, response)

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: UserAPIKeyAuth, response: Any, request_data: dict[str, Any]
    ) -> AsyncGenerator[ModelResponseStream, None]:
        """Called by the proxy with the chunks of a stream: gives them judged."""
        async for chunk in _stream(self._conversation(request_data), self._ask, request_data, response):
            yield chunk


def _message(response: Any) -> dict[str, Any]:
    message: dict[str, Any] = response.choices[0].message.model_dump(exclude_none=True)
    return message


def _remember(conversation: Conversation, outcome: Outcome, message: dict[str, Any]) -> None:
    """Answers the calls that are left out, if the host goes on with the others."""
    results: list[Any] = outcome.tool_results("openai")
    for call in outcome.calls:
        if call.pending and call.id:
            results.append({"role": "tool", "tool_call_id": call.id, "content": waits(outcome, call)})
    answered = {result["tool_call_id"] for result in results}
    calls = [call for call in message.get("tool_calls") or [] if call["id"] in answered]
    if calls and accepted(outcome):
        conversation.unanswered = [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def _content(outcome: Outcome) -> dict[str, Any]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in accepted(outcome)
    ]
    return {"content": outcome.message or None, "tool_calls": calls or None}


def _thinking(outcome: Outcome) -> str | None:
    return "\n\n".join(outcome.thinking) or None


def _reason(outcome: Outcome, reason: Any) -> str:
    if outcome.status == "refused":
        return "content_filter"
    if any(call.verdict == "accepted" for call in outcome.calls):
        return "tool_calls"
    return "stop" if reason in (None, "tool_calls", "function_call") else str(reason)


def _chunk(like: Any, *, reason: str | None = None, **delta: Any) -> ModelResponseStream:
    choice = StreamingChoices(index=0, finish_reason=reason, delta=Delta(role="assistant", **delta))
    return ModelResponseStream(id=like.id, created=like.created, model=like.model, choices=[choice])
