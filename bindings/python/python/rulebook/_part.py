"""Parts: how do the engine's structs become objects of Python?

A class declares its members as properties, whose annotations say what is in them: the engine makes an object of the class
that an annotation names, a tuple of a list, and plain dicts and lists of what is `Any` JSON.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Any, Callable, TypeVar

from ._engine import Getter, Part, declare

C = TypeVar("C", bound="type[Part]")


def contract(name: str, *, tag: tuple[str, str] | None = None, extra: tuple[str, ...] = ()) -> Callable[[C], C]:
    """Declares a class for the engine's structs of this name.

    With a tag, it is that of one of the structs of a union. The properties `extra` are no part of the JSON. A class that
    extends a declared one has the members of that, and those `extra`.
    """

    def declared(cls: C) -> C:
        inherited: list[Any] = list(getattr(cls, "__members__", []))
        members = list(inherited)
        for key, one in list(vars(cls).items()):
            if isinstance(one, property) and (not inherited or key in extra):
                annotation = one.fget.__annotations__["return"]
                # A member whose name is a keyword has an underscore behind it.
                members.append((key.rstrip("_"), *shape(annotation), absent(annotation), key in extra))
                # `help` shows nothing else of a property.
                setattr(cls, key, property(Getter(len(members) - 1), doc=f"{annotation}: {one.__doc__}"))
        setattr(cls, "__members__", members)
        setattr(cls, "__contract__", declare(cls, name, members, tag))
        return cls

    return declared


def shape(annotation: str) -> tuple[str, str]:
    """What a member holds, and the name of its class."""
    if re.search(r"\bAny\b", annotation):
        return "json", ""
    names = [name for name in re.findall(r"\b[A-Z]\w*", re.sub(r'"[^"]*"', "", annotation)) if name not in BUILT_IN]
    if not names:
        return "plain", ""
    return ("map" if annotation.startswith("Mapping") else "part"), names[0]


def absent(annotation: str) -> Any:
    """What a member is where a struct leaves it out."""
    if annotation.endswith("| None") or annotation == "Any":
        return None
    if annotation.startswith("tuple"):
        return ()
    if annotation.startswith("Mapping"):
        return MappingProxyType({})
    return {"bool": False, "int": 0, "str": ""}.get(annotation)


__all__ = ["Part", "contract"]

BUILT_IN = {"Literal", "None", "Mapping", "Union"}
