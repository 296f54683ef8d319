"""Cross-validation over queries, and the choice among candidates inside the training queries only.

Queries are cut into groups. The candidate for a fold (features, aggregator, lambda) is chosen by validating each of
the other groups with a model that saw neither that group nor the fold; such a model serves two folds, as it leaves out
both. So a test query never has a say in its model: not in the weights, not in lambda, not in bucket edges, not in which
mention counts. Leave-one-out chooses by the same groups, then fits a fold for every query. Knows nothing of texts,
storage or reports; where datasets come from is somebody else's (`Source`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fader.aggregate.base import Aggregator
from fader.errors import InputError, UsageError
from fader.features.base import FeatureMap
from fader.learn.dataset import Dataset, QueryData
from fader.learn.leaveoneout import Problem, knows_bounds, leave_one_out, polish, problem_of
from fader.learn.objective import EntityLevel, Sums, labels_of
from fader.learn.settings import LAMBDAS
from fader.learn.threads import cores, one_blas_thread, side_by_side
from fader.learn.train import Fit, Settings, fit_model
from fader.measures import AveragePrecision
from fader.progress import Progress, Silent
from fader.rank.system import EVERY_CONTEXT, View

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
T = TypeVar("T")
R = TypeVar("R")
PRECISION = AveragePrecision()
GROUPS = 5
# The projected gradient at which a leave-one-out fold counts as solved, relative to one query's pull.
EXACT = 1e-9


class Pool(Protocol):
    """What works in place of threads of this process: other machines, say. Works on `systems` systems at once."""

    @property
    def systems(self) -> int: ...

    def each(self, work: Callable[[T], R], items: Sequence[T], progress: Progress, note: str) -> list[R]:
        """`work` of every item, in order; it may be done elsewhere, on copies of what it holds."""
        ...

    def stop(self, reason: BaseException) -> None:
        """Give up what is under way in all threads."""
        ...


Workers = int | Pool  # so many threads, or a pool


@dataclass(frozen=True)
class Candidate:
    """One way to make a model; `lambdas` are tried from the strongest regulariser on."""

    features: FeatureMap
    aggregator: Aggregator
    settings: Settings
    lambdas: tuple[float, ...] = LAMBDAS
    view: View = EVERY_CONTEXT

    def __str__(self) -> str:
        """Features x aggregator, with what is unusual about the contexts."""
        view = self.view
        unusual = "" if view.policy == EVERY_CONTEXT.policy else f", policy {view.policy}"
        unusual += f", window {view.window}" if view.window else ""
        return f"{self.features} x {self.aggregator}{unusual}" + (f", top {view.top}" if view.top else "")


@dataclass(frozen=True)
class Trained:
    """A candidate with its lambda chosen, its edges fixed and its weights found."""

    features: FeatureMap
    aggregator: Aggregator
    weights: F64
    settings: Settings
    view: View
    fit: Fit

    def values(self, query: QueryData) -> F64:
        """What a query's entities are ranked by."""
        cells = self.features.expand(self.weights)
        best = query.best(cells)
        return self.aggregator.values(best.scores(cells), best.at)


class Source(Protocol):
    """Datasets of the same judged queries under any features."""

    @property
    def ids(self) -> Sequence[str]: ...

    def dataset(self, features: FeatureMap, view: View, training: I64) -> Dataset:
        """All queries; edges that are to be learned are learned from the training queries."""
        ...


@dataclass(frozen=True)
class Outcome:
    """One test query, ranked by a model that never saw it."""

    query: QueryData
    values: F64
    model: Trained


@dataclass(frozen=True)
class Validation:
    """All outcomes in the order of the queries, and what was chosen for each fold: (candidate, lambda, mean AP)."""

    outcomes: list[Outcome]
    choices: list[dict[str, Any]] = field(default_factory=list)


def groups_of(n: int, k: int, seed: int) -> list[I64]:
    """n queries in k groups of about equal size, drawn by the seed."""
    if seed < 0:
        raise UsageError(f"seed must be 0 or more, not {seed}")
    order = np.random.default_rng(seed).permutation(n)
    return [np.sort(order[i::k]).astype(np.int64) for i in range(k)]


def parse_cv(text: str | int) -> int | None:
    """`loo` (None), or a number of folds."""
    if str(text).lower() == "loo":
        return None
    try:
        folds = int(text)
    except ValueError:
        raise UsageError(f'cv must be "loo" or a number of folds, not "{text}"') from None
    if folds < 2:
        raise UsageError(f"cv needs 2 folds at least, not {folds}")
    return folds


class Chooser:
    """Fits of the inner validation; a key is the set of groups left out."""

    def __init__(self, source: Source, candidates: Sequence[Candidate], groups: Sequence[I64]) -> None:
        self.source, self.candidates, self.groups = source, candidates, groups
        self._sums: tuple[Dataset, Sums] | None = None
        self._thin: tuple[Dataset, tuple[int, int], Dataset] | None = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy for another process knows the same, and has kept nothing."""
        return Chooser, (self.source, self.candidates, self.groups)

    def sums(self, data: Dataset) -> Sums:
        """What was summed of a dataset, for whoever fits to it next; kept for the last dataset only."""
        last = self._sums
        if last is None or last[0] is not data:
            last = self._sums = (data, Sums(data.features))
        return last[1]

    def to_train(self, data: Dataset, settings: Settings) -> Dataset:
        """A dataset with the candidates that train; kept for the last dataset only."""
        if settings.judged_only:
            return data
        with self._lock:
            drawn = (settings.bad, settings.seed)
            if self._thin is None or self._thin[0] is not data or self._thin[1] != drawn:
                self._thin = (data, drawn, data.thinned(*drawn))
            return self._thin[2]

    @property
    def options(self) -> list[dict[float, str]]:
        """The lambdas of each candidate."""
        return [{lam: f"{c}, lambda {lam:g}" for lam in c.lambdas} for c in self.candidates]

    def training(self, left_out: Iterable[int]) -> I64:
        """The queries of all other groups."""
        kept = [g for i, g in enumerate(self.groups) if i not in set(left_out)]
        return np.sort(np.concatenate(kept)) if kept else np.empty(0, dtype=np.int64)

    def dataset(self, candidate: int, left_out: frozenset[int]) -> Dataset:
        """The dataset of a candidate; where no edges are learned it is the same for all folds."""
        c = self.candidates[candidate]
        if c.features.learns_edges:
            return self.source.dataset(c.features, c.view, self.training(left_out))
        return self.source.dataset(c.features, c.view, np.arange(len(self.source.ids)))

    def rough_fits(self, candidate: int, data: Dataset, left_out: frozenset[int]) -> Iterator[Trained]:
        """A model for each lambda, from the strongest regulariser on, each starting at the last one's weights."""
        c = self.candidates[candidate]
        start: F64 | None = None
        for lam in sorted(c.lambdas):
            model = self._fit(c, data, left_out, roughly(replace(c.settings, lam=lam)), start)
            start = model.weights
            yield model

    def fit(self, candidate: int, data: Dataset, left_out: frozenset[int], lam: float) -> Trained:
        """The model for one lambda, from all starts."""
        c = self.candidates[candidate]
        return self._fit(c, data, left_out, replace(c.settings, lam=lam), None)

    def _fit(
        self, c: Candidate, data: Dataset, left_out: frozenset[int], settings: Settings, start: F64 | None
    ) -> Trained:
        weight = np.zeros(len(data))
        weight[self.training(left_out)] = 1.0
        train = self.to_train(data, settings)
        found, aggregator = fit_model(train, c.aggregator, settings, weight, start, self.sums(train))
        return Trained(data.features, aggregator, found.weights, settings, c.view, found)

    def validated(self, number: int, left_out: frozenset[int], on: Iterable[int]) -> dict[tuple[int, float], Any]:
        """Average precision of the queries of some groups under a candidate's models that left out `left_out`."""
        data = self.dataset(number, left_out)
        return {
            (number, model.settings.lam): {g: _precisions(data, model, self.groups[g]) for g in on}
            for model in self.rough_fits(number, data, left_out)
        }


def roughly(settings: Settings) -> Settings:
    """Enough to see which candidate is better; the next lambda starts here, and chooses its mentions anew."""
    return replace(
        settings, starts=1, rounds=1, iterations=min(100, settings.iterations), tolerance=max(1e-4, settings.tolerance)
    )


def _precisions(data: Dataset, model: Trained, queries: I64) -> F64:
    return np.array([PRECISION.of(model.values(data.queries[q]), data.queries[q].judgments) for q in queries])


def in_parallel(work: Callable[[T], R], items: Sequence[T], workers: Workers, progress: Progress, note: str) -> list[R]:
    """Results in order. Threads, as compiled kernels run without the interpreter's lock and share the dataset."""
    if not isinstance(workers, int):
        return workers.each(work, items, progress, note)
    workers = max(1, min(workers, len(items)))

    def alone(item: T) -> R:
        with side_by_side() if workers > 1 else nullcontext():
            return work(item)

    results: list[R] = []
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        for done, result in enumerate(pool.map(alone, items), 1):
            results.append(result)
            progress.update(done, len(items), note)
    return results


@dataclass(frozen=True)
class Choice:
    """What inner validation found best."""

    candidate: int
    lam: float
    precision: float
    tried: dict[str, float]


class Validated(Protocol):
    """Candidates that can be measured on groups of queries by models that left these out."""

    @property
    def groups(self) -> Sequence[I64]: ...

    @property
    def options(self) -> Sequence[Mapping[float, str]]:
        """Of each candidate, the numbers to choose among (lambda) and what each choice is called."""
        ...

    def validated(self, number: int, left_out: frozenset[int], on: Iterable[int]) -> dict[tuple[int, float], Any]:
        """By candidate and lambda, and by group, average precision of its queries under models without `left_out`."""
        ...


def choose(chooser: Validated, folds: Sequence[frozenset[int]], workers: Workers, progress: Progress) -> list[Choice]:
    """The best candidate and lambda for each fold, a fold being the set of groups that it must not see."""
    groups, options = range(len(chooser.groups)), chooser.options
    if len(options) == 1 and len(options[0]) == 1:
        return [Choice(0, next(iter(options[0])), float("nan"), {}) for _ in folds]
    keys = sorted({fold | {g} for fold in folds for g in groups if g not in fold}, key=sorted)
    if any(len(key) == len(groups) for key in keys):
        raise InputError(
            f"{sum(g.size for g in chooser.groups)} judged queries: too few to choose inside the training queries of a "
            "fold; judge more queries, or give lambda and every parameter one value"
        )
    measured: dict[frozenset[int], dict[tuple[int, float], Any]] = {key: {} for key in keys}
    for number in range(len(options)):  # one after the other, so that each dataset is made once
        found = in_parallel(partial(_validated, chooser, number), keys, workers, progress, f"choosing: {number + 1}")
        for key, of_key in zip(keys, found, strict=True):
            measured[key] |= of_key
    return [_best(chooser, measured, fold) for fold in folds]


def _validated(chooser: Validated, number: int, key: frozenset[int]) -> dict[tuple[int, float], Any]:
    return chooser.validated(number, key, key)


def _best(chooser: Validated, measured: dict[frozenset[int], Any], fold: frozenset[int]) -> Choice:
    others = [g for g in range(len(chooser.groups)) if g not in fold]
    means: dict[tuple[int, float], float] = {}
    for number, named in enumerate(chooser.options):
        for lam in sorted(named):
            parts = [measured[fold | {g}][number, lam][g] for g in others]
            means[number, lam] = float(np.concatenate(parts).mean())
    best = max(means, key=lambda key: (means[key], -key[0], -key[1]))  # on a tie the first, the most regularised
    tried = {chooser.options[n][lam]: value for (n, lam), value in means.items()}
    return Choice(*best, means[best], tried)


def cross_validate(
    source: Source, candidates: Sequence[Candidate], cv: str | int, seed: int = 0, workers: Workers = 0,
    progress: Progress | None = None,
) -> Validation:  # fmt: skip
    """Rank every query by a model that never saw it."""
    progress, workers = progress or Silent(), workers or cores()
    n, folds = len(source.ids), parse_cv(cv)
    check_folds(n, folds)
    outer, cut = cuts(n, folds, seed)
    chooser = Chooser(source, candidates, cut)
    choices = choose(chooser, outer, workers, progress)
    jobs = list(zip(outer, choices, strict=True))
    run = _leave_each_out if folds is None else _test_fold
    parts = in_parallel(lambda job: run(chooser, *job), jobs, workers, progress, "testing")
    outcomes = {q: outcome for part in parts for q, outcome in part}
    return Validation([outcomes[q] for q in range(n)], [_described(chooser, c) for c in choices])


def check_folds(n: int, folds: int | None) -> None:
    """Refuse more folds than there are queries."""
    least = 2 if folds is None else folds
    if n < least:
        asked = "leave-one-out" if folds is None else f"{folds} folds"
        raise InputError(
            f"{n} judged quer{'y' if n == 1 else 'ies'}: {asked} need{'s' if folds is None else ''} {least} at least; "
            f"judge more queries{'' if folds is None else ' or ask for fewer folds'}"
        )


def cuts(n: int, folds: int | None, seed: int) -> tuple[list[frozenset[int]], list[I64]]:
    """The outer folds as sets of groups, and the groups; at least 4 groups where there are queries for them."""
    k = min(n, GROUPS if folds is None else folds)
    each = 1 if k >= 4 else -(-4 // k)
    each = max(1, min(each, n // k))
    groups = groups_of(n, k * each, seed)
    return [frozenset(range(i * each, (i + 1) * each)) for i in range(k)], groups


def _described(chooser: Chooser, choice: Choice) -> dict[str, Any]:
    described: dict[str, Any] = {"model": str(chooser.candidates[choice.candidate]), "lambda": choice.lam}
    if choice.tried:
        described |= {"validation AP": choice.precision}
    return described


def _chosen(chooser: Chooser, fold: frozenset[int], choice: Choice) -> tuple[Dataset, Trained]:
    """The model of a fold: the chosen candidate with its lambda, trained on all other groups, from all starts."""
    data = chooser.dataset(choice.candidate, fold)
    return data, chooser.fit(choice.candidate, data, fold, choice.lam)


def _test_fold(chooser: Chooser, fold: frozenset[int], choice: Choice) -> list[tuple[int, Outcome]]:
    data, model = _chosen(chooser, fold, choice)
    tested = np.concatenate([chooser.groups[g] for g in fold])
    return [(int(q), Outcome(data.queries[q], model.values(data.queries[q]), model)) for q in tested]


def _leave_each_out(chooser: Chooser, fold: frozenset[int], choice: Choice) -> list[tuple[int, Outcome]]:
    """Each query of a group tested by the model of all others; which mention counts was chosen without the group."""
    data, model = _chosen(chooser, fold, choice)
    tested = np.concatenate([chooser.groups[g] for g in fold])
    fast = model.aggregator.linear and model.settings.loss == "pairwise" and knows_bounds(data.features.bounds())
    train = chooser.to_train(data, model.settings)
    refits = _fast_folds(train, model, tested) if fast else _slow_folds(train, model, tested)
    return [(q, Outcome(data.queries[q], m.values(data.queries[q]), m)) for q, m in refits]


def _fast_folds(data: Dataset, model: Trained, tested: I64) -> Iterator[tuple[int, Trained]]:
    problem = linear_problem(data.best(model.weights), model.aggregator, model.settings)
    solution = polish(problem, model.weights, EXACT)
    for queries, weights in leave_one_out(problem, solution, tested, EXACT):
        for q, w in zip(queries, weights.T, strict=True):
            yield int(q), replace(model, weights=np.ascontiguousarray(w))


def linear_problem(chosen: Dataset, aggregator: Aggregator, settings: Settings) -> Problem:
    """The convex problem of an aggregator that is linear in scores, for contexts that are chosen already."""
    return problem_of(
        EntityLevel(chosen, aggregator), labels_of(chosen, settings.judged_only),
        chosen.features.penalty() / settings.lam**2, chosen.features.bounds(),
    )  # fmt: skip


def _slow_folds(data: Dataset, model: Trained, tested: I64) -> Iterator[tuple[int, Trained]]:
    """A fit for each query, from the weights found without its group and with the mentions that these chose."""
    chosen = data.best(model.weights)
    sums = Sums(chosen.features)
    for q in tested:
        weight = np.ones(len(data))
        weight[q] = 0.0
        found, aggregator = fit_model(chosen, model.aggregator, model.settings, weight, model.weights, sums)
        yield int(q), replace(model, weights=found.weights, aggregator=aggregator, fit=found)


def train(
    source: Source, candidates: Sequence[Candidate], seed: int = 0, workers: int = 0, progress: Progress | None = None
) -> tuple[Trained, Choice]:
    """The model of all queries; candidate and lambda chosen by validation over groups of them."""
    n = len(source.ids)
    single = len(candidates) == 1 and len(candidates[0].lambdas) == 1
    if n < 2 and not single:
        raise InputError(f"{n} judged query: choosing lambda needs 2 at least; give lambda as a number")
    chooser = Chooser(source, candidates, groups_of(n, max(1, min(n, GROUPS)), seed))
    nothing: frozenset[int] = frozenset()
    choice = choose(chooser, [nothing], workers or cores(), progress or Silent())[0]
    return _chosen(chooser, nothing, choice)[1], choice
