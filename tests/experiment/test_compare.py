"""A comparison has the per-query values that ranking by hand and ir_measures give, for trained systems fold by fold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest

import fader
from experiment.judged_demo import demo_in, some_queries
from fader.errors import FaderError, InputError, UsageError
from fader.experiment.compare import compare
from fader.experiment.comparison import Comparison
from fader.experiment.ranker import Ranker
from fader.learn.crossvalidate import groups_of
from fader.search.index import MAX_K

Queries = list[dict[str, Any]]
Qrels = dict[str, dict[str, int]]
TRAINED = "fader(features=noprox,aggregator=sum,lam=1)"
WRITTEN = "fader(features=noprox,lam=1)"
OURS = {"AP": "AP", "RR": "RR", "nDCG@5": "nDCG@5", "nDCG@10": "nDCG@10"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compare")


@pytest.fixture(scope="module")
def index(folder: Path) -> fader.Index:
    return demo_in(folder)


@pytest.fixture(scope="module")
def given(index: fader.Index, folder: Path) -> tuple[Queries, Qrels]:
    return some_queries(folder, 3)


@pytest.fixture(scope="module")
def found(index: fader.Index, given: tuple[Queries, Qrels]) -> Comparison:
    return compare(index, *given, ["count", "proximity", TRAINED], cv=5, seed=3)


def by_hand(index: fader.Index, queries: Queries, qrels: Qrels, model: Any) -> dict[str, dict[str, float]]:
    """Measures by query: the whole ranking of the index, measured by ir_measures; pairs counted one by one.

    Pairs are those of all candidates: what is not ranked ties behind the rest.
    """
    out: dict[str, dict[str, float]] = {}
    for query in queries:
        q, grades = query["id"], qrels[query["id"]]
        ranked = index.rank(query["query"], query["type"], k=MAX_K, model=model)
        # Places instead of scores: trec_eval reads floats of 32 bits, where close scores tie.
        run = {q: {e: float(-i) for i, e in enumerate(ranked.entities)}}
        measures = [ir_measures.parse_measure(m) for m in (*OURS.values(), "P@5")]
        values = {str(m.measure): m.value for m in ir_measures.iter_calc(measures, {q: grades}, run)}
        everyone = index.rank(query["query"], query["type"], k=MAX_K, model="count").entities
        last = min(ranked.scores, default=0.0) - 1
        score = dict.fromkeys(everyone, last) | dict(zip(ranked.entities, ranked.scores, strict=True))
        good = [s for e, s in score.items() if grades.get(e, 0) > 0]
        bad = [s for e, s in score.items() if grades.get(e, 0) <= 0]
        pairs = [1.0 if b > g else 0.5 if b == g else 0.0 for g in good for b in bad]
        values["pairswap"] = sum(pairs) / len(pairs) if pairs else float(not good)
        out[q] = values
    return out


def check(result: Any, queries: Queries, expected: dict[str, dict[str, float]]) -> None:
    for measure in (*OURS, "pairswap"):
        for value, query in zip(result.values[measure], queries, strict=True):
            assert value == pytest.approx(expected[query["id"]][measure], abs=1e-9), (measure, query["id"])


def test_untrained_systems_have_the_values_of_their_rankings(
    index: fader.Index, given: tuple[Queries, Qrels], found: Comparison
) -> None:
    """Every measure of every query, to 1e-9."""
    assert [s.name for s in found.systems] == ["count", "proximity", WRITTEN]
    assert found.queries == [q["id"] for q in given[0]]
    for name in ("count", "proximity"):
        check(found.find_system(name), given[0], by_hand(index, *given, name))
        assert found.find_system(name).folds == 0


def test_a_trained_system_is_tested_by_models_of_the_other_folds(
    index: fader.Index, given: tuple[Queries, Qrels], found: Comparison
) -> None:
    """Fold by fold: trained on the rest by hand, saved, ranked through the index, measured by others."""
    queries, qrels = given
    expected: dict[str, dict[str, float]] = {}
    for fold in groups_of(len(queries), 5, 3):
        rest = [q for i, q in enumerate(queries) if i not in fold]
        made = Ranker(features="noprox", lam=1).fit(index, rest, {q["id"]: qrels[q["id"]] for q in rest})
        expected |= by_hand(index, [queries[i] for i in fold], qrels, made)
    result = found.find_system(WRITTEN)
    check(result, queries, expected)
    assert result.folds == 5
    assert result.hyperparameters == [{"model": "noprox x sum", "lambda": 1.0}] * 5
    assert result.notes == ["cv 5"]


def test_what_is_said_about_the_collection(index: fader.Index, given: tuple[Queries, Qrels], found: Comparison) -> None:
    """Candidates of each query, documents that support good and bad ones, texts, types, provenance; all of it plain."""
    queries, qrels = given
    good, bad = [], []
    for i, query in enumerate(queries):
        ranked = index.rank(query["query"], query["type"], k=MAX_K, model="count")
        assert found.candidates[i] == len(ranked.entities)
        for entity, count in zip(ranked.entities, ranked.support, strict=True):
            (good if qrels[query["id"]].get(entity, 0) > 0 else bad).append(count)
    assert (found.supports.good, found.supports.bad) == (sorted(good), sorted(bad))
    assert [index.parse(query["query"], query["type"]).type for query in queries] == found.types
    assert found.texts == [query["query"] for query in queries]
    assert found.provenance["queries"] == len(queries)
    assert (found.provenance["cross-validation"], found.provenance["seed"]) == ("5", 3)
    assert found.smaller_is_better == ["pairswap"]
    assert Comparison.from_dict(found.to_dict()) == found


def test_two_runs_agree(index: fader.Index, given: tuple[Queries, Qrels], found: Comparison) -> None:
    """Whatever the number of workers; another seed has other folds."""
    again = compare(index, *given, [TRAINED], cv="5", seed=3, workers=2)
    assert again.systems[0].values == found.find_system(WRITTEN).values
    other = compare(index, *given, [TRAINED], cv=5, seed=4, workers=1)
    assert other.systems[0].values != found.find_system(WRITTEN).values


def test_a_system_may_have_its_own_cross_validation(index: fader.Index, given: tuple[Queries, Qrels]) -> None:
    """`cv` of the system before that of the comparison; leave-one-out tests each query by its own model."""
    queries, qrels = given[0][:7], given[1]
    judged = {q["id"]: qrels[q["id"]] for q in queries}
    found = compare(index, queries, judged, ["fader(features=noprox,lam=1,cv=loo)"], cv=2)
    expected: dict[str, dict[str, float]] = {}
    for i, query in enumerate(queries):
        rest = [*queries[:i], *queries[i + 1 :]]
        made = Ranker(features="noprox", lam=1).fit(index, rest, {q["id"]: judged[q["id"]] for q in rest})
        expected |= by_hand(index, [query], judged, made)
    result = found.systems[0]
    assert result.notes == ["cv loo"]
    # Which mention of a document counts is chosen without the query's group; noprox is alike for all mentions.
    check(result, queries, expected)


def test_other_measures_may_be_asked_for(index: fader.Index, given: tuple[Queries, Qrels]) -> None:
    """Ours by other names, and any of ir_measures."""
    found = compare(index, *given, ["proximity"], measures=["map", "P@5"])
    assert found.measures == ["AP", "P@5"]
    expected = by_hand(index, *given, "proximity")
    values = found.systems[0].values
    assert values["P@5"] == pytest.approx([expected[q["id"]]["P@5"] for q in given[0]], abs=1e-9)
    assert values["AP"] == pytest.approx([expected[q["id"]]["AP"] for q in given[0]], abs=1e-9)


def test_a_trained_model_is_ranked_by_its_own_contexts(index: fader.Index, given: tuple[Queries, Qrels]) -> None:
    """Its window, its way with overlaps and its best documents, as in the index; a fitted ranker is its model."""
    made = Ranker(features="rectangle(3x4)", lam=1, window=6, ignore_overlap=True, top=9).fit(index, *given)
    expected = by_hand(index, *given, made)
    for system in (made, made.model_):
        found = compare(index, *given, ["count", system])
        check(found.systems[1], given[0], expected)


def test_the_best_documents_only_are_trained_and_tested_on(index: fader.Index, given: tuple[Queries, Qrels]) -> None:
    """Fold by fold as by hand: `top` of a system in a comparison is that of a ranker, and is not without effect."""
    queries, qrels = given[0][:9], given[1]
    judged = {q["id"]: qrels[q["id"]] for q in queries}
    found = compare(index, queries, judged, ["fader(features=noprox,lam=1,top=4)", TRAINED], cv=3)
    expected: dict[str, dict[str, float]] = {}
    groups = groups_of(9, 6, 0)  # three folds of two groups each
    for f in range(3):
        fold = [int(i) for g in groups[2 * f : 2 * f + 2] for i in g]
        rest = [q for i, q in enumerate(queries) if i not in fold]
        made = Ranker(features="noprox", lam=1, top=4).fit(index, rest, {q["id"]: judged[q["id"]] for q in rest})
        expected |= by_hand(index, [queries[i] for i in fold], judged, made)
    check(found.systems[0], queries, expected)
    assert found.systems[0].values != found.systems[1].values
    assert found.systems[0].hyperparameters == [{"model": "noprox x sum, top 4", "lambda": 1.0}] * 3


def test_a_model_trained_anew_is_measured_anew(
    index: fader.Index, given: tuple[Queries, Qrels], tmp_path: Path
) -> None:
    """Results that are kept are those of the model's text, not of its file's name or of how it is written."""
    path, keep = tmp_path / "model.json", tmp_path / "kept"
    near, far = (Ranker(features="rectangle(3x4)", lam=lam).fit(index, *given) for lam in (1, 0.001))
    near.save(path)
    first = compare(index, *given, [str(path)], keep=keep).systems[0]
    far.save(path)
    second = compare(index, *given, [str(path)], keep=keep).systems[0]
    assert first.values == compare(index, *given, [near]).systems[0].values
    assert second.values == compare(index, *given, [far]).systems[0].values
    assert first.values != second.values
    assert str(near.model_) == str(far.model_)
    assert len(list(keep.glob("*/*.part"))) == 2
    (tmp_path / "other.json").write_text(near.model_.to_text(), encoding="utf-8")
    third = compare(index, *given, [str(tmp_path / "other.json"), far], keep=keep)
    assert [s.values for s in third.systems] == [first.values, second.values]
    assert third.systems[0].name == str(tmp_path / "other.json")
    assert len(list(keep.glob("*/*.part"))) == 2


def test_grids_and_scores_are_shown(index: fader.Index, given: tuple[Queries, Qrels]) -> None:
    """A mean grid a grid-like map, a side each where sides are told apart; scores of contexts descend."""
    systems = ["fader(features=noprox+rectangle(3x4),lam=1)", "fader(features=grid(2x3,signed=true),lam=1)"]
    found = compare(index, *given, systems, cv=2)
    assert [(g.system, g.feature) for g in found.grids] == [
        ("noprox+rectangle(3x4) x sum(lam=1)", "rectangle"),
        ("grid(2x3,signed=true) x sum(lam=1)", "grid left"),
        ("grid(2x3,signed=true) x sum(lam=1)", "grid right"),
    ]
    grid = np.array(found.grids[0].values)
    assert grid.shape == (3, 4)
    assert (np.diff(grid, axis=0) >= 0).all()
    assert (np.diff(grid, axis=1) >= 0).all()
    assert found.context_scores
    for shown in found.context_scores:
        assert shown.scores == sorted(shown.scores, reverse=True)
        assert shown.good == (given[1][shown.query].get(shown.entity, 0) > 0)


@pytest.mark.parametrize(
    ("systems", "more", "message"),
    [
        ([], {}, "nothing to compare"),
        (["count", "count(policy=document)"], {}, "count is named twice"),
        (["coumt"], {}, 'unknown system "coumt"'),
        (["count"], {"cv": "all"}, 'cv must be "loo" or a number of folds'),
        (["count"], {"cv": 1}, "cv needs 2 folds at least"),
        (["count"], {"measures": ["PA"]}, 'unknown measure "PA"'),
        (
            [TRAINED],
            {"cv": 400},
            "27 judged queries: 400 folds need 400 at least; judge more .* or ask for fewer folds",
        ),
        ([Ranker()], {}, "is no model and no system"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    index: fader.Index, given: tuple[Queries, Qrels], systems: list[Any], more: dict[str, Any], message: str
) -> None:
    with pytest.raises(FaderError, match=message) as error:
        compare(index, *given, systems, **more)
    assert isinstance(error.value, InputError | UsageError)
