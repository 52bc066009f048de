"""LangChain and LangGraph: messages of which only what was accepted is left.

`Parser` is for chains and the nodes of a graph: `model | Parser(conversation=conversation)`. For `create_agent` there is
`rulebook.integrations.langchain_agents`.
"""

from __future__ import annotations

from typing import Any, AsyncIterator, Iterator, Sequence

from .. import events
from .._results import Outcome
from ._conversation import accepted, missing

try:
    from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
    from langchain_core.messages.tool import ToolCall, tool_call, tool_call_chunk
    from langchain_core.output_parsers import BaseTransformOutputParser
    from langchain_core.outputs import ChatGeneration, Generation
except ImportError as error:
    raise missing("langchain", "langchain-core", "1.6", error) from error

__all__ = ["Parser"]


class Parser(BaseTransformOutputParser[AIMessage]):
    """Judges what a chat model or a plain model answered: its text, as the pack's dialects read it, and its native calls.

    * in: a text, an `AIMessage` or the chunks of one. `invalid_tool_calls` are read as well: the pack says what is corrected.
    * out: an `AIMessage` with the message of the outcome, and the accepted calls as `tool_calls`; as a stream, chunks of it.
    * `conversation`: its `outcome` has all else; `outcome.ask_again` is what to send to the model, if anything.

    A node whose graph streams `messages` needs `model.with_config(tags=["nostream"])`, or LangGraph shows the tokens of the
    model itself.
    """

    conversation: Any

    def parse_result(self, result: Sequence[Generation], *, partial: bool = False) -> AIMessage:
        """Judges a whole answer."""
        (first, *_) = result
        message = first.message if isinstance(first, ChatGeneration) else AIMessage(first.text)
        return _message(self.conversation.judge(completion(message), "openai"), message)

    def parse(self, text: str) -> AIMessage:
        """Judges a whole answer that is a text."""
        return self.parse_result([Generation(text=text)])

    def _transform(self, input: Iterator[str | BaseMessage]) -> Iterator[AIMessage]:
        stream = self.conversation.stream((_delta(chunk) for chunk in input), "openai")
        for event in stream:
            if isinstance(event, events.Text) and event.role == "message":
                yield AIMessageChunk(content=event.text)
        yield _last(self.conversation.advance(stream.outcome))

    async def _atransform(self, input: AsyncIterator[str | BaseMessage]) -> AsyncIterator[AIMessage]:
        stream = self.conversation.stream((_delta(chunk) async for chunk in input), "openai")
        async for event in stream:
            if isinstance(event, events.Text) and event.role == "message":
                yield AIMessageChunk(content=event.text)
        yield _last(self.conversation.advance(stream.outcome))


def _message(outcome: Outcome, like: Any) -> AIMessage:
    calls = [tool_call(id=call.id, name=call.name, args=call.params) for call in accepted(outcome)]
    return judged(outcome, like, calls)


def judged(outcome: Outcome, like: Any, calls: list[ToolCall]) -> AIMessage:
    """A message with the text of the outcome and these calls. Of the model's own message only its usage is left."""
    named = ("model_name", "model_provider", "finish_reason", "stop_reason")
    about = {name: value for name, value in like.response_metadata.items() if name in named}
    usage = getattr(like, "usage_metadata", None)
    return AIMessage(outcome.message, id=like.id, tool_calls=calls, response_metadata=about, usage_metadata=usage)


def _last(outcome: Outcome) -> AIMessageChunk:
    calls = [
        tool_call_chunk(id=call.id, name=call.name, args=call.arguments, index=index)
        for index, call in enumerate(accepted(outcome))
    ]
    return AIMessageChunk(content="", tool_call_chunks=calls, chunk_position="last")


def completion(message: BaseMessage) -> dict[str, Any]:
    """A message of any provider in the form of OpenAI."""
    calls = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"] or "", "arguments": call["args"]}}
        for call in [*getattr(message, "tool_calls", ()), *getattr(message, "invalid_tool_calls", ())]
    ]
    answer = {"role": "assistant", "content": message.text, "reasoning_content": _thinking(message), "tool_calls": calls}
    return {"choices": [{"index": 0, "message": answer, "finish_reason": _reason(message)}]}


def _delta(chunk: str | BaseMessage) -> dict[str, Any]:
    """A piece of an answer of any provider in the form of OpenAI."""
    if isinstance(chunk, str):
        chunk = AIMessageChunk(content=chunk)
    if not isinstance(chunk, AIMessageChunk):
        whole = completion(chunk)["choices"][0]
        calls = [{"index": index, **call} for index, call in enumerate(whole["message"]["tool_calls"])]
        delta = {**whole["message"], "tool_calls": calls}
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": whole["finish_reason"]}]}
    calls = [
        {"index": call["index"], "id": call["id"], "function": {"name": call["name"], "arguments": call["args"] or ""}}
        for call in chunk.tool_call_chunks
    ]
    delta = {"content": chunk.text, "reasoning_content": _thinking(chunk), "tool_calls": calls}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": _reason(chunk)}]}


def _thinking(message: BaseMessage) -> str | None:
    blocks = [block.get("reasoning") for block in message.content_blocks if block["type"] == "reasoning"]
    return "\n\n".join(str(text) for text in blocks if text) or None


def _reason(message: BaseMessage) -> str | None:
    about = message.response_metadata
    reason = about.get("finish_reason") or about.get("stop_reason")
    return "length" if reason in ("max_tokens", "MAX_TOKENS") else reason
