"""The oldest Python that the package is for, which has no `match` yet: does it load, and come to the same?

Not collected by pytest: `.ci/python` runs it with each Python that it finds, and `.ci/wheel` with each wheel that it builds.
"""

import asyncio
import json
import pickle
import sys
from typing import AsyncIterator

import rulebook
from rulebook import effects, events

PACK = """
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
"""
ANSWER = '<message>Good night. \ud800</message><action type="dim"><level>10</level></action>'

program = rulebook.Program.load({"pack.toml": PACK})
outcome = program.run(program.session(), ANSWER)
assert json.loads(outcome.to_json()) == outcome.to_dict()
assert isinstance(outcome.effects[0], effects.Emit) and outcome.effects[0].value == 10
assert pickle.loads(pickle.dumps(program)).run(program.session(), ANSWER) == outcome
assert pickle.loads(pickle.dumps(outcome)) == outcome


async def main() -> None:
    async def pieces() -> AsyncIterator[str]:
        for piece in ANSWER:
            yield piece

    stream = program.stream(program.session(), pieces())
    told = [event async for event in stream]
    assert any(isinstance(event, events.Text) for event in told) and stream.outcome == outcome


asyncio.run(main())
try:
    rulebook.Program.load({"pack.toml": ""})
except rulebook.PackError as error:
    assert error.diagnostics and str(error)
else:
    raise AssertionError
print("python", sys.version.split()[0], "comes to the same")
