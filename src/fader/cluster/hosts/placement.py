"""Places shard groups on hosts: replicas of a group on different nodes, about the same number of groups per host.

    place_groups(2, {"a": "node 1", "b": "node 2"}, replicas=2) -> [["a", "b"], ["b", "a"]]

A group stays on its host unless the host has gone or holds two groups more than another. With fewer nodes than
replicas, hosts of one node hold several replicas of a group; with fewer hosts, there are fewer replicas. Deterministic.
Knows nothing of Ray.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

Placed = list[list[str]]


def place_groups(groups: int, hosts: Mapping[str, str], replicas: int, before: Sequence[Sequence[str]] = ()) -> Placed:
    """The hosts per group; `hosts` maps the name of a host to its node, `before` has the previous places."""
    was = [*before[:groups], *([()] * (groups - len(before)))]
    found = [[host for host in some if host in hosts][:replicas] for some in was]
    load = _loads(found, hosts)
    for _ in range(replicas):
        for some in found:
            if len(some) < replicas:
                _add(some, hosts, load)
    _spread(found, hosts)
    _balance(found, hosts)
    return found


def _loads(found: Placed, hosts: Mapping[str, str]) -> Counter[str]:
    """The number of groups per host."""
    load = Counter(dict.fromkeys(sorted(hosts), 0))
    load.update(host for some in found for host in some)
    return load


def _add(some: list[str], hosts: Mapping[str, str], load: Counter[str]) -> None:
    """Add a replica: on another node if possible, on the host with the fewest groups."""
    nodes = {hosts[host] for host in some}
    free = [host for host in load if host not in some]
    if free:
        best = min(free, key=lambda host: (hosts[host] in nodes, load[host], host))
        some.append(best)
        load[best] += 1


def _spread(found: Placed, hosts: Mapping[str, str]) -> None:
    """Move a replica that shares its node with another one of its group to a node without one, if there is one."""
    for some in found:
        for i, host in enumerate(some):
            others = {hosts[other] for other in some[:i] + some[i + 1 :]}
            if hosts[host] in others:
                free = [other for other in sorted(hosts) if hosts[other] not in others and other not in some]
                some[i : i + 1] = free[:1] or [host]


def _balance(found: Placed, hosts: Mapping[str, str]) -> None:
    """Move replicas from the host with the most groups to the one with the fewest, while they differ by two."""
    load = _loads(found, hosts)
    for _ in range(sum(map(len, found))):
        most, least = (pick(load, key=lambda host: (load[host], host)) for pick in (max, min))
        if load[most] - load[least] < 2 or not _move_one(found, hosts, most, least):
            return
        load[most] -= 1
        load[least] += 1


def _move_one(found: Placed, hosts: Mapping[str, str], most: str, least: str) -> bool:
    """Move one replica of a group that has no other on the target node; returns whether there was one."""
    for some in found:
        if most in some and least not in some:
            others = {hosts[host] for host in some if host != most}
            if hosts[least] not in others or hosts[most] in others:
                some[some.index(most)] = least
                return True
    return False


def on_different_nodes(found: Placed, hosts: Mapping[str, str], replicas: int) -> bool:
    """Whether every group has all its replicas, each on another node."""
    return all(len({hosts[host] for host in some}) == replicas for some in found)
