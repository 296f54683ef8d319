"""Voting against its formulas in plain Python, by hand, and at its limits."""

from __future__ import annotations

from math import e, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.worlds import Document, Mention, World, worlds
from fader.contexts.table import Contexts
from fader.errors import UsageError
from fader.rank.ranking import rank_entities
from fader.systems.base import parse_system
from fader.systems.shared.weighting import MODELS
from fader.systems.voting import NORMALISATIONS, TECHNIQUES, Voting, normalise_scores
from systems import voting_oracle
from systems.checks import check_contract
from systems.document_scores import scores_of

every = pytest.mark.parametrize("technique", list(TECHNIQUES))
cutoffs = st.sampled_from([0, 1, 2, 3, 5, 1000])


def values(ranker: Voting, contexts: Contexts) -> dict[int, float]:
    ranking = rank_entities(ranker, contexts, 1000)
    return dict(zip(ranking.entity.tolist(), ranking.score.tolist(), strict=True))


@every
@settings(deadline=None, max_examples=30)
@given(worlds(), st.sampled_from(MODELS), cutoffs, st.sampled_from(NORMALISATIONS))
def test_values_are_the_formula(technique: str, world: World, model: str, cutoff: int, normalise: str) -> None:
    """Of exactly the entities with a document in R."""
    contexts = world.contexts()
    expected = voting_oracle.voting(world, scores_of(contexts, model), technique, cutoff, normalise)
    assert values(Voting(technique, model, cutoff, normalise), contexts) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@every
@settings(deadline=None, max_examples=30)
@given(worlds(), st.sampled_from(MODELS), cutoffs, st.sampled_from(NORMALISATIONS))
def test_the_contract_of_systems_holds(technique: str, world: World, model: str, cutoff: int, normalise: str) -> None:
    """Order, contributions, pieces, what is left."""
    check_contract(Voting(technique, model, cutoff, normalise), world.contexts())


# Three documents that match, a in the first and the third by rank, b in the second; their scores are 3, 2 and 1.
GOLDEN = {
    "votes": (2, 1), "rr": (4 / 3, 1 / 2), "borda": (2, 1), "combmax": (3, 2), "combmin": (1, 2), "combmed": (2, 2),
    "combsum": (4, 2), "combanz": (2, 2), "combmnz": (8, 2), "expcombsum": (log(e**3 + e), 2),
    "expcombanz": (log(e**3 + e) - log(2), 2), "expcombmnz": (log(e**3 + e) + log(2), 2),
}  # fmt: skip


@every
def test_golden(technique: str) -> None:
    """Worked out by hand, with the documents' scores given."""
    mentions = ((Mention(0, 1, 0), Mention(1, 2, 0)), (Mention(0, 1, 1),), (Mention(1, 2, 0),))
    contexts = World(tuple(Document((0, 5), m) for m in mentions), 1).contexts()
    contexts.compute_once(("document scores", "bm25"), lambda: np.array([3.0, 2.0, 1.0]))
    found = values(Voting(technique), contexts)
    assert (found[0], found[1]) == pytest.approx(GOLDEN[technique], rel=1e-12)


@settings(deadline=None)
@given(worlds(), st.sampled_from(MODELS), st.sampled_from(NORMALISATIONS))
def test_one_document_is_all_there_is_to_add(world: World, model: str, normalise: str) -> None:
    """With a cutoff of 1 combmnz and the other sums are combmax, and so are the logarithms of exponentials."""
    contexts = world.contexts()
    best = values(Voting("combmax", model, 1, normalise), contexts)
    for technique in ("combmin", "combmed", "combsum", "combanz", "combmnz", "expcombsum", "expcombanz", "expcombmnz"):
        assert values(Voting(technique, model, 1, normalise), contexts) == pytest.approx(best, rel=1e-12)


@every
@settings(deadline=None, max_examples=30)
@given(worlds(), st.sampled_from(MODELS))
def test_a_cutoff_that_nothing_reaches_is_none(technique: str, world: World, model: str) -> None:
    """As many documents as there are, or 0."""
    contexts = world.contexts()
    assert values(Voting(technique, model, 1000), contexts) == values(Voting(technique, model, 0), contexts)


def test_normalised_scores() -> None:
    """By the largest, or to mean 0 and variance 1; what cannot be normalised stays or is 0."""
    scores = np.array([4.0, 2.0, 0.0])
    assert normalise_scores(scores, "max").tolist() == [1.0, 0.5, 0.0]
    assert normalise_scores(scores, "z").tolist() == pytest.approx([1.5**0.5, 0.0, -(1.5**0.5)])
    assert normalise_scores(-scores, "max").tolist() == [-4.0, -2.0, 0.0]
    assert normalise_scores(np.full(3, 0.1), "z").tolist() == [0.0, 0.0, 0.0]
    assert normalise_scores(np.zeros(0), "z").size == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("voting(technique=combsun)", r'voting: unknown voting technique "combsun"; did you mean'),
        ("voting(model=okapi)", r'voting: unknown weighting model "okapi"; known: bm25'),
        ("voting(cutoff=-1)", "voting: cutoff must be a number of documents, or 0 for all, not -1"),
        ("voting(normalise=sum)", 'voting: normalise must be one of none, max, z, not "sum"'),
    ],
)
def test_bad_parameters_are_refused(text: str, message: str) -> None:
    """With the system, the constraint and the value."""
    with pytest.raises(UsageError, match=message):
        parse_system(text)
