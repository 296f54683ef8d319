"""Which segments of a commit make a shard group: runs of neighbours with about as many tokens in each.

    plan(manifest, 3) -> [[0, 1], [2], [3, 4]]

Segments stand in the manifest in the order in which they were made, which for a sharded build is that of their ids, so
neighbours stay together. Deterministic: whoever plans gets the same. Knows the manifest alone.
"""

from __future__ import annotations

import json
from typing import Any

import xxhash

from fader.errors import UsageError


def plan(manifest: dict[str, Any], groups: int) -> list[list[int]]:
    """The segments of each group, by their places in the manifest; as many groups as there are segments at most."""
    if groups < 1:
        raise UsageError(f"there must be one shard group at least, not {groups}")
    weights = [1 + segment["tokens"] for segment in manifest["segments"]]
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


def files_of(manifest: dict[str, Any]) -> str:
    """What tells a commit's files from those of any other commit of any index."""
    files = json.dumps([manifest["catalog"], manifest["segments"]], sort_keys=True)
    return xxhash.xxh3_64_hexdigest(files.encode())


def documents_in(manifest: dict[str, Any], segments: list[int]) -> int:
    """How many documents, not deleted, some segments have."""
    some = [manifest["segments"][s] for s in segments]
    return sum(s["documents"] - (s["deleted"]["documents"] if s.get("deleted") else 0) for s in some)
