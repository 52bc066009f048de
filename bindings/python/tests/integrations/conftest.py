"""What the tests of the adapters share: a program, and a conversation for each test."""

from __future__ import annotations

import pytest
from desk import DESK

import rulebook
from rulebook.integrations import Conversation


@pytest.fixture(scope="session")
def desk() -> rulebook.Program:
    return rulebook.Program.load({"pack.toml": DESK})


@pytest.fixture
def conversation(desk: rulebook.Program) -> Conversation:
    return Conversation(desk)
