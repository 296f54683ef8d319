"""What one machine answers, to compare shards with."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import fader
from index.histories import ENTITIES

GROUPS = (1, 2, 4, 8)
QUERIES: list[tuple[str, str | None]] = [
    ("a b", None), ('+a "b the c" d', "person"), ("c -e é absent", "thing"), ("+absent a", None), ("x1 A", "poet"),
]  # fmt: skip
_ANSWERS: dict[Any, str] = {}


def told(index: fader.Index, query: str, kind: str | None, ranker: Any) -> str:
    """A whole ranking with evidence, the explanation of one entity, of the others in turn, and a short ranking."""
    found = index.search(query, kind, k=100, model=ranker, snippets=2)
    entity = f"E{sum(map(len, (query, str(ranker)))) % len(ENTITIES)}"
    short = index.rank("a b c d", k=3, model=ranker)
    return plain(found) + plain(index.why(query, entity, kind, ranker)) + repr(short)


def expected(local: fader.Index, query: str, kind: str | None, ranker: Any) -> str:
    """What one machine tells, asked once."""
    key = local.collection.folder, query, kind, str(ranker), getattr(ranker, "policy", "")
    if key not in _ANSWERS:
        _ANSWERS[key] = told(local, query, kind, ranker)
    return _ANSWERS[key]


def plain(found: Any) -> str:
    """All that is told but the time it took."""
    as_dict = asdict(found)
    for one in (as_dict, *as_dict.get("sides", [])):
        one.pop("took_ms", None)
    return json.dumps(as_dict, sort_keys=True)
