"""spaCy's DocBin without spaCy."""

from __future__ import annotations

from pathlib import Path

import pytest

from fader.corpus.documents import Faults
from fader.importers.spacy import DocBin, murmur

FIXTURE = Path(__file__).parent / "fixtures" / "spacy" / "linked.spacy"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Ada", 13014124235272500476),
        ("PERSON", 11121653176597302729),
        ("naïve Bayes and more", 5003401629863404425),
        ("x" * 33, 17933380650775966345),
        ("", 0),
    ],
)
def test_numbers_of_strings(text: str, number: int) -> None:
    """Strings have the numbers that spaCy 3.8 gives them."""
    assert murmur(text.encode()) == number


def test_same_as_spacy() -> None:
    """Texts and entities are those that spaCy reads."""
    spacy = pytest.importorskip("spacy")
    from spacy.tokens import DocBin as Theirs  # type: ignore[import-not-found]

    docs = list(Theirs().from_disk(FIXTURE).get_docs(spacy.blank("en").vocab))
    faults = Faults("fail")
    mine = DocBin().convert(next(DocBin().batches([str(FIXTURE)], faults)), None, faults).documents
    assert [d["text"] for d in mine] == [doc.text for doc in docs]
    linked = [[(e.start_char, e.end_char, e.kb_id_) for e in doc.ents if e.kb_id_] for doc in docs]
    assert [[(m["start"], m["end"], m["entity"]) for m in d["mentions"]] for d in mine] == linked
