"""Is one system better than another, or was it chance? Tests on paired values, one pair per query.

    t              two-sided paired t-test: t = mean(d) / (sd(d) / sqrt(n)), d = differences, n - 1 degrees of freedom
    randomisation  two-sided paired randomisation test: the share of all sign flips of d whose |sum| is at least that
                   of d. All flips where at most 15 differences are not 0, else N drawn ones, counting d itself:
                   p = (1 + as large) / (1 + N)
    Holm           the i-th smallest of m p-values times m - i + 1, never below one before it, at most 1

Without evidence for a difference p is 1: all differences are 0, or there are fewer than two queries. If all differences
are equal and not 0, t is infinite and its p is 0.

Golden case: d = 1, 2, 3: t = 2 sqrt(3), p = .0742; of eight flips two are as large: p = 1/4.
Holm of .01, .04, .03 is .03, .06, .06.

Smucker, Allan and Carterette, A Comparison of Statistical Significance Tests for Information Retrieval Evaluation,
CIKM 2007. Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979.
Knows nothing of measures, queries or systems.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import scipy  # its subpackages load when they are first used
from numpy.typing import NDArray

from fader import budget
from fader.errors import UsageError, quote

F64 = NDArray[np.float64]
PairedTest = Callable[[F64, F64], float]

LEVEL = 0.05  # p-values below it are called significant
SAMPLES = 100_000
ALL_FLIPS = 15  # up to this many differences all sign flips are tried
TESTS = ("t", "randomisation")
_BATCH = 1 << 14
# Sums of the same numbers in another order must count as equal; relative to the sum of all |d|.
_ROUNDING = 1e-12


def p_value(a: F64, b: F64, test: str = "t", seed: int = 0) -> float:
    """p of a test by name."""
    if test not in TESTS:
        raise UsageError(f"no test {quote(test)}; give {' or '.join(TESTS)}")
    return t_test(a, b) if test == "t" else randomisation_test(a, b, seed)


def t_test(a: F64, b: F64) -> float:
    """p of the two-sided paired t-test."""
    d = _subtract(a, b)
    if d.size < 2 or not d.any():
        return 1.0
    if d.min() == d.max():
        return 0.0
    if not d.std(ddof=1):  # squares of differences below 1e-154 are 0; t does not depend on the scale
        d = d / np.abs(d).max()
    t = abs(float(d.mean())) / (float(d.std(ddof=1)) / np.sqrt(d.size))
    return float(2 * scipy.special.stdtr(d.size - 1, -t))


def randomisation_test(a: F64, b: F64, seed: int = 0, samples: int = SAMPLES) -> float:
    """p of the two-sided paired randomisation test; the seed matters only where flips are drawn."""
    d = _subtract(a, b)
    few = d.size < 2
    d = d[d != 0]  # flipping a 0 changes no sum
    if few or not d.size:
        return 1.0
    if d.size <= ALL_FLIPS:
        flips = np.arange(1 << d.size)[:, None] >> np.arange(d.size) & 1
        return _count_as_large(d, flips.astype(np.float64) @ d) / len(flips)
    # For every eight differences, the sums of those that each of 256 bytes flips, its highest bit the first.
    eights = np.zeros((-(-d.size // 8), 8))
    eights.ravel()[: d.size] = d
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    sums: F64 = eights @ bits.T.astype(np.float64)
    random, large = np.random.default_rng(seed), 0
    for start in range(0, samples, _BATCH):
        budget.check()
        rows = min(_BATCH, samples - start)
        drawn = random.integers(0, 256, size=(rows, len(sums)), dtype=np.uint8)
        large += _count_as_large(d, sums[np.arange(len(sums)), drawn].sum(axis=1))
    return (1 + large) / (1 + samples)


def _count_as_large(d: F64, flipped: F64) -> int:
    """How many flips give a sum as large as the one without flips; `flipped` are the sums of what each one flips."""
    total = d.sum()
    sums = np.abs(total - 2 * flipped)
    return int(np.count_nonzero(sums >= abs(total) - _ROUNDING * np.abs(d).sum()))


def holm(p: Sequence[float]) -> list[float]:
    """Holm's correction of p-values for their number, in their order."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(1, np.maximum.accumulate(values[order] * np.arange(values.size, 0, -1)))
    return [float(v) for v in corrected]


def compare_with_baseline(
    values: Sequence[F64], baseline: int, test: str | PairedTest = "t", correct: bool = False, seed: int = 0
) -> list[float | None]:
    """p of every system against the baseline; `correct` is Holm's correction over them.

    It is None for the baseline, and where a test that is a function gives NaN.
    """
    measure = test if callable(test) else partial(p_value, test=test, seed=seed)
    found = {i: float(measure(each, values[baseline])) for i, each in enumerate(values) if i != baseline}
    found = {i: p for i, p in found.items() if not math.isnan(p)}
    by_system = dict(zip(found, holm(list(found.values())), strict=True)) if correct else found
    return [by_system.get(i) for i in range(len(values))]


def confidence_interval(values: F64, confidence: float = 0.95) -> tuple[float, float]:
    """The confidence interval of a mean by Student's t; its width is 0 for fewer than two values."""
    if not values.size:
        return 0.0, 0.0
    mean = float(values.mean())
    if values.size < 2:
        return mean, mean
    half = float(
        scipy.special.stdtrit(values.size - 1, (1 + confidence) / 2) * values.std(ddof=1) / np.sqrt(values.size)
    )
    return mean - half, mean + half


def _subtract(a: F64, b: F64) -> F64:
    if a.shape != b.shape or a.ndim != 1:
        raise UsageError(f"a paired test needs one value of each system per query, not {a.size} and {b.size}")
    difference: F64 = a - b
    return difference
