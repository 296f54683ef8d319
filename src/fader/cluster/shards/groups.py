"""Which segments of a commit make a shard group: runs of neighbours with about as many tokens in each.

    plan(manifest, 3) -> [[0, 1], [2], [3, 4]]

Segments stand in the manifest in the order in which they were made, which for a sharded build is that of their ids, so
neighbours stay together. Deterministic: whoever plans gets the same. Knows the manifest alone.
"""

from __future__ import annotations

from fader.errors import UsageError
from fader.index.manifest import Manifest


def plan(manifest: Manifest, groups: int) -> list[list[int]]:
    """The segments of each group, by their places in the manifest; as many groups as there are segments at most."""
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
        # Go on to the next group where the middle of this segment lies behind the fair end of this one.
        is_over = (2 * done + weight) * groups > 2 * total * len(found)
        if left and (is_over or len(weights) - s == left):
            found.append([s])
        else:
            found[-1].append(s)
        done += weight
    return found


def documents_in(manifest: Manifest, segments: list[int]) -> int:
    """How many documents, not deleted, some segments have."""
    return sum(manifest.segments[s].live.documents for s in segments)
