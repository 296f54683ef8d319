"""All that a service is started with, as one value. Knows nothing of who sets it or of what it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fader.jobs.runners import count_cores
from fader.options import option
from fader.serve.backing import Backing, Folders

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a service; the first index is the one that is asked where none is named.

    A model is a file and the index it ranks, None for every index that it fits. `rate` is requests per second of a key,
    or of an address where there are no keys; 0 is no limit. The head of a request may have `head_bytes`, its address
    included, and a request must arrive whole within `arrival_seconds`; a client that takes hardly anything of its
    answer in `answer_seconds` is dropped. A server that ends gives the requests that it
    has `drain_seconds` on top of the longest request, and `stop_seconds` more to threads that do not come back; then it
    ends without them. A thread that is at work `overdue_seconds` after the time of its request is over does not come
    back, as far as `/healthz` can say. Look-ups have threads and a queue of their own (`light_workers`,
    `light_queue`). `report_bytes` bounds a report.json. `backing` is where the indexes are; `is_remote` says that
    other processes do the work.
    """

    indexes: Mapping[str, Path]
    models: Mapping[str, tuple[Path, str | None]] = field(default_factory=dict)
    reports: Mapping[str, Path] = field(default_factory=dict)
    host: str = option(LOOPBACK, help="The address to listen at; other machines cannot reach 127.0.0.1.")
    port: int = option(8080, help="The port; 0: any that is free.", least=0, most=65_535)
    workers: int = option(
        factory=count_cores,
        help="Requests ranked at a time; as many as there are cores by default.",
        least=1,
        most=1024,
        metavar="N",
    )
    queue: int = option(32, help="Requests that may wait; more are refused.", least=0, most=100_000)
    connections: int = option(
        1_000, help="Connections at a time; more are refused.", least=1, most=1_000_000, metavar="N"
    )
    address_connections: int = option(
        200,
        help="Connections at a time from one address, proxies aside.",
        least=1,
        most=1_000_000,
        flags=("--connections-per-address",),
        metavar="N",
    )
    light_workers: int = 2
    light_queue: int = 64
    body_bytes: int = 65_536
    head_bytes: int = 65_536
    arrival_seconds: float = 30.0
    answer_seconds: float = 30.0
    drain_seconds: float = 10.0
    stop_seconds: float = 5.0
    overdue_seconds: float = 30.0
    report_bytes: int = 256 << 20
    k: int = 1_000
    snippets: int = 100
    time_ms: int = option(
        3_000, help="Milliseconds per request, waiting included.", least=1, most=3_600_000, flags=("--timeout-ms",)
    )
    keys: Path | None = option(
        None, help="Answer only requests with a key of this file; a line is: name key [rate] [rights].", metavar="FILE"
    )
    rate: float = option(
        0.0,
        help="Requests per second per key, or per address without keys; 0: no limit.",
        least=0,
        most=1e6,
        metavar="N",
        show_default=False,
    )
    cors: tuple[str, ...] = option((), help="Let pages of this origin ask; * for all.", metavar="ORIGIN")
    allow_hosts: tuple[str, ...] = option(
        (), help="A host name that requests may use; * for any.", flags=("--allow-host",), metavar="NAME"
    )
    proxies: tuple[str, ...] = option(
        (), help="A proxy that is trusted to name the client's address.", flags=("--proxy",), metavar="ADDRESS"
    )
    watch_seconds: float = option(
        2.0,
        help="Seconds between looks for new commits; 0: only at SIGHUP.",
        least=0,
        most=86_400,
        flags=("--watch",),
        metavar="SECONDS",
    )
    examples: Path | None = option(
        None, help="Questions that the page offers: one a line, or a queries.jsonl with questions.", metavar="FILE"
    )
    judge: bool = option(False, help="Let people judge answers; judgments are kept in DIR.judgments beside each index.")
    log: str = option("text", help="The format of the log on standard error.", choices=("json", "text"))
    log_queries: bool = option(False, help="Write queries to the log.")
    backing: Backing = field(default_factory=Folders)
    is_remote: bool = False
