"""What importers count beside documents and faults, by the names that `import.json` shows. Knows nothing of formats."""

from __future__ import annotations

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
