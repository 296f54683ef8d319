"""Petkova & Croft's kernel language model against its formula, evaluated naively."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.worlds import Document, Mention, World, worlds
from fader.errors import UsageError
from fader.rank.ranking import explain_entity, rank_entities
from fader.systems import petkova
from fader.systems.balog1 import Balog1
from fader.systems.base import parse_system
from fader.systems.petkova import KERNELS, Petkova
from fader.systems.shared.kernels import propagate_counts
from systems.language import GOLDEN, candidate_model, check_contract, kernel_sums, near, ranked_values, uniform

VARIANTS = st.builds(
    Petkova,
    kernel=st.sampled_from(KERNELS),
    width=st.sampled_from([0.1, 0.5, 1.0, 2.5, 7.0, 100.0]),
    beta=st.sampled_from([0.0, 0.5, 100.0]),
)


def naive(model: Petkova, world: World) -> dict[int, float]:
    def share(world: World, d: int, mention: Mention, t: int) -> float:
        count, mass = kernel_sums(world, d, mention, t, model.kernel, model.width)
        return count / mass

    return candidate_model(world, model.beta, share, uniform(world))


def test_golden() -> None:
    """The case of the docstring."""
    found = ranked_values(Petkova(kernel="step", width=1.0), GOLDEN)
    assert found == {1: near(math.log(0.6)), 2: near(math.log(2 / 3))}


def test_golden_phrase() -> None:
    """A phrase counts once, at its first token: 2 from a mention right behind it, with a step of 1 not at all."""
    world = World((Document((2, 3, 5, 5), (Mention(2, 3, 1),)),), 3)
    one, two = (ranked_values(Petkova("step", w), world)[1] for w in (1.0, 2.0))
    assert one == near(math.log(0.5 * 0 + 0.5 / 4))
    assert two == near(math.log(0.5 / 4 + 0.5 / 4))


@settings(deadline=None)
@given(worlds(), VARIANTS)
def test_values_are_those_of_the_formula(world: World, model: Petkova) -> None:
    """To 1e-9."""
    assert ranked_values(model, world) == {e: near(v) for e, v in naive(model, world).items()}


@settings(deadline=None)
@given(worlds(), st.sampled_from([0.0, 3.0]))
def test_a_constant_kernel_is_balog1_with_uniform_association(world: World, beta: float) -> None:
    """Where every token counts alike, the words around a mention are those of its document."""
    expected = ranked_values(Balog1(beta=beta), world)
    assert ranked_values(Petkova("constant", 3.0, beta), world) == {e: near(v) for e, v in expected.items()}


@settings(deadline=None)
@given(worlds())
def test_a_wide_step_is_constant(world: World) -> None:
    """No document is longer than the width."""
    expected = ranked_values(Petkova("constant"), world)
    assert ranked_values(Petkova("step", 1e6), world) == {e: near(v) for e, v in expected.items()}


@settings(deadline=None, max_examples=50)
@given(worlds(least=1), VARIANTS)
def test_contract(world: World, model: Petkova) -> None:
    """It ranks and explains as every system does."""
    check_contract(model, world)


@pytest.mark.parametrize("model", [Petkova(), Petkova("constant")])
def test_only_what_is_read_again_is_kept(model: Petkova, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares of literals by pair are made once for ranking and explaining; the counts by context are not kept."""
    calls = []

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return propagate_counts(*arguments)

    monkeypatch.setattr(petkova, "propagate_counts", counted)
    contexts = GOLDEN.contexts()
    ranking = rank_entities(model, contexts, 9)
    explain_entity(model, contexts, ranking, 0)
    assert len(calls) == 1
    assert not [key for key in contexts.memo if "propagated" in key]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "cosine"}, 'petkova: kernel must be gaussian, triangle, step or constant, not "cosine"'),
        ({"width": 0.0}, "petkova: width must be a number of tokens above 0, not 0.0"),
        ({"width": math.inf}, "petkova: width must be"),
        ({"beta": -0.5}, "petkova: beta must be .* not -0.5"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    """The message names the system, the constraint and the value."""
    with pytest.raises(UsageError, match=message):
        Petkova(**parameters)


def test_text() -> None:
    """Parameters are written as they are read."""
    assert parse_system("petkova(kernel=triangle,width=20,beta=7)") == Petkova("triangle", 20.0, 7.0)
    assert str(Petkova(width=20.0)) == "petkova(width=20.0)"
