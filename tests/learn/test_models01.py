"""Model files that 0.1 wrote, one of each kind, are read and rank the demo as they did there, bit for bit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fader
from experiment.judged_demo import demo_in
from fader.learn.model import parse_model, read_model

HERE = Path(__file__).parent
FILES = sorted((HERE / "models01").glob("*.json"))
EXPECTED = json.loads((HERE / "expected01.json").read_text(encoding="utf-8"))  # recorded with 0.1


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    return demo_in(tmp_path_factory.mktemp("models01"))


def test_there_is_one_of_each_kind() -> None:
    """Features x aggregator, every learner, and a tuned system."""
    systems = {read_model(file).system.name for file in FILES}
    assert systems == {"fader", "cummins", "fang", "lambdamart", "macdonald", "ranksvm", "voting"}
    assert {json.loads(file.read_text(encoding="utf-8"))["version"] for file in FILES} == {1}
    assert {file.stem for file in FILES} == set(EXPECTED["models"])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_of_01_ranks_as_before(index: fader.Index, file: Path) -> None:
    """Entities, scores and supports; also written anew, in the format of today."""
    if file.stem in ("lambdamart", "macdonald-trees"):
        pytest.importorskip("lightgbm")
    model = read_model(file)
    assert str(model) == EXPECTED["names"][file.stem]
    again = parse_model(model.to_text(), "again")
    assert again == model
    for given in (str(file), again):
        for (query, kind), wanted in zip(EXPECTED["queries"], EXPECTED["models"][file.stem], strict=True):
            ranked = index.rank(query, kind, k=5, model=given)
            assert (ranked.entities, ranked.scores, ranked.support) == tuple(wanted.values())
