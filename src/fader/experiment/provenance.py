"""What made a report, for people: Fader's version, index, queries, cross-validation, seed, and the command.

    fader               the version that measured, where the comparison says it, else the installed one
    index, queries, cross-validation, seed
    ...                 whatever else the comparison's provenance holds, in its order
    command             last: a text as it is, a list of arguments as a shell would take them

No date and no name of a machine, so that the same comparison gives the same report byte by byte. Knows nothing of
how pages and lists are written.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from fader.experiment.comparison import Comparison

FIRST = ("fader", "index", "queries", "cross-validation", "seed")


def list_provenance(comparison: Comparison) -> dict[str, str]:
    """Names and values to be shown, in order; texts are not escaped."""
    given: dict[str, Any] = {"fader": _installed(), "queries": len(comparison.queries), **comparison.provenance}
    command = given.pop("command", None)
    ordered = {key: given[key] for key in FIRST if key in given} | given
    found = {key: str(value) if key == "seed" else format_value(value) for key, value in ordered.items()}
    return found if command is None else {**found, "command": _command(command)}


def format_value(value: Any) -> str:
    """A provenance or hyperparameter value for people."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, ensure_ascii=False, default=str)


def _installed() -> str:
    """Asked of the installation, since the package itself stands above this layer."""
    try:
        return version("fader")
    except PackageNotFoundError:  # run from a folder of sources
        return "not installed"


def _command(command: Any) -> str:
    if isinstance(command, Iterable) and not isinstance(command, str | dict):
        return shlex.join(str(argument) for argument in command)
    return format_value(command)
