"""Groups on hosts: replicas apart, hosts even, and as little moved as can be."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from fader.cluster.hosts.placement import on_different_nodes, place_groups


def hosts_of(sizes: list[int]) -> dict[str, str]:
    """So many hosts on each node."""
    return {f"h{n}-{i}": f"n{n}" for n, size in enumerate(sizes) for i in range(size)}


clusters = st.lists(st.integers(1, 3), min_size=0, max_size=6).map(hosts_of)


@settings(deadline=None)
@given(st.integers(1, 20), clusters, st.integers(1, 3))
def test_replicas_are_as_many_and_as_far_apart_as_can_be(groups: int, hosts: dict[str, str], replicas: int) -> None:
    """Each group on that many hosts, or all; on that many nodes, or all."""
    for some in place_groups(groups, hosts, replicas):
        assert len(set(some)) == len(some) == min(replicas, len(hosts))
        assert len({hosts[host] for host in some}) == min(replicas, len(set(hosts.values())))


@settings(deadline=None)
@given(st.integers(1, 20), st.integers(1, 6), st.integers(1, 3))
def test_hosts_hold_equally_much(groups: int, nodes: int, replicas: int) -> None:
    """With a host a node no host holds two groups more than another."""
    hosts = hosts_of([1] * nodes)
    load = Counter(dict.fromkeys(hosts, 0)) | Counter(h for some in place_groups(groups, hosts, replicas) for h in some)
    counts = [load[host] for host in hosts]
    assert max(counts) - min(counts) <= 1


@settings(deadline=None)
@given(st.integers(1, 20), clusters, clusters, st.integers(1, 3))
def test_any_change_of_hosts_leaves_all_groups_placed(
    groups: int, before: dict[str, str], after: dict[str, str], replicas: int
) -> None:
    """What was placed on hosts that are there stays good; what is placed again changes nothing."""
    was = place_groups(groups, before, replicas)
    found = place_groups(groups, after, replicas, was)
    assert all(len(set(some)) == min(replicas, len(after)) and set(some) <= set(after) for some in found)
    assert on_different_nodes(found, after, replicas) == (len(set(after.values())) >= replicas)
    assert place_groups(groups, after, replicas, found) == found


def test_a_lost_host_moves_only_what_it_held() -> None:
    hosts = hosts_of([1, 1, 1])
    was = place_groups(6, hosts, 2)
    found = place_groups(6, {name: node for name, node in hosts.items() if name != "h1-0"}, 2, was)
    for old, new in zip(was, found, strict=True):
        assert set(old) - {"h1-0"} <= set(new)
