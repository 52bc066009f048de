"""Answers: what does a model write in the dialects of the packs `couple-ai`, `dce` and `roundtable`?

In: a source of prose, how long an answer should be, and whether it is malformed.
Out: one answer, broken in one of the ways in which models break it if it is to be malformed.
Never: writes what a reader of this repository makes of it.
"""

import json
import re
import textwrap

from breaking import changed, cut, maybe_broken
from prose import Prose

SPEAKERS = [
    ("Maya Chen", "Business Analyst"),
    ("Alex Rivera", "Solutions Architect"),
    ("Jordan Park", "System Designer"),
]
PROLOGUE = """---
ELABORATION MODE

Bringing Alex Rivera (Solutions Architect) and Jordan Park (System Designer)
into the discussion.
---"""


def brackets(prose: Prose, size: int, malformed: bool) -> str:
    """One call `[ACTION]{json}` between paragraphs."""
    dice = prose.dice
    name, payload = dice.choice([_ingest, _ingest, _critique, _publication])(prose, int(size * dice.uniform(0.1, 0.4)))
    written = json.dumps(payload, ensure_ascii=False, indent=dice.choice([None, 2, 2]))
    call = f"[{name}]" + dice.choice(["", "", " ", "\n"]) + written
    rest = max(200, size - len(call))
    before = prose.text(int(rest * dice.uniform(0.3, 0.8)))
    text = before + "\n\n" + call + "\n\n" + prose.text(max(60, rest - len(before)))
    ways = [
        lambda text: text[: text.index(call) + int(len(call) * dice.uniform(0.3, 0.9))],
        changed("}", ",}"),
        changed(call, f"[{name}]```json\n{written}\n```"),
        changed(f"[{name}]", name),
        changed('"title"', '"titel"'),
    ]
    return maybe_broken(prose, malformed, text, ways)


def _ingest(prose: Prose, size: int) -> tuple[str, dict]:
    dice = prose.dice
    payload = {
        "docId": f"doc-{dice.randint(1, 99999)}",
        "title": prose.sentence()[:60],
        "summary": prose.paragraph(max(1, size // 260)),
        "totalChapters": dice.randint(0, 60),
        "writingStyle": prose.sentence(),
        "authorHabits": [prose.sentence() for _ in range(dice.randint(1, 4))],
        "lastAnalyzedChapter": dice.randint(0, 60),
    }
    if dice.random() < 0.6:
        section = lambda n: {
            "id": f"s{n}",
            "title": prose.name(),
            **({"summary": prose.sentence()} if dice.random() < 0.7 else {}),
        }
        payload["sections"] = [section(n) for n in range(dice.randint(1, 6))]
    if dice.random() < 0.5:
        payload["sourceUrl"] = "https://example.com/" + prose.name()
    return "ACTION_INGEST_DOC", payload


def _critique(prose: Prose, size: int) -> tuple[str, dict]:
    payload: dict[str, object] = {"page": {"title": prose.sentence()[:50], "content": prose.text(size)}}
    if prose.dice.random() < 0.5:
        payload["profileId"] = prose.name()
    return "ACTION_CREATE_CRITIQUE_PAGE", payload


def _publication(prose: Prose, size: int) -> tuple[str, dict]:
    return "ACTION_PREPARE_PUBLICATION", {
        "platform": "RoyalRoad",
        "storyUrl": "https://example.com/s/" + prose.name(),
        "chapterTitle": prose.sentence()[:40],
        "contentSourcePageId": prose.name(),
    }


def files(prose: Prose, size: int, malformed: bool) -> str:
    """Headings, lists, and files in tags."""
    dice = prose.dice
    parts = [prose.paragraph(3), "### Course of Action"]
    parts += [f"{n + 1}.  **{prose.name()}**: {prose.sentence()}" for n in range(dice.randint(2, 5))]
    parts.append("### Files Updated This Cycle:")
    paths = [
        f"src/{prose.name()}/{prose.name()}.{dice.choice(['ts', 'tsx', 'md', 'rs'])}" for _ in range(dice.randint(1, 5))
    ]
    parts += [f"- {path}" for path in paths]
    each = max(100, (size - sum(map(len, parts))) // len(paths))
    for path in paths:
        body = f"# {prose.name()}\n{prose.text(each)}" if path.endswith("md") else prose.code(each)
        parts.append(f'<file path="{path}">\n{body}\n</file>')
    ways = [
        cut(prose, 0.5),
        changed("</file>", ""),
        changed('<file path="', "<file path="),
        changed("### Course", "###Course"),
        lambda text: text + "\n\n### Course of Action\n\n" + prose.paragraph(),
    ]
    return maybe_broken(prose, malformed, "\n\n".join(parts), ways)


def one_object(prose: Prose, size: int, malformed: bool) -> str:
    """An answer that is one JSON object, with files in it."""
    dice = prose.dice
    count = dice.randint(1, 5)
    answer: dict[str, object] = {
        "summary": prose.paragraph(max(1, size // 900)),
        "course_of_action": [{"step": n + 1, "description": prose.sentence()} for n in range(dice.randint(1, 6))],
    }
    if dice.random() < 0.5:
        answer["curator_activity"] = prose.sentence()
    if dice.random() < 0.4:
        answer["files_updated"] = []
    each = max(80, int(size * 0.75) // count)
    answer["files"] = [{"path": f"src/{prose.name()}.ts", "content": prose.code(each)} for _ in range(count)]
    text = json.dumps(answer, ensure_ascii=False, indent=dice.choice([None, 2, 2]))
    ways = [
        cut(prose, 0.5),
        lambda text: "Here is the JSON you asked for:\n\n```json\n" + text + "\n```\n" + prose.sentence(),
        lambda text: re.sub(r'"(\s*)}', r'" ,\1}', text, count=1),
        changed('"summary"', "summary"),
        changed("\\n", "\n", -1),
        lambda text: prose.sentence() + "\n" + text,
    ]
    return maybe_broken(prose, malformed, text, ways)


def transcript(prose: Prose, size: int, malformed: bool, fits: bool) -> str:
    """Turns of three speakers; if it fits, three turns and nothing before them, as the pack wants it."""
    dice = prose.dice
    parts = [] if fits else [PROLOGUE]
    written, said = 0, 0
    while written < size:
        name, role = dice.choice(SPEAKERS)
        paragraphs = [
            textwrap.fill(prose.paragraph(dice.randint(1, 4)), 76) for _ in range(dice.choice([1, 1, 1, 2, 3]))
        ]
        part = (f"{name} ({role}): " if said < 3 or not fits else "") + "\n\n".join(paragraphs)
        parts.append(part)
        written += len(part) + 2
        said += 1
    ways = [
        changed("): ", ")"),
        changed("Maya Chen (Business Analyst)", "**Maya Chen** (Business Analyst)", 2),
        cut(prose, 0.5),
        changed("Alex Rivera (", "Alex Rivera ["),
    ]
    return maybe_broken(prose, malformed, "\n\n".join(parts), ways)
