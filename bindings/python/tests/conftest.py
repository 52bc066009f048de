"""What the tests share: the repository, its packs, and a small pack in memory."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Callable

import pytest

import rulebook
from rulebook._engine import command

ROOT = pathlib.Path(__file__).resolve().parents[3]

LAMP = {
    "pack.toml": """
[pack]
name = "lamp"
version = "1.2.0"
[dialects.tags]
grammar = "tags"
blocks.message = { role = "message" }
blocks.action  = { role = "call", name = "@type", payload = "tags" }
[state.note]
type    = "string"
default = ""
[state.reader]
type = "string"
from = "host"
[actions.dim]
params  = { level = { type = "integer", minimum = 0, maximum = 100, required = true } }
effects = [{ emit = "dim", value = "{{ params.level }}" }, { set = "note", value = "dimmed" }]
[actions.unlock_door]
[modes.home]
permits = ["dim"]
[modes.away]
"""
}
ANSWER = """<message>Good night.</message>
<action type="dim"><level>10</level></action>
<action type="unlock_door"/>"""


def packs() -> list[pathlib.Path]:
    """The folders of all packs that the repository ships or tests with."""
    found = [path.parent for group in ("rules", "tests/packs", "examples") for path in (ROOT / group).rglob("pack.toml")]
    assert len(found) > 100
    return sorted(found)


@pytest.fixture(scope="session")
def lamp() -> rulebook.Program:
    return rulebook.Program.load(LAMP)


@pytest.fixture
def run_command(tmp_path: pathlib.Path) -> Callable[..., tuple[int, str, str]]:
    """Runs the command in this process; gives its exit status, and what it wrote."""

    def run(*arguments: str | os.PathLike[str]) -> tuple[int, str, str]:
        written = [tmp_path / "out", tmp_path / "err"]
        kept = [os.dup(1), os.dup(2)]
        try:
            for number, path in enumerate(written):
                opened = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
                os.dup2(opened, number + 1)
                os.close(opened)
            status = command(["rulebook", *(os.fspath(one) for one in arguments)])
        finally:
            for number, one in enumerate(kept):
                os.dup2(one, number + 1)
                os.close(one)
        out, err = (path.read_text(encoding="utf-8") for path in written)
        return status, out, err

    return run


def same_json(one: Any, other: str) -> None:
    """What an object says of itself, as JSON and as plain data, is this JSON."""
    assert json.loads(one.to_json()) == json.loads(other)
    assert one.to_dict() == json.loads(other)
