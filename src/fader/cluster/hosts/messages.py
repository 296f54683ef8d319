"""What the processes of a service tell each other, as records.

    front to controller    `Wanted` (service_state.py), then any number of `Retire`; one JSON object per line
    controller to front    `Message`: a map, a state or an error; one JSON object per line
    host to controller     `HostAbout`, as a plain dict: a host of another release must still be understood

Knows nothing of pipes, Ray or HTTP.
"""

from __future__ import annotations

import msgspec


class GroupMap(msgspec.Struct, frozen=True):
    """Where a commit is served: the addresses of the replicas, per group. `files` is the fingerprint of the commit."""

    commit: int
    groups: list[list[str]]
    files: str = ""


class ServiceState(msgspec.Struct, frozen=True):
    """How the cluster is; `opening` counts the hosts that are opening shards, `problems` has a text per kind."""

    nodes: int = 0
    hosts: int = 0
    groups: int = 0
    opening: int = 0
    problems: dict[str, str] = {}


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of the controller. `error` is its last line, if there is one; `kind` is the class of the error."""

    map: GroupMap | None = None
    state: ServiceState | None = None
    error: str | None = None
    kind: str = "ClusterError"


class Retire(msgspec.Struct, frozen=True):
    """An order to the controller: nobody uses this commit any more."""

    retire: int


class HostAbout(msgspec.Struct, frozen=True):
    """Where a host listens and what it holds; `problems` has the reason per group that it could not open."""

    address: str
    pid: int = 0
    held: list[tuple[int, int]] = []
    files: dict[int, str] = {}
    fader: str = ""
    problems: dict[int | str, str] = {}
