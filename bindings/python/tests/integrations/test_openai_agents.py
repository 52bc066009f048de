"""OpenAI Agents SDK: does only what was accepted reach the runner?"""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest
from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from server import Server, calls, serve

from rulebook.integrations import Conversation
from rulebook.integrations.openai_agents import JudgedModel

set_tracing_disabled(True)
RAN: list[tuple[str, Any]] = []


@function_tool
def look_up(days: int) -> str:
    """Looks something up."""
    RAN.append(("look_up", days))
    return "rain"


@function_tool
def refund(amount: float) -> str:
    """Refunds."""
    RAN.append(("refund", amount))
    return "done"


@function_tool
def erase() -> str:
    """Erases all."""
    RAN.append(("erase", None))
    return "done"


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


def agent(conversation: Conversation, server: Server) -> Agent[Any]:
    client = openai.AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0)
    model = JudgedModel(OpenAIChatCompletionsModel("fake", client), conversation)
    return Agent(name="desk", model=model, tools=[look_up, refund, erase])


def run(conversation: Conversation, server: Server, streams: bool = False) -> tuple[Any, str]:
    """The result of a run, and what its stream showed."""

    async def runs() -> tuple[Any, str]:
        if not streams:
            return await Runner.run(agent(conversation, server), "Hello"), ""
        result = Runner.run_streamed(agent(conversation, server), "Hello")
        shown = [event async for event in result.stream_events()]
        return result, repr([getattr(event, "data", getattr(event, "item", None)) for event in shown])

    return asyncio.run(runs())


@pytest.mark.parametrize("streams", [False, True])
def test_what_was_accepted_runs_and_the_model_hears_of_the_rest(conversation: Conversation, streams: bool) -> None:
    answer = calls(("erase", {}), ("look_up", {"days": "3"}), ("refund", {"amount": 5}), content="One moment.")
    with serve(answer, {"content": "It rains."}) as server:
        result, shown = run(conversation, server, streams)
    assert RAN == [("look_up", 3)]
    assert result.final_output == "It rains."
    results = {one["tool_call_id"]: one["content"] for one in server.requests[1]["messages"] if one["role"] == "tool"}
    assert results["call_1"] == "rain"
    assert "does not permit `erase`" in results["call_0"]
    assert results["call_2"] == "not carried out yet: a person is asked: Refund 5?"
    assert [waits.question for waits in conversation.session.pending.values()] == ["Refund 5?"]
    assert "One moment." in shown or not streams


@pytest.mark.parametrize("streams", [False, True])
def test_a_call_that_waits_ends_the_run(conversation: Conversation, streams: bool) -> None:
    with serve(calls(("refund", {"amount": 5}), content="I ask.")) as server:
        result, _ = run(conversation, server, streams)
    assert (RAN, len(server.requests), result.final_output) == ([], 1, "I ask.")
    ((id, _),) = conversation.session.pending.items()
    assert conversation.program.confirm(conversation.session, id).calls[0].params == {"amount": 5}


@pytest.mark.parametrize("name, streams", [("erase", False), ("erase", True), ("nope", False), ("nope", True)])
def test_asking_again_is_bounded(conversation: Conversation, name: str, streams: bool) -> None:
    with serve(calls((name, {}))) as server:
        result, _ = run(conversation, server, streams)
    assert (RAN, len(server.requests), result.final_output) == ([], 3, "")
    assert [one["role"] for one in server.requests[2]["messages"]] == ["user", *["assistant", "tool"] * 2]


@pytest.mark.parametrize("streams", [False, True])
def test_a_refused_answer_shows_nothing(conversation: Conversation, streams: bool) -> None:
    with serve({"content": "A long beginning before the SECRET comes."}) as server:
        result, shown = run(conversation, server, streams)
    assert result.final_output == ""
    assert "beginning" not in shown and "SECRET" not in shown and "beginning" not in repr(result.to_input_list())


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("status, kind", [(429, openai.RateLimitError), (500, openai.InternalServerError)])
def test_errors_of_the_model_pass_through(conversation: Conversation, status: int, kind: type[Exception], streams: bool) -> None:
    with serve(status) as server, pytest.raises(kind):
        run(conversation, server, streams)
    assert conversation.outcome is None
