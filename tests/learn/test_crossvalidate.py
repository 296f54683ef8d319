"""Cross-validation: every query is tested once, by a model in which it had no say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
import pytest

from contracts.tables import TableColumns
from fader.errors import InputError, UsageError
from fader.features.base import FeatureMap
from fader.features.combined import feature_map
from fader.learn import crossvalidate
from fader.learn.crossvalidate import cross_validate, groups_of, parse_cv
from fader.learn.dataset import Dataset, View
from fader.learn.feature_trainer import FeatureCandidate, FeatureTrainer, Trained
from fader.learn.train import FitSettings, fit_model
from fader.measures import AveragePrecision, Pairswap
from fader.registry import parse
from learn.cases import F64, I64, Given, Judged, drawn_columns, drawn_queries, entities_of, swapped, vectors

QUERIES = drawn_queries(31, queries=9, rows=26)
LAMBDAS = (0.1, 1.0)
EVERY_CV = ["2", "3", "5", "loo"]


def candidate(
    features: str = "noprox+rectangle(3x4)", aggregator: str = "sum", lambdas: tuple[float, ...] = LAMBDAS,
    policy: str = "document", **settings: Any,
) -> FeatureCandidate:  # fmt: skip
    few = FitSettings(**{"rounds": 2, "starts": 1, "iterations": 60, **settings})
    return FeatureCandidate(feature_map(features), parse("fader.aggregate", aggregator), few, lambdas, View(policy))


def validated(queries: Sequence[Judged], candidates: Sequence[FeatureCandidate], cv: str, **more: Any) -> Any:
    make = partial(FeatureTrainer, Given(queries), candidates)
    return cross_validate(make, len(queries), cv, **{"workers": 1, **more})


def train(source: Given, candidates: Sequence[FeatureCandidate], **more: Any) -> Any:
    return crossvalidate.train(partial(FeatureTrainer, source, candidates), len(source.ids), **more)


def same(one: Trained, two: Trained, exact: bool = True) -> None:
    """The same model: features with their edges, aggregator with what it learned, lambda, weights."""
    assert str(one.features) == str(two.features)
    assert one.aggregator == two.aggregator
    assert (one.settings, one.view) == (two.settings, two.view)
    if exact:
        assert one.weights.tolist() == two.weights.tolist()
    else:
        assert one.weights == pytest.approx(two.weights, rel=1e-7, abs=1e-8 * np.abs(two.weights).max())


@pytest.mark.parametrize("cv", EVERY_CV)
def test_every_query_is_tested_once_by_a_model_of_the_others(cv: str) -> None:
    """In the order of the queries, with a value for each candidate, and a choice recorded for each fold."""
    found = validated(QUERIES, [candidate()], cv)
    assert [o.query.id for o in found.outcomes] == [q.id for q in QUERIES]
    for outcome, query in zip(found.outcomes, QUERIES, strict=True):
        assert outcome.query.entity.tolist() == entities_of(query.columns)
        assert outcome.values.shape == outcome.query.entity.shape
        assert outcome.values.tolist() == outcome.model.values(outcome.query).tolist()
    models = {id(o.model) for o in found.outcomes}
    assert len(models) == (9 if cv == "loo" else int(cv))
    assert len(found.choices) == (5 if cv == "loo" else int(cv))
    for choice in found.choices:
        assert choice["model"] == "noprox+rectangle(3x4) x sum"
        assert choice["lambda"] in LAMBDAS
        assert 0 <= choice["validation AP"] <= 1
    assert {o.model.settings.lam for o in found.outcomes} <= {c["lambda"] for c in found.choices}


CASES = {
    "edges": candidate("noprox+rectangle(3x4,edges=learned)"),
    "mentions": candidate("grid(3x4,edges=learned)", policy="mention"),
    "not convex": candidate("noprox+coverage(2x3,edges=learned)", "logsumexp", iterations=15),
    "decay": candidate("noprox", "softcutoff", iterations=15),
    "ndcg": candidate("noprox+idfupto(3,edges=learned)", loss="ndcg", iterations=15),
}
FAST = {"edges", "mentions"}


@pytest.mark.parametrize("cv", ["3", "loo"])
@pytest.mark.parametrize("name", CASES)
def test_the_judgments_of_a_query_have_no_say_in_its_model(name: str, cv: str) -> None:
    """Good and bad exchanged, and everything unjudged good: the model of that query's fold is the same bit for bit.

    Fast leave-one-out begins at the solution of all queries, so that its weights are the same to its tolerance only.
    """
    one = validated(QUERIES, [CASES[name]], cv)
    for q in (0, 4) if name == "edges" else (4,):
        changed = [*QUERIES[:q], swapped(QUERIES[q]), *QUERIES[q + 1 :]]
        two = validated(changed, [CASES[name]], cv)
        mine, other = one.outcomes[q], two.outcomes[q]
        same(mine.model, other.model, exact=cv != "loo" or name not in FAST)
        assert mine.values == pytest.approx(other.values, rel=1e-6, abs=1e-9)
        others = [i for i in range(9) if one.outcomes[i].model is not mine.model]
        assert any(one.outcomes[i].model.weights.tolist() != two.outcomes[i].model.weights.tolist() for i in others)


def other_contexts(query: Judged, seed: int) -> Judged:
    """The query with other contexts of as many literals, its grades kept."""
    random = np.random.default_rng(seed)
    columns: TableColumns = drawn_columns(random, 50, len(query.columns.df))
    columns.distances[columns.distances > 0] += 40
    return replace(query, columns=columns)


@pytest.mark.parametrize("name", CASES)
def test_the_contexts_of_a_query_have_no_say_in_its_model(name: str) -> None:
    """Not in the edges, nor in which mentions of other queries count, nor in how often these are chosen anew."""
    one = validated(QUERIES, [CASES[name]], "3")
    for q in (2, 5) if name == "edges" else (5,):
        changed = [*QUERIES[:q], other_contexts(QUERIES[q], q), *QUERIES[q + 1 :]]
        two = validated(changed, [CASES[name]], "3")
        same(one.outcomes[q].model, two.outcomes[q].model)
        assert one.outcomes[q].model.fit.rounds == two.outcomes[q].model.fit.rounds
        assert one.outcomes[q].values.shape != two.outcomes[q].values.shape or (
            one.outcomes[q].values.tolist() != two.outcomes[q].values.tolist()
        )


def test_edges_are_learned_from_training_queries_only() -> None:
    """No set of queries that edges are learned from has the query tested; inner validation leaves out its own too."""
    source = Given(QUERIES)
    cross_validate(partial(FeatureTrainer, source, [CASES["edges"]]), 9, "3", seed=4, workers=1)
    groups = groups_of(9, 6, 4)
    folds = [set(np.concatenate(groups[2 * i : 2 * i + 2]).tolist()) for i in range(3)]
    learned = [set(training) for training in source.learned_from]
    for fold in folds:
        whole = set(range(9)) - fold
        assert learned.count(whole) == 1
    for training in learned:
        left_out = set(range(9)) - training
        assert any(fold <= left_out for fold in folds)
        assert left_out == set().union(*(set(g.tolist()) for g in groups if set(g.tolist()) <= left_out))


def planted(random: np.random.Generator, count: int) -> list[Judged]:
    """Near literals make an entity good; how often it is mentioned says nothing."""
    queries = []
    for q in range(count):
        columns = drawn_columns(random, 60, 2)
        worth = dict.fromkeys(entities_of(columns), 0.0)
        for x in range(60):
            near = columns.distances[:, x]
            worth[int(columns.entity[x])] += float(((near >= 0) & (near <= 2)).sum())
        middle = np.median(list(worth.values()))
        queries.append(Judged(f"p{q}", columns, {e: int(value > middle) for e, value in worth.items()}))
    return queries


@pytest.mark.parametrize("cv", ["3", "loo"])
def test_inner_validation_chooses_the_better_candidate(cv: str) -> None:
    """Proximity before counting, in every fold, and the same in training on all."""
    queries = planted(np.random.default_rng(3), 12)
    worse, better = candidate("noprox(use=constant)", lambdas=(1.0,)), candidate("rectangle(2x4,distances=0/2/20)")
    for candidates in ([worse, better], [better, worse]):
        found = validated(queries, candidates, cv)
        assert {c["model"] for c in found.choices} == {str(better)}
        assert {str(o.model.features) for o in found.outcomes} == {str(better.features)}
        model, choice = train(Given(queries), candidates, workers=1)
        assert str(model.features) == str(better.features)
        assert candidates[choice.candidate] is better
        assert len(choice.tried) == 3
        assert choice.precision == max(choice.tried.values())
        assert choice.tried["noprox(use=constant) x sum, lambda 1"] < choice.precision - 0.1


def test_inner_validation_prefers_the_lambda_that_is_not_absurd() -> None:
    """A regulariser that leaves nothing of the features orders entities by chance; on a tie the stronger one wins."""
    queries = planted(np.random.default_rng(5), 10)
    kept = candidate("noprox(use=constant)", lambdas=(3.0, 0.5, 1.0))
    assert {c["lambda"] for c in validated(queries, [kept], "3").choices} == {0.5}


def test_what_is_chosen_is_the_mean_over_the_queries_of_the_other_groups() -> None:
    """Training on all: validation AP is that of each group under the model of the other four."""
    # Validation trains roughly; with settings as rough the folds of a test are the same.
    c = candidate(lambdas=(0.3,), rounds=1, tolerance=1e-4)
    _model, choice = train(Given(QUERIES), [c, candidate("noprox", lambdas=(0.3,))], seed=2, workers=1)
    by_fold = validated(QUERIES, [c], "5", seed=2)
    expected = np.mean([AveragePrecision().of(o.values, o.query.judgments) for o in by_fold.outcomes])
    assert choice.tried[f"{c}, lambda 0.3"] == pytest.approx(float(expected), rel=1e-12)


def test_what_is_validated_is_one_candidate_on_some_groups() -> None:
    """AP of the queries of these groups, for each lambda, by models that saw no query of the groups left out."""
    candidates = [candidate("noprox"), candidate(), candidate("grid(2x3)", lambdas=(3.0,))]
    groups = groups_of(9, 5, 0)
    chooser, left_out = FeatureTrainer(Given(QUERIES), candidates, groups), frozenset({0, 2})
    found = chooser.validate(1, left_out, [2])
    assert set(found) == {(1, lam) for lam in LAMBDAS}
    data = chooser.dataset(1, left_out)
    for model in chooser.rough_fits(1, data, left_out):
        queries = [data.queries[q] for q in groups[2]]
        expected = [AveragePrecision().of(model.values(q), q.judgments) for q in queries]
        assert list(found[1, model.settings.lam]) == [2]
        assert found[1, model.settings.lam][2].tolist() == expected
    assert set(chooser.validate(2, left_out, left_out)[2, 3.0]) == {0, 2}
    changed = [swapped(q) if i in groups[0] else q for i, q in enumerate(QUERIES)]
    again = FeatureTrainer(Given(changed), candidates, groups).validate(1, left_out, [2])
    assert {key: of[2].tolist() for key, of in again.items()} == {key: of[2].tolist() for key, of in found.items()}


class Recorded(Given):
    """Remembers which features were asked for."""

    def dataset(self, features: FeatureMap, view: View, training: I64) -> Dataset:
        self.asked = [*getattr(self, "asked", []), str(features)]
        return super().dataset(features, view, training)


@pytest.mark.parametrize("workers", [1, 2])
def test_candidates_are_validated_one_after_the_other(workers: int) -> None:
    """A source that keeps the last dataset only makes each of them once; the order of candidates changes no number."""
    candidates = [candidate(features) for features in ("noprox", "grid(2x3)", "rectangle(2x3)")]
    source = Recorded(QUERIES)
    _model, choice = train(source, candidates, workers=workers)
    turns = [str(c.features) for c in candidates]
    assert [name for name, _again in groupby(source.asked[:-1])] == turns
    assert source.asked[-1] == turns[choice.candidate]
    _model, other = train(Given(QUERIES), candidates[::-1], workers=workers)
    assert other.tried == choice.tried


@pytest.mark.parametrize("aggregator", ["sum", "logsumexp"])
def test_a_sample_as_large_as_all_is_all(aggregator: str) -> None:
    """`bad` of at least the candidates fits, chooses and tests as without it, bit for bit; a smaller one does not."""
    one, two, few = (
        validated(QUERIES, [candidate(aggregator=aggregator, iterations=15, bad=bad)], "3") for bad in (0, 10, 1)
    )
    assert one.choices == two.choices
    for a, b in zip(one.outcomes, two.outcomes, strict=True):
        assert a.model.weights.tolist() == b.model.weights.tolist()
        assert a.values.tolist() == b.values.tolist()
    assert any(
        a.model.weights.tolist() != b.model.weights.tolist() for a, b in zip(one.outcomes, few.outcomes, strict=True)
    )


@pytest.mark.parametrize("cv", ["3", "loo"])
def test_a_sample_trains_and_all_candidates_are_tested(cv: str) -> None:
    """Every candidate has a value; the model is that of a fit to the sample, drawn by the seed."""
    c = candidate(lambdas=(1.0,), bad=2, seed=3)
    found = validated(QUERIES, [c], cv)
    for outcome, query in zip(found.outcomes, QUERIES, strict=True):
        assert outcome.query.entity.tolist() == entities_of(query.columns)
        assert outcome.values.size == len(entities_of(query.columns))
    model, _choice = train(Given(QUERIES), [c], workers=1)
    data = Given(QUERIES).dataset(c.features, c.view, np.empty(0, dtype=np.int64))
    by_hand, _aggregator = fit_model(data.sample_bad(2, 3), c.aggregator, replace(c.settings, lam=1.0))
    assert model.weights.tolist() == by_hand.weights.tolist()


def test_candidates_with_other_seeds_draw_other_samples() -> None:
    """Also where they share a dataset."""
    two = [candidate(bad=1, seed=seed) for seed in (0, 1)]
    chooser = FeatureTrainer(Given(QUERIES), two, groups_of(9, 3, 0))
    data = chooser.dataset(0, frozenset())
    drawn = [chooser.to_train(data, c.settings) for c in (*two, two[0])]
    kept = [[q.entity.tolist() for q in d.queries] for d in drawn]
    assert kept[0] == kept[2] != kept[1]
    assert chooser.to_train(data, replace(two[0].settings, judged_only=True)) is data


@pytest.mark.parametrize("cv", ["3", "loo"])
@pytest.mark.parametrize("name", ["edges", "not convex"])
def test_the_number_of_workers_changes_nothing(name: str, cv: str) -> None:
    """The same choices, weights and values, bit for bit."""
    one, two = (validated(QUERIES, [CASES[name], candidate("noprox")], cv, workers=n) for n in (1, 2))
    assert one.choices == two.choices
    for a, b in zip(one.outcomes, two.outcomes, strict=True):
        same(a.model, b.model)
        assert a.values.tolist() == b.values.tolist()


def test_leave_one_out_is_training_without_the_query() -> None:
    """Fast folds agree with a fit of the others, under the mentions that the model without their group chose."""
    c = candidate("noprox+rectangle(3x4)", lambdas=(1.0,), policy="mention", iterations=2000)
    found = validated(QUERIES, [c], "loo")
    for q in range(len(QUERIES)):
        rest = [*QUERIES[:q], *QUERIES[q + 1 :]]
        alone, _choice = train(Given(rest), [c], workers=1)
        assert found.outcomes[q].values == pytest.approx(alone.values(found.outcomes[q].query), rel=1e-3, abs=1e-4)


def test_a_query_without_candidates_or_without_a_good_one_is_tested_but_does_not_train() -> None:
    """It counts 0, and the models of the others are those without it."""
    columns = QUERIES[0].columns
    none = np.empty(0, dtype=np.int32)
    empty = TableColumns(none, none, none, columns.distances[:, :0], columns.sides[:, :0], np.empty(0), columns.df)
    lost = Judged("lost", empty, {"nowhere": 1})
    bad = replace(QUERIES[1], id="bad", grades={"nowhere": 1, 3: 0})
    for cv in ("5", "loo"):
        found = validated([*QUERIES, lost, bad], [candidate()], cv)
        measured = [AveragePrecision().of(o.values, o.query.judgments) for o in found.outcomes]
        assert measured[-2:] == [0.0, 0.0]
        assert min(measured[:-2]) > 0
        assert found.outcomes[-2].values.shape == (0,)


@pytest.mark.parametrize(("queries", "cv"), [(1, "loo"), (0, "loo"), (3, "5"), (1, "2")])
def test_more_folds_than_queries_are_an_error(queries: int, cv: str) -> None:
    """With both numbers and what to do."""
    with pytest.raises(
        InputError, match=rf"{queries} judged quer.*needs? {5 if cv == '5' else 2} at least; judge more"
    ):
        validated(QUERIES[:queries], [candidate()], cv)


@pytest.mark.parametrize(("queries", "cv"), [(2, "2"), (3, "2"), (2, "loo")])
def test_too_few_queries_to_choose_inside_of_a_fold_are_an_error(queries: int, cv: str) -> None:
    """But enough where nothing is to be chosen."""
    with pytest.raises(InputError, match="too few to choose inside the training queries"):
        validated(QUERIES[:queries], [candidate()], cv)
    assert len(validated(QUERIES[:queries], [candidate(lambdas=(1.0,))], cv).outcomes) == queries


def test_training_on_one_query_needs_a_given_lambda() -> None:
    """There is nothing to validate on."""
    with pytest.raises(InputError, match="1 judged query: choosing lambda needs 2 at least; give lambda as a number"):
        train(Given(QUERIES[:1]), [candidate()], workers=1)
    model, choice = train(Given(QUERIES[:1]), [candidate(lambdas=(1.0,))], workers=1)
    assert model.weights.any()
    assert (choice.lam, choice.tried) == (1.0, {})


@pytest.mark.parametrize(("given", "folds"), [("loo", None), ("LOO", None), ("5", 5), (7, 7)])
def test_a_cv_is_loo_or_a_number(given: str | int, folds: int | None) -> None:
    assert parse_cv(given) == folds


@pytest.mark.parametrize("given", ["", "1", "0", "-3", "2.5", "all", 1])
def test_another_cv_is_refused(given: str | int) -> None:
    """It is a slip of the call."""
    with pytest.raises(UsageError, match=r"cv (must be|needs 2 folds)"):
        parse_cv(given)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 5), (17, 5), (30, 4)])
def test_groups_are_a_partition_of_about_equal_parts_drawn_by_the_seed(n: int, k: int) -> None:
    groups = groups_of(n, k, 7)
    assert sorted(np.concatenate(groups).tolist()) == list(range(n))
    assert max(g.size for g in groups) - min(g.size for g in groups) <= 1
    assert [g.tolist() for g in groups] == [g.tolist() for g in groups_of(n, k, 7)]
    assert n < 10 or [g.tolist() for g in groups] != [g.tolist() for g in groups_of(n, k, 8)]
    with pytest.raises(UsageError, match="seed must be 0 or more, not -1"):
        groups_of(n, k, -1)


TRUE = np.array([0.0, 0.05, 0.2, 0.6, 1.5])  # what a literal is worth by column, from far to near


def cell_worth(features: Any, contexts: Any) -> F64:
    """The true score of each context: a surface that rises with nearness and with IDF."""
    grid = np.outer(np.linspace(0.4, 1.0, 3), TRUE)
    return vectors(features, contexts) @ grid.reshape(-1)


def noisy(seed: int, count: int, features: Any, shuffle: bool) -> list[Judged]:
    """Queries judged by the sum of true scores and some noise, or by nothing."""
    random = np.random.default_rng(seed)
    queries = []
    for q in range(count):
        columns = drawn_columns(random, 120, 3)
        made = Judged(f"t{q}", columns, {})
        entities, worth = entities_of(columns), cell_worth(features, made.contexts)
        true = np.array([worth[columns.entity == e].sum() for e in entities])
        true += random.normal(size=true.size) * 0.05 * np.ptp(true)
        true = random.permutation(true) if shuffle else true
        best = np.sort(true)[-3]
        made.grades.update({e: int(value >= best) for e, value in zip(entities, true, strict=True)})
        queries.append(made)
    return queries


PLAIN = feature_map("grid(distances=0/2/8/20,shares=0/0.25/0.4)")


def test_a_planted_surface_is_learned() -> None:
    """Cells that occur often are worth what they truly are, up to order: Spearman's rank correlation above 0.9."""
    from scipy.stats import spearmanr

    features = feature_map("rectangle(distances=0/2/8/20,shares=0/0.25/0.4)")
    queries = noisy(8, 60, PLAIN, shuffle=False)
    c = FeatureCandidate(features, parse("fader.aggregate", "sum"), FitSettings(), (0.3, 1.0, 3.0), View("mention"))
    model, _choice = train(Given(queries), [c], workers=1)
    often = sum(vectors(PLAIN, q.contexts).sum(axis=0) for q in queries)
    kept = often > 0.02 * often.sum()
    assert kept.sum() >= 10
    true = np.outer(np.linspace(0.4, 1.0, 3), TRUE).reshape(-1)
    learned = features.expand(model.weights)
    assert spearmanr(learned[kept], true[kept]).statistic > 0.9
    found = validated(queries, [c], "3")
    wrong = [Pairswap().of(o.values, o.query.judgments) for o in found.outcomes]
    assert np.mean(wrong) < 0.15


@pytest.mark.parametrize("cv", ["5", "loo"])
def test_nothing_is_learned_from_shuffled_judgments(cv: str) -> None:
    """Tested on queries that were left out, order is chance: half of the pairs are wrong, AP is that of any order."""
    queries = noisy(8, 60, PLAIN, shuffle=True)
    c = FeatureCandidate(
        feature_map("rectangle(3x4)"), parse("fader.aggregate", "sum"), FitSettings(), (0.1, 1.0, 3.0), View("mention")
    )
    found = validated(queries, [c], cv)
    wrong = np.mean([Pairswap().of(o.values, o.query.judgments) for o in found.outcomes])
    precise = np.mean([AveragePrecision().of(o.values, o.query.judgments) for o in found.outcomes])
    random, chance = np.random.default_rng(0), []
    for o in found.outcomes:
        drawn = [AveragePrecision().of(random.random(o.values.size), o.query.judgments) for _ in range(50)]
        chance.append(np.mean(drawn))
    assert abs(wrong - 0.5) < 0.08
    assert abs(precise - np.mean(chance)) < 0.08
