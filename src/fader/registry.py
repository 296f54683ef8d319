"""Named parts: features, aggregators and systems found by looking into a folder, and written as `name(a=1,b=x)`.

A part is a frozen dataclass with a class attribute `name`; its parameters are its fields, and its string parses
back to an equal part. A class attribute `first` names the field that may be written without its name, as in
`rectangle(10x12)`; several numbers are written `distances=0/1/3/10`. A new part is one new file in its folder. Knows
nothing of what parts compute.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re
from functools import cache
from types import ModuleType
from typing import Any

from fader.errors import UsageError, did_you_mean, quoted

_CALL = re.compile(r"\s*([A-Za-z_][\w-]*)\s*(?:\((.*)\))?\s*", re.DOTALL)


@cache
def discover(package: str) -> dict[str, type[Any]]:
    """The concrete parts defined in the modules of a package, by name.

    Modules are scanned rather than `__subclasses__`, which lists a slotted dataclass twice.
    """
    folder = importlib.import_module(package)
    found: dict[str, type[Any]] = {}
    for info in pkgutil.iter_modules(folder.__path__):
        for part in _parts_of(importlib.import_module(f"{package}.{info.name}")):
            found[part.name] = part
    return dict(sorted(found.items()))


def _parts_of(module: ModuleType) -> list[Any]:
    members = vars(module).values()
    own = [m for m in members if isinstance(m, type) and m.__module__ == module.__name__]
    return [m for m in own if dataclasses.is_dataclass(m) and isinstance(getattr(m, "name", None), str)]


def parse(package: str, text: str) -> Any:
    """The part that a text such as `kernel(shape=inverse,width=10)` names."""
    return build(*name_and_arguments(package, text))


def name_and_arguments(package: str, text: str) -> tuple[type[Any], dict[str, str]]:
    """The class that a text names, and its parameters as they are written."""
    kind = {"aggregate": "aggregator"}.get(package.rsplit(".", 1)[-1], package.rsplit(".", 1)[-1].rstrip("s"))
    match = _CALL.fullmatch(text)
    if match is None:
        raise UsageError(f"{quoted(text)} is not of the form name or name(parameter=value,...)")
    known = discover(package)
    name, inside = match[1], match[2] or ""
    if name not in known:
        hint = did_you_mean(name, known) or f"; known: {', '.join(known)}"
        raise UsageError(f"unknown {kind} {quoted(name)}{hint}")
    part = known[name]
    return part, split_arguments(inside, getattr(part, "first", ""))


def split_arguments(inside: str, first: str = "") -> dict[str, str]:
    """`a=1,b=f(x,y)` to a dictionary; commas inside brackets do not split; `first` names a piece without a name."""
    arguments: dict[str, str] = {}
    for i, piece in enumerate(split_top(inside, ",")):
        key, equals, value = piece.partition("=")
        if i == 0 and first and ("(" in key or not equals):
            key, equals, value = first, "=", piece
        if not equals or not key.strip() or not value.strip():
            raise UsageError(f"parameter {quoted(piece)} is not of the form name=value")
        if key.strip() in arguments:
            raise UsageError(f"parameter {quoted(key.strip())} is given twice")
        arguments[key.strip()] = value.strip()
    return arguments


def split_top(text: str, separator: str) -> list[str]:
    """The pieces of a text between separators that stand outside of brackets; empty ones are left out."""
    pieces, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == separator and depth == 0:
            pieces.append(text[start:i])
            start = i + 1
    pieces.append(text[start:])
    return [p for p in pieces if p.strip()]


def build(part: type[Any], arguments: dict[str, str]) -> Any:
    """Make a part from written parameters, each converted to the type of its field's default."""
    fields = {f.name: f for f in dataclasses.fields(part)}
    values = {}
    for key, text in arguments.items():
        if key not in fields:
            hint = did_you_mean(key, fields) or f"; it takes {', '.join(fields) or 'none'}"
            raise UsageError(f"{part.name} has no parameter {quoted(key)}{hint}")
        values[key] = _convert(part.name, key, text, fields[key].default)
    return part(**values)


def _convert(part: str, key: str, text: str, default: Any) -> Any:
    try:
        if isinstance(default, bool):
            return {"true": True, "false": False}[text.lower()]
        if isinstance(default, tuple):
            return tuple(float(piece) for piece in text.split("/"))
        return type(default)(text)
    except (ValueError, KeyError):
        wanted = "true or false" if isinstance(default, bool) else f"a number like {default}"
        wanted = "numbers like 0/1/3/10" if isinstance(default, tuple) else wanted
        raise UsageError(f"{part}: {key} must be {wanted}, not {quoted(text)}") from None


def written(part: Any) -> str:
    """The text that parses back to the part: only parameters that differ from their defaults."""
    first = getattr(part, "first", "")
    changed = [
        _value(getattr(part, f.name)) if f.name == first else f"{f.name}={_value(getattr(part, f.name))}"
        for f in dataclasses.fields(part)
        if getattr(part, f.name) != f.default
    ]
    return f"{part.name}({','.join(changed)})" if changed else str(part.name)


def _value(value: Any) -> str:
    return (
        "/".join(f"{v:g}" if float(f"{v:g}") == v else repr(v) for v in value)
        if isinstance(value, tuple)
        else str(value)
    )
