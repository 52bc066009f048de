#!/usr/bin/env python3
"""Contract: which classes and types does Python have for the engine's JSON?

Reads the schemas of the contracts, and writes the modules of the package that say the same: a class with a property for
each member, and a TypedDict. `--check` writes nothing, and exits with 1 if a module is not what the schemas say.

Needs Python 3.9, and nothing else.
"""

from __future__ import annotations

import json
import keyword
import pathlib
import re
import sys
import textwrap
from typing import Iterable

HERE = pathlib.Path(__file__).resolve().parent.parent
SCHEMAS = HERE.parent.parent / "schemas"
PACKAGE = HERE / "python" / "rulebook"

# The contracts, in the order in which their structs are written.
CONTRACTS = ["outcome", "heard", "prompt", "turn", "check", "event", "reply"]
# What Python calls a struct otherwise: by its place in a module of its own, or because the word means something else.
NAMES = {
    "EffectRecord": "Effect",
    "StreamEvent": "Event",
    "TraceStep": "Step",
    "Row": "Diagnostic",
    "RowLabel": "DiagnosticLabel",
    "Part": "ConditionPart",
    "PackPlace": "Place",
    "Message": "PromptMessage",
    "Layer": "PromptLayer",
}
# The structs that one module has: those of a union, and what only they use.
MODULES = {
    "effects": ("EffectRecord", ["Origin"], "Effects: what does an outcome ask the host to do?"),
    "events": ("StreamEvent", [], "Events: what does a reader tell before the answer has ended?"),
    "steps": ("TraceStep", ["Part"], "Steps: which declaration caused what? The trace of an outcome."),
}
# Types that are a tuple, a dict or a text, and not a struct.
ALIASES = {
    "Span": "Union[tuple[int, int], tuple[int, int, int]]",
    "Code": "str",
    "PackPlace": "str",
    "Ids": "dict[str, int]",
}
# What a host passes in, and the engine never returns: it has no class.
ONLY_TYPES = {"Reply", "ReplyPart"}
INTRO = "# Written by scripts/contract.py from the files in `schemas/`: change those, and run it again.\n"


def load() -> dict[str, dict]:
    """All structs by the name that their schema gives them."""
    structs: dict[str, dict] = {}
    for contract in CONTRACTS:
        schema = json.loads((SCHEMAS / f"{contract}.schema.json").read_text(encoding="utf-8"))
        structs.setdefault(title(schema, contract), schema)
        for name, inner in schema.get("$defs", {}).items():
            structs.setdefault(name, inner)
    for name, schema in list(structs.items()):
        for number, variant in enumerate(schema.get("oneOf", [])):
            if "properties" in variant:  # It has no name of its own.
                own = constant(variant).capitalize() + name
                structs[own] = variant
                schema["oneOf"][number] = {"$ref": f"#/$defs/{own}"}
    return structs


def title(schema: dict, contract: str) -> str:
    return schema["title"] if re.fullmatch(r"\w+", schema["title"]) else contract.capitalize()


def constant(variant: dict) -> str:
    """The value of the tag of a variant."""
    return next(one["const"] for one in variant["properties"].values() if "const" in one)


def tag(variant: dict) -> str:
    return next(key for key, one in variant["properties"].items() if "const" in one)


def reference(schema: dict) -> str:
    return schema["$ref"].rsplit("/", 1)[1]


def fold(before: str, opens: str, items: Iterable[str], closes: str) -> str:
    """Items on one line, or one on each if there is no room."""
    items = list(items)
    line = f"{before}{opens if opens != '(' else ''}{', '.join(items)}{closes if closes != ')' else ''}\n"
    if len(line) <= 120:
        return line
    return f"{before}{opens}\n" + "".join(f"    {item},\n" for item in items) + f"{closes}\n"


def attribute(key: str) -> str:
    """The name of the property for a member."""
    return f"{key}_" if keyword.iskeyword(key) else key


def listing(names: Iterable[str]) -> str:
    return fold("__all__ = ", "[", map(json.dumps, names), "]")


class Writer:
    """The text of the modules."""

    def __init__(self, structs: dict[str, dict]) -> None:
        self.structs = structs
        self.unions = {name: [reference(one) for one in schema["oneOf"]] for name, schema in structs.items()
                       if all("$ref" in one for one in schema.get("oneOf", [{}]))}
        self.variants = {variant: union for union, variants in self.unions.items() for variant in variants}
        self.literals = {name for name, schema in structs.items() if self.words(schema)}

    def words(self, schema: dict) -> list[str]:
        return schema.get("enum") or [one["const"] for one in schema.get("oneOf", []) if "const" in one]

    def is_struct(self, name: str) -> bool:
        return name not in self.unions and name not in self.literals and name not in ALIASES

    def name(self, name: str) -> str:
        """The name of a type; that of a variant ends with that of its union."""
        union = self.variants.get(name)
        if union:
            return name[: -len(union)] + NAMES.get(union, union)
        return NAMES.get(name, name)

    def members(self, name: str) -> dict[str, tuple[dict, bool]]:
        """The members of a struct, each with whether it is always there."""
        schema = self.structs[name]
        members: dict[str, tuple[dict, bool]] = {}
        needed = set(schema.get("required", []))
        own = schema.get("properties", {})
        for key, one in own.items():
            if "const" in one:
                members[key] = (one, True)
        if "$ref" in schema:
            members.update(self.members(reference(schema)))
        members.update({key: (one, key in needed) for key, one in own.items() if key not in members})
        return members

    def annotation(self, schema: dict | bool, typed: bool) -> str:
        """The type of a value: as a TypedDict has it, or as a class does."""
        if isinstance(schema, bool):
            return "Any"
        if "$ref" in schema:
            return self.name(reference(schema))
        if "const" in schema:
            return f'Literal["{schema["const"]}"]'
        if "anyOf" in schema:
            kinds = [self.annotation(one, typed) for one in schema["anyOf"] if one.get("type") != "null"]
            return self.optional(" | ".join(kinds), typed)
        kind = schema.get("type")
        if isinstance(kind, list):
            bare = [one for one in kind if one != "null"]
            return self.optional(self.annotation({**schema, "type": bare[0]}, typed), typed)
        if kind == "array":
            each = self.annotation(schema["items"], typed)
            return f"list[{each}]" if typed else f"tuple[{each}, ...]"
        if kind == "object":
            each = self.annotation(schema.get("additionalProperties", True), typed)
            return f"dict[str, {each}]" if typed or each == "Any" else f"Mapping[str, {each}]"
        return {"string": "str", "integer": "int", "number": "float", "boolean": "bool", None: "Any"}[kind]

    def optional(self, kind: str, typed: bool) -> str:
        return f"Optional[{kind}]" if typed else f"{kind} | None"

    def struct_class(self, name: str) -> str:
        """The class of a struct. A variant is called by its tag."""
        union = self.variants.get(name)
        called = name[: -len(union)] if union else self.name(name)
        members = self.members(name)
        inside = [attribute(key) for key, (one, _) in members.items() if "const" not in one]
        arguments = ""
        if union:
            schema = self.structs[name]
            arguments = f', tag=("{tag(schema)}", "{constant(schema)}")'
        out = [f'@contract("{self.name(union or name)}"{arguments})', f"class {called}(Part):"]
        out += self.doc(self.structs[name].get("description", ""), 4)
        out += ["", "    __slots__ = ()"]
        if union:  # Others may grow, so that a place among their members means nothing.
            out.append(f"    __match_args__ = {json.dumps(inside)}".replace("[", "(").replace("]", ",)" if len(inside) == 1 else ")"))
        for key, (schema, _) in members.items():
            kind = self.annotation(schema, False)
            about = schema.get("description", "") or "The word that tells this struct from the others of its union."
            out += ["", "    @property", f"    def {attribute(key)}(self) -> {kind}:", *self.doc(about, 8)]
        # What only editors and checkers need to know.
        out += ["", "    if TYPE_CHECKING:", "", f"        def to_dict(self) -> types.{self.name(name)}: ..."]
        return "\n".join(out) + "\n"

    def doc(self, text: str, indent: int) -> list[str]:
        text = re.sub(r"\[`([^`]+)`\]\([^)]*\)", r"`\1`", text)
        text = re.sub(r"\[`([^`]+)`\]", r"`\1`", text)
        text = re.sub(r"`([^`]*)`", lambda code: "`" + code[1].replace("crate::", "").replace("::", ".") + "`", text)
        text = text.replace("\\", "\\\\").replace('"""', "'''")
        space = " " * indent
        paragraphs = [" ".join(one.split()) for one in text.split("\n\n")]
        lines = textwrap.wrap(paragraphs[0], 116 - indent)
        for paragraph in paragraphs[1:]:
            lines += ["", *textwrap.wrap(paragraph, 120 - indent)]
        if len(lines) == 1 and len(lines[0]) < 112 - indent:
            return [f'{space}"""{lines[0]}"""']
        return [f'{space}"""{lines[0]}', *((space + line).rstrip() for line in lines[1:]), f'{space}"""']

    def module(self, module: str) -> str:
        """A module with the structs of a union."""
        union, more, about = MODULES[module]
        names = [*more, *self.unions[union]]
        text = f'"""{about}"""\n\n{INTRO}\n' + self.header(names, own=module)
        text += "\n\n".join(self.struct_class(name) for name in names)
        kinds = [name[: -len(union)] for name in self.unions[union]]
        text += "\n\n" + fold(f"{self.name(union)} = Union", "[", kinds, "]")
        listed = [self.name(name) for name in more] + [name[: -len(union)] for name in self.unions[union]]
        return text + "\n" + listing([*listed, self.name(union)])

    def header(self, names: list[str], own: str | None = None) -> str:
        used = set()
        for name in names:
            for schema, _ in self.members(name).values():
                used |= set(re.findall(r"\w+", re.sub(r'"[^"]*"', "", self.annotation(schema, False))))
        from_types = sorted({self.name(name) for name in self.structs if name in self.literals or name in ALIASES} & used)
        unions = {self.name(union): module for module, (union, _, _) in MODULES.items() if module != own}
        typing = sorted({"Any", "Literal", "Mapping"} & used | {"TYPE_CHECKING"} | ({"Union"} if own else set()))
        text = "# mypy: disable-error-code=\"empty-body\"\n\nfrom __future__ import annotations\n\n"
        text += f"from typing import {', '.join(typing)}\n\n" if typing else ""
        text += "from . import types\nfrom ._part import Part, contract\n"
        text += "".join(f"from .{unions[union]} import {union}\n" for union in sorted(set(unions) & used))
        text += fold("from .types import ", "(", from_types, ")") if from_types else ""
        return text + "\n\n"

    def contracts(self) -> str:
        """The module with all other structs."""
        apart = {name for union, more, _ in MODULES.values() for name in [*more, *self.unions[union]]}
        names = [name for name in self.structs if self.is_struct(name) and name not in apart and not self.only_type(name)]
        inlined = {reference(schema) for schema in self.structs.values() if "$ref" in schema}
        names = [name for name in names if name not in inlined]
        text = '"""Contracts: what are the parts of an outcome, a prompt, a report?"""\n\n' + INTRO + "\n" + self.header(names)
        text += "\n\n".join(self.struct_class(name) for name in names)
        return text + "\n\n" + listing(self.name(name) for name in names)

    def only_type(self, name: str) -> bool:
        return name in ONLY_TYPES or self.variants.get(name) in ONLY_TYPES

    def types(self) -> str:
        """The module with the TypedDicts."""
        text = '"""Types: what do `to_dict` and JSON hold? A TypedDict for each struct of the contracts."""\n\n' + INTRO
        text += "\nfrom typing import Any, Literal, Optional, TypedDict, Union\n\n"
        names, seen = [], set()
        text += "".join(f"{self.name(name)} = {kind}\n" for name, kind in ALIASES.items() if name in self.structs)
        for name in sorted(self.literals):
            text += fold(f"{self.name(name)} = Literal", "[", map(json.dumps, self.words(self.structs[name])), "]")
        text += "Provider = Literal[\"openai\", \"responses\", \"anthropic\", \"gemini\", \"mcp\"]\n"

        def write(name: str) -> None:
            if name in seen:
                return
            seen.add(name)
            for used in self.uses(name):
                write(used)
            nonlocal text
            if name in self.unions:
                names.append(self.name(name))
                text += "\n\n" + fold(f"{self.name(name)} = Union", "[", map(self.name, self.unions[name]), "]")
            elif self.is_struct(name):
                names.append(self.name(name))
                text += "\n\n" + self.typed_dict(name)

        for name in self.structs:
            write(name)
        others = [self.name(name) for name in [*ALIASES, *sorted(self.literals)] if name in self.structs]
        return text + "\n\n" + listing(sorted([*names, *others, "Provider"]))

    def uses(self, name: str) -> list[str]:
        return [one.rsplit("/", 1)[1] for one in re.findall(r'"#/\$defs/\w+', json.dumps({
            key: value for key, value in self.structs[name].items() if key != "$defs"}))]

    def typed_dict(self, name: str) -> str:
        members = self.members(name)
        called = self.name(name)
        always = {key: one for key, (one, needed) in members.items() if needed}
        maybe = {key: one for key, (one, needed) in members.items() if not needed}
        about = self.doc(self.structs[name].get("description", "") or called, 4)
        fields = lambda some: [f"    {key}: {self.annotation(one, True)}" for key, one in some.items()]
        if any(map(keyword.iskeyword, members)):
            pairs = [f'        "{key}": {self.annotation(one, True)},' for key, one in always.items()]
            base = [f"_{called} = TypedDict(", f'    "_{called}",', "    {", *pairs, "    },", ")", "", ""]
            return "\n".join([*base, f"class {called}(_{called}, total=False):", *about, "", *fields(maybe)]).rstrip() + "\n"
        if not maybe:
            return "\n".join([f"class {called}(TypedDict):", *about, "", *fields(always)]) + "\n"
        if not always:
            return "\n".join([f"class {called}(TypedDict, total=False):", *about, "", *fields(maybe)]) + "\n"
        base = [f"class _{called}(TypedDict):", *fields(always), "", ""]
        return "\n".join([*base, f"class {called}(_{called}, total=False):", *about, "", *fields(maybe)]) + "\n"


def modules() -> dict[pathlib.Path, str]:
    """The text of each module."""
    writer = Writer(load())
    written = {PACKAGE / f"{module}.py": writer.module(module) for module in MODULES}
    written[PACKAGE / "_contract.py"] = writer.contracts()
    written[PACKAGE / "types.py"] = writer.types()
    return written


def main() -> int:
    stale = [path for path, text in modules().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.relative_to(HERE)} is not what the schemas say: run scripts/contract.py")
        return 1 if stale else 0
    for path in stale:
        path.write_text(modules()[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
