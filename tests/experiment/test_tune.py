"""Any system is trained or tuned on judged queries, and what comes out ranks, is written and is read back."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fader
from experiment.judged_demo import demo_in, some_queries
from fader.corpus.queries import FaultCollector
from fader.errors import UsageError
from fader.experiment.compare import compare_judged
from fader.experiment.judged import JudgedQueries, judge_queries
from fader.experiment.tune import save_model, tune
from fader.learn.model import Model, read_model
from fader.search.batch import parse_all
from fader.search.inputs import load_qrels, load_queries
from fader.systems.base import parse_system
from fader.systems.fang import Fang

QUICK = "fang(mean=arithmetic,lam=1,starts=1)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tune")


@pytest.fixture(scope="module")
def index(folder: Path) -> fader.Index:
    return demo_in(folder)


@pytest.fixture(scope="module")
def judged(index: fader.Index, folder: Path) -> JudgedQueries:
    queries, qrels = some_queries(folder, 4)
    return judge_queries(index, parse_all(index, load_queries(queries), FaultCollector()), load_qrels(qrels))


def learned(found: Any) -> Any:
    """The system itself."""
    assert isinstance(found.model, Model)
    return found.model.system


def test_the_best_of_all_combinations_is_taken(judged: JudgedQueries) -> None:
    """Mean average precision on the queries, each that of the combination compared by itself; of equals the first."""
    found = tune(judged, "voting(technique=combmnz,cutoff=10|1000,normalise=none|max)")
    assert len(found.tried) == 4
    for text, precision in found.tried.items():
        values = compare_judged(judged, [parse_system(text)], measures=["AP"]).systems[0].values["AP"]
        assert precision == pytest.approx(np.mean(values), abs=1e-12)
    assert found.precision == max(found.tried.values())
    assert not found.validated
    assert str(learned(found)) == next(t for t, p in found.tried.items() if p == found.precision)


def test_a_system_without_free_parameters_is_taken_as_it_is(judged: JudgedQueries) -> None:
    """What it reaches is told."""
    found = tune(judged, "proximity")
    assert list(found.tried) == ["proximity"]
    assert found.precision == found.tried["proximity"]


def test_a_learner_is_fitted(judged: JudgedQueries) -> None:
    """On all queries, the same for the same seed; with one alternative nothing is validated."""
    found = tune(judged, QUICK)
    assert isinstance(learned(found), Fang)
    assert learned(found).is_fitted
    assert found.tried == {}
    assert math.isnan(found.precision)
    assert tune(judged, QUICK, workers=2).model == found.model


def test_alternatives_of_a_learner_are_validated(judged: JudgedQueries) -> None:
    """By models that did not see the validated queries; the better one is fitted on all of them."""
    found = tune(judged, "fang(mean=arithmetic|geometric,lam=1,starts=1)")
    assert len(found.tried) == 2
    assert found.validated
    assert found.precision == max(found.tried.values())
    best = next(text for text, precision in found.tried.items() if precision == found.precision)
    assert (learned(found).mean == "geometric") == ("mean=geometric" in best)
    assert learned(found) == learned(tune(judged, f"fang(mean={learned(found).mean},lam=1,starts=1)"))


def test_features_by_aggregator_come_out_as_from_a_ranker(
    index: fader.Index, folder: Path, judged: JudgedQueries
) -> None:
    """The same model, letter for letter."""
    found = tune(judged, "fader(features=noprox,lam=1)")
    by_hand = fader.Ranker(features="noprox", lam=1).fit(index, *some_queries(folder, 4))
    assert found.model.to_text() == by_hand.model_.to_text()


@pytest.mark.parametrize("text", ["voting(cutoff=10|1000,normalise=none)", QUICK])
def test_what_is_saved_ranks_alike(index: fader.Index, judged: JudgedQueries, tmp_path: Path, text: str) -> None:
    """Written, read, and given to the index by its file: the same system, the same ranking, bit for bit."""
    made = tune(judged, text).model
    save_model(made, tmp_path / "m.json")
    assert read_model(tmp_path / "m.json") == made
    for one in judged.queries[:5]:
        ranked = [index.rank(one.query, k=50, model=model) for model in (made, str(tmp_path / "m.json"))]
        assert ranked[0].entities == ranked[1].entities
        assert ranked[0].scores == ranked[1].scores


def test_the_file_says_how_it_came_about(judged: JudgedQueries) -> None:
    """Queries, seed, and what was tried."""
    found = tune(judged, "voting(cutoff=10|1000,normalise=none)", seed=3)
    expected = {"queries": len(judged), "seed": 3, "validation": found.tried}
    assert found.model.provenance == expected


def test_what_is_trained_already_is_refused(judged: JudgedQueries) -> None:
    """The default model, and a file."""
    with pytest.raises(UsageError, match="default is trained already"):
        tune(judged, "default")
    with pytest.raises(UsageError, match="trained already"):
        tune(judged, tune(judged, QUICK).model)
