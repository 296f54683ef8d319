"""Alternatives and learners are chosen and fitted without the queries that they are tested on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from contracts.worlds import drawn_world
from fader.contexts.table import Contexts
from fader.errors import InputError
from fader.learn.crossvalidate import choose_unfitted, cross_validate, groups_of, train
from fader.learn.learner import Example, ExampleTrainer, Learner, encode_example
from fader.measures import judge

F64 = NDArray[np.float64]


@dataclass(frozen=True)
class Query:
    """Candidates with one number each."""

    entity: NDArray[np.int32]
    feature: F64


@dataclass(frozen=True)
class Toy(Learner):
    """Values are the feature times a learned sign; remembers which queries it saw by their first entity."""

    flipped: bool = False
    sign: float = 0.0
    saw: tuple[int, ...] = ()

    name: ClassVar[str] = "toy"

    @property
    def is_fitted(self) -> bool:
        return self.sign != 0.0

    def encode(self, contexts: Contexts) -> Query:
        entity = contexts.groups.entity
        return Query(entity, entity.astype(np.float64))

    def take_candidates(self, query: Query, places: Any) -> Query:
        return Query(query.entity[places], query.feature[places])

    def fit(self, examples: Sequence[Example], seed: int) -> Toy:
        pull = sum(
            float(e.query.feature[e.judgments.grades > 0].mean() - e.query.feature[e.judgments.grades <= 0].mean())
            for e in examples
        )
        sign = (1.0 if pull >= 0 else -1.0) * (-1.0 if self.flipped else 1.0)
        return replace(self, sign=sign, saw=tuple(sorted(int(e.query.entity[0]) for e in examples)))

    def scores(self, contexts: Contexts) -> F64:
        raise NotImplementedError

    def value_entities(self, contexts: Contexts) -> Any:
        raise NotImplementedError

    def shares(self, contexts: Contexts, ranking: Any, i: int) -> F64:
        raise NotImplementedError

    def values_of(self, query: Query) -> F64:
        return self.sign * query.feature


def example(number: int, good: int = 2, size: int = 6) -> Example:
    entity = np.arange(100 * number, 100 * number + size, dtype=np.int32)
    grades = {int(e): int(e >= entity[-good]) for e in entity}
    return Example(Query(entity, np.arange(size, dtype=np.float64)), judge(entity, entity.tolist(), grades))


@settings(deadline=None)
@given(st.integers(1, 4), st.integers(2, 9), st.integers(0, 99))
def test_leave_one_out_chooses_by_all_other_queries(alternatives: int, queries: int, seed: int) -> None:
    """By the mean over the others, the first on a tie: the plain loop."""
    precision = np.round(np.random.default_rng(seed).random((alternatives, queries)), 1)
    found = choose_unfitted(precision, "loo", 0)
    for q in range(queries):
        means = [sum(row[i] for i in range(queries) if i != q) for row in precision.tolist()]
        assert means[found[q]] == pytest.approx(max(means))


def test_folds_choose_by_their_training_queries() -> None:
    """A query's own fold has no say."""
    precision = np.zeros((2, 10))
    precision[0] = 0.5
    fold = groups_of(10, 5, 3)[1]
    precision[1, fold] = 10.0  # overwhelming, but only for whoever is not tested there
    found = choose_unfitted(precision, 5, 3)
    assert (found[fold] == 0).all()
    assert (np.delete(found, fold) == 1).all()


@pytest.mark.parametrize("cv", ["loo", 5])
def test_no_query_is_tested_by_a_learner_that_saw_it(cv: str | int) -> None:
    examples = [example(n) for n in range(10)]
    found = cross_validate(partial(ExampleTrainer, [Toy()], [examples], 1), 10, cv, seed=1)
    for n, model in enumerate(o.model for o in found.outcomes):
        assert isinstance(model, Toy)
        assert 100 * n not in model.saw
        assert len(model.saw) == (9 if cv == "loo" else 8)
    assert found.fits == (10 if cv == "loo" else 5)


def test_the_better_alternative_is_found_by_inner_validation() -> None:
    """The flipped one ranks every bad entity first."""
    examples = [example(n) for n in range(10)]
    make = partial(ExampleTrainer, [Toy(flipped=True), Toy()], [examples, examples], 0)
    found = cross_validate(make, 10, 5)
    assert all(isinstance(o.model, Toy) and not o.model.flipped for o in found.outcomes)
    assert all(choice["validation AP"] == 1.0 for choice in found.choices)
    learner, choice = train(make, 10)
    assert isinstance(learner, Toy)
    assert learner.saw == tuple(100 * n for n in range(10))
    assert choice.candidate == 1


def test_queries_that_cannot_train_are_left_out() -> None:
    """Without a bad candidate there is nothing to learn from; without any such query that is said."""
    only_good = [example(n, good=6) for n in range(4)]
    with pytest.raises(InputError, match="both a good and a bad candidate"):
        train(partial(ExampleTrainer, [Toy()], [only_good], 0), 4)
    mixed = [*only_good[:1], *(example(n) for n in range(1, 4))]
    learner, _choice = train(partial(ExampleTrainer, [Toy()], [mixed], 0), 4)
    assert isinstance(learner, Toy)
    assert learner.saw == (100, 200, 300)


def test_of_many_bad_candidates_some_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """All good ones stay, and what is judged goes along."""
    monkeypatch.setattr("fader.learn.learner.MOST_BAD", 2)
    contexts = drawn_world(1).contexts()
    assert contexts.groups.entity.size == 6
    found = encode_example(Toy(), contexts, {1: 1, 2: 2, 77: 1}, np.random.default_rng(0))
    assert found.query.entity.size == 4
    assert {1, 2} <= set(found.query.entity.tolist())
    assert found.judgments.entity.tolist() == found.query.entity.tolist()
    assert found.judgments.grades[found.query.entity == 2].tolist() == [2]
    assert found.judgments.good == 3
