"""Systems in plain words: what each does, its parameters, where it is from; what `systems --json` prints.

Knows nothing of indexes or of who asks.
"""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass
from typing import Any

from fader.rank.system import System


@dataclass(frozen=True, slots=True)
class SystemParameter:
    """A parameter of a system: its default, and the values worth trying."""

    name: str
    default: str
    tried: list[str]


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """A system in plain words; one that is trained ranks only as a model."""

    name: str
    description: str
    citation: str
    trained: bool
    parameters: list[SystemParameter]


def describe_system(part: type[System]) -> SystemFacts:
    """A system in plain words."""
    fields = [f for f in dataclasses.fields(part) if f.name not in part.learned]  # type: ignore[arg-type]
    return SystemFacts(
        name=part.name,
        description=(inspect.getdoc(part) or "").split("\n")[0],
        citation=part.citation,
        trained=bool(part.learned),
        parameters=[SystemParameter(f.name, format_value(f.default), list(part.tries.get(f.name, ()))) for f in fields],
    )


def format_value(value: Any) -> str:
    """A parameter's value as it is typed: `true`, `0.5`, `0/25/100`."""
    if isinstance(value, tuple):
        return "/".join(map(format_value, value))
    if isinstance(value, float):
        return next(text for text in (f"{value:g}", repr(value)) if float(text) == value)
    return str(value).lower() if isinstance(value, bool) else str(value)
