"""All that a service is started with, as one value. Knows nothing of how it is given or used."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fader.serve.backing import Backing, Folders

LOOPBACK = "127.0.0.1"


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a service; the first index is the one that is asked where none is named.

    A model is a file and the index it ranks, None for every index that it fits. `rate` is requests a second of a key,
    or of an address where there are no keys; 0 is no limit. `backing` is where the indexes are.
    """

    indexes: Mapping[str, Path]
    models: Mapping[str, tuple[Path, str | None]] = field(default_factory=dict)
    reports: Mapping[str, Path] = field(default_factory=dict)
    host: str = LOOPBACK
    port: int = 8080
    workers: int = field(default_factory=cores)
    queue: int = 32
    body_bytes: int = 65_536
    k: int = 1_000
    snippets: int = 100
    time_ms: int = 1_000
    keys: Path | None = None
    rate: float = 0.0
    cors: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    watch_seconds: float = 2.0
    log: str = "text"
    log_queries: bool = False
    backing: Backing = field(default_factory=Folders)
