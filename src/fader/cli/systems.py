"""`fader systems`: every system that ranks, with its parameters. Knows nothing of indexes."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import click

from fader.cli.common import json_option, print_json


@click.command("systems", epilog="Example: fader systems voting")
@click.argument("name", default="")
@json_option
def command(name: str, as_json: bool) -> None:
    """List the systems, or one of them: parameters with defaults and what is tried, what it does, where it is from.

    In `compare` and `train --system` a parameter that is not given takes, on the training queries, the best of the
    values that are worth trying.
    """
    from fader.errors import UsageError, did_you_mean, quoted
    from fader.parts import discover

    known = discover("fader.systems")
    if name and name not in known:
        raise UsageError(f"no system {quoted(name)}{did_you_mean(name, known)}")
    rows = [described(part) for key, part in known.items() if not name or key == name]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        print(f"{row['name']}  {row['description']}")
        if row["citation"]:
            print(f"    {row['citation']}")
        for parameter in row["parameters"]:
            tried = f"   tried: {', '.join(parameter['tried'])}" if parameter["tried"] else ""
            print(f"    {parameter['name']}={parameter['default']}{tried}")


def described(part: Any) -> dict[str, Any]:
    """A system in plain words."""
    from fader.learn.learner import Learner
    from fader.systems.fader import Fader

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
