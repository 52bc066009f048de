"""The page for frameworks: does every snippet run, against a model that wants more than it may?"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

from server import calls, serve

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from snippets import program  # noqa: E402


def model(request: dict[str, Any]) -> dict[str, Any]:
    """Calls tools first, of which only one may run, and then says what it knows."""
    if not request.get("tools"):
        return {"content": "<message>It rains.</message>"}
    if any(message["role"] == "tool" for message in request["messages"]):
        return {"content": "It rains."}
    return calls(("get_weather", {"city": "Oslo", "days": "2"}), ("erase", {}), ("refund", {"amount": 5}))


def test_the_snippets_of_the_page_run() -> None:
    page = "docs/frameworks.md"
    with serve(model) as server:
        text = program(page).replace("http://localhost:8000/v1", server.url)
        names: dict[str, Any] = {"__name__": "page"}
        exec(compile(text, page, "exec"), names)
    assert set(names["ran"]) == {"Oslo, 2"}
