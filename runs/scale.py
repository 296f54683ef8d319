"""How large a cluster a corpus needs, and how quickly it answers: a plan from measured costs, and a small simulation.

    python runs/scale.py --pages 500e6 --pages 2e9

Sizes and hours are products of measured costs (`Costs`, each with the command that measures it) and assumptions
(`Assumed`, what no benchmark of ours can know: the pages, the queries, the machines). Latency is simulated: queries
arrive at random, each asks one replica of every group, a group answers one query after the other and is sometimes slow,
a late group is asked again elsewhere, and the slowest group decides. Knows nothing of Fader's code.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Costs:
    """On one core of a shared machine; docs/results.md has the tables."""

    index_bytes_per_token: float = 2.77  # benchmarks.indexing: all but the stored texts
    text_bytes_per_token: float = 2.98  # benchmarks.indexing: the stored texts
    json_bytes_per_token: float = 9.2  # benchmarks.indexing: JSON lines with mentions
    build_seconds_per_token: float = 19.8 / 50e6  # benchmarks.indexing: JSON lines to a committed index
    build_factor: float = 1.75  # benchmarks.cluster: CPU of all tasks of a build of 8 shards, to that of one machine
    query_fixed_ms: float = 0.8  # benchmarks.query: a query of 950 contexts, nearly all of it fixed
    query_ns_per_context: float = 55.0  # benchmarks.query: (6.4 - 1.4) ms for 95,000 contexts
    query_ns_per_posting: float = 1.5  # benchmarks.query: decoding 1.0, marking documents
    scatter_ms: float = 0.7  # benchmarks.cluster: a call to a group and back that is no work
    gather_us_per_group: float = 606.0  # benchmarks.cluster: the coordinator's CPU of `rank`, by least squares
    gather_ns_per_context: float = 50.0  # the same
    evidence_ms: float = 0.75  # search less rank, ten answers with a snippet: CPU time


@dataclass(frozen=True)
class Assumed:
    """What is taken for granted. The first two are the paper's corpus: 500 million pages, 8 billion annotations."""

    tokens_per_page: float = 800.0
    mentions_per_page: float = 16.0
    contexts_per_page: float = 110_231 / 500e6  # the paper's mean of contexts a query, at its size
    contexts_sigma: float = 1.3  # of their logarithm; the testbeds have 1.1 to 1.5
    postings_per_page: float = 0.02  # occurrences of a query's words
    queries_per_second: float = 20.0
    node_cores: int = 32
    node_memory_gb: float = 128.0
    node_disk_gb: float = 3_000.0
    core_speed: float = 1.5  # of a core of such a node, in cores of the measuring machine
    memory_share: float = 0.25  # of the index without texts that must stay in memory to answer without reading disks
    replicas: int = 2
    build_efficiency: float = 0.7  # what is left after waiting for disks, network and the last task
    slow_sigma: float = 0.2  # a group's time is multiplied by exp(N(0, sigma^2)); benchmarks.cluster found 0.20 ...
    pause_chance: float = 0.005  # ... and sometimes something else has the core, or a page must be read from a disk
    pause_ms: float = 40.0
    asked_again: float = 0.05  # of all calls at most: what cluster/client.py allows itself
    queries: int = 20_000


@dataclass(frozen=True)
class Plan:
    """A corpus on a cluster."""

    pages: float
    nodes: int
    groups: int
    index_tb: float
    text_tb: float
    disk_per_node_gb: float
    memory_per_node_gb: float
    pages_per_group: float
    build_hours: float
    corpus_tb: float


def planned(pages: float, costs: Costs, assumed: Assumed) -> Plan:
    """As many nodes as disks, memory and load ask for; as many groups as give the quickest mean query."""
    tokens = pages * assumed.tokens_per_page
    index, text = tokens * costs.index_bytes_per_token, tokens * costs.text_bytes_per_token
    by_disk = assumed.replicas * (index + text) / (assumed.node_disk_gb * 0.8e9)
    by_memory = assumed.replicas * index * assumed.memory_share / (assumed.node_memory_gb * 0.8e9)
    by_load = assumed.queries_per_second * _core_seconds(pages, costs, assumed) / (assumed.node_cores * 0.4)
    nodes = max(assumed.replicas + 1, math.ceil(max(by_disk, by_memory, by_load)))
    groups = _groups(nodes, pages, costs, assumed)
    work = tokens * costs.build_seconds_per_token * costs.build_factor
    hours = work / (nodes * assumed.node_cores * assumed.core_speed * assumed.build_efficiency) / 3600
    return Plan(
        pages, nodes, groups, index / 1e12, text / 1e12, assumed.replicas * (index + text) / nodes / 1e9,
        assumed.replicas * index * assumed.memory_share / nodes / 1e9, pages / groups, hours,
        tokens * costs.json_bytes_per_token / 1e12,
    )  # fmt: skip


def _groups(nodes: int, pages: float, costs: Costs, assumed: Assumed) -> int:
    """More groups share the work, and each costs the coordinator; every node holds as many as any other."""
    work = 1e3 * _core_seconds(pages, costs, assumed)
    own = costs.gather_us_per_group / 1e3 / assumed.core_speed
    fitting = [nodes * held // assumed.replicas for held in range(1, assumed.node_cores + 1)]
    return min((g for g in fitting if g), key=lambda g: work / g + own * g)


def _core_seconds(pages: float, costs: Costs, assumed: Assumed) -> float:
    """What a mean query costs all groups together, without what every group costs by itself."""
    contexts, postings = pages * assumed.contexts_per_page, pages * assumed.postings_per_page
    return (contexts * costs.query_ns_per_context + postings * costs.query_ns_per_posting) / 1e9 / assumed.core_speed


def contexts_drawn(pages: float, assumed: Assumed, rng: np.random.Generator) -> F64:
    """Contexts of each query: lognormal with the wanted mean."""
    mean, sigma = pages * assumed.contexts_per_page, assumed.contexts_sigma
    return rng.lognormal(math.log(mean) - sigma**2 / 2, sigma, assumed.queries)


def simulated(plan: Plan, costs: Costs, assumed: Assumed, hedged: bool, seed: int = 0) -> dict[str, Any]:
    """Latencies in milliseconds of queries that arrive at random."""
    rng = np.random.default_rng(seed)
    arrival = np.cumsum(rng.exponential(1e3 / assumed.queries_per_second, assumed.queries))
    contexts = contexts_drawn(plan.pages, assumed, rng)
    free = np.zeros((assumed.replicas, plan.groups))
    per_group = _group_ms(plan, contexts, costs, assumed)
    limit, asked_again = per_group.mean() + costs.query_fixed_ms, 0
    latency = np.empty(assumed.queries)
    recent: list[F64] = []
    for q in range(assumed.queries):
        first = q % assumed.replicas
        sent = arrival[q] + costs.scatter_ms / 2
        end = _served(free[first], sent, per_group[q], assumed, rng)
        recent.append(end - sent)
        if hedged:
            late = np.flatnonzero(end > sent + limit)
            late = late[: max(0, int(assumed.asked_again * (q + 1) * plan.groups) - asked_again)]
            asked_again += late.size
            end[late] = np.minimum(
                end[late], _again(free, (first + 1) % assumed.replicas, late, sent + limit, per_group[q], assumed, rng)
            )
        if len(recent) == 200:  # the 95th percentile of recent calls, as the coordinator knows it
            limit, recent = float(np.quantile(np.concatenate(recent), 0.95)), []
        own = plan.groups * costs.gather_us_per_group / 1e3 + contexts[q] * costs.gather_ns_per_context / 1e6
        latency[q] = end.max() + costs.scatter_ms / 2 + own / assumed.core_speed + costs.evidence_ms - arrival[q]
    busy = per_group.mean() * assumed.queries_per_second / 1e3 / assumed.replicas
    return {
        **{f"p{p}": float(np.percentile(latency, p)) for p in (50, 95, 99)},
        "asked again": asked_again / assumed.queries / plan.groups, "busy": float(busy),
    }  # fmt: skip


def _group_ms(plan: Plan, contexts: F64, costs: Costs, assumed: Assumed) -> F64:
    """A group's milliseconds for each query: its share of contexts and postings; more contexts, more of both."""
    share = contexts / plan.groups
    postings = plan.pages * assumed.postings_per_page / plan.groups * contexts / contexts.mean()
    work = costs.query_fixed_ms + (share * costs.query_ns_per_context + postings * costs.query_ns_per_posting) / 1e6
    found: F64 = work / assumed.core_speed
    return found


def _served(free: F64, sent: float, work: float, assumed: Assumed, rng: np.random.Generator) -> F64:
    """When each group is done, one query after the other."""
    slow = work * rng.lognormal(0.0, assumed.slow_sigma, free.size)
    slow += (rng.random(free.size) < assumed.pause_chance) * rng.exponential(assumed.pause_ms, free.size)
    free[:] = np.maximum(free, sent) + slow
    return free.copy()


def _again(
    free: F64, replica: int, late: NDArray[np.int64], sent: float, work: float, assumed: Assumed,
    rng: np.random.Generator,
) -> F64:  # fmt: skip
    """When the groups that are late are done by another replica."""
    part = free[replica, late]
    end = _served(part, sent, work, assumed, rng)
    free[replica, late] = part
    return end


def _shown(plan: Plan, plain: dict[str, Any], hedged: dict[str, Any]) -> list[tuple[str, str]]:
    times = [f"{plain[p]:.0f} / {hedged[p]:.0f}" for p in ("p50", "p95", "p99")]
    return [
        ("pages, millions", f"{plan.pages / 1e6:,.0f}"), ("corpus as JSON, TB", f"{plan.corpus_tb:.1f}"),
        ("index without texts, TB", f"{plan.index_tb:.1f}"), ("texts, TB", f"{plan.text_tb:.1f}"),
        ("nodes", f"{plan.nodes}"), ("groups", f"{plan.groups}"),
        ("pages a group, millions", f"{plan.pages_per_group / 1e6:.2f}"),
        ("disk a node, GB", f"{plan.disk_per_node_gb:,.0f}"),
        ("memory a node for the index, GB", f"{plan.memory_per_node_gb:.0f}"),
        ("hours to build", f"{plan.build_hours:.1f}"), ("groups are busy", f"{100 * hedged['busy']:.0f} %"),
        ("p50 ms, plain / hedged", times[0]), ("p95 ms, plain / hedged", times[1]),
        ("p99 ms, plain / hedged", times[2]),
        ("calls asked again", f"{100 * hedged['asked again']:.1f} %"),
    ]  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=float, action="append", help="pages of the corpus; may be given several times")
    parser.add_argument("--json", metavar="FILE", help="write everything here too")
    for kind in (Costs, Assumed):
        for f in fields(kind):
            option, default = "--" + f.name.replace("_", "-"), f.default
            parser.add_argument(
                option, type=type(default), default=default, metavar="N", help=f"{default:g} unless given"
            )
    return parser


def main() -> None:
    args = vars(_parser().parse_args())
    costs = Costs(**{f.name: args[f.name] for f in fields(Costs)})
    assumed = Assumed(**{f.name: args[f.name] for f in fields(Assumed)})
    found = []
    for pages in args["pages"] or [500e6, 2e9]:
        plan = planned(pages, costs, assumed)
        plain, hedged = (simulated(plan, costs, assumed, hedge) for hedge in (False, True))
        found.append({"plan": asdict(plan), "plain": plain, "hedged": hedged, "shown": _shown(plan, plain, hedged)})
    for rows in zip(*(f["shown"] for f in found), strict=True):
        print(f"| {rows[0][0]} | " + " | ".join(value for _name, value in rows) + " |")
    if args["json"]:
        with open(args["json"], "w", encoding="utf-8") as file:
            json.dump({"costs": asdict(costs), "assumed": asdict(assumed), "found": found}, file, indent=1)


if __name__ == "__main__":
    main()
