"""The second stage of a cascade trained near its base: the trainer behind `rerank` with a prior.

Alternatives are cascades that match literals in other ways, each with the lambdas of its second system, and 0, which
keeps the base: of equal ones the first, and of its lambdas the one that stays nearest. Models begin at the weights of
the last smaller lambda. Queries are those that the first stage leaves: all candidates count in a ranking, the chosen
ones have contexts and train. The first stage is never trained here, so what is kept of a query does not depend on
folds. At most `ENOUGH` queries choose; all of them train what was chosen. With fewer than `FEW` queries that can train
nothing can be validated: the first alternative is taken, with its smallest lambda. Knows nothing of how queries are cut
into folds or matched.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from fader.learn.dataset import Dataset, QueryData
from fader.learn.feature_trainer import Trained
from fader.learn.learner import Choice, Example, Fold, Measured, Outcome, Trainer
from fader.learn.nearby import NearFitter
from fader.learn.train import Fit
from fader.measures import AveragePrecision, Judgments
from fader.rank.rerank import join_values
from fader.rank.system import F64, I64

FEW, ENOUGH = 30, 600
ROUGH, FINE = (40, 1e-4), (150, 1e-5)  # steps at most and tolerance: to choose lambda, and for the model itself
PRECISION = AveragePrecision()
Precision = Callable[[F64, Judgments], float]
Encode = Callable[[Sequence[int]], list[Example]]


class Cascade(Protocol):
    """What is trained: a cascade with the weights that its second stage begins with."""

    @property
    def second_system(self) -> Any: ...

    @property
    def prior(self) -> tuple[float, ...]: ...


@dataclass(frozen=True)
class Taught:
    """A cascade, and what its second stage learned."""

    cascade: Any
    trained: Trained


@dataclass(frozen=True)
class Known:
    """What is kept of a query beside the contexts of its chosen candidates."""

    values: F64
    chosen: I64
    places: I64
    judgments: Judgments


class WarmFits:
    """Fits of one cascade to queries as it encodes them; contexts are kept once, in the table of `NearFitter`."""

    def __init__(self, cascade: Cascade, examples: Sequence[Example], precision: Precision = PRECISION.of) -> None:
        self.cascade, self.precision = cascade, precision
        self.system, self.base = cascade.second_system, np.array(cascade.prior, dtype=np.float64)
        chosen = (example.query.choose(example.judgments) for example in examples)
        queries = tuple(replace(each.query, judgments=each.judgments) for each in chosen)
        data = Dataset(self.system.feature_map, self.system.view, queries)
        self.fitter = NearFitter(data, self.system.entity_aggregator, self.base)
        self.known = [Known(e.query.values, e.query.chosen, e.query.places, e.judgments) for e in examples]

    def __len__(self) -> int:
        return len(self.known)

    @property
    def queries(self) -> Sequence[QueryData]:
        """The chosen candidates of every query, without their contexts."""
        return self.fitter.dataset.queries

    @property
    def telling(self) -> int:
        """How many queries have a good and a bad candidate among the chosen ones."""
        return sum(is_telling(query.judgments) for query in self.queries)

    @property
    def can_choose(self) -> bool:
        """Whether there are enough to validate anything."""
        return self.telling >= FEW

    def fit(self, lam: float, weight: F64, start: F64, rough: bool) -> Trained:
        """The weights of queries that have a weight."""
        system, (iterations, tolerance) = self.system, ROUGH if rough else FINE
        settings = replace(system.settings(lam or 1.0), iterations=iterations, tolerance=tolerance)
        found = self.fitter.fit(settings, weight, start) if lam else Fit(self.base, 0.0)
        data = self.fitter.dataset
        return Trained(data.features, system.entity_aggregator, found.weights, settings, data.view, found)

    def values(self, model: Trained, queries: Sequence[int]) -> list[F64]:
        """The values of all candidates of some queries."""
        again, at, found = self.fitter.values.rank_values(model.weights, self.weigh(queries)), self.fitter.values.at, []
        for q in queries:
            known = self.known[q]
            found.append(join_values(known.values, known.chosen, again[at[q] : at[q + 1]])[known.places])
        return found

    def measure(self, model: Trained, queries: Sequence[int]) -> F64:
        """Average precision of some queries."""
        values = self.values(model, queries)
        return np.array([self.precision(v, self.known[q].judgments) for v, q in zip(values, queries, strict=True)])

    def weigh(self, queries: Iterable[int]) -> F64:
        """1 for some queries, 0 for all others."""
        weight = np.zeros(len(self))
        weight[list(queries)] = 1.0
        return weight

    def outcomes(self, model: Trained, queries: Sequence[int]) -> list[tuple[int, Outcome]]:
        """What the model makes of some queries."""
        values = self.values(model, queries)
        return [(q, Outcome(model, self._whole(q), v)) for q, v in zip(queries, values, strict=True)]

    def _whole(self, q: int) -> QueryData:
        """A query with all its candidates: those that were not chosen have no contexts."""
        judgments, own = self.known[q].judgments, self.queries[q]
        size = np.zeros(judgments.entity.size, dtype=np.int64)
        size[np.searchsorted(judgments.entity, own.entity)] = np.diff(own.at)
        assert self.known[q].places.size == judgments.entity.size
        return replace(own, at=np.append(0, np.cumsum(size)), judgments=judgments)


class Alternative:
    """A cascade with the queries that choose, and with all of them once these are asked for."""

    def __init__(self, few: WarmFits, sample: I64, encode: Encode, count: int) -> None:
        self.few, self.sample, self.encode, self.count = few, sample, encode, count
        self._every = few if sample.size == count else None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Alternative, (self.few, self.sample, self.encode, self.count)

    @property
    def every(self) -> WarmFits:
        """All queries."""
        with self._lock:
            if self._every is None:
                self._every = WarmFits(self.few.cascade, self.encode(range(self.count)), self.few.precision)
            return self._every


@dataclass(frozen=True)
class TakeFrom:
    """Queries that are encoded already."""

    examples: Sequence[Example]

    def __call__(self, queries: Sequence[int]) -> list[Example]:
        return [self.examples[q] for q in queries]


def draw_sample(count: int) -> I64:
    """The queries that choose, ascending."""
    return np.sort(np.random.default_rng(0).permutation(count)[:ENOUGH]).astype(np.int64)


def alternative(cascade: Cascade, encode: Encode, count: int, precision: Precision = PRECISION.of) -> Alternative:
    """A cascade to be trained on queries that `encode` encodes."""
    sample = draw_sample(count)
    return Alternative(WarmFits(cascade, encode(sample.tolist()), precision), sample, encode, count)


class WarmTrainer(Trainer):
    """Fits of alternatives to the same queries."""

    def __init__(self, alternatives: Sequence[Alternative], groups: Sequence[I64]) -> None:
        super().__init__(groups)
        self.alternatives = alternatives

    @property
    def options(self) -> list[dict[float, str]]:
        first = self.alternatives[0].few
        if not first.can_choose:
            lam = min(first.system.lambdas)
            return [{lam: f"lambda {lam:g}"}]
        return [
            {lam: f"{_tell_view(a.few)}lambda {lam:g}{'' if lam else ': the base'}" for lam in _lambdas(a.few)}
            for a in self.alternatives
        ]

    def validate(self, number: int, left_out: frozenset[int], on: Iterable[int]) -> Measured:
        """On the queries that choose alone."""
        alternative, found = self.alternatives[number], {}
        few, sample = alternative.few, alternative.sample
        weight = few.weigh(np.flatnonzero(np.isin(sample, self.training(left_out))))
        start, own = few.base, {g: np.flatnonzero(np.isin(sample, self.groups[g])).tolist() for g in on}
        for lam in self.options[number]:
            model = few.fit(lam, weight, start, rough=True)
            start = model.weights
            found[number, lam] = {g: few.measure(model, own[g]) for g in own}
        return found

    def test(self, fold: Fold) -> list[tuple[int, Outcome]]:
        fits = self.alternatives[fold.choice.candidate].every
        model = fits.fit(fold.choice.lam, fits.weigh(self.training(fold.left_out)), fits.base, rough=False)
        if not fold.one_by_one:
            return fits.outcomes(model, fold.tested.tolist())
        found = []
        for q in fold.tested.tolist():  # from the weights found without its group
            weight = np.ones(len(fits))
            weight[q] = 0.0
            found += fits.outcomes(fits.fit(fold.choice.lam, weight, model.weights, rough=False), [q])
        return found

    def train(self, choice: Choice) -> Taught:
        fits = self.alternatives[choice.candidate].every
        return Taught(fits.cascade, fits.fit(choice.lam, np.ones(len(fits)), fits.base, rough=False))

    def describe(self, choice: Choice) -> dict[str, Any]:
        told = _tell_view(self.alternatives[choice.candidate].few).rstrip(", ") or "as it ships"
        found: dict[str, Any] = {"matching": told, "lambda": choice.lam}
        return found | ({"validation AP": choice.precision} if choice.tried else {})


def _lambdas(fits: WarmFits) -> list[float]:
    return [0.0, *sorted(fits.system.lambdas)]


def _tell_view(fits: WarmFits) -> str:
    """How literals are matched where that is unusual, as in `stem, relax, `."""
    view = fits.system.view
    return "".join(f"{way}, " for way in ("stem", "relax") if getattr(view, way))


def is_telling(judgments: Judgments) -> bool:
    """Whether there is a good candidate and a bad one."""
    return bool((judgments.grades > 0).any() and (judgments.grades <= 0).any())
