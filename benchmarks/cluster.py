"""What shards cost: a query through 1, 2, 4 and 8 groups against the local call, and a sharded build against a local.

The shards are in this process (what cutting and putting together costs), or behind sockets in two others (with packing,
sending and waiting). Local and spread calls alternate, query by query, on one index, and answers are compared before
they are timed. Everything is on one machine: no network is in these figures, and groups share its cores, so that they
cannot show how much quicker many machines are, only what is lost. Builds are cluster_build.py.

    python -m benchmarks.cluster --scale 1.0
"""

from __future__ import annotations

import multiprocessing
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import cluster_build, common, workload
from benchmarks.common import Clock, Query, median
from benchmarks.synthetic import type_id

GROUPS = (1, 2, 4, 8)
SERVERS = 2  # processes that the groups are spread over
TABLES = "voting"  # a system that needs whole tables of contexts


def serve(folder: str, groups: dict[int, list[int]], commit: int, secret: bytes, told: Any, end: Any) -> None:
    """Some groups behind a socket server, in a process of its own."""
    from fader.cluster.shards.shard import Shard
    from fader.cluster.wire.server import ServerSettings, ShardServer

    server = ShardServer(secret, settings=ServerSettings(calls=8))
    for group, segments in groups.items():
        server.serve(group, Shard(folder, commit, segments))
    server.start()
    told.put((list(groups), server.address))
    end.wait()


@contextmanager
def by_sockets(folder: Path, groups: int) -> Iterator[Any]:
    """The index through sockets."""
    from fader.cluster.shards.collection import ShardedCollection
    from fader.cluster.shards.groups import plan
    from fader.cluster.wire.client import Shards
    from fader.index.commit import read_commit
    from fader.search.index import Index

    spawn, secret, manifest = multiprocessing.get_context("spawn"), secrets.token_bytes(32), read_commit(folder)
    told, end, cut = spawn.Queue(), spawn.Event(), dict(enumerate(plan(manifest, groups)))
    processes = []
    for s in range(min(SERVERS, len(cut))):
        held = {g: segments for g, segments in cut.items() if g % SERVERS == s}
        given = str(folder), held, manifest.commit, secret, told, end
        processes.append(spawn.Process(target=serve, args=given, daemon=True))
    shards = Shards(secret)
    try:
        for process in processes:
            process.start()
        addresses = {g: address for held, address in (told.get(timeout=300) for _ in processes) for g in held}
        shards.update(manifest.commit, [[addresses[g]] for g in cut])
        yield Index(ShardedCollection(folder, shards))
    finally:
        shards.close()
        end.set()
        for process in processes:
            process.join(10)


@contextmanager
def in_process(folder: Path, groups: int) -> Iterator[Any]:
    """The index through shards of this process."""
    from fader.cluster.shards.collection import ShardedCollection
    from fader.cluster.shards.local import LocalShards
    from fader.search.index import Index

    yield Index(ShardedCollection(folder, LocalShards.of(folder, groups)))


WAYS = {"in process": in_process, "sockets": by_sockets}
ASKED: dict[str, Callable[[Any, Query], Any]] = {
    "rank": lambda index, q: index.rank(q.text, type_id(q.type), k=common.K),
    "search": lambda index, q: index.search(q.text, type_id(q.type), k=common.K, snippets=1),
    TABLES: lambda index, q: index.search(q.text, type_id(q.type), k=common.K, model=TABLES, snippets=1),
}


def verify(local: Any, spread: Any, queries: Sequence[Query]) -> None:
    """Stop at the first other answer."""
    for query in queries:
        for model in ("default", TABLES):
            one, other = (i.rank(query.text, type_id(query.type), k=100, model=model) for i in (local, spread))
            if one != other:
                raise SystemExit(f"shards give another answer to {query.text!r}, {model}")


def forget(index: Any) -> None:
    """Let a coordinator know no word's counts and no document's text, as for a query never asked before.

    Shards remember the matches of 32 queries; a set has more, and is asked in turn.
    """
    from fader.cluster.shards.collection import ShardedCollection

    if isinstance(index.collection, ShardedCollection):
        index.collection.forget()


def paired(
    indexes: Sequence[Any], ask: Callable[[Any, Query], Any], queries: Sequence[Query], rounds: int
) -> list[dict[str, list[float]]]:
    """Wall and CPU milliseconds of this process for each query by each index, in turn; the least of some rounds."""
    found = [{what: [float("inf")] * len(queries) for what in ("wall", "cpu")} for _ in indexes]
    for turn in range(rounds + 1):  # the first is not counted
        for n, query in enumerate(queries):
            for i in range(len(indexes)):
                which = (i + turn + n) % len(indexes)
                forget(indexes[which])
                with Clock() as clock:
                    ask(indexes[which], query)
                if turn:
                    for what, seconds in (("wall", clock.wall), ("cpu", clock.cpu)):
                        found[which][what][n] = min(found[which][what][n], 1e3 * seconds)
    return found


def moved(spread: Any, ask: Callable[[Any, Query], Any], queries: Sequence[Query]) -> dict[str, float]:
    """Calls to all groups, and bytes to and from them together, for a query; means."""
    from fader.cluster.wire.frames import frame
    from fader.cluster.wire.transport import for_each

    shards, counts = spread.collection.groups.shards, {"calls": 0, "bytes": 0}

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(shards, name)

        def call_all(self, calls: Any, **more: Any) -> Any:
            answers = shards.call_all(calls, **more)
            sent = [call for call in for_each(calls, len(answers)) if call is not None]
            counts["calls"] += 1
            counts["bytes"] += sum(len(buffer) for value in (*sent, *answers) for buffer in frame(value))
            return answers

    spread.collection.groups.shards = Counting()
    try:
        for query in queries:
            forget(spread)
            ask(spread, query)
    finally:
        spread.collection.groups.shards = shards
    return {name: count / len(queries) for name, count in counts.items()}


def round_trip(index: Any, calls: int = 200) -> float:
    """Milliseconds of a call to all groups that is no work."""
    from fader.cluster.shards.requests import DescribeShard

    took = []
    for _ in range(calls):
        began = time.perf_counter()
        index.collection.groups.ask(DescribeShard())
        took.append(1e3 * (time.perf_counter() - began))
    return median(took)


def stragglers(index: Any, queries: Sequence[Query], rounds: int) -> dict[str, float]:
    """How much the time of one group varies from call to call, as runs/scale.py draws it.

    Times are lognormal about the median of their query (half the distance of the 16th and 84th percentile of logarithms
    is sigma), but for pauses: those of more than three times the median.
    """
    took = np.empty((rounds, len(queries)))
    for turn in range(rounds):
        for n, query in enumerate(queries):
            forget(index)
            with Clock() as clock:
                ASKED["rank"](index, query)
            took[turn, n] = 1e3 * clock.wall
    usual = np.median(took, axis=0)
    low, high = np.quantile(np.log(took / usual), (0.16, 0.84))
    paused = took > 3 * usual
    lost = float((took - usual)[paused].mean()) if paused.any() else 0.0
    return {"slow_sigma": float(high - low) / 2, "pause_chance": float(paused.mean()), "pause_ms": lost}


def fitted(rows: Sequence[dict[str, Any]], sets: dict[str, list[Query]]) -> dict[str, float]:
    """The coordinator's CPU of `rank` by sockets as fixed + groups x a + contexts x b, by least squares."""
    made, cost = [], []
    for row in rows:
        if row["way"] == "sockets" and row["asked"] == "rank":
            for query, each in zip(sets[row["set"]], row["each_cpu"], strict=True):
                made.append([1.0, row["groups"], query.contexts])
                cost.append(each)
    fixed, group, context = np.linalg.lstsq(np.array(made), np.array(cost), rcond=None)[0].tolist()
    return {"fixed_ms": fixed, "gather_us_per_group": 1e3 * group, "gather_ns_per_context": 1e6 * context}


def summary(own: dict[str, list[float]], found: dict[str, list[float]]) -> dict[str, Any]:
    """p50 and mean of both, their ratios, and the milliseconds that are lost."""
    row: dict[str, Any] = {"each_cpu": found["cpu"]}
    for name, of in (("p50", median), ("mean", lambda values: sum(values) / len(values))):
        one, other = of(own["wall"]), of(found["wall"])
        row |= {f"local_{name}_ms": one, f"{name}_ms": other, f"{name}_ratio": other / one}
        row |= {f"{name}_overhead_ms": other - one, f"coordinator_{name}_cpu_ms": of(found["cpu"])}
    return row


def query_figures(folder: Path, sets: dict[str, list[Query]], groups: Sequence[int], rounds: int) -> dict[str, Any]:
    """Every way by every number of groups against the local call."""
    import fader

    local, rows, trips, varies = fader.open(folder), [], {}, {}
    for way, opened in WAYS.items():
        for count in groups:
            with opened(folder, count) as spread:
                for name, queries in sets.items():
                    verify(local, spread, queries)
                    for asked, ask in ASKED.items():
                        row = {"set": name, "asked": asked, "way": way, "groups": count, **moved(spread, ask, queries)}
                        rows.append(row | summary(*paired((local, spread), ask, queries, rounds)))
                if way == "sockets":
                    trips[str(count)] = round_trip(spread)
                    if count == 1:
                        varies = stragglers(spread, next(iter(sets.values())), 10 * rounds)
    costs = fitted(rows, sets) | {"scatter_ms": trips["1"]} | varies
    return {"rows": [{k: v for k, v in row.items() if k != "each_cpu"} for row in rows], "trips": trips, "costs": costs}


def show(found: dict[str, Any]) -> None:
    """One table for each query set and question."""
    header = ("", "p50 ms", "x local", "mean ms", "x local", "coordinator CPU ms", "calls", "KB moved")
    for name, asked in dict.fromkeys((row["set"], row["asked"]) for row in found["rows"]):
        some = [row for row in found["rows"] if (row["set"], row["asked"]) == (name, asked)]
        what = {"rank": "rank, default model", "search": "search, default model"}.get(asked, f"search, {asked}")
        local = median([row["local_p50_ms"] for row in some]), median([row["local_mean_ms"] for row in some])
        print(f"\n{name} queries, {what}; local: p50 {local[0]:.2f} ms, mean {local[1]:.2f} ms")
        lines = []
        for row in some:
            cpu = f"{row['coordinator_p50_cpu_ms']:.2f}" if row["way"] == "sockets" else ""
            cells = [f"{row[key]:.2f}" for key in ("p50_ms", "p50_ratio", "mean_ms", "mean_ratio")]
            moved_kb = f"{row['bytes'] / 1e3:,.1f}" if row["way"] == "sockets" else ""
            lines.append((f"{row['way']}, {row['groups']} groups", *cells, cpu, f"{row['calls']:.1f}", moved_kb))
        print(common.table(header, lines))
    trips = ", ".join(f"{groups} groups {ms:.2f}" for groups, ms in found["trips"].items())
    print(f"\na call that is no work, by sockets, ms: {trips}")
    print("costs for runs/scale.py: " + ", ".join(f"{k} {v:.3g}" for k, v in found["costs"].items()))


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("What shards cost against one machine.")
    parser.add_argument("--queries", type=int, default=50, help="queries per set")
    parser.add_argument("--rounds", type=int, default=3, help="times each query is run; the least counts")
    parser.add_argument("--no-ray", action="store_true", help="leave the build on a Ray cluster out")
    args = parser.parse_args(argv)
    groups = GROUPS
    if args.quick:
        args.scale, args.queries, args.rounds, groups = 0.002, 3, 1, (1, 4)
    common.one_thread()
    data = common.dataset(args.work, args.scale, seed=args.seed)
    folder, why = data.folder / "sharded", cluster_build.why_without_ray(args.quick)
    build = cluster_build.figures(data, folder, not why and not args.no_ray)
    cluster_build.show(build)
    print(why)
    query = query_figures(folder, workload.standard_sets(data.folder, args.queries), groups, args.rounds)
    show(query)
    path = args.json or args.work / f"cluster-{args.scale:g}.json"
    common.write_report(path, {"scale": args.scale, "build": build, "query": query})
    print(f"\n{path}")


if __name__ == "__main__":
    main()
