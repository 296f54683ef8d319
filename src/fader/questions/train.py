"""Train an interpreter from judged questions alone: no one says which type was meant.

Per question: features phi of its candidate readings, members e in t_z, a value V(e) of each candidate entity, and which
entities are good. With s(e) as in `mixture`, each good entity is set against all bad ones:

    L = 1/|Q| sum_q 1/|G_q| sum_{g in G_q} [ ln(exp s(g) + sum_{b bad} exp s(b)) - s(g) ] + lam/2 |w - w_0|^2

    d s(e) / d weights = sum_z (r(z|e) - p(z)) phi_z        d s(e) / d b = V(e)

Knows nothing of where values come from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fader.learn.interpreter import START, Associations, Interpreter
from fader.questions.mixture import score_mixture, share_readings
from fader.questions.reader import softmax

F64 = NDArray[np.float64]
LAMBDA = 0.01
ASKS = "asks:"  # how a hint by a question word begins
LEAST_QUESTIONS = 3.0  # with a hint before its associations are kept
LEAST_SHARE = 0.02  # of the questions with a hint


@dataclass(frozen=True)
class QuestionData:
    """One judged question as arrays: (readings, features), (entities, readings), and per entity value and grade."""

    phi: F64
    member: NDArray[np.bool_]
    values: F64
    good: NDArray[np.bool_]


def measure_loss(
    parameters: F64, questions: Sequence[QuestionData], lam: float = LAMBDA, start: F64 | None = None
) -> tuple[float, F64]:
    """The loss and its gradient; parameters are the weights, then the temperature, and `start` is w_0."""
    away = parameters - (np.array([*START, 1.0]) if start is None else start)
    loss, gradient = 0.5 * lam * float(away @ away), lam * away
    for data in questions:
        value, slope = _measure_question(parameters, data)
        loss, gradient = loss + value / len(questions), gradient + slope / len(questions)
    return loss, gradient


def _measure_question(parameters: F64, data: QuestionData) -> tuple[float, F64]:
    probability = softmax(data.phi @ parameters[:-1])
    scores = score_mixture(data.values, data.member, probability, parameters[-1])
    scores = np.maximum(scores, -1e6)  # an entity that no reading covers
    good, bad = scores[data.good], scores[~data.good]
    top = scores.max()
    rest = np.exp(bad - top).sum()
    own = np.exp(good - top)
    loss = float((np.log(own + rest) + top - good).mean())
    weight = np.zeros(scores.size)
    weight[data.good] = (own / (own + rest) - 1.0) / good.size
    weight[~data.good] = np.exp(bad - top) * (1.0 / (own + rest)).sum() / good.size
    along = weight @ share_readings(data.member, probability) - weight.sum() * probability
    return loss, np.append(along @ data.phi, weight @ data.values)


def fit_weights(interpreter: Interpreter, questions: Sequence[QuestionData], lam: float = LAMBDA) -> Interpreter:
    """The interpreter with the weights and the temperature that fit some judged questions, not far from its own."""
    from scipy.optimize import minimize  # heavy: only training needs it

    usable = [data for data in questions if data.good.any() and not data.good.all()]
    if not usable:
        return interpreter
    start = np.array([*interpreter.weights, interpreter.temperature])
    bounds = [(None, None)] * len(START) + [(0.05, None)]
    found = minimize(
        measure_loss,
        start,
        (usable, lam, start),
        "L-BFGS-B",
        jac=True,
        bounds=bounds,
        options={"maxiter": 200},
    )
    return replace(interpreter, weights=tuple(found.x[:-1].tolist()), temperature=float(found.x[-1]))


def count_associations(hints: Sequence[Sequence[str]], shares: Sequence[dict[str, float]]) -> Associations:
    """Associations of some questions: their hints, and for each the share of its good entities below each name."""
    questions: dict[str, float] = defaultdict(float)
    names: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for each, share in zip(hints, shares, strict=True):
        for hint in each:
            questions[hint] += 1.0
            for name, amount in share.items():
                names[hint][name] += amount
    return Associations(dict(questions), {hint: dict(table) for hint, table in names.items()})


def keep_telling(given: Associations, shares: Sequence[dict[str, float]]) -> Associations:
    """Of question words only what they say beyond all questions of the same index: those of a hint with the share s of
    a name, which all have with the share c, count by (s - c) / (1 - c). Where every question asks for drugs, "which"
    tells nothing, and elsewhere it must not stand for drugs.
    """
    common: dict[str, float] = defaultdict(float)
    for share in shares:
        for name, amount in share.items():
            common[name] += amount / len(shares)
    names = {}
    for hint, table in given.names.items():
        count = given.questions[hint]
        own = {
            name: count * (amount / count - common[name]) / (1.0 - common[name])
            for name, amount in table.items()
            if amount / count > common[name] and common[name] < 1.0
        }
        names[hint] = own if hint.startswith(ASKS) else table
    return Associations(given.questions, names)


def add_associations(one: Associations, other: Associations) -> Associations:
    """Those of both together."""
    questions = dict(one.questions)
    names = {hint: dict(table) for hint, table in one.names.items()}
    for hint, count in other.questions.items():
        questions[hint] = questions.get(hint, 0.0) + count
        table = names.setdefault(hint, {})
        for name, amount in other.names.get(hint, {}).items():
            table[name] = table.get(name, 0.0) + amount
    return Associations(questions, names)


def prune_associations(given: Associations) -> Associations:
    """Without rare hints and weak names, to be shipped."""
    kept = {hint: count for hint, count in sorted(given.questions.items()) if count >= LEAST_QUESTIONS}
    names = {
        hint: {
            name: round(amount, 3)
            for name, amount in sorted(given.names.get(hint, {}).items())
            if amount >= max(1.0, LEAST_SHARE * count)
        }
        for hint, count in kept.items()
    }
    return Associations(kept, names)
