"""Faults across processes: how they are written down, joined in order, and worded with their place.

`fader.corpus.documents.Faults` counts them; this file knows nothing of what a fault is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fader.corpus.documents import EXAMPLES_KEPT, Faults


def at(source: str, place: int, unit: str = "") -> str:
    """How a message begins: `file:17`, or with the unit "byte" `file: byte 17`."""
    return f"{source}: {unit} {place:,}" if unit else f"{source}:{place}"


def as_dict(faults: Faults) -> dict[str, Any]:
    """Counts and examples by kind, as they are kept between processes and runs."""
    return {kind: {"count": n, "examples": faults.examples.get(kind, [])} for kind, n in faults.counts.items()}


def join(into: Faults, more: Mapping[str, Any]) -> None:
    """Add what another process or run has found; the first examples stay."""
    for kind, found in more.items():
        into.counts[kind] = into.counts.get(kind, 0) + found["count"]
        kept = into.examples.setdefault(kind, [])
        kept.extend(found["examples"][: EXAMPLES_KEPT - len(kept)])
