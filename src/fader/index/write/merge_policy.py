"""Which segments an index merges by itself: few are left, and no document is written again too often.

A segment must be larger than GROWTH times all smaller ones together, or it is merged with them: so there are at most
about log(size of the index / FLOOR) / log(1 + GROWTH) segments, and a document is written again when its segment has
grown by a 1 / GROWTH. A small change rewrites up to GROWTH x FLOOR positions. A segment of which much is deleted is
written again alone. Knows nothing of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Together, small segments count as this large: one more costs every query more than writing so few positions again.
FLOOR = 1 << 16
# A token costs about a tenth of its indexing to merge. With 4, adding 100 parts to an index of 200 writes each part 8.5
# times and leaves 2.8 segments on the average; with 1 it were 3.3 times and 4.2 segments, with 8 13.7 times and 2.4.
GROWTH = 4
DELETED_SHARE = 0.25


@dataclass(frozen=True)
class Size:
    """Positions of a segment, in all and of documents that are not deleted."""

    positions: int
    living: int

    @property
    def is_wasteful(self) -> bool:
        return self.positions - self.living > DELETED_SHARE * self.positions


def choose_merges(sizes: Sequence[Size], largest: int) -> list[list[int]]:
    """Groups of segments, by place, that should each become one segment of at most `largest` positions.

    >>> choose_merges([Size(900_000, 900_000), Size(70_000, 70_000), Size(80_000, 80_000)], 1 << 30)
    [[1, 2]]
    >>> choose_merges([Size(900_000, 900_000), Size(500_000, 300_000)], 1 << 30)
    [[1]]
    """
    ascending = sorted(range(len(sizes)), key=lambda i: (sizes[i].living, i))
    together, total, written = 0, 0, 0
    for n, i in enumerate(ascending):
        written += sizes[i].living
        if written > largest:
            break
        if n and max(FLOOR, total) * GROWTH >= sizes[i].living:
            together = n + 1
        total += sizes[i].living
    group = sorted(ascending[:together])
    alone = [[i] for i in range(len(sizes)) if sizes[i].is_wasteful and i not in group]
    return ([group] if group else []) + alone


def merge_all(sizes: Sequence[Size], largest: int) -> list[list[int]]:
    """Groups that leave as few segments as `largest` allows; none where nothing would change."""
    groups: list[list[int]] = []
    total = 0
    for i, size in enumerate(sizes):
        if not groups or total + size.living > largest:
            groups.append([])
            total = 0
        groups[-1].append(i)
        total += size.living
    return [g for g in groups if len(g) > 1 or sizes[g[0]].living < sizes[g[0]].positions]
