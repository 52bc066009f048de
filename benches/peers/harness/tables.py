"""Tables: what do the figures of some cycles say?

In: the figures of each cycle, by row and engine.
Out: text, with the median of the cycles and the smallest and the largest figure; ratios of figures of one cycle, and
one of the smallest figures of all cycles, which a busy machine disturbs least.
Never: divides figures of two runs.
"""

from pathlib import Path
from statistics import median

Cycle = dict[tuple[str, str], float]

OURS = ("read", "run", "run+json", "run, no guardrails")
FLOORS = ("counting",)
# What stands before the names of the figures of another checkout.
OTHER = "other "


def spread(values: list[float], form: str = ".1f") -> str:
    """The median, and between which figures it lies."""
    if not values:
        return ""
    if len(values) == 1:
        return f"{values[0]:{form}}"
    return f"{median(values):{form}} ({min(values):{form}}–{max(values):{form}})"


def figures(cycles: list[Cycle], row: str, engine: str) -> list[float]:
    return [cycle[row, engine] for cycle in cycles if (row, engine) in cycle]


def ratios(cycles: list[Cycle], row: str, slow: str, fast: str) -> list[float]:
    """How many times as long the first takes as the second, in each cycle."""
    return [cycle[row, slow] / cycle[row, fast] for cycle in cycles if (row, slow) in cycle and (row, fast) in cycle]


def smallest(cycles: list[Cycle], row: str, slow: str, fast: str) -> float | None:
    """The same of the smallest figures of all cycles."""
    slows, fasts = figures(cycles, row, slow), figures(cycles, row, fast)
    return min(slows) / min(fasts) if slows and fasts and min(fasts) > 0 else None


def goals(path: Path) -> dict[tuple[str, str], float]:
    """The least that each ratio should be."""
    lines = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {(row, peer): float(least) for row, peer, least in lines}


def rows(cycles: list[Cycle]) -> list[str]:
    return list(dict.fromkeys(row for cycle in cycles for row, _ in cycle))


def engines(cycles: list[Cycle], row: str) -> list[str]:
    return list(dict.fromkeys(engine for cycle in cycles for of, engine in cycle if of == row))


def grid(head: list[str], body: list[list[str]]) -> str:
    """Columns as wide as their widest cell; all but the first two to the right."""
    widths = [max(len(line[column]) for line in [head, *body]) for column in range(len(head))]

    def line(cells: list[str]) -> str:
        return "  ".join(
            cell.ljust(w) if n < 2 else cell.rjust(w) for n, (cell, w) in enumerate(zip(cells, widths))
        ).rstrip()

    return "\n".join([line(head), line(["-" * width for width in widths]), *map(line, body)])


def ours(cycles: list[Cycle]) -> str:
    """What the engine takes, and how many times as long as counting one byte that is."""
    body = []
    for row in rows(cycles):
        cells = [spread(figures(cycles, row, engine)) for engine in OURS]
        counted = ratios(cycles, row, "run", "counting")
        body.append([row, *cells, spread(counted, ".0f")])
    return grid(["µs per 4 KB", "read", "run", "run and JSON", "run, no guardrails", "run / counting a byte"], body)


def peers(cycles: list[Cycle], least: dict[tuple[str, str], float]) -> str:
    """What each peer takes, and how many times as long as the engine that is."""
    body = []
    for row in rows(cycles):
        for peer in engines(cycles, row):
            if peer in OURS or peer in FLOORS or peer.startswith(OTHER):
                continue
            cells = [row, peer, spread(figures(cycles, row, peer))]
            cells += [spread(ratios(cycles, row, peer, ours), ".2f") for ours in ("read", "run", "run+json")]
            ratio, goal = smallest(cycles, row, peer, "run"), least.get((row, peer))
            cells.append(f"{ratio:.2f}" if ratio else "")
            cells.append(f"≥ {goal:g} {'ok' if ratio >= goal else 'MISS'}" if ratio and goal else "")
            body.append(cells)
    head = [
        "row",
        "peer",
        "µs per 4 KB",
        "peer / read",
        "peer / run",
        "peer / run and JSON",
        "smallest / smallest run",
        "",
    ]
    return grid(head, body)


def group(cycles: list[Cycle], title: str) -> str:
    """All figures of a group, a row for each of its rows."""
    columns = list(dict.fromkeys(engine for cycle in cycles for _, engine in cycle if not engine.startswith(OTHER)))
    body = [[row, *(spread(figures(cycles, row, engine)) for engine in columns)] for row in rows(cycles)]
    return title + "\n\n" + grid(["", *columns], body)


def beside(cycles: list[Cycle]) -> str:
    """How many times as long the engine of another checkout takes."""
    body = []
    for row in rows(cycles):
        for engine in engines(cycles, row):
            ratio = smallest(cycles, row, OTHER + engine, engine)
            if ratio:
                body.append([row, engine, spread(ratios(cycles, row, OTHER + engine, engine), ".3f"), f"{ratio:.3f}"])
    return grid(["other / this", "", "ratio", "smallest / smallest"], body)
