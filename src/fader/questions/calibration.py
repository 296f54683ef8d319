"""Probabilities of answers: Platt's sigmoid over what is known of an answer, fitted to cross-validated rankings.

    P(e is good | q) = 1 / (1 + exp(-w . x(e)))

    x(e) = 1, ln prior(e), ln place(e), ln rank(e), value(e) in standard deviations among the best by evidence,
           ln of how probable the best reading is

Ranks, priors and standardised values have the same scale for all rankers, so that a calibration carries over to others
roughly. J. Platt, Probabilistic outputs for support vector machines, 1999. Knows nothing of questions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fader.learn.interpreter import CALIBRATED

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
MOST_CALIBRATED = 1_000  # answers of a question; those below have a probability near 0
STANDARD = 100  # entities, by evidence, among which values are standardised
RIDGE = 1e-3
BINS = 10


def describe_answers(log_prior: F64, place: I64, values: F64, best: float) -> F64:
    """x of the first answers, in their order; `place` counts from 0, `values` are those of all in order of evidence."""
    n = min(place.size, MOST_CALIBRATED)
    top = values[:STANDARD]
    spread = float(top.std()) if top.size > 1 else 0.0
    standard = (values[place[:n]] - top.mean()) / spread if spread > 0 else np.zeros(n)
    known = np.empty((n, CALIBRATED))
    known[:, 0] = 1.0
    known[:, 1] = np.maximum(log_prior[:n], -20.0)
    known[:, 2] = np.log(place[:n] + 1.0)
    known[:, 3] = np.log(np.arange(1.0, n + 1.0))
    known[:, 4] = np.clip(standard, -10.0, 10.0)
    known[:, 5] = np.log(max(best, 1e-6))
    return known


def apply_calibration(known: F64, weights: tuple[float, ...]) -> F64:
    """The probability of each answer."""
    found: F64 = 1.0 / (1.0 + np.exp(-np.clip(known @ np.array(weights), -50.0, 50.0)))
    return found


def fit_calibration(known: F64, good: NDArray[np.bool_], weight: F64) -> tuple[float, ...]:
    """The weights that fit judged answers, each of which counts by its weight."""
    from scipy.optimize import minimize  # heavy: only training needs it

    # Platt's targets: a little away from 0 and 1, so that no probability is either.
    target = np.where(good, (good.sum() + 1.0) / (good.sum() + 2.0), 1.0 / ((~good).sum() + 2.0))

    def measure(w: F64) -> tuple[float, F64]:
        z = known @ w
        loss = float(weight @ (np.logaddexp(0.0, z) - target * z) / weight.sum() + 0.5 * RIDGE * (w @ w))
        slope = (weight * (1.0 / (1.0 + np.exp(-np.clip(z, -50, 50))) - target)) @ known / weight.sum()
        return loss, slope + RIDGE * w

    found = minimize(measure, np.zeros(CALIBRATED), method="L-BFGS-B", jac=True)
    return tuple(found.x.tolist())


def measure_calibration(probability: F64, good: NDArray[np.bool_]) -> tuple[float, list[tuple[float, float, int]]]:
    """The expected calibration error over ten bins of equal width, and per bin mean probability, share good, count."""
    bins, error = [], 0.0
    place = np.minimum((probability * BINS).astype(np.int64), BINS - 1)
    for b in range(BINS):
        inside = place == b
        if inside.any():
            mean, share, count = float(probability[inside].mean()), float(good[inside].mean()), int(inside.sum())
            bins.append((mean, share, count))
            error += count / probability.size * abs(mean - share)
    return error, bins


def suggest_cut(probability: F64) -> int:
    """How many of the first answers to take: as many as have the largest expected F1, approximately.

    With n taken, F1 is about 2 sum of the first n probabilities / (n + sum of all).
    """
    if not probability.size:
        return 0
    taken = np.arange(1.0, probability.size + 1.0)
    return int(np.argmax(2 * np.cumsum(probability) / (taken + probability.sum()))) + 1
