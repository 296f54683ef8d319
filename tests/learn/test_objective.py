"""Values and gradients of every aggregator under every loss, against vectors written out and against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fader.aggregate.base import Aggregator
from fader.features.base import FeatureMap
from fader.features.combined import feature_map
from fader.learn import objective as module
from fader.learn.loss import LOSSES, Loss
from fader.learn.objective import ContextLevel, EntityLevel, entity_offsets, labels_of, values_of
from fader.learn.train import Objective
from fader.registry import discover, parse
from learn.cases import F64, Judged, data_of, drawn_queries, slow_labels, slow_loss, slow_values

PACKAGE = "fader.aggregate"
VARIANTS = ["softor(bias=true)", "softcount(form=power)", "softcutoff(decay=2/1/0.125)"]
EVERY = [parse(PACKAGE, text) for text in (*discover(PACKAGE), *VARIANTS)]
LINEAR = [a for a in EVERY if a.linear]
MAPS = [
    "noprox+rectangle(3x4)",
    "coverage(3x4)",
    "idfupto(4)",
    "rectangle(3x4,overlap=union)",
    "idfupto(3,signed=true)+rectangle(2x3,signed=true)+coverage(2x3,signed=true)",
    "rectangle(2x3,signed=true,overlap=union)+bias",
    "grid(3x4)",
    "grid(3x4,monotone=true)+kernel+confidence",
    "noprox(use=constant)+rectangle(17x16)",  # codes of two bytes
]
LAMBDA = 0.7
aggregators = pytest.mark.parametrize("aggregator", EVERY, ids=str)
losses = pytest.mark.parametrize("loss", LOSSES)
maps = pytest.mark.parametrize("text", MAPS)
QUERIES = drawn_queries(5, queries=4, rows=22)


def weights(features: FeatureMap, seed: int) -> F64:
    """Weights within the bounds, small enough that no aggregator saturates."""
    w = np.random.default_rng(seed).uniform(0.05, 1.0, features.size) / features.size
    return np.where(features.bounds()[0] < 0, -w, w)


def objective_of(features: FeatureMap, aggregator: Aggregator, loss: str, w: F64, queries: list[Judged]) -> Objective:
    """The objective with contexts chosen and places held at w."""
    data = data_of(queries, features).best(w)
    labels = labels_of(data, judged_only=False).with_weights(np.array([1.0, 2.0, 0.0, 1.0])[: len(queries)])
    made, values = Loss(loss, labels), values_of(data, aggregator)
    made.hold(values.values(w, labels.weight))
    return Objective(values, made, features.penalty() / LAMBDA**2)


def check_gradient(objective: Objective, w: F64, linear: bool) -> None:
    """Central differences, along every weight."""
    total, gradient = objective(w)
    assert np.isfinite(total)
    assert gradient.shape == w.shape
    step = 1e-6 if not linear else 1e-5
    largest = np.abs(gradient).max()
    for i in range(w.size):
        change = np.where(np.arange(w.size) == i, step, 0.0)
        difference = (objective(w + change)[0] - objective(w - change)[0]) / (2 * step)
        assert gradient[i] == pytest.approx(difference, rel=1e-5, abs=1e-7 * (1 + largest)), i


@aggregators
@losses
def test_the_gradient_is_that_of_the_objective(aggregator: Aggregator, loss: str) -> None:
    """Every aggregator by every loss, the penalty included, for noprox+rectangle."""
    features = feature_map(MAPS[0])
    w = weights(features, 1)
    check_gradient(objective_of(features, aggregator, loss, w, QUERIES), w, aggregator.linear)


@maps
@pytest.mark.parametrize("aggregator", ["sum", "logsumexp"])
def test_the_gradient_is_right_for_every_kind_of_block(text: str, aggregator: str) -> None:
    """Codes with scales of either sign, columns, several blocks, both sides, entity level and context level."""
    features, part = feature_map(text), parse(PACKAGE, aggregator)
    w = weights(features, 2)
    check_gradient(objective_of(features, part, "pairwise", w, QUERIES[:2]), w, part.linear)


@aggregators
@losses
def test_the_objective_is_what_vectors_written_out_give(aggregator: Aggregator, loss: str) -> None:
    """Loss of slow values times the weight of each query, and w.R w / (2 lambda^2)."""
    features = feature_map(MAPS[0])
    w = weights(features, 3)
    found = objective_of(features, aggregator, loss, w, QUERIES)
    # Places are those of the values found: contexts that are worth the same are ordered by rounding.
    held, at = found.values.values(w, np.ones(len(QUERIES))), found.loss.labels.at
    expected = w @ features.penalty() @ w / (2 * LAMBDA**2)
    for q, weight in enumerate((1.0, 2.0, 0.0, 1.0)):
        values = slow_values(QUERIES[q], features, w, aggregator, "document").tolist()
        places = held[at[q] : at[q + 1]].tolist()
        expected += weight * slow_loss(loss, values, slow_labels(QUERIES[q]), places)
    assert found(w)[0] == pytest.approx(expected, rel=1e-10)


@maps
@pytest.mark.parametrize("policy", ["document", "mention"])
@pytest.mark.parametrize("aggregator", ["sum", "softor"])
def test_values_are_those_of_vectors_written_out(text: str, policy: str, aggregator: str) -> None:
    """Under both policies; the best mention of a document is chosen by the weights, the first on a tie."""
    features, part = feature_map(text), parse(PACKAGE, aggregator)
    data = data_of(QUERIES, features, policy)
    for seed in (4, 5):
        w = weights(features, seed)
        found = values_of(data.best(w), part).values(w, np.ones(len(data)))
        expected = np.concatenate([slow_values(q, features, w, part, policy) for q in QUERIES])
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-12)


@maps
@pytest.mark.parametrize("aggregator", LINEAR, ids=str)
def test_the_entity_level_is_the_context_level(text: str, aggregator: Aggregator) -> None:
    """For aggregators that are linear in scores: the same values, loss and gradient at any weights."""
    features = feature_map(text)
    data = data_of(QUERIES, features).best(features.start())
    loss = Loss("pairwise", labels_of(data, judged_only=False))
    one, two = EntityLevel(data, aggregator), ContextLevel(data, aggregator)
    for seed in (6, 7):
        w = weights(features, seed)
        every = np.ones(len(data))
        assert one.values(w, every) == pytest.approx(two.values(w, every), rel=1e-11, abs=1e-13)
        (total, gradient), (other, of_other) = one.loss(w, loss), two.loss(w, loss)
        assert total == pytest.approx(other, rel=1e-11)
        assert gradient == pytest.approx(of_other, rel=1e-9, abs=1e-11)


def test_summing_some_entities_at_a_time_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of cells are the same bits whether one table or many hold them on the way."""
    features, aggregator = feature_map("rectangle(3x4)+noprox+coverage(2x3)"), parse(PACKAGE, "sum")
    data = data_of(QUERIES, features).best(features.start())
    whole = EntityLevel(data, aggregator).sparse
    monkeypatch.setattr(module, "DENSE_CELLS", 60)
    cut = EntityLevel(data, aggregator).sparse
    for name in ("indptr", "indices", "data", "at"):
        assert getattr(cut, name).tolist() == getattr(whole, name).tolist(), name
    assert np.count_nonzero(whole.data) == whole.data.size
    assert whole.indptr.size == 1 + sum(q.entity.size for q in data.queries)


@pytest.mark.parametrize("level", [EntityLevel, ContextLevel])
def test_queries_of_weight_0_are_left_out(level: Any) -> None:
    """They add nothing to the loss or the gradient, and need no values."""
    features, aggregator = feature_map("noprox+rectangle(3x4)"), parse(PACKAGE, "sum")
    data, w = data_of(QUERIES, features).best(features.start()), features.start()
    labels = labels_of(data, judged_only=False)
    some = Loss("pairwise", labels.with_weights(np.array([0.0, 1.0, 0.0, 1.0])))
    alone = [level(data_of([q], features).best(w), aggregator) for q in (QUERIES[1], QUERIES[3])]
    parts = [
        one.loss(w, Loss("pairwise", labels_of(data_of([q], features), judged_only=False)))
        for one, q in zip(alone, (QUERIES[1], QUERIES[3]), strict=True)
    ]
    total, gradient = level(data, aggregator).loss(w, some)
    assert total == pytest.approx(sum(part for part, _ in parts), rel=1e-12)
    assert gradient == pytest.approx(sum(g for _, g in parts), rel=1e-10, abs=1e-12)
    at = entity_offsets(data)
    assert not level(data, aggregator).values(w, some.labels.weight)[at[0] : at[1]].any()


@pytest.mark.parametrize("judged_only", [False, True])
def test_labels_are_grades(judged_only: bool) -> None:
    """Grades above 0 are gains, others bad; what is unjudged is bad or left out; judged entities that are no
    candidates do not count. A query without a good or without a bad candidate does not train."""
    first, second, third, fourth = drawn_queries(9, queries=4)
    second.grades.update(dict.fromkeys(second.grades, 0))
    candidates = [int(e) for e in np.unique(third.columns.entity)]
    third.grades.update(dict.fromkeys(candidates, 2))
    fourth.grades.clear()
    fourth.grades.update({int(fourth.columns.entity[0]): 3})
    queries = [first, second, third, fourth]
    found = labels_of(data_of(queries, feature_map("noprox")), judged_only)
    expected = [slow_labels(q, judged_only) for q in queries]
    assert found.label.tolist() == [y for label in expected for y in label]
    assert found.at.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
    assert found.weight.tolist() == [1.0, 0.0, 0.0, 0.0 if judged_only else 1.0]


@aggregators
def test_a_query_without_candidates_has_no_values(aggregator: Aggregator) -> None:
    """And does not disturb the others."""
    features = feature_map("noprox+rectangle(3x4)")
    first = QUERIES[0]
    columns = first.columns
    none = np.empty(0, dtype=np.int32)
    empty = Judged(
        "empty",
        type(columns)(none, none, none, columns.distances[:, :0], columns.sides[:, :0], np.empty(0), columns.df),
        {"nowhere": 1},
    )
    data = data_of([empty, first, empty], features)
    w = weights(features, 8)
    values = values_of(data.best(w), aggregator).values(w, np.ones(3))
    alone = values_of(data_of([first], features).best(w), aggregator).values(w, np.ones(1))
    assert values.tolist() == alone.tolist()
    labels = labels_of(data, judged_only=False)
    assert labels.weight.tolist() == [0.0, 1.0, 0.0]
    made = Loss("ndcg", labels)
    made.hold(values)
    assert values_of(data.best(w), aggregator).loss(w, made)[0] > 0


@pytest.mark.parametrize("name", ["logsumexp", "softmax"])
def test_the_loss_does_not_depend_on_the_number_of_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries are cut into the same runs and added in the same order: equal bit for bit."""
    features, aggregator = feature_map("noprox+rectangle(3x4)"), parse("fader.aggregate", name)
    data = data_of(drawn_queries(3, queries=9), features)
    w, loss = features.start(), Loss("pairwise", labels_of(data, False))
    monkeypatch.setattr(module, "RUN_CONTEXTS", 50)
    values = values_of(data.best(w), aggregator)
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(module, "threads", lambda threads=threads: threads)
        total, gradient = values.loss(w, loss)
        found.append((total, gradient.tolist()))
    assert found[0] == found[1] == found[2]
    monkeypatch.setattr(module, "RUN_CONTEXTS", 10**9)
    assert values.loss(w, loss)[0] == pytest.approx(found[0][0], rel=1e-12)


def test_sums_that_were_kept_are_those_of_the_mentions_chosen() -> None:
    """One store for several weights and aggregators, some weights again: the same rows as without a store."""
    features = feature_map("noprox+rectangle(3x4)")
    data, sums = data_of(drawn_queries(5), features), module.RowSums(features)
    draw = np.random.default_rng(1)
    drawn = [draw.random(features.size) for _ in range(5)]
    weight = np.array([1.0, 0, 1, 1, 0, 1])
    for w in (*drawn, *drawn):
        for name in ("sum", "average"):
            part = parse("fader.aggregate", name)
            kept = EntityLevel(data.best(w), part, weight, sums)
            fresh = EntityLevel(data.best(w), part)
            assert kept.values(w, weight).tolist() == fresh.values(w, weight).tolist()
