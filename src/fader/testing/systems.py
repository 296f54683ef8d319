"""The contract of systems (`fader.rank.system`) and learners, on small worlds that are given or drawn by a seed."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.errors import UsageError
from fader.learn.learner import Learner, encode_example
from fader.learn.model import Model
from fader.learn.modelfile import ModelScope, parse_file
from fader.rank.ranking import explain_entity, rank_entities, rank_without
from fader.rank.system import Ranking, System
from fader.testing.expect import expect, expect_close
from fader.testing.parts import check_part
from fader.testing.worlds import ENTITIES, Document, Mention, World, draw_world

SEEDS = range(12)
ALL = 1000
# A world with a context whatever else is drawn.
SURE = Document((5, 0, 6, 1), (Mention(0, 1, 3), Mention(2, 3, 1)))


def check_system(system: System) -> None:
    """Run the whole contract on a system; AssertionError says what does not hold.

    It parses back and describes itself; a learner refuses to rank before it is trained, learns the same twice and from
    what it keeps of a query; entities are ordered by value, then id; k cuts; shares, literals and pieces add up;
    without a context the rank is that of a table without it; no contexts give no ranking; its file reads back.
    """
    check_part(system)
    check_description(system)
    if isinstance(system, Learner):
        check_learner(system)
        system = train_learner(system)
    check_empty(system)
    check_file(system)
    for seed in SEEDS:
        world = draw_world(seed, literals=1 + seed % 4)
        sure = World((*world.documents, SURE), world.literals)
        check_ranking(system, world)
        check_support(system, world)
        check_cut(system, world, 1 + seed % 9)
        check_explanations(system, world, 1 + seed % 9)
        check_without(system, sure, seed)
        check_pieces(system, sure, seed)


def train_learner(learner: Any) -> Any:
    """A learner fitted to three small worlds, in which entities of even numbers are good."""
    grades: dict[Hashable, int] = {e: int(e % 2 == 0) for e in range(ENTITIES)}
    draw = np.random.default_rng(0)
    return learner.fit([encode_example(learner, draw_world(s).contexts(), grades, draw) for s in range(3)], seed=0)


def columns_of(world: World) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Entity and document of each context."""
    entity = np.array([m.entity for _d, m in world.rows], dtype=np.int32)
    return entity, np.array([d for d, _m in world.rows], dtype=np.int32)


def list_rows(ranking: Ranking) -> list[tuple[int, float, int]]:
    """Entity, score and support, best first."""
    columns = (ranking.entity.tolist(), ranking.score.tolist(), ranking.support.tolist())
    return list(zip(*columns, strict=True))


def leaves_out(system: System) -> bool:
    """Whether a system ranks only what its best documents mention, or counts the best contexts of an entity alone."""
    return not {"cutoff", "contexts"}.isdisjoint(f.name for f in dataclasses.fields(system))  # type: ignore[arg-type]


def check_description(system: System) -> None:
    """One line, a citation that is a text, and values worth trying of parameters that there are."""
    cls = type(system)
    names = {f.name for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    expect((cls.__doc__ or "").split("\n")[0].strip(), f"{cls.__name__} has no line that describes it")
    expect(isinstance(cls.citation, str), "the citation is no text")
    expect(set(cls.tries) <= names, "`tries` names a parameter that there is not")


def check_ranking(system: System, world: World) -> None:
    """Candidates, each once: scores never rise, of equal scores the larger id comes first; twice the same."""
    contexts = world.contexts()
    ranking = rank_entities(system, contexts, ALL)
    found = list_rows(ranking)
    expect(found == sorted(found, key=lambda row: (-row[1], -row[0])), "entities are not ordered by score, then id")
    entities, candidates = [row[0] for row in found], set(columns_of(world)[0].tolist())
    expect(len(set(entities)) == len(entities), "an entity is ranked twice")
    expect(set(entities) <= candidates, "an entity is ranked that has no context")
    expect(set(entities) == candidates or leaves_out(system), "a candidate is not ranked")
    expect(ranking.candidates == len(found), "another number of candidates than are ranked")
    expect(np.isfinite(ranking.score), "a score is not finite")
    expect(list_rows(rank_entities(system, contexts, ALL)) == found, "ranking twice is not the same")


def check_support(system: System, world: World) -> None:
    """|S_e|: an entity's mentions under the policy mention, its documents under the policy document."""
    entities, document = columns_of(world)
    by_document = getattr(system, "policy", "document") == "document"
    places = document if by_document else np.arange(entities.size)
    for entity, _score, support in list_rows(rank_entities(system, world.contexts(), ALL)):
        every = len(set(places[entities == entity].tolist()))
        right = support == every or (support < every and leaves_out(system))
        expect(right, f"an entity with {every} {'documents' if by_document else 'mentions'} has the support {support}")


def check_cut(system: System, world: World, k: int) -> None:
    """The first k of the whole ranking, bit for bit; the candidates are still all counted."""
    whole, head = (rank_entities(system, world.contexts(), n) for n in (ALL, k))
    expect(list_rows(head) == list_rows(whole)[:k], f"the first {k} are not those of the whole ranking")
    expect(head.candidates == whole.candidates, "k changes the number of candidates")


def check_explanations(system: System, world: World, k: int) -> None:
    """Shares of an entity's own contexts make its score, and shares of literals make each of them."""
    contexts, entities = world.contexts(), columns_of(world)[0]
    ranking = rank_entities(system, contexts, k)
    for i, (entity, score, support) in enumerate(list_rows(ranking)):
        parts = explain_entity(system, contexts, ranking, i)
        expect(parts.row.size == support == len(set(parts.row.tolist())), "another number of contexts than the support")
        expect(entities[parts.row] == entity, "a context of another entity explains the score")
        expect_close(parts.share.sum(), score, "shares of contexts do not add up to the score")
        expect(parts.literal.shape == (world.literals, support), "shares of literals have another shape")
        expect_close(parts.literal.sum(axis=0), parts.share, "shares of literals do not add up to that of the context")
        expect(parts.literal[contexts.distances[:, parts.row] < 0] == 0, "a literal that is absent gets a share")


def check_without(system: System, world: World, pick: int) -> None:
    """Without a context the score and rank are those of a table that never had the row; none for the only one."""
    contexts = world.contexts()
    ranking = rank_entities(system, contexts, ALL)
    i = pick % ranking.entity.size
    rows = explain_entity(system, contexts, ranking, i).row
    row = int(rows[pick % rows.size])
    found = rank_without(system, contexts, ranking, i, row)
    left = list_rows(rank_entities(system, contexts.take(np.delete(np.arange(len(contexts)), row)), ALL))
    expected = [(n, score) for n, (e, score, _s) in enumerate(left, 1) if e == ranking.entity[i]]
    same = (found.rank, found.score) == (expected[0] if expected else (None, None))
    expect(same, "the rank without a context is not that of a table without it; see `values_are_independent`")


def check_pieces(system: System, world: World, pick: int) -> None:
    """Feature cells make the score of a context."""
    contexts = world.contexts()
    ranking = rank_entities(system, contexts, ALL)
    parts = explain_entity(system, contexts, ranking, pick % ranking.entity.size)
    x = pick % parts.row.size
    pieces = system.pieces(contexts, int(parts.row[x]))
    expect_close(sum(piece.value for piece in pieces), parts.score[x], "pieces do not add up to the context's score")


def check_empty(system: System) -> None:
    """An empty table is no error."""
    for literals in (1, 3):
        ranking = rank_entities(system, World((), literals).contexts(), 10)
        expect(list_rows(ranking) == [] and ranking.candidates == 0, "no contexts give a ranking")


def check_file(system: System) -> None:
    """The system in a model file is the system."""
    text = Model(system, ModelScope({"stemmer": None}, None, True, {"queries": 3})).to_text()
    plain = parse_file(text, "model.json")
    given = {key: tuple(v) if isinstance(v, list) else v for key, v in plain["parameters"].items()}
    expect(plain["system"] == system.name, "the model file is of another system")
    expect(type(system)(**given) == system, "the system does not survive its model file")


def check_learner(learner: Any) -> None:
    """It refuses to rank untrained; training twice is the same; what it keeps of a query is enough to rank it."""
    try:
        rank_entities(learner, World((), 1).contexts(), 10)
    except UsageError as error:
        expect("must be trained" in str(error), f"an untrained learner refuses to rank with {error}")
    else:
        raise AssertionError("an untrained learner ranks")
    fitted = train_learner(learner)
    expect(fitted.is_fitted and not learner.is_fitted, "`is_fitted` is wrong before or after training")
    expect(fitted == train_learner(learner), "training twice is not the same")
    for seed in (5, 6):
        contexts = draw_world(seed).contexts()
        query, ranking = fitted.encode(contexts), rank_entities(fitted, contexts, ALL)
        expect(query.entity.tolist() == contexts.groups.entity.tolist(), "`encode` has other candidates")
        values, places = fitted.values_of(query), np.searchsorted(query.entity, ranking.evidence.entity)
        expect_close(values[places], ranking.values, "`values_of` are not the values by which it ranks")
        some = np.arange(0, query.entity.size, 2)
        thin = fitted.take_candidates(query, some)
        expect(thin.entity.tolist() == query.entity[some].tolist(), "`take_candidates` has other candidates")
        expect_close(fitted.values_of(thin), values[some], "values depend on which other candidates there are")
