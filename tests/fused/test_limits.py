"""The fused path at and past its bounds, compiled: it gives the answer of the table, or leaves the query to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fader
from contracts.models import feature_model
from fader.errors import BudgetError, LimitError
from fader.features.combined import feature_map
from fader.fused import kernels, lists, ranker
from fader.fused.ranker import FusedRanker
from fader.limits import Limits
from fader.search.local import rank_contexts
from fader.search.models import resolve_model
from fader.systems.base import parse_system
from fader.testing.fused import compare_paths

TYPES = [{"id": "t", "name": "t"}, {"id": "u", "name": "u"}]
ENTITIES = [{"id": f"e{i}", "name": f"e{i}", "types": ["t" if i % 3 else "u"]} for i in range(40)]
RAISED = Limits(literals=200, query_characters=10_000)
AROUND = ("plm", "entityengine", "balog2(window=0/20,association=frequency-candidate)")
SYSTEMS = ("proximity", "default", "count", "balog2", "voting(cutoff=7)", *AROUND)


def document(number: int, words: list[str], mentions: list[tuple[int, int, int]]) -> dict[str, Any]:
    """A document of words, with mentions as (first word, words, entity)."""
    starts = np.cumsum([0, *(len(w) + 1 for w in words)])
    found = [
        {"start": int(starts[a]), "end": int(starts[a + n] - 1), "entity": f"e{e}", "confidence": 0.5 + a % 2 / 4}
        for a, n, e in mentions
    ]
    return {"id": f"d{number:06d}", "text": " ".join(words), "mentions": found}


def build(folder: Path, corpus: Any, **options: Any) -> Any:
    return fader.build(folder, corpus=corpus, entities=ENTITIES, types=TYPES, limits=RAISED, **options)


def compare(index: Any, query: str, answer_type: str | None, system: Any, ranker: Any = None) -> bool:
    """Whether the system has a fused form, which gives the same."""
    return compare_paths(index.collection, index.parse(query, answer_type), system, 10, ranker)


def check_all(index: Any, query: str, answer_type: str | None = "t", systems: tuple[str, ...] = SYSTEMS) -> None:
    """Systems rank as through the table."""
    for name in systems:
        assert compare(index, query, answer_type, resolve_model(name, index.collection).system)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """More documents than two windows, of which few match."""
    draw = np.random.default_rng(3)

    def corpus() -> Iterator[dict[str, Any]]:
        for number in range(2 * kernels.WINDOW + 100):
            words = [f"w{int(w)}" for w in draw.integers(0, 300, 6)]
            yield document(number, words, [(int(draw.integers(0, 6)), 1, int(draw.integers(0, 40)))])

    return build(tmp_path_factory.mktemp("wide") / "index", corpus())


@pytest.mark.parametrize("query", ["w1", "w1 w2 +w3", "w1 w2 w3 -w4", '"w1 w2" w5', "+w1 +w2"])
@pytest.mark.parametrize("answer_type", ["t", "u", None])
def test_windows_of_documents(wide: Any, query: str, answer_type: str | None) -> None:
    """Documents beyond the first window count, those at its edges too."""
    check_all(wide, query, answer_type)


def test_codes_shared_by_queries(wide: Any) -> None:
    """A word that most documents have is looked up, whatever the query asks beside it."""
    folder = wide.collection.folder.parent / "common"
    words = ["the", "x", "the", "y"]
    corpus = (document(n, [*words, f"w{n % 7}"], [(1, 1, n % 40), (3, 2, n % 11)]) for n in range(12_000))
    index = build(folder, corpus)
    for query in ("the", "the w3", "+the w1 w2", '"x the" w1'):
        for answer_type in ("t", None):
            check_all(index, query, answer_type)


def test_as_many_literals_as_there_is_room_for_and_more(tmp_path: Path) -> None:
    """64 literals are fused; with 65 the table ranks, and the answers agree either way."""
    words = [f"w{i}" for i in range(80)]
    index = build(tmp_path / "index", [document(n, words[n:] + words[:n], [(n % 80, 1, n % 40)]) for n in range(90)])
    for count, is_fused in ((64, True), (65, False)):
        query = " ".join(words[:count])
        assert compare(index, query, "t", parse_system("proximity")) == is_fused
        contexts = index.contexts(query, type="t")
        expected = rank_contexts(contexts, parse_system("proximity"), 10).ranking.score.tolist()
        assert index.rank(query, type="t", model="proximity").scores == expected
    check_all(index, " ".join(words[:64]))


def test_many_forbidden_literals(tmp_path: Path) -> None:
    index = build(tmp_path / "index", [document(n, [f"w{n}", "a"], [(1, 1, n % 40)]) for n in range(90)])
    check_all(index, "a " + " ".join(f"-w{n}" for n in range(60)))


def test_documents_and_mentions_of_any_length(tmp_path: Path) -> None:
    """A document of 30,000 words, a mention of 5,000, and 700 mentions in one document."""
    words = [f"w{i % 911}" for i in range(30_000)]
    long = document(0, words, [(100, 5_000, 1), (29_999, 1, 2), (0, 30_000, 4)])
    crowded = document(1, words[:1_000], [(i, 1 + i % 3, i % 40) for i in range(700)])
    index = build(tmp_path / "index", [long, crowded, document(2, ["w1", "w2"], [(0, 1, 2)])])
    for query in ("w1 w2", "w5", '"w7 w8" w900 w1', "w910 w0"):
        check_all(index, query)
        check_all(index, query, None)


def test_mentions_about_as_long_as_a_packed_row_can_say(tmp_path: Path) -> None:
    """Mentions of 254, 255 and 256 words, with literals before, inside and behind."""
    words = [f"w{i % 700}" for i in range(1_000)]
    corpus = [document(n, words, [(100, 253 + n, n), (100, 1, 7), (400, 300, n + 8)]) for n in range(1, 4)]
    index = build(tmp_path / "index", corpus)
    for query in ("w99 w354", "w353 w355 w360", "w100 w699", "w90 w120"):
        check_all(index, query)
        check_all(index, query, None)


def test_more_entities_than_a_packed_row_has_bits_for(wide: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a type is left to the table; one of fewer is not."""
    monkeypatch.setattr(lists, "MOST_SLOTS", 20)
    fresh = FusedRanker(wide.collection.reader)
    assert not compare(wide, "w1 w2", "t", parse_system("proximity"), fresh)
    assert compare(wide, "w1 w2", "u", parse_system("proximity"), fresh)


def test_a_window_that_would_need_too_many_codes_is_left_to_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = build(tmp_path / "index", [document(0, ["a", "b"] * 20, [(i, 1, i) for i in range(30)])])
    monkeypatch.setattr(ranker, "MOST_CODES", 100)
    assert not compare(index, "a b", "t", parse_system("proximity"))
    assert len(index.rank("a b", type="t", k=5).entities) == 5


def test_lists_that_do_not_fit_are_left_to_the_table(wide: Any) -> None:
    """A small arena begins anew when it is full, and gives up on lists larger than itself."""
    system = parse_system("proximity")
    small = FusedRanker(wide.collection.reader, 1 << 10)
    assert not compare(wide, "w1", "t", system, small)
    fair = FusedRanker(wide.collection.reader, 200_000)
    for i in range(300):
        assert compare(wide, f"w{i}", "t", system, fair)


def test_scores_below_zero(wide: Any) -> None:
    """A bias below all other weights: the best mention is still the best, and sums may be negative."""
    size = 5 + 20 + 1
    weights = np.linspace(0.001, 0.01, size)
    weights[-1] = -5.0
    for aggregator in ("sum", "softor(bias=true)", "logsumexp", "max", "softcount"):
        system = feature_model("noprox+rectangle(4x5)+bias", weights, aggregator)
        assert compare(wide, "w1 w2 w3", "t", system)


def test_threads_share_one_ranker(wide: Any) -> None:
    """Queries of several threads at once have the answers that they have one after another."""
    queries = [f"w{i} w{i + 1} +w{i + 2}" for i in range(60)]
    alone = [wide.rank(q, type="t", k=5) for q in queries]
    collection = fader.open(wide.collection.folder, limits=RAISED)
    barrier = threading.Barrier(4)

    def ask(part: int) -> list[Any]:
        barrier.wait()
        return [collection.rank(q, type="t", k=5) for q in queries[part::4]]

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(ask, range(4)))
    for part, found in enumerate(together):
        assert found == alone[part::4]


def test_time_and_contexts_are_limited_inside(wide: Any) -> None:
    """A query that takes too long or has too many contexts ends, and the next one is right."""
    expected = wide.rank("w1 w2", k=5)
    with pytest.raises(BudgetError):
        wide.rank(" ".join(f"w{i}" for i in range(64)), k=5, timeout_ms=1e-3)
    assert wide.rank("w1 w2", k=5) == expected
    strict = fader.open(wide.collection.folder, limits=Limits(contexts=100))
    with pytest.raises(LimitError):
        strict.rank("w1 w2", k=5)
    assert strict.rank("+w1 +w2 +w3", k=5).entities is not None


def test_many_snippets_are_those_of_a_full_order(wide: Any) -> None:
    """However many contexts are shown of an entity, they are the first of all its contexts by weight."""
    answers = {n: wide.search("w1 w2", type="t", k=2, snippets=n).results for n in (1, 3, 8, 9, 40)}
    longest = [[e.doc for e in result.evidence] for result in answers[40]]
    for count, results in answers.items():
        assert [[e.doc for e in result.evidence] for result in results] == [docs[:count] for docs in longest]


def test_documents_have_their_own_priors(tmp_path: Path) -> None:
    """What values documents sees the priors that were given with them."""
    corpus = [document(n, ["a", "b"], [(1, 1, n)]) | {"prior": 1.0 + n} for n in range(4)]
    index = build(tmp_path / "index", corpus, segment_tokens=4)
    assert FusedRanker(index.collection.reader)._priors.tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("top", ["0", "5"])
def test_plans_are_kept(wide: Any, monkeypatch: pytest.MonkeyPatch, top: str) -> None:
    """A query that is asked again has its plan, and the same answer; with new lists, or too many plans, a new one."""
    shared = FusedRanker(wide.collection.reader)
    system = feature_model("noprox+coverage", np.linspace(0.1, 1.0, feature_map("noprox+coverage").size), top=top)
    queries = [wide.parse(text, "t") for text in ("w1 w2", "+w1 w3", "w1 w2 -w4")]
    monkeypatch.setattr(ranker, "KEPT_PLANS", 2)
    for _round in range(2):
        for query in queries:
            assert all(compare_paths(wide.collection, query, system, 10, shared) for _again in range(2))
            assert 1 <= len(shared._plans) <= 2
        shared._begin_anew(shared._arena)
        assert not shared._plans
