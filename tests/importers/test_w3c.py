"""The W3C corpus: the candidate list and which names of a candidate are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from fader.corpus.documents import Faults
from fader.importers.run import import_corpus
from fader.importers.w3c import MALFORMED, Candidate, _candidates, _names, _shorts
from importers.cases import documents


def test_candidate_list(tmp_path: Path) -> None:
    """Any number of words and addresses, in UTF-8 or ISO-8859-1; a line that is no candidate is named."""
    lines = [
        "candidate-0001 Ada Quill ada@x.org a.quill@y.org",
        "",
        "candidate-0002 <oak@x.org>",
        "nobody",
        "candidate-0003",
    ]
    (tmp_path / "list").write_bytes("\r\n".join([*lines, "candidate-0004 Émile Ébène e@x.org"]).encode("iso-8859-1"))
    faults = Faults()
    assert _candidates(str(tmp_path / "list"), faults) == [
        Candidate("candidate-0001", "Ada Quill", ("ada@x.org", "a.quill@y.org")),
        Candidate("candidate-0002", "oak@x.org", ("oak@x.org",)),
        Candidate("candidate-0004", "Émile Ébène", ("e@x.org",)),
    ]
    assert faults.counts == {MALFORMED: 2}
    assert "list:4:" in faults.examples[MALFORMED][0]


def test_names_of_candidates() -> None:
    """Full name, "Last, First", addresses; initial and last name only where one candidate has them."""
    ann, abe, ada = (Candidate(name, f"{name} Oak", ()) for name in ("Ann", "Abe", "Bea"))
    shorts = _shorts([ann, abe, ada])
    assert _names(ann, shorts)["aliases"] == ["Oak, Ann"]
    assert _names(ada, shorts)["aliases"] == ["Oak, Bea", "B. Oak"]
    assert _names(Candidate("x", "Prince", ("p@x.org",)), shorts)["aliases"] == ["p@x.org"]


@pytest.mark.parametrize("headers", [True, False])
def test_the_sender_of_an_email(headers: bool, tmp_path: Path) -> None:
    """The sender is the first line, in which mentions are found by the characters of what was tagged."""
    (tmp_path / "d").write_text(
        '<DOC><DOCNO>a</DOCNO><!-- name="<candidate-0001>Émile</candidate-0001> Ébène" -->\n'
        '<!-- email="é@<candidate-0002>x.org</candidate-0002>" --><p><candidate-0003>Oak</candidate-0003></DOC>',
        "utf-8",
    )
    import_corpus("w3c", tmp_path / "d", tmp_path / "out", headers=headers)
    (found,) = documents(tmp_path / "out")
    assert found["text"] == ("From: Émile Ébène <é@x.org>\nOak" if headers else "Oak")
    surfaces = [found["text"][m["start"] : m["end"]] for m in found["mentions"]]
    assert surfaces == (["Émile", "x.org", "Oak"] if headers else ["Oak"])
