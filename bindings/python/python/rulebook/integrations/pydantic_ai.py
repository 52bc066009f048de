"""Pydantic AI: a model of which only what was accepted reaches the agent, and an output that is an outcome.

`JudgedModel` is for agents with tools, `judged_text` for answers in a dialect of the pack.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, AsyncGenerator, Sequence

from .._results import Outcome
from ._conversation import Conversation, accepted, missing, waits

try:
    from pydantic_ai import ModelRetry, RunContext, TextOutput
    from pydantic_ai.messages import (
        ModelMessage,
        ModelRequest,
        ModelResponse,
        TextPart,
        ThinkingPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.models import CompletedStreamedResponse, ModelRequestParameters, StreamedResponse
    from pydantic_ai.models.wrapper import WrapperModel
    from pydantic_ai.settings import ModelSettings
except ImportError as error:
    raise missing("pydantic_ai", "pydantic-ai-slim", "2.50", error) from error

__all__ = ["JudgedModel", "judged_text"]


def judged_text(conversation: Conversation) -> TextOutput[Outcome]:
    """An output type: the text of the model, judged. `Agent(model, output_type=judged_text(conversation), retries=2)`.

    The output of a run is the `Outcome`, with its message, calls and effects. Where the pack asks again, the agent sends the
    correction, as often as its `retries` and the pack's `[ask_again] most` allow; more is an `UnexpectedModelBehavior`.
    What streams before the end of an answer is text of the model itself: `JudgedModel` is for streams.
    """

    def judged(ctx: RunContext[Any], text: str) -> Outcome:
        outcome = conversation.judge({"parts": [{"type": "text", "text": text}]}, attempts=ctx.retry)
        if outcome.ask_again is not None:
            raise ModelRetry(outcome.ask_again)
        return outcome

    return TextOutput(judged)


class JudgedModel(WrapperModel):
    """Another model, judged: `Agent(JudgedModel(model, conversation), tools=[…])`.

    * The agent gets the message of the outcome, and the accepted calls with judged arguments. Calls of an output type, such as
      `final_result`, are calls, too: the pack declares and permits them.
    * The model is asked again where the pack says so, and where none of its calls could be carried out. Of calls beside
      accepted ones it reads with the next request why they were not carried out, or that they wait for a person: those are in
      `conversation.session.pending`, which needs `pending = "keep"` in the pack.
    * A stream has the answer once it has been judged.
    * Where nothing is left of an answer, the agent raises `ContentFilterError`. If calls wait and there is no message, it
      consists of their questions.

    Each conversation needs a model of its own. Errors of the model pass through.
    """

    def __init__(self, wrapped: Any, conversation: Conversation) -> None:
        super().__init__(wrapped)
        self._conversation = conversation

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """One answer of the model, judged."""
        return await self._judged(messages, (model_settings, model_request_parameters), streams=False)

    @contextlib.asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """One answer of the model, judged, as a stream of its parts."""
        settings = (model_settings, model_request_parameters, run_context)
        response = await self._judged(messages, settings, streams=True)
        yield CompletedStreamedResponse(response, model_request_parameters=model_request_parameters, replay_events=True)

    @property
    def batch_max_requests(self) -> int | None:
        """None: the answers of a batch would not be judged."""
        return None

    async def batch_encode(self, request: Any) -> Any:
        """Raises `NotImplementedError`: the answers of a batch would not be judged."""
        raise NotImplementedError("a judged model has no batches")

    async def _judged(self, messages: list[ModelMessage], settings: Sequence[Any], *, streams: bool) -> ModelResponse:
        messages = [*messages, *self._conversation.take_unanswered()]
        attempts = 0
        while True:
            if streams:
                async with self.wrapped.request_stream(messages, *settings) as stream:
                    async for _ in stream:
                        pass
                    response = stream.get()
            else:
                response = await self.wrapped.request(messages, *settings)
            outcome = self._conversation.judge(_reply(response), attempts=attempts)
            if not self._conversation.asks_again(outcome, attempts):
                break
            answers = _answers(outcome)
            correction = [response, ModelRequest(answers)] if answers else [_user(outcome)]
            messages = [*messages, *correction]
            attempts += 1
        answers = _answers(outcome)
        if answers and accepted(outcome):
            answered = {answer.tool_call_id for answer in answers}
            calls = [part for part in response.parts if isinstance(part, ToolCallPart) and part.tool_call_id in answered]
            self._conversation.unanswered = [dataclasses.replace(response, parts=calls), ModelRequest(answers)]
        return _response(outcome, response)


def _reply(response: ModelResponse) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    for part in response.parts:
        if isinstance(part, TextPart):
            parts.append({"type": "text", "text": part.content})
        elif isinstance(part, ThinkingPart):
            parts.append({"type": "thinking", "text": part.content})
        elif isinstance(part, ToolCallPart):
            arguments = "{}" if part.args is None else part.args
            parts.append({"type": "call", "id": part.tool_call_id, "name": part.tool_name, "arguments": arguments})
        else:
            parts.append({"type": "other", "kind": part.part_kind})
    reason = response.finish_reason
    return {"parts": parts, "truncated": reason == "length", "refused": reason == "content_filter"}


def _answers(outcome: Outcome) -> list[ToolReturnPart]:
    names = {call.id: call.action for call in outcome.calls}
    refused = [
        ToolReturnPart(names[result["tool_call_id"]], result["content"], result["tool_call_id"], outcome="denied")
        for result in outcome.tool_results("openai")
    ]
    waiting = [ToolReturnPart(call.action, waits(outcome, call), call.id) for call in outcome.calls if call.pending and call.id]
    return refused + waiting


def _user(outcome: Outcome) -> ModelRequest:
    return ModelRequest([UserPromptPart(outcome.ask_again or "")])


def _response(outcome: Outcome, response: ModelResponse) -> ModelResponse:
    calls = {call.id: call for call in accepted(outcome)}
    whole = outcome.status != "refused" and not outcome.redacted and len(calls) == len(outcome.calls)
    text = outcome.message
    if not text and not calls:
        text = "\n\n".join(outcome.session.pending[call.pending].question for call in outcome.calls if call.pending)
    judged: list[Any] = []
    for part in response.parts:
        if isinstance(part, TextPart):
            if text:
                judged.append(dataclasses.replace(part, content=text))
                text = ""
        elif isinstance(part, ToolCallPart):
            call = calls.pop(part.tool_call_id, None)
            if call is not None:
                changes: dict[str, Any] = {"tool_name": call.name, "args": call.params}
                judged.append(dataclasses.replace(part, **changes))
        elif whole:
            judged.append(part)
    if text:
        judged.append(TextPart(text))
    # What is left are calls that the model wrote in its text.
    judged += [ToolCallPart(call.name, call.params, call.id) for call in calls.values()]
    reason = response.finish_reason if judged else "content_filter"
    return dataclasses.replace(response, parts=judged, finish_reason=reason, provider_details=None)
