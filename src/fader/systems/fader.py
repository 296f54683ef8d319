"""Our own family: any features x any aggregator, trained through the aggregation.

    V(e) = aggregate over the evidence of e of  w . f_q(x, e)

    fader(features=noprox+rectangle,aggregator=sum)
    fader(features=noprox+rectangle|noprox+coverage,aggregator=sum|logsumexp)       the better by validation

`weights` are learned; so are bucket edges and what an aggregator learns itself, which stand in the texts of features
and aggregator. Golden case: `noprox(use=bm25)` x `sum` with weight 2 gives an entity twice the sum of the BM25 scores
of its documents. Knows nothing of queries, judgments or folds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np

from fader.aggregate.base import Aggregator
from fader.contexts.table import Contexts
from fader.errors import FaderError, InputError, UsageError, quote
from fader.features.base import FeatureMap
from fader.features.bias import Bias
from fader.features.combined import Combined, feature_map
from fader.lazy import cached_property
from fader.learn.crossvalidate import parse_cv, train
from fader.learn.dataset import Dataset, QueryData, query_data
from fader.learn.feature_trainer import FeatureCandidate, FeatureTrainer, Trained
from fader.learn.learner import Example, JudgedSource, Learner, Trainer
from fader.learn.settings import TrainingOptions
from fader.learn.threads import Workers
from fader.learn.train import FitSettings
from fader.progress import Progress
from fader.rank.system import F64, I64, FeatureScorer, FeatureScoring, View
from fader.registry import parse, split_top, write_part


@dataclass(frozen=True)
class FeatureModel(TrainingOptions, FeatureScorer, Learner):
    """Our own family: features x aggregator, trained through the aggregation.

    `lam` is lambda: auto, or a number, or several as in 0.1/1/10; a window of 0 is none; at most `bad` bad candidates
    of a query train, 0 for all; `top` keeps the contexts in so many documents that BM25 ranks highest, 0 in all.
    Features, aggregator, policy, window and top may be alternatives, written with |.

    `cv` is the cross-validation of this system alone, where it is to differ from that of a comparison; `label` is what
    reports and answers call it.
    """

    name: ClassVar[str] = "fader"
    learned: ClassVar[tuple[str, ...]] = ("weights",)
    reads_alternatives: ClassVar[bool] = True
    cv: str = ""
    label: str = ""
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", _as_text(self.features, feature_map))
        object.__setattr__(self, "aggregator", _as_text(self.aggregator, _parse_aggregator))
        for one in self.alternatives():
            one.settings(1.0)
            one.lambdas, one.entity_aggregator, one.feature_map, one.view  # noqa: B018  each refuses what it cannot take
        if self.cv:
            parse_cv(self.cv)
        if self.is_fitted:
            self._check_weights()

    def _check_weights(self) -> None:
        w = self._weights
        if w.shape != (self.feature_map.size,):
            raise InputError(f"model: {self.features} needs {self.feature_map.size} weights, not {w.size}")
        if not np.isfinite(w).all():
            at = int(np.flatnonzero(~np.isfinite(w))[0])
            raise InputError(f"model: weights must be finite, but weight {at + 1} is {w[at]}; train it again")

    @property
    def is_fitted(self) -> bool:
        return len(self.weights) > 0

    @property
    def short_name(self) -> str:
        return self.label or f"{shorten(str(self.features))} x {shorten(str(self.aggregator))}"

    @property
    def title(self) -> str:
        """`noprox+rectangle x sum`, with whatever else is not the default; or the label."""
        if self.label:
            return self.label
        rest = write_part(replace(self, features=FeatureModel.features, aggregator=FeatureModel.aggregator))
        return f"{self.features} x {self.aggregator}" + rest.removeprefix(self.name)

    def alternatives(self) -> tuple[FeatureModel, ...]:
        """Every combination of the alternatives."""
        keys = ("features", "aggregator", "policy", "window", "top")
        choices: list[list[Any]] = [_split_alternatives(getattr(self, key)) for key in keys]
        if all(len(choice) == 1 for choice in choices):
            return (self,)
        return tuple(replace(self, **dict(zip(keys, choice, strict=True))) for choice in product(*choices))

    @cached_property
    def feature_map(self) -> FeatureMap:
        """The feature maps in use; a bias is added where the aggregator wants one and nothing is learned yet."""
        parts = feature_map(self.features).maps
        if not self.is_fitted and self.entity_aggregator.wants_bias and not any(isinstance(m, Bias) for m in parts):
            parts = (*parts, Bias())
        return Combined(parts)

    @cached_property
    def entity_aggregator(self) -> Aggregator:
        return _parse_aggregator(self.aggregator)

    @cached_property
    def view(self) -> View:
        window, top = _parse_number("window", self.window), _parse_number("top", self.top)
        return View(self.policy, window or None, not self.ignore_overlap, top, self.stem, self.entities, self.relax)

    @cached_property
    def _weights(self) -> F64:
        return np.array(self.weights, dtype=np.float64)

    @cached_property
    def feature_scoring(self) -> FeatureScoring:
        self.check_fitted()
        return FeatureScoring(self.feature_map, self._weights, self.entity_aggregator, self.policy)

    def settings(self, lam: float) -> FitSettings:
        """How weights are sought, for one lambda."""
        return FitSettings(
            loss=self.loss,
            lam=lam,
            judged_only=self.judged_only,
            rounds=self.rounds,
            starts=self.starts,
            seed=self.seed,
            bad=self.bad,
        )

    @property
    def encoding(self) -> Hashable:
        return self.name, str(self.feature_map), self.view

    def encode(self, contexts: Contexts) -> QueryData:
        if self.feature_map.learns_edges:
            raise UsageError(f"{self}: edges are learned from the contexts of queries; train it with `fader train`")
        return query_data("", contexts, self.feature_map, self.policy, {})

    def take_candidates(self, query: QueryData, places: I64) -> QueryData:
        return query.of(places)

    def values_of(self, query: QueryData) -> F64:
        scoring = self.feature_scoring
        cells = scoring.features.expand(scoring.weights)
        best = query.best(cells)
        return scoring.aggregator.values(best.scores(cells), best.at)

    def fit(self, examples: Sequence[Example], seed: int) -> Self:
        """Of several lambdas validation chooses one; `seed` cuts groups for that, the field `seed` decides the rest."""
        queries = tuple(replace(e.query, judgments=e.judgments) for e in examples)
        source = _Encoded(Dataset(self.feature_map, self.view, queries))
        trained, _choice = train(partial(FeatureTrainer, source, self.candidates()), len(queries), seed)
        return self.fill_in(trained)

    def prepare(
        self, source: JudgedSource, learners: Sequence[Any], seed: int, workers: Workers, progress: Progress
    ) -> Callable[[Sequence[I64]], Trainer]:
        """Datasets are encoded when they are needed, as there may be one for every fold."""
        return partial(FeatureTrainer, source, [c for learner in learners for c in learner.candidates()])

    def candidates(self) -> list[FeatureCandidate]:
        """What training chooses among."""
        return [
            FeatureCandidate(
                a.feature_map,
                a.entity_aggregator,
                a.settings(1.0),
                (1.0,) if a.entity_aggregator.constant else a.lambdas,
                a.view,
            )
            for a in self.alternatives()
        ]

    def finish(self, found: Trained) -> tuple[Self, dict[str, Any]]:
        fit, settings = found.fit, found.settings
        report = {
            "lambda": settings.lam,
            "loss": settings.loss,
            "judged_only": settings.judged_only,
            "seed": settings.seed,
            "objective": fit.objective,
            "starts": fit.starts,
            "rounds": fit.rounds,
            "stable": fit.stable,
            "iterations": fit.iterations,
            "converged": fit.converged,
        }
        return self.fill_in(found), report

    def fill_in(self, trained: Trained) -> Self:
        """The same system with what was learned."""
        view = trained.view
        return replace(
            self,
            features=trained.features,
            aggregator=trained.aggregator,
            policy=view.policy,
            window=str(view.window or 0),
            top=str(view.top),
            lam=repr(trained.settings.lam),
            weights=tuple(trained.weights.tolist()),
        )


@dataclass(frozen=True)
class _Encoded:
    """Queries that are encoded already, as a source of datasets."""

    data: Dataset

    @property
    def ids(self) -> Sequence[str]:
        return [query.id for query in self.data.queries]

    def dataset(self, features: FeatureMap, view: View, training: I64) -> Dataset:
        return self.data


def shorten(text: str) -> str:
    """A part's text without long lists of numbers."""
    return text if len(text) <= 60 else "+".join(piece.split("(")[0] for piece in split_top(text, "+"))


def _parse_aggregator(given: object) -> Aggregator:
    found = parse("fader.aggregate", given) if isinstance(given, str) else given
    if not isinstance(found, Aggregator):
        raise UsageError(f"aggregator must be a text or an aggregator such as SoftOr(), not {quote(given)}")
    return found


def _as_text(given: object, read: Callable[[object], object]) -> object:
    """A part by its text where that reads back as the part, so that equal parts are equal systems."""
    if isinstance(given, str):
        return given
    part = read(given)
    try:
        return str(part) if read(str(part)) == part else part
    except FaderError:  # an object of a class that is not registered
        return part


def _parse_number(name: str, text: str) -> int:
    if not text.isdecimal():
        what = {"window": "tokens", "top": "documents"}[name]
        raise UsageError(f"fader: {name} must be 0 (none) or a number of {what}, not {quote(text)}")
    return int(text)


def _split_alternatives(given: Any) -> list[Any]:
    if not isinstance(given, str):
        return [given]
    pieces = [piece.strip() for piece in split_top(given, "|")]
    if not pieces:
        raise UsageError("fader: features, aggregator, policy, window and top must name one thing at least")
    return pieces
