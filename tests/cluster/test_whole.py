"""Build, batch and serve on a cluster of three nodes: bit for bit one machine's results, for 1, 2, 4 and 8 shards.

Every system and every aggregator, by discovery. The corpus is built by tasks on the nodes; its shards are then held by
actors, and asked by tasks (batch), and by hosts of the service's front (serve). What is expected comes from an index
that was built in this process from the same files, and from nothing of fader.cluster.
"""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest

import fader
from cluster.conftest import needs_ray
from fader.cluster.build.driver import ClusterBuildOptions, build
from fader.cluster.hosts.frontend import Front
from fader.cluster.jobs.batch import ChunkTask, pack_ranking
from fader.cluster.jobs.job_shards import holding
from fader.cluster.jobs.scheduler import OnRay
from fader.cluster.jobs.task import Task, make_worker
from fader.corpus.analysis import Analysis
from fader.corpus.queries import FaultCollector, QueryLine
from fader.index.write.writer import BuildOptions
from fader.limits import Limits
from fader.search.batch import Parsed, RunBatch, parse_all
from index.answers import answer, equal_tables
from index.histories import ENTITIES, STOP, TYPES, some_document

pytestmark = needs_ray
SHARDS = (1, 2, 4, 8)
QUERIES: list[tuple[str, str | None]] = [("a b c d", None), ('+a "b the c" d', "person"), ("c -e é absent", "thing")]
Rows = list[list[Any]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Two files of documents in no order, with some twice, and a catalog."""
    folder, chance = tmp_path_factory.mktemp("whole"), random.Random(5)
    documents = [some_document(chance) for _ in range(160)]
    given: dict[str, Any] = {"corpus": [folder / "one.jsonl", folder / "two.jsonl"]}
    for path, some in zip(given["corpus"], (documents[:90], documents[90:]), strict=True):
        path.write_text("".join(json.dumps(document) + "\n" for document in some), "utf-8")
    for name, rows, above in (("entities", ENTITIES, "types"), ("types", TYPES, "supertypes")):
        given[name] = folder / f"{name}.tsv"
        columns = ([row["id"], row.get("name", ""), "|".join(row.get(above, ()))] for row in rows)
        given[name].write_text("".join("\t".join(row) + "\n" for row in columns), "utf-8")
    return given


@pytest.fixture(scope="module")
def options() -> BuildOptions:
    return BuildOptions(Analysis(stopwords=tuple(STOP)))


@pytest.fixture(scope="module")
def local(files: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    """Of one machine."""
    folder = tmp_path_factory.mktemp("local") / "index"
    return fader.build(folder, files["corpus"], files["entities"], files["types"], stopwords=STOP)


@pytest.fixture(scope="module", params=SHARDS)
def sharded(
    request: pytest.FixtureRequest, files: dict[str, Any], options: BuildOptions, driver: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> fader.Index:  # fmt: skip
    """Built on the cluster."""
    folder, how = tmp_path_factory.mktemp("sharded") / "index", ClusterBuildOptions(request.param, options)
    build(folder, files["corpus"], files["entities"], files["types"], how, OnRay(driver))
    found = fader.open(folder)
    assert len(found.collection.manifest.segments) == request.param
    return found


@pytest.fixture(scope="module")
def expected(local: fader.Index, rankers: list[Any]) -> list[str]:
    """What one machine answers by each ranker."""
    return [answer(local, *query_for(n), ranker) for n, ranker in enumerate(rankers)]


def query_for(n: int) -> tuple[str, str | None]:
    return QUERIES[n % len(QUERIES)]


def test_build(local: fader.Index, sharded: fader.Index) -> None:
    """The tables of contexts of the two indexes, and what is counted of the collection."""
    assert local.collection.documents == sharded.collection.documents
    assert local.collection.tokens == sharded.collection.tokens
    for query in QUERIES:
        equal_tables(local.contexts(*query), sharded.contexts(*query))


def test_batch(local: fader.Index, sharded: fader.Index, rankers: list[Any], driver: Any) -> None:
    """The tasks of `fader cluster batch`, for all rankers at once."""
    lines = [QueryLine(f"q{n}", text, kind, "", "") for n, (text, kind) in enumerate(QUERIES)]
    queries, found = parse_all(local, lines, FaultCollector()), {}
    folder, groups = str(sharded.collection.folder), len(sharded.collection.manifest.segments)
    with holding(driver, folder, None, groups, Limits()) as held:
        own = {"recipe": held, "queries": queries, "first": 0, "chunk": 0, "pack": pack_ranking}
        tasks = [ChunkTask(name=f"{n}", batch=RunBatch(ranker, 100), **own) for n, ranker in enumerate(rankers)]

        def take(task: Task, data: bytes) -> None:
            found[int(task.name)] = msgspec.msgpack.decode(data)

        OnRay(driver).run(make_worker, tasks, take)
    for n, ranker in enumerate(rankers):
        assert found[n] == rows_of(local, queries, ranker), ranker


def rows_of(index: fader.Index, queries: list[Parsed], ranker: Any) -> Rows:
    """Entities, scores and support by one machine."""
    every = [index.rank(query.query, model=ranker, k=100) for query in queries]
    return [[one.entities, one.scores, one.support] for one in every]


def test_serve(
    sharded: fader.Index,
    rankers: list[Any],
    expected: list[str],
    ray_cluster: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Hosts on the nodes, two replicas of each group, asked by what the HTTP server asks."""
    for name, value in ray_cluster.environment.items():
        monkeypatch.setenv(name, value)
    groups = len(sharded.collection.manifest.segments)
    with Front(sharded.collection.folder, ray_cluster.address, groups, replicas=2) as front:
        assert front.health().groups == groups
        served = front.open_index(Limits())
        for n, ranker in enumerate(rankers):
            assert answer(served, *query_for(n), ranker) == expected[n], ranker
