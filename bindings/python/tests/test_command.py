"""The command: does it come along, and do the words of this package say what it says?"""

from __future__ import annotations

import importlib.metadata
import json
import pathlib
import subprocess
import sys
import sysconfig
from typing import Any

import jsonschema
import pytest
from conftest import ANSWER, LAMP, ROOT

import rulebook


@pytest.fixture
def lamp_on_disk(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "lamp").mkdir()
    (tmp_path / "lamp/pack.toml").write_text(LAMP["pack.toml"], encoding="utf-8")
    (tmp_path / "answer.txt").write_text(ANSWER, encoding="utf-8")
    return tmp_path


def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(one) for one in arguments], capture_output=True, text=True, encoding="utf-8", check=False)


def test_the_command_is_installed(lamp_on_disk: pathlib.Path) -> None:
    commands: list[list[object]] = [[sys.executable, "-m", "rulebook"]]
    if any(importlib.metadata.distributions(name="rulebook-rs")):  # Else the package is tried where it is written.
        commands.append([pathlib.Path(sysconfig.get_path("scripts")) / "rulebook"])
    for command in commands:
        done = run(*command, "run", lamp_on_disk / "lamp", lamp_on_disk / "answer.txt", "--format", "json")
        assert done.returncode == 0, done.stderr
        program = rulebook.Program.load(lamp_on_disk / "lamp")
        assert json.loads(done.stdout) == program.run(program.session(), ANSWER).to_dict()
        assert run(*command, "run", lamp_on_disk / "lamp", lamp_on_disk / "answer.txt", "--strict").returncode == 1
        assert run(*command, "nonsense").returncode == 2
        assert run(*command, "--help").stdout.startswith("The rulebook command")


def test_the_classes_are_those_of_the_schemas() -> None:
    done = run(sys.executable, ROOT / "bindings/python/scripts/contract.py", "--check")
    assert done.returncode == 0, done.stdout


def test_outcomes_keep_to_the_schema(lamp: rulebook.Program, run_command: Any) -> None:
    for name, part in [("outcome", lamp.run(lamp.session(), ANSWER, trace=True)), ("heard", lamp.hear(lamp.session(), "Hello")),
                       ("prompt", lamp.prompt(lamp.session(), "Hello")), ("check", lamp.check()),
                       ("turn", rulebook.Turn.user("x")), ("event", lamp.reader(lamp.session()).push(ANSWER)[0])]:
        _, schema, _ = run_command("schema", name)
        jsonschema.validate(part.to_dict(), json.loads(schema))
