"""spaCy as a finder of spans: a pipeline saved to disk, as users have; and where spaCy or the model is missing."""

from __future__ import annotations

import json
import sys
import warnings
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fader.corpora.annotate.options import Options
from fader.corpora.annotate.run import annotate_files
from fader.errors import UsageError


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, Path, str]:
    (tmp_path / "entities.tsv").write_text("curie\tMarie Curie\t\nnew_york\tNew York\t\ndc\tWashington, D.C.\t\n")
    (tmp_path / "in.txt").write_text("\U0001d11e Marie Curie, Some Body and New York: the Big Apple, Washington, D.C.")
    return str(tmp_path / "in.txt"), tmp_path / "out.jsonl", str(tmp_path / "entities.tsv")


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A pipeline that takes four names for entities, and links one of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what spaCy imports is old
        spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(
        [
            {"label": "PERSON", "pattern": "Marie Curie"},
            {"label": "PERSON", "pattern": "Some Body"},
            {"label": "GPE", "pattern": "Big Apple", "id": "new_york"},
            {"label": "GPE", "pattern": "Washington, D.C."},
        ]
    )
    nlp.to_disk(tmp_path / "pipeline")
    return str(tmp_path / "pipeline")


def found(out: Path) -> list[tuple[str, str, float]]:
    row = json.loads(out.read_bytes())
    return [(row["text"][m["start"] : m["end"]], m["entity"], m["confidence"]) for m in row["mentions"]]


def test_spans_are_those_of_spacy(files: tuple[str, Path, str], model: str) -> None:
    """Only spans that the pipeline finds, from word to word; named by the dictionary or linked by the pipeline."""
    source, out, catalog = files
    annotate_files([source], out, Options(catalog, linker="spacy", spacy_model=model))
    expected = [("Marie Curie", "curie", 0.9), ("Big Apple", "new_york", 1.0), ("Washington, D.C", "dc", 0.9)]
    assert found(out) == expected


def test_least_confidence(files: tuple[str, Path, str], model: str) -> None:
    source, out, catalog = files
    annotate_files([source], out, Options(catalog, linker="spacy", spacy_model=model, min_confidence=0.95))
    assert "curie" not in [entity for _surface, entity, _confidence in found(out)]


def test_long_texts(tmp_path: Path, files: tuple[str, Path, str], model: str) -> None:
    """spaCy refuses texts of more than a million characters unless it is told."""
    _source, out, catalog = files
    (tmp_path / "long.txt").write_text("." * 1_000_001 + " Marie Curie")
    annotate_files([str(tmp_path / "long.txt")], out, Options(catalog, linker="spacy", spacy_model=model))
    assert [entity for _surface, entity, _confidence in found(out)] == ["curie"]


def test_a_broken_pipeline_is_told(tmp_path: Path, files: tuple[str, Path, str], model: str) -> None:
    source, out, catalog = files
    (tmp_path / "pipeline" / "config.cfg").write_text("[nlp]\nlang = 'none'\n")
    with pytest.raises(UsageError, match="cannot load the model"):
        annotate_files([source], out, Options(catalog, linker="spacy", spacy_model=model))


def test_a_missing_model_is_told(files: tuple[str, Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("spacy")
    module.__spec__ = ModuleSpec("spacy", None)

    def load(name: str) -> Any:
        raise OSError(f"[E050] Can't find model '{name}'.")

    module.load = load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", module)
    source, out, catalog = files
    with pytest.raises(UsageError, match="python -m spacy download other"):
        annotate_files([source], out, Options(catalog, linker="spacy", spacy_model="other"))


def test_a_missing_spacy_is_told(files: tuple[str, Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fader.corpora.annotate.spacy_linker.find_spec", lambda _name: None)
    source, out, catalog = files
    with pytest.raises(UsageError, match=r"pip install 'fader\[spacy\]'"):
        annotate_files([source], out, Options(catalog, linker="spacy"))
