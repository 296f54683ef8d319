"""Types above types without cycles: which edges to leave out, always the same ones.

`break_cycles([("a", "b"), ("b", "a"), ("c", "a")])` keeps `a -> b` and `c -> a` and removes `b -> a`.
Edges between different strongly connected components are on no cycle and all stay. Inside a component, a depth-first
walk that starts from the smallest id and goes to smaller ids first removes exactly the edges that lead back to a node
it came through. The result depends on the set of edges alone. Knows nothing of what types are.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

Edge = tuple[str, str]


def break_cycles(edges: Iterable[Edge]) -> tuple[list[Edge], list[Edge]]:
    """The distinct edges (from, to), sorted: those that stay, which have no cycle, and those removed."""
    loops: set[Edge] = set()
    plain: set[Edge] = set()
    for edge in edges:
        (loops if edge[0] == edge[1] else plain).add(edge)
    distinct = sorted(plain)
    removed = loops | _back_edges(_on_cycles(distinct))
    return [edge for edge in distinct if edge not in removed], sorted(removed)


def _on_cycles(edges: list[Edge]) -> list[Edge]:
    """The edges inside strongly connected components, in order."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if not edges:
        return []
    number = {name: i for i, name in enumerate(dict.fromkeys(name for edge in edges for name in edge))}
    below = np.fromiter((number[a] for a, _b in edges), dtype=np.int32, count=len(edges))
    above = np.fromiter((number[b] for _a, b in edges), dtype=np.int32, count=len(edges))
    graph = csr_array((np.ones(len(edges), dtype=np.int8), (below, above)), shape=(len(number), len(number)))
    _count, component = connected_components(graph, directed=True, connection="strong")
    return [edges[i] for i in np.flatnonzero(component[below] == component[above])]


def _back_edges(edges: list[Edge]) -> set[Edge]:
    """The edges that a depth-first walk meets on its way back; the walk keeps its own stack, cycles may be long."""
    above: dict[str, list[str]] = {}
    for a, b in edges:
        above.setdefault(a, []).append(b)
    back: set[Edge] = set()
    done: set[str] = set()
    for root in above:
        if root in done:
            continue
        path, on_path = [(root, iter(above[root]))], {root}
        while path:
            node, rest = path[-1]
            for next_node in rest:
                if next_node in on_path:
                    back.add((node, next_node))
                elif next_node not in done:
                    path.append((next_node, iter(above[next_node])))
                    on_path.add(next_node)
                    break
            else:
                path.pop()
                on_path.discard(node)
                done.add(node)
    return back
