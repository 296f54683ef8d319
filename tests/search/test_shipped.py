"""The models that ship: found by name, and explained to the last digit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fader
from fader.aggregate.logspace import log_sums
from fader.search.models import SHIPPED, shipped_model
from fader.systems.base import parse_system

DOCUMENTS = [
    {"id": f"d{i}", "text": text, "mentions": []}
    for i, text in enumerate(
        ["red wine of ada and bob", "ada drinks red wine", "bob saw cyd near wine", "wine for ada"]
    )
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    folder: Path = tmp_path_factory.mktemp("shipped")
    for document in DOCUMENTS:
        text = str(document["text"])
        spans = [(text.find(e), e) for e in ("ada", "bob", "cyd") if e in text]
        document["mentions"] = [{"start": at, "end": at + len(e), "entity": e} for at, e in spans]
    (folder / "entities.tsv").write_text("".join(f"{e}\t{e.title()}\tperson\n" for e in ("ada", "bob", "cyd")))
    (folder / "types.tsv").write_text("person\tPerson\t\n")
    fader.build(folder / "index", DOCUMENTS, folder / "entities.tsv", folder / "types.tsv")
    return fader.open(folder / "index")


@pytest.mark.parametrize("name", SHIPPED)
def test_shares_of_contexts_add_up_to_the_score(index: fader.Index, name: str) -> None:
    """By search and by why, for every shipped model; pieces of a context add up to its score."""
    answer = index.search("red wine", type="person", model=name, explain=True)
    assert [r.rank for r in answer.results] == [1, 2, 3]
    for result in answer.results:
        why = index.why("red wine", result.entity, type="person", model=name)
        for explained in (result.explain, why.explain):
            assert explained is not None
            total = sum(context.contribution for context in explained.contexts) + explained.others.contribution
            assert total == pytest.approx(result.score, abs=1e-9)
            for context in explained.contexts:
                assert sum(cell.value for cell in context.cells) == pytest.approx(context.score, abs=1e-9)


def test_entity_features_are_added_to_what_contexts_say(index: fader.Index) -> None:
    """V(e) = ln sum exp(w . f(x, e)) + u . h(e), with h of all contexts of the candidate."""
    system = shipped_model("default").system
    assert system.reranking is not None
    scoring, contexts = system.reranking.scoring, index.contexts("red wine", type="person", entities=True)
    (entity,) = (m for m in scoring.features.maps if m.name == "entity")  # type: ignore[attr-defined]
    u = scoring.weights[-entity.size :]
    without = np.concatenate([scoring.weights[: -entity.size], np.zeros(entity.size)])
    groups = contexts.groups
    rest = log_sums(scoring.features.score(contexts, without)[groups.order], groups.at)
    h = np.concatenate([m.values(contexts) for m in entity.entity_maps], axis=1) / np.array(entity.scale)
    assert system.value_entities(contexts)[1] == pytest.approx(rest + h @ u, abs=1e-9)


def test_a_shipped_model_is_written_as_it_is_read() -> None:
    """The text of the default model parses back to it."""
    system = shipped_model("default").system
    assert parse_system(str(system)) == system
    assert str(shipped_model("default")) == "default"
    assert str(shipped_model("paper")) == "noprox+rectangle x sum"


def test_why_has_features_and_grids_of_the_cascade(index: fader.Index) -> None:
    """Contributions of feature maps add up to the score."""
    why = index.why("red wine", "ada", type="person")
    assert sum(part.contribution for part in why.features) == pytest.approx(why.score, abs=1e-9)
    assert {"coverage", "entity"} <= {part.feature for part in why.features}
    assert [grid.feature for grid in why.grids] == ["coverage"]
