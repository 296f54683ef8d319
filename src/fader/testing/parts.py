"""What every part keeps: it is a frozen value with a name, and its text parses back to it."""

from __future__ import annotations

import dataclasses
from typing import Any

from fader.registry import build, kind_of, split_arguments
from fader.testing.expect import expect


def check_part(part: Any) -> None:
    """A part is a frozen dataclass with a name and a docstring, equal to what its text says."""
    cls = type(part)
    expect(kind_of(cls) is not None, f"{cls.__name__} derives from no contract of Fader")
    expect(dataclasses.is_dataclass(part) and cls.__dataclass_params__.frozen, f"{cls.__name__} must be frozen")
    expect(isinstance(part.name, str) and part.name, f"{cls.__name__} has no name")
    expect((cls.__doc__ or "").strip(), f"{cls.__name__} has no docstring")
    hash(part)
    expect(reparse(part, str(part)) == part, f"{part} does not parse back to an equal part")
    for field in dataclasses.fields(part):
        if not field.init:
            continue
        default = field.default
        text = "/".join(map(str, default)) if isinstance(default, tuple) else str(default)
        if text:
            same = reparse(part, f"{part.name}({field.name}={text})")
            expect(same == cls(), f"{part.name}({field.name}={text}) is not the part with its defaults")


def reparse(part: Any, text: str) -> Any:
    """The part of the same class that a text names, whether that is registered or not."""
    name, _bracket, inside = text.partition("(")
    expect(name.strip() == part.name, f"{text} does not begin with the name {part.name}")
    return build(type(part), split_arguments(inside.strip().removesuffix(")"), getattr(part, "first", "")))
