"""How a report was made, for people: Fader's version, index, queries, cross-validation, seed, and the command.

    fader               the version in the comparison's provenance, else this one
    index, queries, cross-validation, seed
    ...                 everything else in the comparison's provenance, in its order
    command             last: a text as it is, a list of arguments as typed in a shell

There is no date and no host name, so that the same comparison always gives the same bytes. Knows nothing of pages and
lists.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from typing import Any

import numpy as np

from fader.experiment.comparison import Comparison
from fader.version import __version__

FIRST = ("fader", "index", "queries", "cross-validation", "seed")


def list_provenance(comparison: Comparison) -> dict[str, str]:
    """Names and values in the order in which they are shown; texts are not escaped."""
    given: dict[str, Any] = {"fader": __version__, "queries": len(comparison.queries), **comparison.provenance}
    command = given.pop("command", None)
    ordered = {key: given[key] for key in FIRST if key in given} | given
    found = {key: str(value) if key == "seed" else format_value(value) for key, value in ordered.items()}
    if isinstance(command, Iterable) and not isinstance(command, str | dict):
        command = shlex.join(str(argument) for argument in command)
    return found if command is None else {**found, "command": format_value(command)}


def format_value(value: Any) -> str:
    """A value of provenance or of a hyperparameter, for people."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, ensure_ascii=False, default=str)
