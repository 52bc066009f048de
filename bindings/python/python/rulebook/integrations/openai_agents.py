"""OpenAI Agents SDK: a model of which only what was accepted reaches the runner."""

from __future__ import annotations

from typing import Any, AsyncIterator

from .. import events
from .._results import Outcome
from ._conversation import Conversation, accepted, missing, recorded, events_of, waits

try:
    from agents.items import ModelResponse, TResponseStreamEvent
    from agents.models.interface import Model
    from agents.usage import Usage
    from openai.types.responses import (
        ResponseCompletedEvent,
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
        ResponseReasoningItem,
        ResponseTextDeltaEvent,
    )
except ImportError as error:
    raise missing("openai_agents", "openai-agents", "0.21", error) from error

__all__ = ["JudgedModel"]


class JudgedModel(Model):
    """Another model, judged: `Agent(model=JudgedModel(model, conversation), tools=[…])`.

    * The runner gets the message of the outcome, and the accepted calls with judged arguments. Handoffs are calls, too. Items
      of any other kind, which a pack cannot judge, are left out; reasoning is there if nothing else was left out.
    * The model is asked again where the pack says so, and where none of its calls could be carried out. Of calls beside
      accepted ones it reads with the next request why they were not carried out, or that they wait for a person: those are in
      `conversation.session.pending`, which needs `pending = "keep"` in the pack.
    * A stream has text as soon as it is final, and then the completed response.

    Each conversation needs a model of its own. Errors of the model pass through.
    """

    def __init__(self, model: Model, conversation: Conversation) -> None:
        self._model = model
        self._conversation = conversation

    async def get_response(self, system_instructions: str | None, input: Any, *args: Any, **request: Any) -> ModelResponse:
        """One answer of the model, judged. The arguments are those of the other model."""
        input, attempts, usage = self._answering(input), 0, Usage()
        while True:
            response = await self._model.get_response(system_instructions, input, *args, **request)
            usage.add(response.usage)
            outcome = self._conversation.judge(_json(response.output), "responses", attempts=attempts)
            if not self._conversation.asks_again(outcome, attempts):
                break
            input, request = _again(outcome, response.output, response.response_id, input, request)
            attempts += 1
        self._remember(outcome, response.output, request)
        return ModelResponse(_output(outcome, response.output), usage, response.response_id, response.request_id)

    async def stream_response(
        self, system_instructions: str | None, input: Any, *args: Any, **request: Any
    ) -> AsyncIterator[TResponseStreamEvent]:
        """The events of one answer, judged. The arguments are those of the other model."""
        input, attempts, number = self._answering(input), 0, 0
        while True:
            read: list[Any] = []
            chunks = self._model.stream_response(system_instructions, input, *args, **request)
            stream = self._conversation.stream(recorded(chunks, read), "responses", attempts=attempts)
            async with events_of(stream) as certain:
                async for event in certain:
                    if isinstance(event, events.Text) and event.role == "message":
                        yield ResponseTextDeltaEvent(
                            type="response.output_text.delta", delta=event.text, sequence_number=number,
                            item_id="msg_judged", output_index=0, content_index=0, logprobs=[],
                        )
                        number += 1
            if not read or read[-1].type != "response.completed":
                # The runner raises what it makes of an answer that failed or was cut off, of which nothing is shown.
                for ended in read[-1:]:
                    yield _emptied(ended)
                return
            outcome = self._conversation.advance(stream.outcome)
            response = read[-1].response
            # Some servers have the items in their own events only.
            output = response.output or [one.item for one in read if one.type == "response.output_item.done"]
            if number or not self._conversation.asks_again(outcome, attempts):
                break
            input, request = _again(outcome, output, response.id, input, request)
            attempts += 1
        self._remember(outcome, output, request)
        response = response.model_copy(update={"output": _output(outcome, output)})
        yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=number)

    async def close(self) -> None:
        """Closes the other model."""
        await self._model.close()

    def get_retry_advice(self, request: Any) -> Any:
        """The advice of the other model."""
        return self._model.get_retry_advice(request)

    def _answering(self, input: Any) -> Any:
        unanswered = self._conversation.take_unanswered()
        return [*_items(input), *unanswered] if unanswered else input

    def _remember(self, outcome: Outcome, output: list[Any], request: dict[str, Any]) -> None:
        """Answers the calls that are not in the output, if the runner goes on."""
        if not accepted(outcome):
            return
        results = outcome.tool_results("responses")
        for call in outcome.calls:
            if call.pending and call.id:
                results.append({"type": "function_call_output", "call_id": call.id, "output": waits(outcome, call)})
        answered = {result["call_id"] for result in results}
        calls = [item for item in _json(output) if item.get("call_id") in answered]
        self._conversation.unanswered = results if _is_kept(request) else [*calls, *results]


def _is_kept(request: dict[str, Any]) -> bool:
    """Whether the server has the conversation, so that a request has only what is new."""
    return bool(request.get("previous_response_id") or request.get("conversation_id"))


def _again(
    outcome: Outcome, output: list[Any], id: str | None, input: Any, request: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    results = outcome.tool_results("responses")
    correction: list[Any] = results or [{"role": "user", "content": outcome.ask_again}]
    if _is_kept(request):
        return correction, {**request, "previous_response_id": id} if request.get("previous_response_id") else request
    return [*_items(input), *(_json(output) if results else []), *correction], request


def _output(outcome: Outcome, output: list[Any]) -> list[Any]:
    calls = {call.id: call for call in accepted(outcome)}
    whole = outcome.status != "refused" and not outcome.redacted and len(calls) == len(outcome.calls)
    text = ResponseOutputText(type="output_text", text=outcome.message, annotations=[])
    judged: list[Any] = []
    for item in output:
        if isinstance(item, ResponseReasoningItem) and whole:
            judged.append(item)
        elif isinstance(item, ResponseFunctionToolCall) and item.call_id in calls:
            call = calls.pop(item.call_id)
            judged.append(item.model_copy(update={"name": call.name, "arguments": call.arguments}))
        elif isinstance(item, ResponseOutputMessage) and outcome.message and not any(one.type == "message" for one in judged):
            judged.append(item.model_copy(update={"content": [text]}))
    # What is left are calls that the model wrote in its text.
    judged += [
        ResponseFunctionToolCall(type="function_call", call_id=call.id, name=call.name, arguments=call.arguments)
        for call in calls.values()
    ]
    if not any(one.type in ("message", "function_call") for one in judged):
        judged.append(
            ResponseOutputMessage(type="message", id="msg_judged", role="assistant", status="completed", content=[text])
        )
    return judged


def _emptied(event: Any) -> Any:
    response = getattr(event, "response", None)
    return event if response is None else event.model_copy(update={"response": response.model_copy(update={"output": []})})


def _items(input: Any) -> list[Any]:
    return [{"role": "user", "content": input}] if isinstance(input, str) else list(input)


def _json(output: list[Any]) -> list[dict[str, Any]]:
    return [item.model_dump(exclude_none=True) for item in output]
