"""Documentation: does every snippet of Python run?"""

from __future__ import annotations

import inspect
import pathlib
import re
from typing import Any

import pytest
from snippets import PAGES, ROOT, program

import rulebook


@pytest.mark.parametrize("page", PAGES)
def test_the_snippets_of_a_page_run(page: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for path, content in re.findall(r"^```\w+ (\S+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(program(page), page, "exec"), names)


def test_everything_public_says_what_it_is() -> None:
    for name in rulebook.__all__:
        one = getattr(rulebook, name)
        assert inspect.getdoc(one), name
        if inspect.isclass(one):
            for member, value in vars(one).items():
                if not member.startswith("_") and (inspect.isroutine(value) or isinstance(value, property)):
                    assert inspect.getdoc(value), f"{name}.{member}"
