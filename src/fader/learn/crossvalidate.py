"""Cross-validation over queries, and the choice among alternatives inside the training queries only.

Queries are cut into groups. The alternative for a fold (features, aggregator, lambda, any parameter) is chosen by
validating each of the other groups with a model that saw neither that group nor the fold; such a model serves two
folds, as it leaves out both. So a test query never has a say in its model: not in the weights, not in lambda, not in
bucket edges, not in which mention counts. Leave-one-out chooses by the same groups, then leaves out every query by
itself. This is the one loop for all learners; how an alternative is fitted is up to its `Trainer`. Alternatives that
need no fitting are chosen on all training queries (`choose_unfitted`). Knows nothing of texts, storage or reports.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from fader.errors import InputError, UsageError
from fader.jobs.runners import count_cores
from fader.learn.learner import Choice, Fold, Measured, Outcome, Trainer
from fader.learn.threads import Workers, in_parallel
from fader.progress import Progress, Silent
from fader.rank.system import F64, I64

GROUPS = 5
MakeTrainer = Callable[[Sequence[I64]], Trainer]  # given the groups of queries


@dataclass(frozen=True)
class Validation:
    """An outcome per query, in order, what was chosen for each fold, and how many models were fitted."""

    outcomes: list[Outcome]
    choices: list[dict[str, Any]] = field(default_factory=list)

    @property
    def fits(self) -> int:
        return len({id(o.model) for o in self.outcomes})


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


def cross_validate(
    make: MakeTrainer, n: int, cv: str | int, seed: int = 0, workers: Workers = 0, progress: Progress | None = None
) -> Validation:
    """For each of n queries a model that never saw it."""
    progress, workers, folds = progress or Silent(), workers or count_cores(), parse_cv(cv)
    check_folds(n, folds)
    outer, groups = cuts(n, folds, seed)
    trainer = make(groups)
    choices = choose(trainer, outer, workers, progress)
    jobs: list[Fold] = []
    for left_out, choice in zip(outer, choices, strict=True):
        tested = np.concatenate([groups[g] for g in left_out])
        parts = np.split(tested, tested.size) if folds is None and trainer.splits_folds else [tested]
        jobs += [Fold(left_out, choice, part, one_by_one=folds is None) for part in parts]
    found = in_parallel(trainer.test, jobs, workers, progress, "testing")
    outcomes = {q: outcome for part in found for q, outcome in part}
    return Validation([outcomes[q] for q in range(n)], [trainer.describe(choice) for choice in choices])


def train(
    make: MakeTrainer, n: int, seed: int = 0, workers: int = 0, progress: Progress | None = None
) -> tuple[Any, Choice]:
    """The model of all n queries; the alternative is chosen by validation over groups of them."""
    trainer = make(groups_of(n, max(1, min(n, GROUPS)), seed))
    options = trainer.options
    if n < 2 and sum(map(len, options)) > 1:
        what = "lambda needs 2 at least; give lambda as a number"
        several = f"among {len(options)} alternatives needs 2 at least; give one"
        raise InputError(f"{n} judged query: choosing {what if len(options) == 1 else several}")
    choice = choose(trainer, [frozenset()], workers or count_cores(), progress or Silent())[0]
    return trainer.train(choice), choice


def choose(trainer: Trainer, folds: Sequence[frozenset[int]], workers: Workers, progress: Progress) -> list[Choice]:
    """The best candidate and lambda for each fold, a fold being the set of groups that it must not see."""
    groups, options = range(len(trainer.groups)), trainer.options
    if len(options) == 1 and len(options[0]) == 1:
        return [Choice(0, next(iter(options[0])), float("nan"), {}) for _ in folds]
    keys = sorted({fold | {g} for fold in folds for g in groups if g not in fold}, key=sorted)
    if any(len(key) == len(groups) for key in keys):
        raise InputError(
            f"{sum(g.size for g in trainer.groups)} judged queries: too few to choose inside the training queries of a "
            "fold; judge more queries, or give lambda and every parameter one value"
        )
    measured: dict[frozenset[int], Measured] = {key: {} for key in keys}
    for number in range(len(options)):  # one after the other, so that each dataset is made once
        found = in_parallel(partial(_validate, trainer, number), keys, workers, progress, f"choosing: {number + 1}")
        for key, of_key in zip(keys, found, strict=True):
            measured[key] |= of_key
    return [_best(trainer, measured, fold) for fold in folds]


def _validate(trainer: Trainer, number: int, key: frozenset[int]) -> Measured:
    return trainer.validate(number, key, key)


def _best(trainer: Trainer, measured: dict[frozenset[int], Measured], fold: frozenset[int]) -> Choice:
    others = [g for g in range(len(trainer.groups)) if g not in fold]
    means: dict[tuple[int, float], float] = {}
    for number, named in enumerate(trainer.options):
        for lam in sorted(named):
            parts = [measured[fold | {g}][number, lam][g] for g in others]
            means[number, lam] = float(np.concatenate(parts).mean())
    best = max(means, key=lambda key: (means[key], -key[0], -key[1]))  # on a tie the first, the most regularised
    tried = {trainer.options[n][lam]: value for (n, lam), value in means.items()}
    return Choice(*best, means[best], tried)


def choose_unfitted(precision: F64, cv: str | int, seed: int) -> I64:
    """For each query the alternative that is best on its training queries: `precision` is (alternatives, queries).

    Leave-one-out: all other queries. Of equal ones the first.
    """
    n, folds = precision.shape[1], parse_cv(cv)
    check_folds(n, folds)
    outer, groups = cuts(n, folds, seed)
    tested = list(np.arange(n)[:, None]) if folds is None else [np.concatenate([groups[g] for g in f]) for f in outer]
    best = np.empty(n, dtype=np.int64)
    for fold in tested:
        # Tested queries are taken out before anything is added up: not even rounding may depend on them.
        best[fold] = int(np.delete(precision, fold, axis=1).sum(axis=1).argmax())
    return best
