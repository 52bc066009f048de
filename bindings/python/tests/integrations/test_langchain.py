"""LangChain and LangGraph: does only what was accepted become a message, and run?"""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest
from desk import TOOLS
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from server import Server, calls, serve

import rulebook
from rulebook.integrations import Conversation
from rulebook.integrations.langchain import Parser
from rulebook.integrations.langchain_agents import Middleware

RAN: list[tuple[str, Any]] = []


@tool
def look_up(days: int) -> str:
    """Looks something up."""
    RAN.append(("look_up", days))
    return "rain"


@tool
def refund(amount: float) -> str:
    """Refunds."""
    RAN.append(("refund", amount))
    return "done"


@tool
def erase() -> str:
    """Erases all."""
    RAN.append(("erase", None))
    return "done"


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


def model(server: Server, **others: Any) -> Any:
    return ChatOpenAI(model="fake", base_url=server.url, api_key="none", max_retries=0, **others)  # type: ignore[arg-type]


def chain(conversation: Conversation, server: Server) -> Any:
    return model(server).bind_tools(TOOLS) | Parser(conversation=conversation)


def agent(program: rulebook.Program, server: Server, **others: Any) -> Any:
    return create_agent(model(server), [look_up, refund, erase], middleware=[Middleware(program)], **others)


HELLO: Any = {"messages": [HumanMessage("Hello")]}


def test_a_parser_leaves_the_accepted_calls(conversation: Conversation) -> None:
    with serve(calls(("look_up", {"days": "3"}), ("erase", {}), ("refund", {"amount": 5}), content="One moment.")) as server:
        message = chain(conversation, server).invoke("Hello")
    assert message.content == "One moment."
    assert message.tool_calls == [{"name": "look_up", "args": {"days": 3}, "id": "call_0", "type": "tool_call"}]
    assert message.usage_metadata["total_tokens"] == 2
    assert [waits.question for waits in conversation.session.pending.values()] == ["Refund 5?"]


def test_a_parser_reads_calls_that_a_model_spells_in_its_text() -> None:
    pack = """
[pack]
name = "spelled"
use  = ["std:hermes"]
[actions.look_up]
params = { days = { type = "integer", required = true } }
[modes.chat]
permits = ["look_up"]
"""
    conversation = Conversation(rulebook.Program.load({"pack.toml": pack}))
    text = 'Let me see.\n<tool_call>\n{"name": "look_up", "arguments": {"days": 3}}\n</tool_call>'
    message = Parser(conversation=conversation).invoke(text)
    assert message.content == "Let me see."
    assert [(call["name"], call["args"]) for call in message.tool_calls] == [("look_up", {"days": 3})]
    chunks = list(Parser(conversation=conversation).transform(iter([text[:30], text[30:]])))
    assert sum(chunks[1:], chunks[0]).tool_calls[0]["args"] == {"days": 3}


def test_arguments_that_are_no_json_are_the_packs_to_mend() -> None:
    pack = """
[pack]
name = "corrected"
[actions.look_up]
params = { days = { type = "integer", required = true } }
[modes.chat]
permits = ["look_up"]
[degradation]
malformed-payload = ["repair", "drop"]
"""
    conversation = Conversation(rulebook.Program.load({"pack.toml": pack}))
    with serve(calls(("look_up", "{'days': 3,}"))) as server:
        assert chain(conversation, server).invoke("Hello").tool_calls[0]["args"] == {"days": 3}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_parser_streams(conversation: Conversation, asynchronous: bool) -> None:
    async def all_chunks(server: Server) -> list[Any]:
        return [chunk async for chunk in chain(conversation, server).astream("Hello")]

    with serve(calls(("erase", {}), ("look_up", {"days": "3"}), content="One moment.")) as server:
        chunks = asyncio.run(all_chunks(server)) if asynchronous else list(chain(conversation, server).stream("Hello"))
    whole = sum(chunks[1:], chunks[0])
    assert isinstance(whole, AIMessageChunk) and whole.content == "One moment."
    assert [(call["id"], call["name"], call["args"]) for call in whole.tool_calls] == [("call_1", "look_up", {"days": 3})]


def test_a_refused_stream_shows_nothing(conversation: Conversation) -> None:
    with serve({"content": "A long beginning before the SECRET comes."}) as server:
        chunks = list(chain(conversation, server).stream("Hello"))
        assert [chunk.content for chunk in chunks] == [""]
        assert "SECRET" not in repr(chain(conversation, server).invoke("Hello"))


@pytest.mark.parametrize("status, kind", [(429, openai.RateLimitError), (500, openai.InternalServerError)])
def test_errors_of_the_model_pass_through(desk: rulebook.Program, conversation: Conversation, status: int, kind: type[Exception]) -> None:
    with serve(status) as server:
        for asked in (
            lambda: chain(conversation, server).invoke("Hello"),
            lambda: list(chain(conversation, server).stream("Hello")),
            lambda: agent(desk, server).invoke(HELLO),
        ):
            with pytest.raises(kind):
                asked()


def test_a_graph_runs_what_was_accepted(conversation: Conversation) -> None:
    with serve(calls(("look_up", {"days": "3"}), ("erase", {})), {"content": "It rains."}) as server:
        quiet = model(server).bind_tools(TOOLS).with_config(tags=["nostream"]) | Parser(conversation=conversation)
        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {"messages": [quiet.invoke(state["messages"])]})
        graph.add_node("tools", ToolNode([look_up, refund, erase]))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
        graph.add_edge("tools", "model")
        shown = [message for message, _ in graph.compile().stream(HELLO, stream_mode="messages")]
    assert RAN == [("look_up", 3)]
    assert [getattr(message, "content") for message in shown] == ["", "rain", "It rains."]


def test_an_agent_runs_what_was_accepted_and_answers_the_rest(desk: rulebook.Program) -> None:
    answer = calls(("look_up", {"days": "3"}), ("erase", {}), ("refund", {"amount": 5}))
    with serve(answer, {"content": "It rains."}) as server:
        state = agent(desk, server).invoke(HELLO)
    assert RAN == [("look_up", 3)]
    assert state["messages"][-1].content == "It rains."
    results = {message["tool_call_id"]: message["content"] for message in server.requests[1]["messages"] if message["role"] == "tool"}
    assert results["call_0"] == "rain"
    assert "does not permit `erase`" in results["call_1"]
    assert results["call_2"] == "not carried out yet: a person is asked: Refund 5?"
    assert [waits["question"] for waits in state["rulebook"]["pending"].values()] == ["Refund 5?"]


def test_an_agent_ends_with_a_call_that_waits_and_the_checkpoint_has_it(desk: rulebook.Program) -> None:
    thread: Any = {"configurable": {"thread_id": "7"}}
    with serve(calls(("refund", {"amount": 5}), content="I ask.")) as server:
        graph = agent(desk, server, checkpointer=InMemorySaver())
        state = asyncio.run(graph.ainvoke(HELLO, thread))
        assert (RAN, len(server.requests)) == ([], 1)
        assert state["messages"][-1].content == "I ask." and not state["messages"][-1].tool_calls
        session = desk.resume(graph.get_state(thread).values["rulebook"])
    (id,) = session.pending
    assert desk.confirm(session, id).calls[0].params == {"amount": 5}


@pytest.mark.parametrize("name", ["erase", "nope"])
def test_asking_again_is_bounded(desk: rulebook.Program, name: str) -> None:
    with serve(calls((name, {}))) as server:
        state = agent(desk, server).invoke(HELLO)
    assert (RAN, len(server.requests)) == ([], 3)
    assert len(state["messages"]) == 2 and not state["messages"][-1].tool_calls
    assert [one["role"] for one in server.requests[2]["messages"]] == ["user", *["assistant", "tool"] * 2]


def test_a_refused_answer_of_an_agent_is_in_no_stream(desk: rulebook.Program) -> None:
    async def everything(graph: Any) -> str:
        return repr([part async for part in graph.astream(HELLO, stream_mode=["messages", "values", "updates"])])

    with serve({"content": "A long beginning before the SECRET comes."}) as server:
        graph = agent(desk, server)
        shown = repr([message for message, _ in graph.stream(HELLO, stream_mode="messages")])
        for text in (shown, asyncio.run(everything(graph))):
            assert "beginning" not in text and "SECRET" not in text


def test_an_answer_that_counts_is_in_the_stream_of_an_agent(desk: rulebook.Program) -> None:
    with serve({"content": "It rains."}) as server:
        shown = [message for message, _ in agent(desk, server).stream(HELLO, stream_mode="messages")]
    assert [(type(message), message.content) for message in shown] == [(AIMessage, "It rains.")]
    assert not any(isinstance(message, ToolMessage) for message in shown)
