"""How faults are worded with their place, and written into the report of an import.

`fader.corpus.documents.Faults` counts them; this file knows nothing of what a fault is.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from fader.corpus.documents import Faults


class FaultRow(msgspec.Struct, frozen=True):
    """Faults of one kind, as import.json has them."""

    count: int
    examples: list[str]


def at(source: str, place: int, unit: str = "") -> str:
    """How a message begins: `file:17`, or with the unit "byte" `file: byte 17`."""
    return f"{source}: {unit} {place:,}" if unit else f"{source}:{place}"


def to_rows(faults: Faults) -> dict[str, FaultRow]:
    """Faults as rows by kind."""
    return {kind: FaultRow(count, faults.examples.get(kind, [])) for kind, count in faults.counts.items()}


def from_rows(rows: Mapping[str, FaultRow]) -> Faults:
    """The faults of some rows."""
    counts = {kind: row.count for kind, row in rows.items()}
    return Faults(counts=counts, examples={kind: list(row.examples) for kind, row in rows.items()})
