"""Recipes: what are the snippets of `docs/batches.md`, each by the package that it is for?"""

from __future__ import annotations

import importlib.util
import re
from typing import Any

from answers import ROOT

PAGE = ROOT / "docs" / "batches.md"
PACKAGES = ["pyarrow", "polars", "duckdb", "datasets", "daft", "pyspark", "ray"]


def snippets() -> list[tuple[str, str]]:
    """The snippets of the page, each at the line where it is, and the package that each needs most."""
    text = PAGE.read_text(encoding="utf-8")
    found = []
    for snippet in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        imported = re.findall(r"^(?:import|from) (\w+)", snippet[1], re.MULTILINE)
        packages = [name for name in imported if name in PACKAGES]
        found.append((packages[-1] if packages else "pyarrow", "\n" * text.count("\n", 0, snippet.start(1)) + snippet[1]))
    assert {package for package, _ in found} == set(PACKAGES)
    return found


def recipes(package: str) -> dict[str, Any]:
    """The functions of the page for a package."""
    names: dict[str, Any] = {"__name__": "page"}
    for needs, code in snippets():
        if needs in ("pyarrow", package):
            exec(compile(code, str(PAGE), "exec", dont_inherit=True), names)
    return names


def installed(package: str) -> bool:
    """Whether a package is here."""
    return importlib.util.find_spec(package) is not None
