"""The weights of a mixture's parts, found together with those of the features: descent by turns on one objective.

    minimise  loss(sum_m a_m g_m(w))  +  w . R w / (2 lambda^2)  +  |a - a0|^2 / 2      over w in its bounds and a >= 0

Each turn fits a with the scores as they are, and then w with a as it is. While the chosen contexts stay, neither makes
the objective larger. a0 counts all parts alike. Knows nothing of folds or files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy  # its subpackages load when they are first used
from numpy.typing import NDArray

from fader.aggregate.mixture import Mixture
from fader.learn.dataset import Dataset
from fader.learn.loss import Loss
from fader.learn.objective import labels_of

F64 = NDArray[np.float64]
TURNS = 3


def fit_weights(
    dataset: Dataset, mixture: Mixture, loss: str, judged_only: bool, w: F64, weight: F64 | None
) -> Mixture:
    """The mixture that suits the scores that w gives; queries of weight 0 have no say."""
    labels = labels_of(dataset, judged_only)
    labels = labels if weight is None else labels.with_weights(labels.weight * weight)
    cells, values = dataset.features.expand(w), np.zeros((int(labels.at[-1]), len(mixture.parts)))
    for q in np.flatnonzero(labels.weight):
        best = dataset.queries[q].best(cells)
        values[labels.at[q] : labels.at[q + 1]] = mixture.values_of_parts(best.scores(cells), best.at)
    made, even = Loss(loss, labels), np.full(len(mixture.parts), 1.0 / len(mixture.parts))

    def evaluate(a: F64) -> tuple[float, F64]:
        total, upstream = made(values @ a)
        return total + 0.5 * float((a - even) @ (a - even)), values.T @ upstream + (a - even)

    bounds = [(0.0, None)] * even.size
    found: Any = scipy.optimize.minimize(
        evaluate, np.array(mixture.weight_of_parts), jac=True, method="L-BFGS-B", bounds=bounds
    )
    return replace(mixture, weights=tuple(found.x.tolist())) if found.x.any() else mixture


def fit_by_turns(
    mixture: Mixture,
    fit: Callable[[Mixture, F64 | None], Any],
    mix: Callable[[Mixture, F64], Mixture],
    start: F64 | None,
) -> tuple[Any, Mixture]:
    """Fits of both by turns; `fit` and `mix` find the one for the other."""
    found = fit(mixture, start)
    for _turn in range(TURNS):
        mixture = mix(mixture, found.weights)
        found = fit(mixture, found.weights)
    return found, mixture
