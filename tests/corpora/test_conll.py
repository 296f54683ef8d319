"""CoNLL-U against conllu, and the options of columns."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.cases import documents
from fader.cli.import_ import command
from fader.corpora.formats.conll import Conll
from fader.corpora.frame.run import run
from fader.corpus.documents import Faults
from fader.errors import UsageError

FIXTURE = Path(__file__).parent / "fixtures" / "conll" / "gum.conllu"


def test_text_is_that_of_conllu() -> None:
    """The text of a sentence is what its own comment says, and its words are those that conllu reads."""
    conllu = pytest.importorskip("conllu")
    sentence = conllu.parse(FIXTURE.read_text("utf-8"))[0]
    assert sentence.metadata["text"] == "Ada Quill's friend (Oak) doesn't sing."
    assert next(t["form"] for t in sentence if isinstance(t["id"], tuple)) == "doesn't"
    found = Conll().convert(next(Conll().batches([str(FIXTURE)], Faults())), {}, Faults()).documents[0]
    assert found["text"] == sentence.metadata["text"]


WORD = st.sampled_from(["Ada", "don't", "al", "😀", "#", ".", "_", "a\u00a0b", "日本"])
TOKEN = st.tuples(WORD, st.booleans(), st.integers(0, 3), st.booleans())


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(TOKEN, min_size=1, max_size=6), min_size=1, max_size=3))
def test_written_by_conllu(sentences: list[list[tuple[str, bool, int, bool]]]) -> None:
    """Tokens of several words, words that are not written, and missing blanks, as conllu writes them."""
    conllu = pytest.importorskip("conllu")
    lines, wanted, mentions = ["# newdoc id = d"], "", list[tuple[str, str]]()
    for tokens in sentences:
        number, text = 1, ""
        for form, blank, words, named in tokens:
            misc = [] if blank else ["SpaceAfter=No"]
            link = ["NER=B-X", "Wikidata=Q1"] if named else []
            if words:
                lines.append("\t".join((f"{number}-{number + words - 1}", form, *"_______", "|".join(misc) or "_")))
            for i in range(max(words, 1)):
                said = (link if i == 0 else []) + ([] if words else misc)
                lines.append("\t".join((str(number), "part" if words else form, *"_______", "|".join(said) or "_")))
                number += 1
            lines.append("\t".join((f"{number - 1}.1", "unsaid", *"_______", "_")))
            mentions += [(form, "Q1")] if named else []
            text += form + " " * blank
        wanted += text.removesuffix(" ") + "\n"
        lines.append("")
    data = "".join(sentence.serialize() for sentence in conllu.parse("\n".join(lines) + "\n"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.conllu"
        path.write_text(data, "utf-8")
        (batch,) = Conll().batches([str(path)], Faults("fail"))
        (found,) = Conll().convert(batch, {}, Faults("fail")).documents
    assert found["text"] == wanted.removesuffix("\n")
    assert [(found["text"][m["start"] : m["end"]], m["entity"]) for m in found["mentions"]] == mentions


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


def test_help_of_the_option_unlinked_says_what_each_choice_does() -> None:
    """The help of an option stands for itself: nothing is above it."""
    text = " ".join(CliRunner().invoke(command, ["conll", "--help"]).output.split())
    assert (
        "name (of the entity TYPE:words), drop (counted), or auto (name in a source that has no place for ids" in text
    )
    assert "see above" not in text
