"""Systems in plain words: what each does, its parameters, where it is from; what `systems --json` prints.

Knows nothing of indexes or of who asks.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from fader.learn.learner import Learner
from fader.systems.fader import Fader


def described(part: Any) -> dict[str, Any]:
    """A system in plain words."""
    tries = getattr(part, "tries", {})
    return {
        "name": part.name,
        "description": (inspect.getdoc(part) or "").split("\n")[0],
        "citation": getattr(part, "citation", ""),
        "trained": issubclass(part, Learner | Fader),
        "parameters": [
            {"name": f.name, "default": typed(f.default), "tried": list(tries.get(f.name, ()))}
            for f in dataclasses.fields(part)
            if f.name not in getattr(part, "learned", ())
        ],
    }


def typed(value: Any) -> str:
    """A parameter's value as it is typed: `true`, `0.5`, `0/25/100`."""
    if isinstance(value, tuple):
        return "/".join(map(typed, value))
    if isinstance(value, float):
        return next(text for text in (f"{value:g}", repr(value)) if float(text) == value)
    return str(value).lower() if isinstance(value, bool) else str(value)
