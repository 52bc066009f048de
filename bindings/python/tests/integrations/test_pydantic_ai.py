"""Pydantic AI: does only what was accepted reach the agent?"""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import ContentFilterError, ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from server import Server, calls, serve

import rulebook
from rulebook.integrations import Conversation
from rulebook.integrations.pydantic_ai import JudgedModel, judged_text

RAN: list[tuple[str, Any]] = []


def look_up(days: int) -> str:
    """Looks something up."""
    RAN.append(("look_up", days))
    return "rain"


def refund(amount: float) -> str:
    """Refunds."""
    RAN.append(("refund", amount))
    return "done"


def erase() -> str:
    """Erases all."""
    RAN.append(("erase", None))
    return "done"


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


def model(server: Server) -> OpenAIChatModel:
    client = openai.AsyncOpenAI(base_url=server.url, api_key="none", max_retries=0)
    return OpenAIChatModel("fake", provider=OpenAIProvider(openai_client=client))


def run(conversation: Conversation, server: Server, streams: bool = False) -> tuple[Any, str]:
    """The output of a run, and what its stream showed."""

    async def runs() -> tuple[Any, str]:
        agent = Agent(JudgedModel(model(server), conversation), tools=[look_up, refund, erase])
        if not streams:
            return (await agent.run("Hello")).output, ""
        async with agent.run_stream("Hello") as result:
            shown = [text async for text in result.stream_text(delta=True)]
            return await result.get_output(), "".join(shown)

    return asyncio.run(runs())


@pytest.mark.parametrize("streams", [False, True])
def test_what_was_accepted_runs_and_the_model_hears_of_the_rest(conversation: Conversation, streams: bool) -> None:
    with serve(calls(("erase", {}), ("look_up", {"days": "3"}), ("refund", {"amount": 5})), {"content": "It rains."}) as server:
        output, shown = run(conversation, server, streams)
    assert RAN == [("look_up", 3)]
    assert output == "It rains." and shown == (output if streams else "")
    results = {one["tool_call_id"]: one["content"] for one in server.requests[1]["messages"] if one["role"] == "tool"}
    assert results["call_1"] == "rain"
    assert "does not permit `erase`" in results["call_0"]
    assert "not carried out yet: a person is asked: Refund 5?" in results["call_2"]
    assert [waits.question for waits in conversation.session.pending.values()] == ["Refund 5?"]


@pytest.mark.parametrize("streams", [False, True])
def test_a_call_that_waits_ends_the_run_with_its_question(conversation: Conversation, streams: bool) -> None:
    with serve(calls(("refund", {"amount": 5}))) as server:
        output, _ = run(conversation, server, streams)
    assert (RAN, len(server.requests), output) == ([], 1, "Refund 5?")
    ((id, _),) = conversation.session.pending.items()
    assert conversation.program.confirm(conversation.session, id).calls[0].params == {"amount": 5}


@pytest.mark.parametrize("name, streams", [("erase", False), ("erase", True), ("nope", False), ("nope", True)])
def test_asking_again_is_bounded(conversation: Conversation, name: str, streams: bool) -> None:
    with serve(calls((name, {}))) as server, pytest.raises(ContentFilterError):
        run(conversation, server, streams)
    assert (RAN, len(server.requests)) == ([], 3)
    assert [one["role"] for one in server.requests[2]["messages"]] == ["user", *["assistant", "tool"] * 2]


@pytest.mark.parametrize("streams", [False, True])
def test_a_refused_answer_shows_nothing(conversation: Conversation, streams: bool) -> None:
    with serve({"content": "A long beginning before the SECRET comes."}) as server, pytest.raises(ContentFilterError) as raised:
        run(conversation, server, streams)
    assert "beginning" not in repr(raised.value) + str(raised.value.body)


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("status", [429, 500])
def test_errors_of_the_model_pass_through(conversation: Conversation, status: int, streams: bool) -> None:
    with serve(status) as server, pytest.raises(ModelHTTPError) as raised:
        run(conversation, server, streams)
    assert raised.value.status_code == status and conversation.outcome is None


LAMP = rulebook.Program.load({"pack.toml": """
[pack]
name = "lamp"
[dialects.tags]
grammar = "tags"
blocks.message = { role = "message" }
blocks.action  = { role = "call", name = "@type", payload = "tags" }
[actions.dim]
params  = { level = { type = "integer", required = true } }
effects = [{ emit = "dim", value = "{{ params.level }}" }]
[modes.home]
permits = ["dim"]
[degradation]
unknown-action = ["ask-again", "drop"]
[ask_again]
most = 1
"""})
WRONG = {"content": '<message>Well.</message><action type="dimm"><level>1</level></action>'}
RIGHT = {"content": '<message>Good night.</message><action type="dim"><level>10</level></action>'}


def test_a_text_becomes_an_outcome_after_it_was_asked_for_again() -> None:
    with serve(WRONG, RIGHT) as server:
        output = Agent(model(server), output_type=judged_text(Conversation(LAMP))).run_sync("Hello").output
    assert isinstance(output, rulebook.Outcome)
    assert (output.message, output.calls[0].params, len(output.effects)) == ("Good night.", {"level": 10}, 1)
    assert "there is no action `dimm`" in server.requests[1]["messages"][-1]["content"]


def test_asking_for_a_text_is_bounded_by_the_pack_and_by_the_agent() -> None:
    with serve(WRONG) as server:
        output = Agent(model(server), output_type=judged_text(Conversation(LAMP)), retries=5).run_sync("Hello").output
        assert (len(server.requests), output.calls[0].verdict, output.effects) == (2, "dropped", ())
        with pytest.raises(UnexpectedModelBehavior):
            Agent(model(server), output_type=judged_text(Conversation(LAMP)), retries=0).run_sync("Hello")
