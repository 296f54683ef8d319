"""The cascade against plain loops, and worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.worlds import World, worlds
from experiment.judged_demo import demo_in, some_queries
from fader.corpus.queries import FaultCollector
from fader.errors import UsageError
from fader.experiment.compare import compare_judged
from fader.experiment.judged import judge_queries
from fader.experiment.tune import tune
from fader.progress import Silent
from fader.rank.ranking import rank_entities
from fader.rank.rerank import join_values, keep_best
from fader.search.batch import parse_all
from fader.search.inputs import load_queries
from fader.search.models import default_model
from fader.systems.base import parse_system
from fader.systems.rerank import Rerank, encode_all
from fader.systems.shared import warmstart

FIRST = "fader(features=noprox,aggregator=logsumexp,policy=mention,weights=0.1/0.2/0.3/0.1/0)"
MAPS = "windows+competition+mention+entity(use=frequency/votes)"
SECOND = f"fader(features={MAPS},aggregator=sum,policy=mention,weights={'/'.join(str(0.1 * i) for i in range(1, 24))})"


def test_golden_values() -> None:
    """One is valued anew; the others keep their distances and stand behind."""
    assert join_values(np.array([5.0, 4.0, 2.0]), np.array([0]), np.array([7.0])).tolist() == [7.0, 6.0, 4.0]


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0]), min_size=1, max_size=12)), st.integers(1, 5))
def test_the_best_contexts_are_kept_in_their_order(lists: list[list[float]], most: int) -> None:
    """Of equal scores the first."""
    at = np.cumsum([0, *map(len, lists)])
    place, begin = keep_best(np.array([s for each in lists for s in each]), at, most)
    expected = [sorted(sorted(range(len(e)), key=lambda i, e=e: (-e[i], i))[:most]) for e in lists]  # type: ignore[misc]
    found = [(place[a:b] - o).tolist() for a, b, o in zip(begin, begin[1:], at, strict=False)]
    assert found == expected


@settings(deadline=None, max_examples=25)
@given(world=worlds(least=1), n=st.integers(1, 4), m=st.integers(1, 3))
def test_values_are_those_of_the_two_systems(world: World, n: int, m: int) -> None:
    """Candidates and contexts chosen by sorting, and scored among all rows of the table."""
    first, second = parse_system(FIRST), parse_system(SECOND)
    contexts = world.contexts()
    evidence, values = first.value_entities(contexts)
    order = sorted(range(values.size), key=lambda i: (-values[i], -evidence.entity[i]))
    chosen, scores = order[:n], second.feature_scoring.score(contexts)  # type: ignore[union-attr]
    again = {}
    for i in chosen:
        own = range(evidence.at[i], evidence.at[i + 1])
        best = sorted(own, key=lambda x: (-evidence.scores[x], x))[:m]
        again[i] = sum(scores[evidence.row[x]] for x in best)
    shift = min(again.values()) - min(values[i] for i in chosen)
    expected = {int(evidence.entity[i]): again.get(i, values[i] + shift) for i in order}
    ranking = rank_entities(Rerank(FIRST, SECOND, n, m), contexts, 100)
    assert sorted(ranking.entity.tolist()) == sorted(expected)
    np.testing.assert_allclose(ranking.score, [expected[e] for e in ranking.entity.tolist()], rtol=1e-9, atol=1e-12)
    behind = [e for e in ranking.entity.tolist() if e not in {int(evidence.entity[i]) for i in chosen}]
    assert behind == [int(evidence.entity[i]) for i in order[n:]]


def test_a_cascade_is_trained_near_its_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the quick way as by the table; a query that trains is never among those that test it."""
    monkeypatch.setattr(warmstart, "FEW", 10)
    index = demo_in(tmp_path)
    queries, qrels = some_queries(tmp_path, step=6)
    judged = judge_queries(index, parse_all(index, load_queries(queries), FaultCollector()), qrels)
    shipped = default_model().system
    assert isinstance(shipped, Rerank)
    near = shipped.start_near()
    quick = encode_all(near, judged, 1, Silent())
    for i, example in enumerate(quick):
        slow = near.encode(judged.contexts(i, near.view))
        assert example.query.entity.tolist() == slow.entity.tolist()
        assert example.query.chosen.tolist() == slow.chosen.tolist()
        np.testing.assert_allclose(shipped.values_of(example.query), shipped.values_of(slow), rtol=1e-9)
    tuned = tune(judged, "trained")
    fitted = tuned.model.system
    assert isinstance(fitted, Rerank)
    assert (fitted.prior, fitted.is_fitted) == (shipped.second_system.weights, True)
    assert tuned.precision >= max(tuned.tried.values()) - 1e-12
    assert {text.split("lambda")[0] for text in tuned.tried} == {"", "relax, ", "stem, relax, "}
    assert fitted.first_system.view == fitted.second_system.view
    monkeypatch.setattr(warmstart, "ENOUGH", 12)  # some choose, and all train
    drawn = tune(judged, "trained")
    assert drawn.model.provenance["queries"] == len(judged) > warmstart.ENOUGH
    assert {len(text) for text in drawn.tried} == {len(text) for text in tuned.tried}
    monkeypatch.setattr(warmstart, "ENOUGH", len(judged))
    compared = compare_judged(judged, ["default", "trained"], 3, measures=["AP"])
    assert [len(system.values["AP"]) for system in compared.systems] == [len(judged)] * 2


def test_alternatives_match_literals_in_other_ways() -> None:
    """As it ships first; both stages of a cascade see the same, and begin with the same weights."""
    shipped = default_model().system
    assert isinstance(shipped, Rerank)
    found = shipped.alternatives_near()
    assert [(a.view.relax, a.view.stem) for a in found] == [(False, False), (True, False), (True, True)]
    assert found[0] == shipped.start_near()
    for one in found:
        assert (one.first_system.view, one.prior) == (one.second_system.view, shipped.second_system.weights)
    counted = Rerank("count", SECOND.split(",weights")[0].replace("policy=mention", "policy=document") + ")")
    assert len(replace(counted, prior=(0.1,) * 23).alternatives_near()) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"candidates": 0}, "candidates must be at least 1, not 0"),
        ({"second": "proximity"}, "second must be features x aggregator"),
        ({"first": "fader"}, "the first system must be ready to rank"),
        ({"prior": (1.0,)}, "prior must be [0-9]+ numbers, the weights of"),
        ({"first": FIRST.replace("policy=mention", "top=9")}, "both systems must see the same contexts"),
    ],
)
def test_what_cannot_be_a_cascade_is_refused(given: dict[str, object], message: str) -> None:
    """With the reason."""
    with pytest.raises(UsageError, match=message):
        Rerank(**given)  # type: ignore[arg-type]
