"""LiteLLM: does only what was accepted come out of a chat completion?"""

from __future__ import annotations

import asyncio
from typing import Any, AsyncIterator

import litellm
import litellm.exceptions
import pytest
from desk import TOOLS
from server import Server, calls, serve

import rulebook
from rulebook.integrations import Conversation
from rulebook.integrations.litellm import Guard, acompletion


def request(server: Server, **others: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Hello"}]
    return {"model": "openai/fake", "base_url": server.url, "api_key": "none", "messages": messages, "tools": TOOLS, "num_retries": 0, **others}


def ask(conversation: Conversation, server: Server, **others: Any) -> Any:
    return asyncio.run(acompletion(conversation, **request(server, **others)))


def stream(conversation: Conversation, server: Server, **others: Any) -> list[Any]:
    async def all_chunks() -> list[Any]:
        return [chunk async for chunk in await acompletion(conversation, **request(server, stream=True, **others))]

    return asyncio.run(all_chunks())


def text(chunks: list[Any]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


def names(message: Any) -> list[tuple[str, str]]:
    return [(call.function.name, call.function.arguments) for call in message.tool_calls or []]


def test_a_permitted_call_has_judged_arguments_and_a_forbidden_one_is_gone(conversation: Conversation) -> None:
    with serve(calls(("look_up", {"days": "3"}), ("erase", {}), content="One moment.")) as server:
        response = ask(conversation, server)
    (choice,) = response.choices
    assert names(choice.message) == [("look_up", '{"days": 3}')]
    assert (choice.message.content, choice.finish_reason, response.usage.total_tokens) == ("One moment.", "tool_calls", 2)
    assert conversation.outcome is not None and conversation.outcome.calls[1].verdict == "dropped"


@pytest.mark.parametrize("streams", [False, True])
def test_the_next_request_answers_the_calls_that_were_left_out(conversation: Conversation, streams: bool) -> None:
    with serve(calls(("look_up", {"days": 3}), ("erase", {}), ("refund", {"amount": 5})), {"content": "It rains."}) as server:
        for _ in range(2):
            (stream if streams else ask)(conversation, server)
    sent = server.requests[1]["messages"]
    assert [call["id"] for call in sent[1]["tool_calls"]] == ["call_1", "call_2"]
    assert [(one["role"], one.get("tool_call_id")) for one in sent[2:]] == [("tool", "call_1"), ("tool", "call_2")]
    assert "does not permit `erase`" in sent[2]["content"] and "Refund 5?" in sent[3]["content"]


def test_a_call_that_waits_is_in_the_session_and_not_in_the_message(conversation: Conversation) -> None:
    with serve(calls(("refund", {"amount": 5}))) as server:
        choice = ask(conversation, server).choices[0]
    assert (names(choice.message), choice.finish_reason) == ([], "stop")
    ((id, waits),) = conversation.session.pending.items()
    assert waits.question == "Refund 5?"
    assert conversation.program.confirm(conversation.session, id).calls[0].verdict == "accepted"


def test_the_model_hears_why_nothing_was_carried_out(conversation: Conversation) -> None:
    with serve(calls(("erase", {})), {"content": "I may not erase."}) as server:
        assert ask(conversation, server).choices[0].message.content == "I may not erase."
    answered = server.requests[1]["messages"][-1]
    assert (answered["role"], answered["tool_call_id"]) == ("tool", "call_0")
    assert "does not permit `erase`" in answered["content"]


@pytest.mark.parametrize("name, streams", [("erase", False), ("erase", True), ("nope", False), ("nope", True)])
def test_asking_again_is_bounded(conversation: Conversation, name: str, streams: bool) -> None:
    with serve(calls((name, {}))) as server:
        if streams:
            assert not any(chunk.choices[0].delta.tool_calls for chunk in stream(conversation, server))
        else:
            assert names(ask(conversation, server).choices[0].message) == []
    assert len(server.requests) == 3


def test_a_refused_answer_is_empty(conversation: Conversation) -> None:
    with serve({"content": "The SECRET is 7."}) as server:
        choice = ask(conversation, server).choices[0]
    assert (choice.message.content, choice.finish_reason) == (None, "content_filter")


def test_a_refused_stream_shows_nothing(conversation: Conversation) -> None:
    with serve({"content": "A long beginning before the SECRET comes."}) as server:
        chunks = stream(conversation, server)
    assert text(chunks) == ""
    assert [chunk.choices[0].finish_reason for chunk in chunks] == ["content_filter"]


def test_a_stream_has_the_message_and_the_judged_calls(conversation: Conversation) -> None:
    with serve(calls(("erase", {}), ("look_up", {"days": "3"}), content="One moment.")) as server:
        chunks = stream(conversation, server, stream_options={"include_usage": True})
    assert text(chunks) == "One moment."
    found = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []]
    assert [(call.index, call.id, call.function.name, call.function.arguments) for call in found] == [
        (0, "call_1", "look_up", '{"days": 3}')
    ]
    assert chunks[-1].choices[0].finish_reason == "tool_calls" and chunks[-1].usage.total_tokens == 2


def test_a_stream_is_asked_again(conversation: Conversation) -> None:
    with serve(calls(("nope", {})), {"content": "Well."}) as server:
        assert text(stream(conversation, server)) == "Well."
    assert [one["role"] for one in server.requests[1]["messages"]] == ["user", "assistant", "tool"]


def test_a_stream_that_a_pack_shows_early_ends_where_it_is_refused() -> None:
    pack = """
[pack]
name = "early"
[reply]
hold = "settled"
[actions.look_up]
[modes.chat]
permits = ["look_up"]
[[guardrails]]
id       = "secret"
on       = "message"
matches  = "SECRET"
strategy = "ask-again"
"""
    program = rulebook.Program.load({"pack.toml": pack})
    with serve({"content": "A long beginning before the SECRET comes, and more."}) as server:
        chunks = stream(Conversation(program), server)
        assert text(chunks).startswith("A long beginning") and "SECRET" not in text(chunks)
        assert (chunks[-1].choices[0].finish_reason, len(server.requests)) == ("content_filter", 1)
    with serve({"content": "A long beginning before the SECRET comes."}, {"content": "Well."}) as server:
        assert text(stream(Conversation(program, hold=True), server)) == "Well."


def test_a_stream_that_nobody_reads_to_its_end_is_closed(conversation: Conversation) -> None:
    closed = []

    async def chunks() -> AsyncIterator[Any]:
        try:
            for word in ("One", "two", "three"):
                delta = {"role": "assistant", "content": word}
                yield litellm.ModelResponseStream(choices=[{"index": 0, "delta": delta, "finish_reason": None}])
        finally:
            closed.append(True)

    async def leave() -> None:
        source = chunks()

        async def model(**request: Any) -> Any:
            return source

        judged = await acompletion(Conversation(READER), ask=model, stream=True, messages=[])
        async for chunk in judged:
            assert chunk.choices[0].delta.content == "One"
            break
        await judged.aclose()

    asyncio.run(leave())
    assert closed == [True]


READER = rulebook.Program.load({"pack.toml": '[pack]\nname = "reader"\n[actions.look_up]\n[modes.chat]\npermits = ["look_up"]\n'})


def test_a_host_hears_of_each_outcome_in_order(desk: rulebook.Program) -> None:
    outcomes: list[rulebook.Outcome] = []
    with serve(calls(("nope", {})), {"content": "Well."}) as server:
        ask(Conversation(desk, on_outcome=outcomes.append), server)
    assert [(outcome.status, outcome.message) for outcome in outcomes] == [("refused", ""), ("clean", "Well.")]


@pytest.mark.parametrize("status, kind", [(429, litellm.exceptions.RateLimitError), (500, litellm.exceptions.InternalServerError)])
@pytest.mark.parametrize("streams", [False, True])
def test_errors_of_the_model_pass_through(conversation: Conversation, status: int, kind: type[Exception], streams: bool) -> None:
    with serve(status) as server, pytest.raises(kind):
        (stream if streams else ask)(conversation, server, max_retries=0)
    assert conversation.outcome is None


def test_the_hooks_of_the_proxy_judge(conversation: Conversation) -> None:
    async def through_the_hooks(server: Server) -> tuple[Any, list[Any]]:
        guard = Guard(lambda data: conversation, ask=litellm.acompletion)
        data = request(server)
        user: Any = None
        whole = await guard.async_post_call_success_hook(data, user, await litellm.acompletion(**data))
        data = request(server, stream=True)
        chunks = guard.async_post_call_streaming_iterator_hook(user, await litellm.acompletion(**data), data)
        with pytest.raises(TypeError):
            await guard.async_post_call_success_hook(data, user, object())
        return whole, [chunk async for chunk in chunks]

    with serve(calls(("look_up", {"days": "3"}), ("erase", {}))) as server:
        whole, chunks = asyncio.run(through_the_hooks(server))
    assert names(whole.choices[0].message) == [("look_up", '{"days": 3}')]
    assert [call.function.name for chunk in chunks for call in chunk.choices[0].delta.tool_calls or []] == ["look_up"]
