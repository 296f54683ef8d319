"""Texts name what takes part in a comparison: free parameters, alternatives, names of their own."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from contracts.models import feature_model, portable
from fader.corpus.analysis import Analysis
from fader.errors import UsageError
from fader.experiment.system_specs import find_baseline, parse_spec, parse_specs
from fader.learn.model import Model
from fader.learn.modelfile import ModelScope
from fader.systems.base import parse_system

READER: Any = None  # only models look at the index


def any_reader() -> Any:
    """An index of nothing, which any model without a collection fits."""
    return SimpleNamespace(
        analysis=Analysis(),
        documents=0,
        tokens=0,
        mentions=0,
        origin="",
        catalog=SimpleNamespace(entity_ids=[]),
    )


def test_free_parameters_take_what_is_worth_trying() -> None:
    """Unless they are given; alternatives are given with |."""
    free = parse_spec("balog2", READER)
    assert free.name == "balog2"
    assert len(free.alternatives) > 1
    one = parse_spec("voting(technique=combmnz,model=bm25,cutoff=100,normalise=none)", READER)
    assert len(one.alternatives) == 1
    two = parse_spec("voting(technique=combmnz,model=bm25,cutoff=10|100,normalise=none)", READER)
    assert [a.cutoff for a in two.alternatives] == [10, 100]  # type: ignore[attr-defined]
    assert two.name == "voting(technique=combmnz,model=bm25,cutoff=10|100,normalise=none)"


def test_a_system_may_have_its_own_folds_and_label() -> None:
    found = parse_spec("fang(cv=5,label=Fang et al.)", READER)
    assert (found.cv, found.label, len(found.learners)) == ("5", "Fang et al.", len(found.alternatives))
    assert found.name == "fang[cv=5]"
    with pytest.raises(UsageError, match='cv must be "loo" or a number'):
        parse_spec("fang(cv=all)", READER)


def test_our_family_is_described_by_itself() -> None:
    found = parse_spec("fader(features=noprox,cv=5)", READER)
    assert [str(one) for one in found.learners] == ["fader(features=noprox,cv=5)"]
    assert (found.cv, parse_spec("count", READER).learners) == ("5", [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "nothing to compare"),
        (["count", "count"], "count is named twice"),
        (["balog2", "balog2"], "balog2 is named twice"),
        (["balog2(gamma=1)"], 'balog2 has no parameter "gamma"'),
        (["balok2"], 'unknown system "balok2"; did you mean "balog2"'),
        (["voting(cutoff=many)"], "voting: cutoff must be a number like"),
        (["voting(cutoff=" + "|".join(map(str, range(1, 300))) + ")"], "combinations to try, 200 at most"),
    ],
)
def test_what_cannot_take_part_is_refused(given: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_specs(given, READER)


def test_the_baseline_is_one_of_them() -> None:
    named = parse_specs(["count", "balog2(beta=100)"], READER)
    assert find_baseline("balog2(beta=100)", named, READER) == "balog2(beta=100)"
    with pytest.raises(UsageError, match='the baseline "voting" is not among'):
        find_baseline("voting", named, READER)


def test_a_model_is_known_by_its_whole_text() -> None:
    """Two of one shape are two; the same model is the same in any file. Any other system is known by what it tries."""
    one, two = (portable(feature_model("noprox", np.full(5, w))) for w in (1.0, 2.0))
    named = parse_specs([one, two], any_reader())
    assert [e.name for e in named] == ["noprox x sum", "noprox x sum #2"]
    assert [e.key for e in named] == [one.to_text(), two.to_text()]
    assert parse_spec(portable(replace(one.system, top="5")), any_reader()).key != one.to_text()
    tuned = [Model(parse_system(f"voting(cutoff={n})"), ModelScope({}, None, False, {})) for n in (10, 20)]
    assert [e.key for e in parse_specs(tuned, any_reader())] == [t.to_text() for t in tuned]
    free = parse_spec("balog2(beta=100)", READER)
    assert free.key == "|".join(map(str, free.alternatives)) == parse_spec("balog2(beta=100.0,label=x)", READER).key
    assert parse_spec("fader(features=noprox,top=5)", READER).key == "fader(features=noprox,top=5)"
