"""spaCy as a finder of spans: with a stand-in where it is not installed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from fader.annotate.run import Options, annotate_files
from fader.errors import UsageError


class Pipeline:
    """Takes every capitalised pair of words for an entity, and links `Big Apple`."""

    def pipe(self, texts: Iterable[str]) -> Iterator[Any]:
        for text in texts:
            ents = []
            for phrase, link in (("Marie Curie", ""), ("Big Apple", "new_york"), ("Some Body", "")):
                if (at := text.find(phrase)) >= 0:
                    ents.append(SimpleNamespace(start_char=at, end_char=at + len(phrase), kb_id_=link))
            yield SimpleNamespace(ents=ents)


def stand_in(monkeypatch: pytest.MonkeyPatch, known: str) -> None:
    module = ModuleType("spacy")
    module.__spec__ = ModuleSpec("spacy", None)

    def load(name: str) -> Pipeline:
        if name != known:
            raise OSError(f"can't find model {name}")
        return Pipeline()

    module.load = load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", module)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, Path, str]:
    (tmp_path / "entities.tsv").write_text("curie\tMarie Curie\t\nnew_york\tNew York\t\nradium\tRadium\t\n")
    (tmp_path / "in.txt").write_text("Marie Curie, Some Body and Radium in the Big Apple")
    return str(tmp_path / "in.txt"), tmp_path / "out.jsonl", str(tmp_path / "entities.tsv")


def test_spans_are_those_of_spacy(files: tuple[str, Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Only spans that the pipeline finds; named by the dictionary or linked by the pipeline."""
    stand_in(monkeypatch, "model")
    source, out, catalog = files
    annotate_files([source], out, Options(catalog, linker="spacy", spacy_model="model"))
    assert b'"entity":"curie","confidence":0.9},' in out.read_bytes()
    assert b'"entity":"new_york","confidence":1.0}]' in out.read_bytes()
    assert b'"radium"' not in out.read_bytes()


def test_a_missing_model_is_told(files: tuple[str, Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, "model")
    source, out, catalog = files
    with pytest.raises(UsageError, match="python -m spacy download other"):
        annotate_files([source], out, Options(catalog, linker="spacy", spacy_model="other"))


def test_a_missing_spacy_is_told(files: tuple[str, Path, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fader.annotate.spacy_linker.find_spec", lambda _name: None)
    source, out, catalog = files
    with pytest.raises(UsageError, match=r"pip install 'fader\[spacy\]'"):
        annotate_files([source], out, Options(catalog, linker="spacy"))
