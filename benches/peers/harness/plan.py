"""The plan: what runs in a cycle?

In: the arguments of the script.
Out: steps, each of which gives figures by row and name.
Never: runs a step before everything that any step needs is built, installed and generated.
"""

import argparse
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import command
import install
from tables import Cycle, grid

ROWS = [
    "brackets",
    "transcript-3",
    "transcript-20",
    "tags-fit",
    "tags-unfit",
    "json-valid",
    "json-broken",
    "files",
    "hermes",
    "qwen-xml",
]
GROUPS = {
    "stream": "answers in pieces: what that takes, and how far behind them is what is told",
    "load": "packs: until one is ready, and until all is said about it",
    "heap": "memory: the largest heap of an answer, in times of its length",
    "prompt": "a prompt with counted tokens after 200 turns, in ms",
    "replay": "the command: recorded answers of some 4 KB",
    "startup": "the command: whole processes",
}
RUNTIMES = ["python", "baml", "node"]


@dataclass
class Step:
    """Something that a cycle runs."""

    group: str
    run: Callable[[], Cycle]
    # Whether it gives the same figures each time, so that once is enough.
    once: bool = False


def chosen(only: str | None) -> tuple[list[str], list[str]]:
    """The rows and the groups whose names begin with one of these words; all of them without any."""
    words = tuple((only or "").split(","))
    return [row for row in ROWS if row.startswith(words)], [group for group in GROUPS if group.startswith(words)]


def driver(words: list[object], prefix: str = "", folder: Path = install.PEERS) -> Callable[[], Cycle]:
    """Runs a driver, and reads its lines."""

    def run() -> Cycle:
        output = subprocess.run(
            [str(word) for word in words], cwd=folder, stdout=subprocess.PIPE, text=True, check=True
        ).stdout
        lines = [line.split("\t") for line in output.splitlines()]
        return {(row, prefix + engine): float(figure) for row, engine, figure in lines}

    return run


def agreement(args: argparse.Namespace) -> str:
    """What is in the answers, and in how many of them others read the same calls."""
    corpus = args.corpus.resolve() if args.corpus else install.corpus()
    found = driver([install.rust(), "agree", corpus, install.REPOSITORY])()
    return grid(["row", "what", "how many"], [[row, what, f"{figure:.0f}"] for (row, what), figure in found.items()])


def steps(args: argparse.Namespace) -> list[Step]:
    """All steps of a cycle, in their order."""
    rows, groups = chosen(args.only)
    corpus = args.corpus.resolve() if args.corpus else install.corpus()
    found = []
    checkouts: list[tuple[str, Path, Path | None]] = [("", install.REPOSITORY, None)]
    if args.beside:
        checkouts.append(("other ", args.beside.resolve(), args.beside))
    for prefix, repository, checkout in checkouts:
        found += engine_steps(prefix, repository, checkout, corpus, args.time, rows, groups)
    without = set(args.without.split(","))
    if rows:
        found += peer_steps(corpus, [args.time, *rows], without)
    if "prompt" in groups and "python" not in without:
        words = [install.python(), install.PEERS / "python" / "prompt.py", dump(""), install.vocabulary(), args.time]
        found.append(Step("prompt", driver(words)))
    if {"replay", "startup"} & set(groups):
        built, scratch = install.command(), install.target() / "peers"
        if "replay" in groups:
            found.append(Step("replay", lambda: command.replay(built, install.REPOSITORY, corpus, scratch)))
        if "startup" in groups:
            found.append(Step("startup", lambda: command.startup(built, install.REPOSITORY)))
    return found


def engine_steps(
    prefix: str, repository: Path, checkout: Path | None, corpus: Path, time: int, rows: list[str], groups: list[str]
) -> list[Step]:
    """What the driver in Rust measures, of the engine in this repository or of another checkout."""
    found, rust = [], install.rust(checkout)
    if rows:
        found.append(Step("rows", driver([rust, "rows", corpus, repository, time, *rows], prefix)))
    if "stream" in groups:
        found.append(Step("stream", driver([rust, "stream", corpus, repository, time], prefix)))
    if "load" in groups:
        found.append(Step("load", driver([rust, "load", repository], prefix)))
    if "heap" in groups:
        heap = install.rust(checkout, "heap")
        found.append(Step("heap", driver([heap, corpus, repository], prefix), once=True))
    if "prompt" in groups:
        found.append(Step("prompt", driver([rust, "prompt", repository, dump(prefix)], prefix)))
    return found


def peer_steps(corpus: Path, tail: list[object], without: set[str]) -> list[Step]:
    """What the other runtimes measure."""
    found = []
    for name, script in (("python", "peers.py"), ("baml", "baml.py")):
        if name not in without:
            words = [install.python(), install.PEERS / "python" / script, corpus, *tail]
            found.append(Step("rows", driver(words)))
    if "node" not in without:
        found.append(Step("rows", driver(["node", "peers.mjs", corpus, *tail], folder=install.node())))
    return found


def dump(prefix: str) -> Path:
    """Where the driver in Rust writes the prompt that the driver in Python makes."""
    return install.target() / "peers" / f"{prefix.strip()}prompt.json"
