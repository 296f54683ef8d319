"""Language models over a `World` in plain Python, as the formulas say, and checks that all their systems share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contracts.worlds import Document, Mention, World
from fader.rank.ranking import explain_entity, rank_entities, rank_without

# `alpha x x x`, which mentions 1, and `alpha alpha`, which mentions 1 and 2; the query is alpha.
GOLDEN = World((Document((0, 5, 5, 5), (Mention(1, 2, 1),)), Document((0, 0), (Mention(1, 2, 1), Mention(1, 2, 2)))), 1)

Shares = Callable[[World, int, Mention, int], float]


def near(value: float) -> Any:
    """Equal to 1e-9."""
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def known(world: World) -> list[int]:
    return [t for t in range(world.literals) if world.cf[t]]


def background(world: World, t: int) -> float:
    return world.cf[t] / world.tokens


def entities(world: World) -> list[int]:
    return sorted({m.entity for _d, m in world.rows})


def documents_of(world: World, entity: int) -> list[int]:
    return sorted({d for d, m in world.rows if m.entity == entity})


def mentions_of(world: World, document: int, entity: int) -> list[Mention]:
    return [m for m in world.documents[document].mentions if m.entity == entity]


def length(world: World, document: int) -> int:
    return len(world.documents[document].tokens)


def named(world: World, document: int) -> int:
    return len({m.entity for m in world.documents[document].mentions})


def frequency(world: World, document: int, entity: int) -> float:
    idf = math.log(1 + len(entities(world)) / named(world, document))
    return len(mentions_of(world, document, entity)) * idf


def whole_document(world: World, document: int, mention: Mention, t: int) -> float:
    return world.tf(document, t) / length(world, document)


def windows(*sizes: int) -> Shares:
    """The mean over window sizes of the share of tokens within each; 0 is the whole document."""

    def share(world: World, document: int, mention: Mention, t: int) -> float:
        found = []
        for w in sizes:
            low, high = max(0, mention.start - w), min(length(world, document), mention.end + w)
            if w == 0:
                low, high = 0, length(world, document)
            inside = [s for s in world.starts(document, t) if low <= s and s + world.length_of(t) <= high]
            found.append(len(inside) / (high - low))
        return sum(found) / len(found)

    return share


def token_distance(mention: Mention, i: int) -> int:
    if i < mention.start:
        return mention.start - i
    return 0 if i < mention.end else i - mention.end + 1


def decay(shape: str, width: float, distance: int) -> float:
    """k(l)."""
    r = distance / width
    if shape == "constant":
        return 1.0
    if shape == "gaussian":
        return math.exp(-r * r / 2)
    if r > 1:
        return 0.0
    shapes = {
        "triangle": 1 - r,
        "cosine": (1 + math.cos(math.pi * r)) / 2,
        "circle": math.sqrt(1 - r * r),
        "step": 1.0,
        "passage": 1.0,
    }
    return shapes[shape]


def kernel_sums(world: World, document: int, mention: Mention, t: int, shape: str, width: float) -> tuple[float, float]:
    """c'(t, x) and Z(x), token by token."""
    starts = world.starts(document, t)
    k = [decay(shape, width, token_distance(mention, i)) for i in range(length(world, document))]
    return sum(k[i] for i in starts), sum(k)


def pair_share(world: World, document: int, entity: int, t: int, shares: Shares) -> float:
    """p(t|d, e): the mean over the mentions of e in d."""
    mentions = mentions_of(world, document, entity)
    return sum(shares(world, document, m, t) for m in mentions) / len(mentions)


def candidate_model(
    world: World, beta: float, shares: Shares, association: Callable[[int, int], float]
) -> dict[int, float]:
    """ln p(q|e) of model 1, by entity; `association(d, e)` is p(d|e)."""
    tokens = {e: sum(length(world, d) for d in documents_of(world, e)) for e in entities(world)}
    values = {}
    for e in entities(world):
        b = beta or sum(tokens.values()) / len(tokens)
        lam, product = b / (b + tokens[e]), 1.0
        for t in known(world):
            p = sum(pair_share(world, d, e, t, shares) * association(d, e) for d in documents_of(world, e))
            product *= (1 - lam) * p + lam * background(world, t)
        values[e] = math.log(product)
    return values


def uniform(world: World) -> Callable[[int, int], float]:
    return lambda d, e: 1 / len(documents_of(world, e))


def ranked_values(system: Any, world: World) -> dict[int, float]:
    """What the system makes of it, by entity."""
    ranking = rank_entities(system, world.contexts(), 1000)
    return dict(zip(ranking.entity.tolist(), ranking.score.tolist(), strict=True))


def check_contract(system: Any, world: World) -> None:
    """Order, support, shares, pieces and `without` go together."""
    contexts = world.contexts()
    ranking = rank_entities(system, contexts, 1000)
    assert sorted(ranking.entity.tolist()) == entities(world)
    pairs = list(zip(ranking.score.tolist(), ranking.entity.tolist(), strict=True))
    assert pairs == sorted(pairs, reverse=True)
    assert np.isfinite(ranking.score).all()
    for i, (score, entity) in enumerate(pairs):
        parts = explain_entity(system, contexts, ranking, i)
        assert parts.row.size == ranking.support[i]
        assert {world.rows[x][1].entity for x in parts.row.tolist()} == {entity}
        if getattr(system, "policy", "document") == "document":
            assert sorted(world.rows[x][0] for x in parts.row.tolist()) == documents_of(world, entity)
        assert parts.share.sum() == near(score)
        assert parts.literal.sum(axis=0) == near(parts.share)
        assert (parts.literal[contexts.distances[:, parts.row] < 0] == 0).all()
        x = i % parts.row.size
        pieces = system.pieces(contexts, int(parts.row[x]))
        assert sum(piece.value for piece in pieces) == near(parts.score[x])
        row = int(parts.row[x])
        found = rank_without(system, contexts, ranking, i, row)
        assert (found.rank, found.score) == rank_and_score(system, without_row(world, row), entity)


def without_row(world: World, row: int) -> World:
    """The world in which the mention of one context was never made."""
    document = world.rows[row][0]
    place = sum(d == document for d, _m in world.rows[:row])
    old = world.documents[document]
    new = replace(old, mentions=old.mentions[:place] + old.mentions[place + 1 :])
    return World((*world.documents[:document], new, *world.documents[document + 1 :]), world.literals)


def rank_and_score(system: Any, world: World, entity: int) -> tuple[int | None, float | None]:
    """Where an entity stands, and with what; none where it is no candidate."""
    ranking = rank_entities(system, world.contexts(), 1000)
    listed = zip(ranking.entity.tolist(), ranking.score.tolist(), strict=True)
    return next(((n, score) for n, (e, score) in enumerate(listed, 1) if e == entity), (None, None))
