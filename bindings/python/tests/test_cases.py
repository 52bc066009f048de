"""Cases: does every answer of every shipped pack come to the outcome that the command prints?

Each part of each `.case` file goes through the package, and through the command with the session that the package had then.
"""

from __future__ import annotations

import json
import pathlib
import re
import tomllib
from typing import Any, Iterator

import pytest
from conftest import ROOT, packs, same_json

import rulebook


APIS = ("openai", "anthropic", "gemini", "mcp")
MARKER = re.compile(r"^=== ([a-z]+) ===[ \t]*$", re.MULTILINE)


def parts(text: str) -> tuple[dict[str, Any], Iterator[tuple[str, str]]]:
    """The header of a case, and each part: its word and its text."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    marks = list(MARKER.finditer(text))
    header = tomllib.loads(text[: marks[0].start()] if marks else text)
    ends = [mark.start() for mark in marks[1:]] + [None]

    def each() -> Iterator[tuple[str, str]]:
        for mark, end in zip(marks, ends):
            body = text[mark.end() + 1 : end]
            yield mark[1], body[:-1] if end is not None and body.endswith("\n") else body

    return header, each()


def start(program: rulebook.Program, header: dict[str, Any]) -> rulebook.Session:
    kept = {key: header[key] for key in ("mode", "state", "now") if key in header}
    return program.resume(json.loads(json.dumps(kept, default=str)))


@pytest.mark.parametrize("pack", packs(), ids=lambda pack: str(pack.relative_to(ROOT)))
def test_every_case_comes_to_what_the_command_prints(pack: pathlib.Path, run_command: Any, tmp_path: pathlib.Path) -> None:
    cases = sorted((pack / "tests").rglob("*.case"))
    if not cases:
        assert not list(pack.rglob("*.case"))
        return
    program = rulebook.Program.load(pack)
    answers: list[tuple[str, rulebook.Session, str, rulebook.Outcome]] = []
    compared = 0
    for path in cases:
        header, steps = parts(path.read_text(encoding="utf-8"))
        dialect = header.get("dialect")
        session = start(program, header)
        turns: list[rulebook.Turn] = []
        for word, text in steps:
            if word == "prompt":
                asked: dict[str, Any] = {key: header[key] for key in ("prompt", "model") if key in header}
                prompt = program.prompt(session, text or None, history=turns, **asked)
                prompted(run_command, tmp_path, pack, session, turns, text, asked, prompt)
                compared += 1
            done = step(program, session, word, text, dialect)
            if done is None:
                continue
            if word == "user":
                turns.append(rulebook.Turn.user(text))
            elif word not in ("start", "decline"):
                assert isinstance(done, rulebook.Outcome)
                turns.append(rulebook.Turn.answer(done))
            if word == "response" and dialect is None:
                assert isinstance(done, rulebook.Outcome)
                answers.append((f"{path.name} {len(answers)}", session, text, done))
            else:
                printed = by_command(run_command, tmp_path, pack, session, word, text, dialect)
                same_json(done, printed)
            compared += 1
            session = done.session
        for words in header.get("classes", {}).values():
            for text in [words] if isinstance(words, str) else words:
                fresh = start(program, header)
                heard = program.hear(fresh, text)
                same_json(heard, by_command(run_command, tmp_path, pack, fresh, "user", text, None))
                compared += 1
    assert compared > 0
    replayed(run_command, tmp_path, pack, answers)


def step(
    program: rulebook.Program, session: rulebook.Session, word: str, text: str, dialect: str | None
) -> rulebook.Outcome | rulebook.Heard | None:
    """What comes of one part; none if the engine is not asked."""
    if word == "response":
        return program.run(session, text, dialect=dialect)
    if word in APIS:
        return judged(program, session, word, text, dialect)
    if word == "user":
        return program.hear(session, text)
    if word == "start":
        return program.start(session)
    if word == "confirm":
        return program.confirm(session, text.strip())
    if word == "decline":
        return program.decline(session, text.strip())
    assert word in ("expect", "prompt"), word
    return None


def judged(program: rulebook.Program, session: rulebook.Session, api: Any, text: str, dialect: str | None) -> rulebook.Outcome:
    """A message, or the chunks of a stream: server-sent events, or lines of JSON."""
    try:
        json.loads(text)
    except ValueError:
        pass
    else:
        return program.judge(session, text, api, dialect=dialect)
    if re.search("^data:", text, re.MULTILINE):
        chunks = [
            "\n".join(line[5:].removeprefix(" ") for line in event.splitlines() if line.startswith("data:"))
            for event in re.split(r"\n\n+", text)
        ]
    else:
        chunks = [line.strip() for line in text.splitlines()]
    reader = program.reader(session, dialect=dialect)
    for chunk in filter(None, chunks):
        reader.push_chunk(api, chunk)
    return reader.finish()


def by_command(
    run_command: Any, folder: pathlib.Path, pack: pathlib.Path, session: rulebook.Session, word: str, text: str, dialect: str | None
) -> str:
    (folder / "session.json").write_text(session.to_json(), encoding="utf-8")
    (folder / "text").write_bytes(text.encode())
    kept = ["--session", folder / "session.json", "--format", "json"]
    more = ["--dialect", dialect] if dialect else []
    if word == "start":
        arguments = ["hear", pack, *kept]
    elif word == "user":
        arguments = ["hear", pack, *kept, "--", text]
    elif word in ("confirm", "decline"):
        arguments = ["run", pack, f"--{word}", text.strip(), *kept]
    else:
        api = ["--from", word] if word in APIS else []
        arguments = ["run", pack, folder / "text", *api, *more, *kept]
    status, out, err = run_command(*arguments)
    assert status in (0, 1) and not err, err
    return str(out)


def prompted(
    run_command: Any,
    folder: pathlib.Path,
    pack: pathlib.Path,
    session: rulebook.Session,
    turns: list[rulebook.Turn],
    text: str,
    asked: dict[str, Any],
    prompt: rulebook.Prompt,
) -> None:
    (folder / "session.json").write_text(session.to_json(), encoding="utf-8")
    (folder / "history.jsonl").write_text("".join(turn.to_json() + "\n" for turn in turns), encoding="utf-8")
    arguments = ["--session", folder / "session.json", "--history", folder / "history.jsonl", "--format", "messages"]
    arguments += [f"--message={text}"] if text else []
    arguments += [f"--{key}={value}" for key, value in asked.items()]
    status, out, err = run_command("prompt", pack, *arguments)
    if prompt.has_errors:
        assert status == 1 and prompt.messages == ()
    else:
        same_json(prompt, out)


def replayed(run_command: Any, folder: pathlib.Path, pack: pathlib.Path, answers: list[Any]) -> None:
    """All answers that are texts, judged by one command."""
    if not answers:
        return
    lines = [{"id": id, "response": text, "session": session.to_dict()} for id, session, text, _ in answers]
    (folder / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    status, _, err = run_command("replay", pack, folder / "answers.jsonl", "--out", folder / "outcomes.jsonl")
    assert status == 0 and not err, err
    outcomes = (folder / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(outcomes) == len(answers)
    for line, (id, _, _, outcome) in zip(outcomes, answers):
        # Byte for byte.
        assert line.startswith(f'{{"id":{json.dumps(id)},"outcome":{outcome.to_json()}'), id


def test_every_answer_of_the_corpus_comes_to_what_the_command_prints(run_command: Any, tmp_path: pathlib.Path) -> None:
    program = rulebook.Program.load(ROOT / "rules/dce")
    about = ("LICENSE", "README.md", "index.tsv", "reference.jsonl")
    texts = sorted(path for path in (ROOT / "tests/corpus").rglob("*") if path.is_file() and path.name not in about)
    assert len(texts) >= 54 and {path.suffix for path in texts} >= {".txt", ".json"}
    for mode in program.modes:
        session = program.session().replace(mode=mode)
        answers = [
            (f"{path.name} {mode}", session, text, program.run(session, text))
            for path in texts
            for text in [path.read_bytes().decode()]
        ]
        replayed(run_command, tmp_path, ROOT / "rules/dce", answers)
