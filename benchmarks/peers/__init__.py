"""The engines compared, one file each: `prepare` lays out data (untimed), `answer` ranks entities (timed)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.common import Peer

PEERS = {
    "fader": "FaderPeer",
    "numpy": "NumpyPeer",
    "polars": "PolarsPeer",
    "duckdb": "DuckDBPeer",
    "tantivy": "TantivyPeer",
}


def load(names: Sequence[str]) -> list[Peer]:
    """New peers by name. Engines are imported here, after their threads have been limited."""
    return [getattr(import_module(f"benchmarks.peers.{name}_peer"), PEERS[name])() for name in names]
