"""Every aggregator as its formula, in decimal numbers of 80 digits: slow, plain, and importing nothing of Fader.

`V` is what is trained, `VALUE` what entities are ranked by, `SHARE` how that is split; each takes the scores of one
entity. Differences of `V` over a tiny step are its derivatives to more digits than a double has.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext

Scores = list[Decimal]
HALF = Decimal("0.5")
POWER = Decimal("0.25")
DECAY = [Decimal(d) for d in ("1", "0.75", "0.75", "0.5", "0.25", "0.25", "0.125", "0", "0", "0")]


def tangent(log: Decimal) -> Decimal:
    return log.exp() if log <= 200 else Decimal(200).exp() * (1 + log - 200)


def exps(a: Scores) -> Decimal:
    return sum((x.exp() for x in a), Decimal(0))


def none_is_evidence(a: Scores) -> Decimal:
    chance = Decimal(1)
    for x in a:
        chance *= 1 - 1 / (1 + (-x).exp())
    return chance


def cut_off(a: Scores) -> Scores:
    best_first = sorted(range(len(a)), key=lambda i: (-a[i], i))
    return [a[i] * DECAY[10 * best_first.index(i) // len(a)] for i in range(len(a))]


def at_first(a: Scores, wanted: Decimal) -> Scores:
    return [x if i == a.index(wanted) else Decimal(0) for i, x in enumerate(a)]


def median(a: Scores) -> Decimal:
    inside = sorted(a)
    while len(inside) > 2:
        inside = inside[1:-1]
    return sum(inside, Decimal(0)) / len(inside)


def clipped(a: Scores) -> Scores:
    return [max(x, Decimal(0)) for x in a]


def in_proportion(a: Scores, whole: Decimal) -> Scores:
    return [whole * x.exp() / exps(a) for x in a]


def log_mean(a: Scores, share: Decimal) -> Decimal:
    return exps(a).ln() - share * Decimal(len(a)).ln()


VALUE: dict[str, Callable[[Scores], Decimal]] = {
    "average": lambda a: sum(a) / Decimal(len(a)),
    "count": lambda a: Decimal(len(a)),
    "expanz": lambda a: (exps(a) / len(a)).ln(),
    "expmnz": lambda a: (len(a) * exps(a)).ln(),
    "logmean": lambda a: log_mean(a, HALF),
    "logmean(1)": lambda a: (exps(a) / len(a)).ln(),
    "logmean(-1)": lambda a: (exps(a) * len(a)).ln(),
    "logsumexp": lambda a: exps(a).ln(),
    "max": max,
    "median": median,
    "min": min,
    "mixture": lambda a: (exps(a).ln() + max(a) + sum(a, Decimal(0))) / 3,
    "mixture(of=min/sum,weights=2/0.5)": lambda a: 2 * min(a) + sum(a, Decimal(0)) / 2,
    "mnz": lambda a: len(a) * sum(a, Decimal(0)),
    "softcount": lambda a: sum(((1 + x).ln() for x in clipped(a)), Decimal(0)),
    "softcount(form=power,p=0.25)": lambda a: sum((x**POWER for x in clipped(a)), Decimal(0)),
    "softcutoff": lambda a: sum(a, Decimal(0)),
    "softcutoff(decay=1/0.75/0.75/0.5/0.25/0.25/0.125/0/0/0)": lambda a: sum(cut_off(a), Decimal(0)),
    "softmax": lambda a: exps(a).ln(),
    "softor": lambda a: -none_is_evidence(a).ln(),
    "sum": lambda a: sum(a, Decimal(0)),
}
V: dict[str, Callable[[Scores], Decimal]] = {
    **VALUE,
    "expanz": lambda a: tangent(VALUE["expanz"](a)),
    "expmnz": lambda a: tangent(VALUE["expmnz"](a)),
    "softmax": lambda a: tangent(VALUE["softmax"](a)),
    "softor": lambda a: 1 - none_is_evidence(a),
}
SHARE: dict[str, Callable[[Scores], Scores]] = {
    "average": lambda a: [x / len(a) for x in a],
    "count": lambda a: [Decimal(1) for _ in a],
    "expanz": lambda a: in_proportion(a, VALUE["expanz"](a)),
    "expmnz": lambda a: in_proportion(a, VALUE["expmnz"](a)),
    "logmean": lambda a: in_proportion(a, VALUE["logmean"](a)),
    "logmean(1)": lambda a: in_proportion(a, VALUE["logmean(1)"](a)),
    "logmean(-1)": lambda a: in_proportion(a, VALUE["logmean(-1)"](a)),
    "logsumexp": lambda a: in_proportion(a, VALUE["logsumexp"](a)),
    "max": lambda a: at_first(a, max(a)),
    "min": lambda a: at_first(a, min(a)),
    "mixture": lambda a: [
        (x + y + z) / 3 for x, y, z in zip(in_proportion(a, VALUE["logsumexp"](a)), at_first(a, max(a)), a, strict=True)
    ],
    "mixture(of=min/sum,weights=2/0.5)": lambda a: [2 * x + y / 2 for x, y in zip(at_first(a, min(a)), a, strict=True)],
    "mnz": lambda a: [len(a) * x for x in a],
    "softcount": lambda a: [(1 + x).ln() for x in clipped(a)],
    "softcount(form=power,p=0.25)": lambda a: [x**POWER for x in clipped(a)],
    "softcutoff": lambda a: list(a),
    "softcutoff(decay=1/0.75/0.75/0.5/0.25/0.25/0.125/0/0/0)": cut_off,
    "softmax": lambda a: in_proportion(a, VALUE["softmax"](a)),
    "softor": lambda a: [(1 + x.exp()).ln() for x in a],
    "sum": lambda a: list(a),
}


def evaluate(function: Callable[[Scores], Decimal], scores: list[float]) -> float:
    """The value of a formula at doubles, rounded once."""
    with localcontext(prec=80):
        return float(function([Decimal(s) for s in scores]))


def shares(name: str, scores: list[float]) -> list[float]:
    """The shares of one entity's contexts."""
    with localcontext(prec=80):
        return [float(s) for s in SHARE[name]([Decimal(s) for s in scores])]


def slopes(name: str, scores: list[float]) -> list[float]:
    """dV/da_x for every context, where V has no kink within the step."""
    step = Decimal("1e-20")
    with localcontext(prec=80):
        a = [Decimal(s) for s in scores]
        moved = [([*a[:i], x + step, *a[i + 1 :]], [*a[:i], x - step, *a[i + 1 :]]) for i, x in enumerate(a)]
        return [float((V[name](ahead) - V[name](behind)) / (2 * step)) for ahead, behind in moved]
