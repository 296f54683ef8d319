"""The engines compared, one file each: `prepare` lays out data (untimed), `answer` ranks entities (timed)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from benchmarks.common import GENERAL

if TYPE_CHECKING:
    from benchmarks.common import Peer

PEERS = {
    "fader": ("fader_peer", "FaderPeer"),
    "fader-default": ("fader_peer", "DefaultFaderPeer"),
    "fader-undecoded": ("fader_peer", "UndecodedFaderPeer"),
    "fader-new": ("fader_peer", "NewListsFaderPeer"),
    "numpy": ("numpy_peer", "NumpyPeer"),
    "polars": ("polars_peer", "PolarsPeer"),
    "duckdb": ("duckdb_peer", "DuckDBPeer"),
    "tantivy": ("tantivy_peer", "TantivyPeer"),
}


def load(names: Sequence[str], layout: str = GENERAL) -> list[Peer]:
    """New peers by name. Engines are imported here, after their threads have been limited."""
    found = [PEERS[name] for name in names]
    return [getattr(import_module(f"benchmarks.peers.{module}"), peer)(layout) for module, peer in found]
