"""Readers: what do people write in Python to read such answers?

In: an answer.
Out: what was found in it, as dicts, tuples and strings.
Never: checks, permits or reports anything; what does not match is not found.
"""

import json
import re
from dataclasses import dataclass


@dataclass
class ParsedResponse:
    """An answer in tags."""

    thinking: str | None
    message: str
    actions: list[dict]
    content_updates: list[dict]
    raw: str


def tags(response: str) -> ParsedResponse:
    """An answer in tags, by the parser that the documents of such a system print (the pack `writers-factory`)."""
    thinking_match = re.search(r"<thinking>(.*?)</thinking>", response, re.DOTALL)
    thinking = thinking_match.group(1).strip() if thinking_match else None
    message_match = re.search(r"<message>(.*?)</message>", response, re.DOTALL)
    message = message_match.group(1).strip() if message_match else response
    actions = []
    for match in re.finditer(r'<action type="(\w+)">(.*?)</action>', response, re.DOTALL):
        content = match.group(2).strip()
        actions.append({"type": match.group(1), "content": _fields(content), "raw": content})
    updates = []
    for match in re.finditer(r'<content_update target="([^"]+)">(.*?)</content_update>', response, re.DOTALL):
        updates.append({"target": match.group(1), "content": match.group(2).strip()})
    return ParsedResponse(thinking, message, actions, updates, response)


def _fields(content: str) -> dict:
    params = {}
    for match in re.finditer(r"<(\w+)>(.*?)</\1>", content, re.DOTALL):
        value = match.group(2).strip()
        if value.startswith("[") and value.endswith("]"):
            try:
                value = json.loads(value)
            except ValueError:
                pass
        params[match.group(1)] = value
    return params


BRACKET = re.compile(r"\[([A-Z][A-Z0-9_]+)\]\s*(?=\{)")
DECODER = json.JSONDecoder()


def brackets(response: str) -> list[tuple[str, object]]:
    """The calls `[ACTION]{json}` of an answer."""
    calls = []
    for match in BRACKET.finditer(response):
        try:
            calls.append((match.group(1), DECODER.raw_decode(response, match.end())[0]))
        except ValueError:
            pass
    return calls


FILE = re.compile(r'^<file path="([^"\n]+)">(.*?)</file>', re.M | re.S)
HEADING = re.compile(r"^(#{1,6}) (.*)$", re.M)


def files(response: str) -> tuple[list, list]:
    """The files and the headings of an answer."""
    return [m.groups() for m in FILE.finditer(response)], [m.groups() for m in HEADING.finditer(response)]


SPEAKER = re.compile(r"^([A-Z][a-z]+(?: [A-Z][a-z]+)*) \(([^)\n]+)\): ", re.M)


def transcript(response: str) -> list[tuple[str, str, str]]:
    """The turns of a transcript: speaker, role and text."""
    found = list(SPEAKER.finditer(response))
    ends = [match.start() for match in found[1:]] + [len(response)]
    return [(m.group(1), m.group(2), response[m.end() : end].strip()) for m, end in zip(found, ends)]
