"""Divides the segments of a commit into shard groups: adjacent segments, with about the same number of tokens.

    plan(manifest, 3) -> [[0, 1], [2], [3, 4]]

Segments are in the manifest in the order in which they were built, which for a sharded build is id order, so adjacent
ranges of ids stay together. Deterministic. Knows only the manifest.
"""

from __future__ import annotations

from fader.errors import UsageError
from fader.index.manifest import Manifest


def plan(manifest: Manifest, groups: int) -> list[list[int]]:
    """The segments per group, by their places in the manifest; at most one group per segment."""
    if groups < 1:
        raise UsageError(f"there must be one shard group at least, not {groups}")
    weights = [1 + segment.tokens for segment in manifest.segments]
    groups = min(groups, len(weights))
    total, done, found = sum(weights), 0, [[0]]
    for s, weight in enumerate(weights):
        if s == 0:
            done = weight
            continue
        left = groups - len(found)
        # Start the next group where the middle of this segment lies behind the fair end of the current one.
        is_over = (2 * done + weight) * groups > 2 * total * len(found)
        if left and (is_over or len(weights) - s == left):
            found.append([s])
        else:
            found[-1].append(s)
        done += weight
    return found


def documents_in(manifest: Manifest, segments: list[int]) -> int:
    """The number of documents of some segments, without deleted ones."""
    return sum(manifest.segments[s].live.documents for s in segments)
