"""Entity maps: their contract, plain loops over small worlds, and cases worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

from contracts.worlds import Document, Mention, World, worlds
from fader.errors import UsageError
from fader.features.noprox import bm25_scores
from fader.registry import discover, parse
from fader.testing import check_entity_map

PACKAGE = "fader.entityfeatures"


def documents_of(world: World, entity: int) -> list[int]:
    return sorted({d for d, m in world.rows if m.entity == entity})


def frequency(world: World, entity: int) -> list[float]:
    df, documents = world.documents_with(entity), len(documents_of(world, entity))
    contexts = sum(m.entity == entity for _d, m in world.rows)
    popularity = math.log1p(df) / math.log1p(len(world.documents))
    return [popularity, math.log(contexts), math.log(documents), math.log(documents / df)]


def votes(world: World, entity: int) -> list[float]:
    contexts = world.contexts()
    score = dict(zip(world.matching, bm25_scores(contexts.statistics, contexts.matching).tolist(), strict=True))
    rank = {d: r for r, d in enumerate(sorted(score, key=lambda d: (-score[d], d)), start=1)}
    own = documents_of(world, entity)
    best = sorted((score[d] for d in own), reverse=True)
    top = [math.log1p(sum(rank[d] <= n for d in own)) for n in (10, 30, 100, 300)]
    sums = [sum(s / i**p for i, s in enumerate(best, start=1)) for p in (0.5, 1, 0)]
    return [math.log(sum(1 / rank[d] for d in own)), *top, *(math.log(1e-6 + s) for s in sums), best[0] / 10]


def share(world: World, t: int) -> float:
    idf = [math.log1p(len(world.documents) / df) if df else 0.0 for df in world.df]
    return idf[t] / sum(idf) if sum(idf) else 0.0


def label(world: World, entity: int) -> list[float]:
    words = world.label(entity)
    has = sum(share(world, t) for t in range(world.literals) if world.has(words, t))
    size = len(set(words))
    return [has, world.hits(words) / size, size / 5, float(entity == 3)]


def kind(world: World, entity: int) -> list[float]:
    has = sum(share(world, t) for t in range(world.literals) if world.has(world.label(entity + 1), t))
    return [float(entity % 2), entity / 5, math.log1p(entity % 3), has]


def article(world: World, entity: int) -> list[float]:
    own = [d for d in world.matching if world.about(d) == entity]
    if not own:
        return [0.0, 0.0, 0.0]
    contexts = world.contexts()
    score = bm25_scores(contexts.statistics, contexts.matching)[world.matching.index(own[0])]
    return [1.0, sum(share(world, t) for t in range(world.literals) if world.tf(own[0], t)), score / 10]


ORACLES: dict[str, Callable[[World, int], list[float]]] = {
    "article": article,
    "frequency": frequency,
    "kind": kind,
    "label": label,
    "votes": votes,
}


def test_every_map_has_an_oracle() -> None:
    """Also one that is added."""
    assert sorted(ORACLES) == sorted(discover(PACKAGE))


@pytest.mark.parametrize("name", ORACLES)
@settings(deadline=None, max_examples=50)
@given(world=worlds())
def test_columns_are_what_the_formula_says(name: str, world: World) -> None:
    """For every entity that has a context, also where it is alone in the table."""
    feature, contexts = parse(PACKAGE, name), world.contexts()
    entities = contexts.groups.entity.tolist()
    expected = np.array([ORACLES[name](world, e) for e in entities]).reshape(len(entities), feature.size)
    found = feature.values(contexts)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    for i, e in enumerate(entities):
        own = contexts.take(np.flatnonzero(contexts.entity == e))
        np.testing.assert_array_equal(feature.values(own), found[i : i + 1])


def test_golden_frequency() -> None:
    """Of 8 documents 4 mention e, two of them with the query's word, three times together."""
    e, found = Mention(0, 1, 0), (Mention(0, 1, 0), Mention(1, 2, 0))
    documents = (Document((0, 9), found), Document((0,), (e,)), *[Document((9,), (e,))] * 2, *[Document((9,), ())] * 4)
    values = parse(PACKAGE, "frequency").values(World(documents, 1).contexts())
    assert values[0] == pytest.approx([math.log(5) / math.log(9), math.log(3), math.log(2), math.log(0.5)])


def test_golden_votes() -> None:
    """The first and the 20th of 20 documents."""
    documents = tuple(
        Document((0, *[9] * n), (Mention(0, 1, 0),) if n in (1, 20) else (Mention(0, 1, 1),)) for n in range(1, 21)
    )
    contexts = World(documents, 1).contexts()
    score = bm25_scores(contexts.statistics, contexts.matching)
    best, last = score.max(), score.min()
    expected = [1.05, 2, 3, 3, 3, best + last / math.sqrt(2), best + last / 2, best + last]
    found = parse(PACKAGE, "votes").values(contexts)[0]
    assert found == pytest.approx([*np.log(expected), best / 10], rel=1e-5)


@pytest.mark.parametrize("name", ORACLES)
def test_a_scale_is_the_spread_within_tables(name: str) -> None:
    """Fitted columns have the spread 1, unless they hardly differ; the text has it; too few scales are refused."""
    documents = tuple(Document((0, *[9] * n), tuple(Mention(0, 1, e) for e in range(n % 4 + 1))) for n in range(1, 9))
    contexts = World(documents, 1).contexts()
    fitted = parse(PACKAGE, name).fit_scale([contexts, contexts])
    spread = fitted.values(contexts).std(axis=0)
    assert spread[spread > 1e-3] == pytest.approx(1)
    assert parse(PACKAGE, str(fitted)) == fitted
    with pytest.raises(UsageError, match="scale must be"):
        parse(PACKAGE, f"{name}(scale=1)")


@pytest.mark.parametrize("name", ORACLES)
def test_the_contract_of_entity_maps_holds(name: str) -> None:
    """Shapes, finite values, entities that do not depend on each other, scales, the text, an empty table."""
    check_entity_map(parse(PACKAGE, name))
