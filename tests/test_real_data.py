"""A testbed of real abstracts with hand-made annotations, where it lies beside the repository; skipped elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

import fader
from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.experiment.measures import average_precision
from fader.search.batch import parse_all

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "pubtator-bio"
FILES = ("corpus.jsonl.gz", "entities.tsv", "types.tsv", "queries.jsonl", "qrels.txt")

pytestmark = pytest.mark.skipif(
    not all((DATA / name).exists() for name in FILES),
    reason="the pubtator-bio testbed is not there; put it in shared/data beside the repository to run this test",
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    place = tmp_path_factory.mktemp("real") / "index"
    return fader.build(place, [DATA / "corpus.jsonl.gz"], DATA / "entities.tsv", DATA / "types.tsv")


def test_the_build_uses_nearly_all_of_the_corpus(index: fader.Index) -> None:
    assert index.report is not None
    assert index.collection.documents > 2500
    assert index.collection.mentions > 50_000
    assert index.report.faults.total < 0.01 * index.collection.mentions


@pytest.mark.parametrize(("system", "least", "most"), [("proximity", 0.3, 0.7), ("count", 0.15, 0.6)])
def test_mean_average_precision_is_sane(index: fader.Index, system: str, least: float, most: float) -> None:
    """No exact figure: a fault in analysis, matching or ranking would leave this range by far."""
    queries = parse_all(index, read_queries(DATA / "queries.jsonl", FaultCollector()), FaultCollector())
    grades = read_qrels(DATA / "qrels.txt", FaultCollector())
    values = [
        average_precision(index.rank(q.query, k=1000, model=system).entities, grades[q.id])
        for q in queries
        if any(grade > 0 for grade in grades.get(q.id, {}).values())
    ]
    assert len(values) > 200
    assert least < sum(values) / len(values) < most


def test_learned_weights_beat_the_baselines(index: fader.Index) -> None:
    """By cross-validation: proximity features over counting and over position-blind ones, as the paper found."""
    systems = ["count", "fader(features=noprox,lam=10)", "fader(features=noprox+rectangle(6x8),lam=10)"]
    found = fader.compare(index, DATA / "queries.jsonl", DATA / "qrels.txt", systems, cv=3, measures=["AP"])
    count, noprox, rectangle = found.matrix("AP").mean(axis=1)
    assert count + 0.02 < noprox
    assert noprox + 0.02 < rectangle < 0.75
