"""Conversations without a framework: does a host learn that its pack drops a call that waits?"""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import rulebook
from rulebook.integrations import Conversation

PACK = """
[pack]
name = "desk"
[actions.refund]
params = { amount = { type = "number", required = true } }
[modes.chat]
permits = [{ action = "refund", confirm = "Refund {{ params.amount }}?" }]
"""
KEEPS = PACK.replace('name = "desk"', 'name = "desk"\npending = "keep"')


def calls(amount: object) -> dict[str, Any]:
    return {"parts": [{"type": "call", "name": "refund", "arguments": {"amount": amount}, "id": "call_1"}]}


def test_a_pack_that_drops_what_waits_is_warned_of_when_a_call_waits() -> None:
    conversation = Conversation(rulebook.Program.load({"pack.toml": PACK}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        conversation.judge(calls("none"))
    with pytest.warns(RuntimeWarning, match='pending = "keep"'):
        conversation.judge(calls(5))
    # What is warned of: the next answer ends the wait.
    assert list(conversation.session.pending) == ["p-1"]
    conversation.judge({"parts": [{"type": "text", "text": "I wait."}]})
    assert dict(conversation.session.pending) == {}


def test_a_pack_that_keeps_what_waits_is_not_warned_of() -> None:
    conversation = Conversation(rulebook.Program.load({"pack.toml": KEEPS}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        conversation.judge(calls(5))
        conversation.judge({"parts": [{"type": "text", "text": "I wait."}]})
        assert list(conversation.session.pending) == ["p-1"]
        done = conversation.advance(conversation.program.confirm(conversation.session, "p-1"))
    assert [(call.id, call.verdict) for call in done.calls] == [("call_1", "accepted")]
