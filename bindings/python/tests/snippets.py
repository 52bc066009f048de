"""Snippets: what is the Python on the pages of the documentation, as one program for each page?"""

from __future__ import annotations

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = ["docs/python.md", "bindings/python/README.md", "README.md"]


def program(page: str) -> str:
    """The snippets of a page, each at the line where it is, so that a fault is found there."""
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = [""] * text.count("\n")
    for snippet in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, snippet.start(1))
        for number, line in enumerate(snippet[1].splitlines()):
            lines[first + number] = line
    assert any(lines), f"{page} has no Python"
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes each program into the folder that is named first, for checkers of types: of the pages that follow, or of all."""
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for page in sys.argv[2:] or PAGES:
        (folder / (re.sub(r"\W+", "_", page) + ".py")).write_text(program(page), encoding="utf-8")


if __name__ == "__main__":
    main()
