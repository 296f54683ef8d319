"""Training finds the optimum that scipy finds on vectors written out, the same each time, and keeps its promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fader.learn.train as module
from contracts.tables import TableColumns, sides_of
from fader.aggregate.mixture import Mixture
from fader.aggregate.softcutoff import SoftCutoff
from fader.errors import InputError, UsageError
from fader.features.combined import feature_map
from fader.learn.cutoff import fit_decay
from fader.learn.loss import LOSSES
from fader.learn.train import FitSettings, fit, fit_model
from fader.registry import discover, parse
from learn.cases import Judged, best_of, data_of, drawn_queries, kept_rows, slow_labels, summed, vectors

PACKAGE = "fader.aggregate"
SUM = parse(PACKAGE, "sum")
QUERIES = drawn_queries(11, queries=6, rows=30)


@pytest.mark.parametrize("loss", ["pairwise", "softmax"])
@pytest.mark.parametrize("lam", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("text", ["noprox+rectangle(3x4)", "grid(3x4)"])
def test_the_optimum_is_that_of_vectors_written_out(loss: str, lam: float, text: str) -> None:
    """Convex: sum of every mention. The same least objective, and values of entities that differ by little."""
    features = feature_map(text)
    start = features.start()
    found = fit(data_of(QUERIES, features, "mention"), SUM, FitSettings(loss=loss, lam=lam, iterations=2000))
    matrices = [summed(q, features, start, "mention") for q in QUERIES]
    penalty = features.penalty() / lam**2
    least, w = best_of(matrices, [slow_labels(q) for q in QUERIES], loss, penalty, start)
    assert found.converged
    assert found.objective == pytest.approx(least, rel=1e-6)
    for x in matrices:
        assert x @ found.weights == pytest.approx(x @ w, rel=1e-2, abs=1e-2)


def test_both_optimisers_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's method and, for maps of very many weights, L-BFGS-B: the same objective, Newton in far fewer steps."""
    data, settings = data_of(QUERIES, feature_map("noprox+rectangle(3x4)"), "mention"), FitSettings(iterations=2000)
    exact = fit(data, SUM, settings)
    monkeypatch.setattr(module, "MOST_WEIGHTS", 0)
    other = fit(data, SUM, settings)
    assert exact.converged
    assert other.converged
    assert exact.objective == pytest.approx(other.objective, rel=1e-7)
    assert exact.objective <= other.objective * (1 + 1e-12)
    assert exact.iterations < other.iterations


def test_newton_says_when_it_was_stopped() -> None:
    """One step is not enough, and the fit says so."""
    data = data_of(QUERIES, feature_map("noprox+rectangle(3x4)"), "mention")
    found = fit(data, SUM, FitSettings(iterations=1))
    assert (found.iterations, found.converged) == (1, False)


def planted() -> list[Judged]:
    """A good entity with two mentions in a document: one near, which the start prefers, and one far, which is worth
    more, because only bad entities are ever near otherwise."""
    entity = np.array([0, 0, 3, 6], dtype=np.int32)
    distances = np.array([[0, 5, 0, 5]], dtype=np.int32)
    columns = TableColumns(
        entity=entity,
        document=np.array([0, 0, 1, 2], dtype=np.int32),
        start=np.array([0, 9, 0, 0], dtype=np.int32),
        distances=distances,
        sides=sides_of(distances),
        confidence=np.ones(4),
        df=[3],
    )
    return [Judged("planted", columns, {0: 1, 3: 0, 6: 1})]


def test_the_mentions_that_count_are_chosen_anew_until_they_stay() -> None:
    """Trained on the near mention alone w would be another; the end is a fixed point: chosen by w, trained on."""
    features, queries = feature_map("grid(1x3,distances=0/5)"), planted()
    data = data_of(queries, features)
    settings = FitSettings(lam=3.0, rounds=5, iterations=1000)
    first = fit(data, SUM, replace(settings, rounds=1))
    found = fit(data, SUM, settings)
    start = features.start()
    before = kept_rows(queries[0], vectors(features, queries[0].contexts) @ start, "document")
    after = kept_rows(queries[0], vectors(features, queries[0].contexts) @ found.weights, "document")
    assert (before[0], after[0]) == ([0], [1])
    assert (first.rounds, first.stable) == (1, False)
    assert 1 < found.rounds < 5
    assert found.stable
    matrices = [summed(q, features, found.weights, "document") for q in queries]
    least, w = best_of(matrices, [slow_labels(q) for q in queries], "pairwise", features.penalty() / 9, start)
    assert found.objective == pytest.approx(least, rel=1e-7)
    assert found.weights == pytest.approx(w, rel=1e-3, abs=1e-4)
    assert first.objective > found.objective + 0.01


def rows_of(query: Judged, rows: list[int]) -> Judged:
    """Some contexts of a query."""
    c = query.columns
    kept = TableColumns(
        c.entity[rows], c.document[rows], c.start[rows], np.ascontiguousarray(c.distances[:, rows]),
        np.ascontiguousarray(c.sides[:, rows]), c.confidence[rows], c.df,
    )  # fmt: skip
    return replace(query, columns=kept)


def test_the_mentions_of_a_query_that_does_not_train_have_no_say() -> None:
    """Its choice changes with the weights, that of the only training query cannot: one round is enough."""
    features = feature_map("grid(1x3,distances=0/5)")
    other = planted()[0]
    data = data_of([rows_of(other, [1, 2, 3]), other], features)
    found = fit(data, SUM, FitSettings(lam=3.0, rounds=5), np.array([1.0, 0.0]))
    start, end = (data.best(w).queries[1] for w in (features.start(), found.weights))
    assert not start.same_rows(end)
    assert (found.rounds, found.stable) == (1, True)


def test_the_mentions_chosen_at_the_end_are_those_trained_on() -> None:
    """Where a fit says that the choice is stable, training from there on changes nothing."""
    features = feature_map("noprox+rectangle(3x4)")
    data, settings = data_of(QUERIES, features), FitSettings(rounds=20)
    found = fit(data, SUM, settings)
    assert found.stable
    again = fit(data, SUM, settings, start=found.weights)
    assert again.rounds == 1
    assert again.objective == pytest.approx(found.objective, rel=1e-8)


def test_several_starts_are_reported_and_the_best_is_kept() -> None:
    """Not convex: as many as asked for, each as good as it is alone, the first one the feature map's own."""
    features, aggregator = feature_map("noprox+rectangle(3x4)"), parse(PACKAGE, "logsumexp")
    data, settings = data_of(QUERIES, features), FitSettings(starts=4, lam=2.0)
    found = fit(data, aggregator, settings)
    assert len(found.starts) == 4
    assert found.objective == min(found.starts)
    assert fit(data, aggregator, settings, start=features.start()).objective == found.starts[0]
    assert fit(data, aggregator, replace(settings, starts=1)).starts == found.starts[:1]
    other = fit(data, aggregator, replace(settings, seed=5))
    assert other.starts[:2] == found.starts[:2]
    assert other.starts[2:] != found.starts[2:]


@pytest.mark.parametrize("name", discover(PACKAGE))
def test_a_convex_problem_needs_one_start(name: str) -> None:
    """And others take what is asked for; nothing is trained where the weights do not matter."""
    features, aggregator = feature_map("noprox"), parse(PACKAGE, name)
    found, trained = fit_model(data_of(QUERIES[:2], features), aggregator, FitSettings(starts=2, iterations=20))
    if aggregator.constant:
        assert found.weights.tolist() == features.start().tolist()
    else:
        assert len(found.starts) == (1 if aggregator.convex or name in ("softcutoff", "mixture") else 2)
        assert found.weights.tolist() != features.start().tolist()
    assert isinstance(trained, type(aggregator))


@pytest.mark.parametrize(("aggregator", "loss"), [("sum", "pairwise"), ("logsumexp", "softmax"), ("softor", "ndcg")])
def test_the_same_twice(aggregator: str, loss: str) -> None:
    """Two runs agree bit for bit."""
    features, part = feature_map("noprox+rectangle(3x4)"), parse(PACKAGE, aggregator)
    settings = FitSettings(loss=loss, starts=3, iterations=40)
    one, two = (fit(data_of(QUERIES, features), part, settings) for _ in range(2))
    assert one.weights.tolist() == two.weights.tolist()
    assert replace(one, weights=two.weights) == two


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("aggregator", ["sum", "average", "softor(bias=true)", "softcount(form=power)"])
def test_bounds_are_kept(aggregator: str, loss: str) -> None:
    """Weights are from 0 on, a bias up to 0; some are at their bounds."""
    features, part = feature_map("noprox+rectangle(3x4)+bias"), parse(PACKAGE, aggregator)
    data = data_of(QUERIES, features)
    low, high = features.bounds()
    for lam in (0.1, 10.0):
        found = fit(data, part, FitSettings(loss=loss, lam=lam, starts=2, iterations=100))
        assert np.isfinite(found.weights).all()
        assert (found.weights >= low).all()
        assert (found.weights <= high).all()
        assert (found.weights == 0).any()


def test_a_monotone_grid_is_a_smooth_rectangle() -> None:
    """Two ways to write one model: the same values of entities after training."""
    found = []
    for text in ("grid(4x5,monotone=true)", "rectangle(4x5,regulariser=smooth)"):
        features = feature_map(text)
        w = fit(data_of(QUERIES, features), SUM, FitSettings(lam=2.0)).weights
        found.append(np.concatenate([summed(q, features, w, "document") @ w for q in QUERIES]))
    assert found[0] == pytest.approx(found[1], rel=1e-5, abs=1e-5)
    assert np.ptp(found[0]) > 0.1


def test_more_regularised_is_smaller() -> None:
    """The smaller lambda, the smaller the weights; the larger, the smaller the loss."""
    features = feature_map("noprox+rectangle(3x4)")
    data = data_of(QUERIES, features, "mention")
    sizes = [float(np.sum(fit(data, SUM, FitSettings(lam=lam)).weights ** 2)) for lam in (0.01, 0.1, 1.0)]
    assert sizes[0] < sizes[1] < sizes[2]


def test_a_soft_cutoff_learns_its_decay_for_the_weights_of_the_sum() -> None:
    """The decay is that of the linear program on the sums by decile of the queries that train, no others."""
    features = feature_map("noprox+rectangle(3x4)")
    data, settings, weight = data_of(QUERIES, features), FitSettings(lam=2.0), np.array([1.0, 1, 0, 1, 0, 1])
    found, aggregator = fit_model(data, SoftCutoff(), settings, weight)
    assert found.weights.tolist() == fit(data, SUM, settings, weight).weights.tolist()
    problems = []
    for q in np.flatnonzero(weight):
        scores = vectors(features, QUERIES[q].contexts) @ found.weights
        sums = np.zeros((len(slow_labels(QUERIES[q])), 10))
        for e, rows in enumerate(kept_rows(QUERIES[q], scores, "document").values()):
            for rank, x in enumerate(sorted(rows, key=lambda x: -scores[x])):
                sums[e, 10 * rank // len(rows)] += scores[x]
        y = np.array(slow_labels(QUERIES[q]))
        problems.append((sums, y > 0, y == 0))
    assert isinstance(aggregator, SoftCutoff)
    assert aggregator.decay == pytest.approx(fit_decay(problems, 2.0).decay, rel=1e-6, abs=1e-9)
    assert aggregator.decay[0] > 0


def test_a_mixture_learns_its_weights_with_those_of_the_features() -> None:
    """Together they make the objective smaller than features alone; queries of weight 0 have no say."""
    features, mixture = feature_map("noprox+rectangle(3x4)"), Mixture()
    data, settings, weight = data_of(QUERIES, features, "mention"), FitSettings(), np.array([1.0, 1, 0, 1, 0, 1])
    found, learned = fit_model(data, mixture, settings, weight)
    assert isinstance(learned, Mixture)
    away = np.array(learned.weight_of_parts) - 1 / 3
    assert away.any()
    assert found.objective + 0.5 * float(away @ away) < fit(data, mixture, settings, weight).objective
    kept = [q for q, w in zip(QUERIES, weight, strict=True) if w]
    alone = fit_model(data_of(kept, features, "mention"), mixture, settings)[1]
    assert isinstance(alone, Mixture)
    assert learned.weights == pytest.approx(alone.weights, rel=1e-3, abs=1e-4)


def test_queries_of_weight_0_are_never_seen() -> None:
    """Weights are those of the other queries alone."""
    features = feature_map("noprox+rectangle(3x4)")
    some = np.array([1.0, 0, 1, 1, 0, 1])
    found = fit(data_of(QUERIES, features), SUM, FitSettings(), some)
    alone = fit(data_of([q for q, kept in zip(QUERIES, some, strict=True) if kept], features), SUM, FitSettings())
    assert found.weights == pytest.approx(alone.weights, rel=1e-6, abs=1e-9)


def test_nothing_to_train_on_is_an_error() -> None:
    """No query with both a good and a bad candidate, or none left."""
    features = feature_map("noprox")
    bad = [replace(q, grades=dict.fromkeys(q.grades, 0)) for q in QUERIES]
    with pytest.raises(InputError, match="both a good and a bad candidate"):
        fit(data_of(bad, features), SUM, FitSettings())
    with pytest.raises(InputError, match="both a good and a bad candidate"):
        fit(data_of(QUERIES, features), SUM, FitSettings(), np.zeros(len(QUERIES)))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"lam": 0.0}, "lambda must be a number from 0.000001 to 1,000,000, not 0"),
        ({"lam": float("nan")}, "lambda must be a number from 0.000001 to 1,000,000, not nan"),
        ({"lam": float("inf")}, "lambda must be a number from 0.000001 to 1,000,000, not inf"),
        ({"loss": "hinge"}, 'unknown loss "hinge"'),
        ({"rounds": 0}, "rounds, starts and iterations must be 1 or more"),
        ({"starts": 0}, "rounds, starts and iterations must be 1 or more"),
        ({"seed": -1}, "seed must be 0 or more, not -1"),
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any], message: str) -> None:
    """By name, with the value."""
    with pytest.raises(UsageError, match=message):
        FitSettings(**wrong)
