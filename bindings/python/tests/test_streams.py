"""Streams: does an answer that comes from anywhere reach its reader?"""

from __future__ import annotations

import asyncio
import json
from typing import Any, AsyncIterator, Iterator

import pytest
from conftest import ANSWER

import rulebook
from rulebook import events


def run(coroutine: Any) -> Any:
    return asyncio.run(coroutine)


async def slowly(pieces: list[Any], closed: list[str] | None = None) -> AsyncIterator[Any]:
    try:
        for piece in pieces:
            await asyncio.sleep(0)
            if isinstance(piece, Exception):
                raise piece
            yield piece
    finally:
        if closed is not None:
            closed.append("closed")


def test_events_come_while_the_answer_does(lamp: rulebook.Program) -> None:
    async def main() -> None:
        shown = ""
        stream = lamp.stream(lamp.session(), slowly(list(ANSWER)))
        with pytest.raises(ValueError, match="has ended"):
            stream.outcome
        async for event in stream:
            match event:
                case events.Text(role="message", text=text):
                    shown += text
        assert shown == stream.outcome.message == "Good night."
        assert stream.outcome == lamp.run(lamp.session(), ANSWER)
        with pytest.raises(ValueError, match="read once"):
            async for event in stream:
                pass

    run(main())


def test_what_the_source_raises_passes_through_and_the_source_is_closed(lamp: rulebook.Program) -> None:
    async def main() -> None:
        closed: list[str] = []
        stream = lamp.stream(lamp.session(), slowly(["<message>Go", ConnectionError("gone")], closed))
        with pytest.raises(ConnectionError, match="gone"):
            async for _ in stream:
                pass
        assert closed == ["closed"]
        with pytest.raises(ValueError):
            stream.outcome

        closed.clear()
        events_of = lamp.stream(lamp.session(), slowly(["<message>Good", " night", "."], closed)).__aiter__()
        await events_of.__anext__()
        await events_of.aclose()
        assert closed == ["closed"]

    run(main())


def test_an_answer_that_is_too_large_asks_for_no_more(lamp: rulebook.Program) -> None:
    asked = []

    def endless() -> Iterator[bytes]:
        while True:
            asked.append(1)
            yield b"x" * (1 << 20)

    stream = lamp.stream(lamp.session(), endless())
    for _ in stream:
        pass
    assert len(asked) == 11
    assert [found.code for found in stream.outcome.diagnostics] == ["response/too-large"]


def test_chunks_of_an_api_are_read(lamp: rulebook.Program) -> None:
    def chunk(**delta: Any) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": delta}]}

    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "dim", "arguments": ""}}
    chunks: list[Any] = [chunk(role="assistant", content=""), chunk(tool_calls=[call])]
    for piece in ['{"lev', 'el": 10}']:
        chunks.append(chunk(tool_calls=[{"index": 0, "function": {"arguments": piece}}]))
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    whole = {"role": "assistant", "content": "", "tool_calls": [
        {**call, "function": {"name": "dim", "arguments": '{"level": 10}'}}]}
    judged = lamp.judge(lamp.session(), whole, "openai")
    assert judged.calls[0].verdict == "accepted"
    for form in (chunks, [json.dumps(one) for one in chunks]):
        stream = lamp.stream(lamp.session(), form, provider="openai")
        told = list(stream)
        assert any(isinstance(event, events.Field) for event in told)
        assert stream.outcome == judged

    async def main() -> None:
        stream = lamp.stream(lamp.session(), slowly(chunks), provider="openai")
        assert [event async for event in stream]
        assert stream.outcome == judged

    run(main())
    with pytest.raises(rulebook.ReplyError, match="overloaded"):
        list(lamp.stream(lamp.session(), [{"error": {"message": "overloaded"}}], provider="openai"))


def test_only_sources_of_pieces_are_read(lamp: rulebook.Program) -> None:
    sources: list[Any] = ["text", b"bytes", 3, None]
    for source in sources:
        with pytest.raises(TypeError, match="pieces is an iterable"):
            lamp.stream(lamp.session(), source)
    with pytest.raises(TypeError, match="`for` cannot go through"):
        list(lamp.stream(lamp.session(), slowly([])))

    async def main() -> None:
        with pytest.raises(TypeError, match="`async for` cannot go through a list"):
            async for _ in lamp.stream(lamp.session(), ["a"]):
                pass

    run(main())


def test_a_refused_answer_shows_nothing() -> None:
    program = rulebook.Program.load({"pack.toml": """
[pack]
name = "desk"
[dialects.tags]
grammar = "tags"
blocks.message = { role = "message" }
[[guardrails]]
id = "price"
on = "message"
matches = '\\d+ EUR'
[degradation]
guardrail = "refuse"
[modes.default]
"""})
    stream = program.stream(program.session(), list("<message>It is 5 EUR.</message>"))
    told = list(stream)
    assert told == [told[-1]] and isinstance(told[-1], events.Refused)
    assert stream.outcome.status == "refused" and stream.outcome.message == ""
    asked = program.run(program.session(), "<message>It is 5 EUR.</message>", withheld=True)
    assert asked.withheld is not None and asked.withheld.message == "It is 5 EUR."
