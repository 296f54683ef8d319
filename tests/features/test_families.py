"""Families of columns against plain loops over the tokens of small worlds, and worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

from contracts.worlds import Document, Mention, World, worlds
from fader.errors import UsageError
from fader.features.family import ColumnFamily
from fader.registry import discover, parse

Row = tuple[int, Mention]
FAMILIES = [  # of contexts; columns of entities depend on all of an entity's contexts
    name for name, part in discover("fader.features").items() if issubclass(part, ColumnFamily) and not part.reads_table
]


def idf(world: World, t: int) -> float:
    """ln(1 + N/df)."""
    return math.log1p(len(world.documents) / world.df[t]) if world.df[t] else 0.0


def share(world: World, t: int) -> float:
    """IDF(t) / IDF(q)."""
    whole = sum(idf(world, u) for u in range(world.literals))
    return idf(world, t) / whole if whole else 0.0


def shares(world: World, d: int, m: Mention) -> list[float]:
    """The worlds' queries require nothing."""
    out = [0.0, 0.0, 0.0, 0.0]
    for t in range(world.literals):
        distance = world.distance(d, m, t)
        holds = distance == 0, 0 <= distance <= 100, world.side(d, m, t) < 0, world.tf(d, t) > 0
        out = [o + share(world, t) * h for o, h in zip(out, holds, strict=True)]
    return [*out, 0.5, 1.0]


def windows(world: World, d: int, m: Mention) -> list[float]:
    out = []
    for width in (10, 50):
        total = 0.0
        for t in range(world.literals):
            tf = sum(m.start - width <= s < m.end + width for s in world.starts(d, t))
            total += math.log1p((len(world.documents) - world.df[t] + 0.5) / (world.df[t] + 0.5)) * tf / (tf + 1.2)
        out.append(total)
    return out


def far(m: Mention, token: int) -> int:
    return m.start - token if token < m.start else max(0, token - m.end + 1)


def positional(world: World, d: int, m: Mention) -> list[float]:
    out = []
    for width, mu in ((25, 100), (75, 300), (175, 1000)):
        decay = [math.exp(-(far(m, i) ** 2) / (2 * width**2)) for i in range(len(world.documents[d].tokens))]
        total = 0.0
        for t in range(world.literals):
            if world.cf[t]:
                count = sum(decay[s] for s in world.starts(d, t))
                total += math.log1p(count * world.tokens / world.cf[t] / mu) - math.log1p(sum(decay) / mu)
        out.append(total)
    return out


def adjacency(world: World, d: int, m: Mention) -> list[float]:
    near = document = 0.0
    for t in range(world.literals - 1):
        ends = [(s, s + world.length_of(t)) for s in world.starts(d, t)]
        found = [s for s, e in ends if any(e <= u <= e + 2 for u in world.starts(d, t + 1))]
        both = share(world, t) + share(world, t + 1)
        document += both * bool(found)
        near += both * any(m.start - 50 <= s < m.end + 50 for s in found)
    return [near, document]


def competition(world: World, d: int, m: Mention) -> list[float]:
    nearest = damped = 0.0
    for t in range(world.literals):
        distance = world.distance(d, m, t)
        if distance < 0:
            continue
        token = m.start - distance if world.side(d, m, t) < 0 else m.end + distance - 1
        others = [o for o in world.documents[d].mentions if o is not m and abs(o.start - token) < distance]
        nearest += share(world, t) * (not others)
        damped += share(world, t) / (1 + len(others))
    return [nearest, damped]


def mention(world: World, d: int, m: Mention) -> list[float]:
    document = world.documents[d]
    own = [o for o in document.mentions if o.entity == m.entity]
    return [
        math.log1p(m.start) / 7,
        min(m.end - m.start, 5) / 5,
        math.log(len(document.tokens)) / 7,
        math.log(len({o.entity for o in document.mentions})),
        math.log(len(own)),
        float(m.start == min(o.start for o in own)),
    ]


def sentence(world: World, d: int, m: Mention) -> list[float]:
    starts, length = world.sentence_starts(d), len(world.documents[d].tokens)

    def number(token: int) -> int:
        return sum(start <= token for start in starts) - 1

    own = number(m.start)
    same = sum(share(world, t) for t in range(world.literals) if own in map(number, world.starts(d, t)))
    near = [t for t in range(world.literals) if any(abs(number(s) - own) <= 1 for s in world.starts(d, t))]
    others = [o.start for o in world.documents[d].mentions if number(o.start) == own]
    assert all(0 <= start < max(1, length) for start in starts)
    order = [same, sum(share(world, t) for t in near), float(own == 0)]
    return [*order, float(m.start == min(others)), float(m.start == max(others)), math.log(len(others))]


def title(world: World, d: int, m: Mention) -> list[float]:
    words = world.title(d)
    has = sum(share(world, t) for t in range(world.literals) if world.has(words, t))
    about = float(world.about(d) == m.entity)
    document = sum(share(world, t) for t in range(world.literals) if world.tf(d, t))
    return [has, world.hits(words) / len(set(words)), about, about * document]


ORACLES: dict[str, Callable[[World, int, Mention], list[float]]] = {
    "shares": shares,
    "windows": windows,
    "positional": positional,
    "adjacency": adjacency,
    "competition": competition,
    "mention": mention,
    "sentence": sentence,
    "title": title,
}


def test_every_family_has_an_oracle() -> None:
    """Also one that is added."""
    assert sorted(ORACLES) == FAMILIES


@pytest.mark.parametrize("name", FAMILIES)
@settings(deadline=None, max_examples=50)
@given(world=worlds())
def test_columns_are_what_the_formula_says(name: str, world: World) -> None:
    """By plain loops over tokens and mentions, for every context; rows of a part of the table keep their values."""
    feature, contexts = parse("fader.features", name), world.contexts()
    expected = np.array([ORACLES[name](world, d, m) for d, m in world.rows]).reshape(len(world.rows), feature.size)
    np.testing.assert_allclose(feature.values(contexts), expected, rtol=1e-9, atol=1e-12)
    some = np.arange(0, len(contexts), 2)
    for taken in (world.contexts().take(some), world.contexts().take(some, compact=True)):
        np.testing.assert_array_equal(feature.values(taken), feature.values(contexts)[some])


def values(name: str, documents: tuple[Document, ...], literals: int) -> list[list[float]]:
    found: list[list[float]] = parse("fader.features", name).values(World(documents, literals).contexts()).tolist()
    return found


def test_golden_shares() -> None:
    """Two literals of equal IDF, one inside the mention, the other 30 tokens to the right."""
    document = Document((0, *[9] * 29, 1), (Mention(0, 1, 0),))
    assert values("shares", (document,), 2) == [[0.5, 1.0, 0.0, 1.0, 0.5, 1.0]]


def test_golden_windows() -> None:
    """N = 4, df = 1 and one occurrence 5 tokens away."""
    documents = (Document((0, 9, 9, 9, 9, 9), (Mention(5, 6, 0),)), *[Document((9,), ())] * 3)
    assert values("windows", documents, 1) == [[pytest.approx(math.log1p(3.5 / 1.5) / 2.2)] * 2]


def test_golden_positional() -> None:
    """A document that is the mention and a literal behind it."""
    found = values("positional", (Document((9, 0), (Mention(0, 1, 0),)),), 1)[0]
    near = [math.exp(-1 / (2 * width**2)) for width in (25, 75, 175)]
    sizes = zip(near, (100, 300, 1000), strict=True)
    assert found == pytest.approx([math.log1p(2 * k / mu) - math.log1p((1 + k) / mu) for k, mu in sizes])


def test_golden_adjacency() -> None:
    """Side by side in the order of the query, or not."""
    assert values("adjacency", (Document((0, 1, 9), (Mention(2, 3, 0),)),), 2) == [[1.0, 1.0]]
    assert values("adjacency", (Document((1, 0, 9), (Mention(2, 3, 0),)),), 2) == [[0.0, 0.0]]


def test_golden_competition() -> None:
    """`a b wine c`: b and c stand next to the word, a has both before it."""
    mentions = (Mention(0, 1, 0), Mention(1, 2, 1), Mention(3, 4, 2))
    expected = [[0.0, pytest.approx(1 / 3)], [1.0, 1.0], [1.0, 1.0]]
    assert values("competition", (Document((7, 8, 0, 9), mentions),), 1) == expected


def test_golden_sentence() -> None:
    """`beta alpha. epsilon f` for alpha and beta: epsilon begins the second sentence, and e is mentioned there."""
    document = Document((0, 0, 4, 9), (Mention(2, 3, 0), Mention(3, 4, 1)))
    assert values("sentence", (document,), 1)[0] == pytest.approx([0, 1, 0, 1, 0, math.log(2)])


def test_golden_title() -> None:
    """Two words, of which one is the query's."""
    document = Document((9, 0, 8), (Mention(2, 3, 1),))
    assert values("title", (document,), 1)[0] == [1.0, 0.5, 1.0, 1.0]


def test_golden_mention() -> None:
    """8 tokens, e at 0 and 3, f at 6."""
    document = Document((0, *[9] * 7), (Mention(0, 1, 0), Mention(3, 4, 0), Mention(6, 7, 1)))
    expected = [math.log(4) / 7, 0.2, math.log(8) / 7, math.log(2), math.log(2), 0.0]
    assert values("mention", (document,), 1)[1] == pytest.approx(expected)


def test_a_scale_divides_and_is_the_spread_of_tables() -> None:
    """Two tables whose columns differ: fitted values have the spread 1; a scale that does not fit is refused."""
    documents = tuple(Document((0, *[9] * n), (Mention(n, n + 1, 0),)) for n in (1, 4, 9, 20))
    contexts = World(documents, 1).contexts()
    plain = parse("fader.features", "positional")
    fitted = plain.fit_scale([contexts])
    assert fitted.values(contexts).std(axis=0) == pytest.approx([1, 1, 1])
    assert fitted.values(contexts) * np.array(fitted.scale) == pytest.approx(plain.values(contexts))
    assert parse("fader.features", str(fitted)) == fitted
    with pytest.raises(UsageError, match="scale must be 3 numbers above 0"):
        parse("fader.features", "positional(scale=1/0/2)")
