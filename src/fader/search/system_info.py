"""Systems in plain words: what each does, its parameters, where it is from; what `systems --json` prints.

Knows nothing of indexes or of who asks.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from fader.rank.system import System


def describe_system(part: type[System]) -> dict[str, Any]:
    """A system in plain words."""
    return {
        "name": part.name,
        "description": (inspect.getdoc(part) or "").split("\n")[0],
        "citation": part.citation,
        "trained": bool(part.learned),
        "parameters": [
            {"name": f.name, "default": format_value(f.default), "tried": list(part.tries.get(f.name, ()))}
            for f in dataclasses.fields(part)  # type: ignore[arg-type]
            if f.name not in part.learned
        ],
    }


def format_value(value: Any) -> str:
    """A parameter's value as it is typed: `true`, `0.5`, `0/25/100`."""
    if isinstance(value, tuple):
        return "/".join(map(format_value, value))
    if isinstance(value, float):
        return next(text for text in (f"{value:g}", repr(value)) if float(text) == value)
    return str(value).lower() if isinstance(value, bool) else str(value)
