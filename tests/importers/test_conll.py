"""CoNLL-U against conllu, and the options of columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from fader.corpus.documents import Faults
from fader.errors import UsageError
from fader.importers.conll import Conll
from fader.importers.run import run
from importers.cases import documents

FIXTURE = Path(__file__).parent / "fixtures" / "conll" / "gum.conllu"


def test_text_is_that_of_conllu() -> None:
    """The text of a sentence is what its own comment says, and its words are those that conllu reads."""
    conllu = pytest.importorskip("conllu")
    sentence = conllu.parse(FIXTURE.read_text("utf-8"))[0]
    assert sentence.metadata["text"] == "Ada Quill's friend (Oak) doesn't sing."
    assert next(t["form"] for t in sentence if isinstance(t["id"], tuple)) == "doesn't"
    found = Conll().convert(next(Conll().batches([str(FIXTURE)], Faults())), {}, Faults()).documents[0]
    assert found["text"] == sentence.metadata["text"]


@pytest.mark.parametrize(("unlinked", "expected"), [("auto", ["Q1"]), ("drop", ["Q1"]), ("name", ["LOC:oak", "Q1"])])
def test_unlinked(unlinked: str, expected: list[str], tmp_path: Path) -> None:
    """Mentions without an id are dropped, or named by their words, as asked."""
    (tmp_path / "a.tsv").write_text("Port\tB-LOC\tQ1\nVell\tI-LOC\tQ1\nOak\tB-LOC\tNIL\n")
    run(Conll(unlinked=unlinked), [str(tmp_path / "a.tsv")], tmp_path / "out")
    assert sorted(m["entity"] for m in documents(tmp_path / "out")[0]["mentions"]) == expected


def test_wrong_options() -> None:
    """Options that make no sense are refused."""
    with pytest.raises(UsageError, match="unlinked"):
        Conll(unlinked="maybe")
    with pytest.raises(UsageError, match="counted from 1"):
        Conll(label=-1)
