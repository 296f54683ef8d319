"""Weighting models and voting techniques in plain Python, from their formulas."""

from __future__ import annotations

from math import exp, log, log2, pi, sqrt
from statistics import fmean, median, pstdev

from contracts.worlds import World


def idf(world: World, t: int) -> float:
    return log(1 + len(world.documents) / world.df[t]) if world.df[t] else 0.0


def bm25(world: World, d: int) -> float:
    N, average, length = len(world.documents), world.tokens / len(world.documents), len(world.documents[d].tokens)
    total = 0.0
    for t in range(world.literals):
        tf, df = world.tf(d, t), world.df[t]
        if tf:
            weight = log(1 + (N - df + 0.5) / (df + 0.5))
            total += weight * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / average))
    return total


def dirichlet(world: World, d: int) -> float:
    mu = world.tokens / len(world.documents)
    return sum(
        log(1 + world.tf(d, t) / (mu * world.cf[t] / world.tokens)) for t in range(world.literals) if world.tf(d, t)
    )


def tfidf(world: World, d: int) -> float:
    tokens = world.documents[d].tokens
    square = sum(tokens.count(w) ** 2 for w in set(tokens))
    query = sum(idf(world, t) ** 2 for t in range(world.literals))
    return sum(world.tf(d, t) * idf(world, t) for t in range(world.literals)) / sqrt(square * query)


def pl2(world: World, d: int) -> float:
    """As Terrier writes it."""
    N, average, length = len(world.documents), world.tokens / len(world.documents), len(world.documents[d].tokens)
    total = 0.0
    for t in range(world.literals):
        if world.tf(d, t):
            n, f = world.tf(d, t) * log2(1 + average / length), world.cf[t] / N
            total += (n * log2(1 / f) + f * log2(exp(1)) + 0.5 * log2(2 * pi * n) + n * (log2(n) - log2(exp(1)))) / (
                n + 1
            )
    return total


SCORES = {"bm25": bm25, "dirichlet": dirichlet, "tfidf": tfidf, "pl2": pl2}


def normalised(scores: list[float], how: str) -> list[float]:
    if how == "max" and max(scores) > 0:
        return [s / max(scores) for s in scores]
    if how == "z":
        deviation = pstdev(scores)
        flat = deviation <= 1e-9 * max(abs(s) for s in scores)
        return [0.0 if flat else (s - fmean(scores)) / deviation for s in scores]
    return scores


def value(technique: str, scores: list[float], ranks: list[int], n: int) -> float:
    """Of one entity, from the scores and ranks of its documents in R."""
    votes = len(scores)
    plain = {
        "votes": lambda: votes,
        "rr": lambda: sum(1 / r for r in ranks),
        "borda": lambda: sum(n - r for r in ranks),
        "combmax": lambda: max(scores),
        "combmin": lambda: min(scores),
        "combmed": lambda: median(scores),
        "combsum": lambda: sum(scores),
        "combanz": lambda: sum(scores) / votes,
        "combmnz": lambda: votes * sum(scores),
        "expcombsum": lambda: log(sum(exp(s) for s in scores)),
        "expcombanz": lambda: log(sum(exp(s) for s in scores) / votes),
        "expcombmnz": lambda: log(sum(exp(s) for s in scores) * votes),
    }
    return float(plain[technique]())


def voting(
    world: World, scores: dict[int, float], technique: str, cutoff: int, normalise: str = "none"
) -> dict[int, float]:
    """Values of the entities with a document in R, given the scores of the matching documents."""
    ranked = sorted(scores, key=lambda d: (-scores[d], d))[: cutoff or None]
    if not ranked:
        return {}
    used = dict(zip(ranked, normalised([scores[d] for d in ranked], normalise), strict=True))
    found = {}
    for e in {m.entity for d in ranked for m in world.documents[d].mentions}:
        mine = [(r, d) for r, d in enumerate(ranked, 1) if any(m.entity == e for m in world.documents[d].mentions)]
        found[e] = value(technique, [used[d] for _r, d in mine], [r for r, _d in mine], len(ranked))
    return found
