"""Examples that are made from an index: questions that are read and answered as they ask, in English indexes alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fader
from experiment.judged_demo import demo_in
from fader.search.examples import make_examples, name_many
from fader.search.suggest import Suggester


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    return demo_in(tmp_path_factory.mktemp("examples"))


def test_examples_have_answers(index: fader.Index) -> None:
    """Every example has entities; a question's are mostly of the type that it is read as asking for."""
    found = [example.q for example in make_examples(index, Suggester(index.collection), 6)]
    questions = [text for text in found if text.endswith("?")]
    assert questions
    for text in found:
        assert index.ask(text).results
    for text in questions:
        answer = index.ask(text, 5)
        asked = answer.readings[0].type
        assert asked is not None
        assert 2 * sum(any(share.type == asked for share in result.readings) for result in answer) > 5


def test_examples_of_other_languages_are_words(tmp_path: Path) -> None:
    """Where documents are not English an example is no English question."""
    words = ["sinfonie", "orchester", "klavier"]
    texts = [f"Mann{i} schrieb eine {words[i % 3]} und noch eine {words[(i + 1) % 3]}" for i in range(12)]
    corpus = [
        {"id": f"d{i}", "text": text, "mentions": [{"entity": f"e{i}", "start": 0, "end": len(text.split()[0])}]}
        for i, text in enumerate(texts)
    ]
    entities = [{"id": f"e{i}", "name": f"Mann{i}", "types": ["komponist"]} for i in range(12)]
    index = fader.build(tmp_path / "index", corpus, entities, [{"id": "komponist", "name": "Komponist"}])
    examples = make_examples(index, Suggester(index.collection), 6)
    assert not any(re.match("Which", example.q) for example in examples)


@pytest.mark.parametrize(
    ("name", "many"),
    [
        ("city", "cities"), ("person", "people"), ("Nobel laureate", "nobel laureates"), ("film, movie", "films"),
        ("chemical or drug", "chemicals"), ("church", "churches"), ("play", "plays"),
    ],
)  # fmt: skip
def test_plurals(name: str, many: str) -> None:
    """The head noun of the first synonym."""
    assert name_many(name) == many
