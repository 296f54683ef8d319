"""What an import tells beside its records: faults with their places, and counts by the names that import.json shows.

`fader.corpus.documents.Faults` counts faults; this file knows nothing of what a fault is, nor of formats.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from fader.corpus.documents import Faults

UNLINKED = "mentions without an id"
PIECES = "mentions in several pieces, from the first to the last"
RELATIONS = "relations, which are not imported"
MOVED = "mentions moved to their words"
FURTHER = "further mentions, for composite ones are of several entities"
REPEATED = "mentions repeated, which count once"


def tally(counts: dict[str, int], name: str, more: int = 1) -> None:
    """Add to a count; what was never counted has no entry."""
    if more:
        counts[name] = counts.get(name, 0) + int(more)


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
