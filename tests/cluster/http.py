"""Requests to a service over HTTP, and what of an answer must be the same wherever the index is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import fader
from serve.live import ENTITIES, TYPES, documents

_TOOK = re.compile(rb'"took_ms":[0-9.e+-]+')

# Of each kind one that asks for much.
RANKED = (
    "/v1/search?q=violin+physics&k=3&snippets=2",
    "/v1/search?q=violin+physics&k=2&explain=true",
    "/v1/search?q=%2Bphysics+light&type=scientist&model=proximity",
    "/v1/search?q=%22violin+in%22+coast&model=voting(technique=combmnz)&snippets=3",
    "/v1/search?q=violin+-harbour&model=balog2&format=csv",
    "/v1/search?q=nowhere&k=5",
    "/v1/entity/E2?q=violin+physics&limit=5",
    "/v1/explain?q=violin+physics&entity=E3",
    "/v1/compare?q=violin+physics&a=default&b=proximity",
)
OTHERS = (
    "/v1/entity/E2", "/v1/suggest?kind=entity&prefix=a", "/v1/suggest?kind=type&prefix=p", "/v1/types",
    "/v1/analyze?text=Stra%C3%9Fe", "/v1/systems", "/v1/search?q=%22open", "/v1/search?q=violin&type=nothing",
)  # fmt: skip


def some_index(folder: Path) -> Path:
    """An index of ten segments or so, whose ranges of ids are apart."""
    fader.build(folder, sorted(documents(), key=lambda d: str(d["id"])), ENTITIES, TYPES, segment_tokens=40)
    return folder


def more(number: int) -> list[dict[str, Any]]:
    """Documents that are not there yet, with ids between those that are."""
    return [documents()[i] | {"id": f"d{i}-{number}"} for i in (4, 21, 40)]


def same(body: bytes) -> bytes:
    """A body without the time it took."""
    return _TOOK.sub(b'"took_ms":0', body)
