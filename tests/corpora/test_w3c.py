"""The W3C corpus: the candidate list and which names of a candidate are looked for."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from corpora.cases import documents
from fader.corpora.formats.w3c import MALFORMED, REPEATED, Candidate, _count_shorts, _list_names, _read_candidates
from fader.corpora.frame.run import import_corpus
from fader.corpus.documents import Faults
from fader.errors import FaderError, UsageError


def test_candidate_list(tmp_path: Path) -> None:
    """Any number of words and addresses, in UTF-8 or ISO-8859-1; a line that is no candidate is named."""
    lines = [
        "\u00a0candidate-0001 Ada Quill ada@x.org,a.quill@y.org",
        "",
        "candidate-0002 <oak@x.org>",
        "nobody",
        "candidate-0003",
        "candidate-0001 Another Name",
    ]
    (tmp_path / "list").write_bytes("\r\n".join([*lines, "candidate-0004 Émile Ébène e@x.org"]).encode("iso-8859-1"))
    faults = Faults()
    assert _read_candidates(str(tmp_path / "list"), faults) == [
        Candidate("candidate-0001", "Ada Quill", ("ada@x.org", "a.quill@y.org")),
        Candidate("candidate-0002", "oak@x.org", ("oak@x.org",)),
        Candidate("candidate-0004", "Émile Ébène", ("e@x.org",)),
    ]
    assert faults.counts == {MALFORMED: 2, REPEATED: 1}
    assert "list:4:" in faults.examples[MALFORMED][0]


def test_names_of_candidates() -> None:
    """Full name, "Last, First", addresses; without first name, initials or accents only where one candidate has it."""
    ann, abe, ada = (Candidate(name, f"{name} Oak", ()) for name in ("Ann", "Abe", "Bea"))
    shorts = _count_shorts([ann, abe, ada])
    assert _list_names(ann, shorts)["aliases"] == ["Oak, Ann"]
    assert _list_names(ada, shorts)["aliases"] == ["Oak, Bea", "B. Oak"]
    emile = Candidate("e", "Émile J. Ébène", ())
    assert _list_names(emile, _count_shorts([emile]))["aliases"] == [
        "Ébène, Émile J.", "É. Ébène", "Émile Ébène", "Emile J. Ebene", "E. Ebene", "Emile Ebene",
    ]  # fmt: skip
    assert _list_names(Candidate("x", "Prince", ("p@x.org",)), shorts)["aliases"] == ["p@x.org"]


@pytest.mark.parametrize("headers", [True, False])
def test_the_sender_of_an_email(headers: bool, tmp_path: Path) -> None:
    """The sender is the first line, in which mentions are found by the characters of what was tagged."""
    (tmp_path / "d").write_text(
        '<DOC><DOCNO>a</DOCNO><!-- name="<candidate-0001>&Eacute;mile</candidate-0001> &amp; Ébène" -->\n'
        '<!-- email="é@<candidate-0002>x.org</candidate-0002>" --><p><candidate-0003>Oak</candidate-0003></DOC>',
        "utf-8",
    )
    import_corpus("w3c", tmp_path / "d", tmp_path / "out", headers=headers)
    (found,) = documents(tmp_path / "out")
    assert found["text"] == ("From: Émile & Ébène <é@x.org>\nOak" if headers else "Oak")
    surfaces = [found["text"][m["start"] : m["end"]] for m in found["mentions"]]
    assert surfaces == (["Émile", "x.org", "Oak"] if headers else ["Oak"])


def test_tags_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input cannot be looked at first: a document that has tags keeps what they say, others are annotated."""
    (tmp_path / "list").write_text("candidate-0001 Ada Quill\n")
    pages = b"<DOC><DOCNO>a</DOCNO>Ada Quill, <candidate-0002>Oak</candidate-0002></DOC>"
    pages += b"<DOC><DOCNO>b</DOCNO>Ada Quill</DOC>"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(pages)))
    import_corpus("w3c", "-", tmp_path / "out", candidates=str(tmp_path / "list"))
    found = [[m["entity"] for m in d["mentions"]] for d in documents(tmp_path / "out")]
    assert found == [["candidate-0002"], ["candidate-0001"]]


def test_neither_tags_nor_candidates(tmp_path: Path) -> None:
    """Nobody would be mentioned: the list is asked for. Topics alone need none."""
    (tmp_path / "d").write_text("<DOC><DOCNO>a</DOCNO>Ada Quill</DOC>")
    (tmp_path / "topics").write_text("<top><num> Number: EX1 <title> asking </top>")
    with pytest.raises(UsageError, match="--candidates"):
        import_corpus("w3c", [tmp_path / "d", tmp_path / "topics"], tmp_path / "out")
    assert import_corpus("w3c", tmp_path / "topics", tmp_path / "other").counts["queries"] == 1


def test_a_list_without_candidates(tmp_path: Path) -> None:
    """It would give documents without mentions."""
    (tmp_path / "x").write_bytes(b"<DOC><DOCNO>1</DOCNO><p>Ada</DOC>")
    (tmp_path / "c").write_bytes(b"Ada Quill\n")
    with pytest.raises(FaderError, match="no line such as"):
        import_corpus("w3c", tmp_path / "x", tmp_path / "out", candidates=str(tmp_path / "c"))
