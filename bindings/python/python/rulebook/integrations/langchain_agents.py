"""LangChain's agents: judges each answer inside the graph of `create_agent`, whose state has the session."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Generator

from .._program import Program
from .._results import Outcome
from ._conversation import Conversation, accepted, missing, waits
from .langchain import completion, judged

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ExtendedModelResponse, ModelResponse
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langchain_core.messages.tool import tool_call
    from langgraph.types import Command
    from typing_extensions import NotRequired
except ImportError as error:
    raise missing("langchain_agents", "langchain", "1.4", error) from error

__all__ = ["Middleware", "State"]


class State(AgentState[Any]):
    """The state of an agent, and in it the session: what `Program.resume` reads. A checkpointer saves both."""

    rulebook: NotRequired[dict[str, Any]]


class Middleware(AgentMiddleware[State, Any, Any]):
    """Judges what the model of an agent answers before the agent sees it: `create_agent(model, tools, middleware=[…])`.

    * Accepted calls run, with judged arguments. The others are answered by a `ToolMessage`: why they did not, or that they
      wait for a person; those are in the `pending` of `state["rulebook"]`.
    * The model is asked again inside the step, where the pack says so, and where none of its calls could be carried out.
      Failed answers are not in the state.
    * The model itself does not stream: a stream of the graph has each message once it has been judged.
    * `on_outcome`, `most`: as for a `Conversation`. One middleware serves all threads and conversations.

    Errors of the model pass through. The innermost middleware sees what the model wrote: put this one last.
    """

    state_schema = State

    def __init__(
        self, program: Program, *, on_outcome: Callable[[Outcome], None] | None = None, most: int = 2
    ) -> None:
        super().__init__()
        self._program = program
        self._on_outcome = on_outcome
        self._most = most

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Called by the agent in place of its model."""
        steps = self._steps(request)
        asked = next(steps)
        while True:
            try:
                asked = steps.send(handler(asked))
            except StopIteration as end:
                return end.value

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Called by the agent in place of its model."""
        steps = self._steps(request)
        asked = next(steps)
        while True:
            try:
                asked = steps.send(await handler(asked))
            except StopIteration as end:
                return end.value

    def _steps(self, request: Any) -> Generator[Any, Any, Any]:
        """Yields each request to the model, is sent its response, and returns what the agent gets."""
        saved = request.state.get("rulebook")
        session = self._program.session() if saved is None else self._program.resume(saved)
        conversation = Conversation(self._program, session, on_outcome=self._on_outcome, most=self._most)
        quiet = {"disable_streaming": True, "tags": [*(request.model.tags or ()), "nostream"]}
        request = request.override(model=request.model.model_copy(update=quiet))
        attempts = 0
        while True:
            response = yield request
            message = next(one for one in response.result if isinstance(one, AIMessage))
            outcome = conversation.judge(completion(message), "openai", attempts=attempts)
            if not conversation.asks_again(outcome, attempts):
                break
            results = _answers(outcome)
            correction = [message, *results] if results else [HumanMessage(outcome.ask_again)]
            request = request.override(messages=[*request.messages, *correction])
            attempts += 1
        result: list[Any] = [judged(outcome, message, [])]
        # An agent goes on while its last message has calls. Where none was accepted, there are none, and it ends.
        if some := accepted(outcome):
            answers = _answers(outcome)
            answered = {answer.tool_call_id for answer in answers}
            # A call without an answer would run: it is left out.
            others = [call for call in outcome.calls if call.verdict != "accepted" and call.id in answered]
            calls = [tool_call(id=call.id, name=call.name, args=call.params) for call in some]
            calls += [tool_call(id=call.id, name=call.action, args=call.params) for call in others]
            ran = {call.id for call in some}
            # What a response has besides is the result of a call that is a structured answer.
            given = [one for one in response.result if isinstance(one, ToolMessage) and one.tool_call_id in ran]
            result = [judged(outcome, message, calls), *given, *answers]
        whole = outcome.status != "refused" and all(call.verdict == "accepted" for call in outcome.calls)
        structured = response.structured_response if whole else None
        return ExtendedModelResponse(
            ModelResponse(result, structured_response=structured), Command(update={"rulebook": conversation.session.to_dict()})
        )


def _answers(outcome: Outcome) -> list[ToolMessage]:
    """What answers the calls that the agent may not run."""
    refused = [
        ToolMessage(result["content"], tool_call_id=result["tool_call_id"], status="error")
        for result in outcome.tool_results("openai")
    ]
    waiting = [
        ToolMessage(waits(outcome, call), tool_call_id=call.id)
        for call in outcome.calls
        if call.pending is not None and call.id is not None
    ]
    return refused + waiting
