"""spaCy's DocBin without spaCy."""

from __future__ import annotations

import tempfile
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpora.formats.spacy import WORDLESS, DocBin
from fader.corpora.parsers.text.docbin_strings import SYMBOLS, murmur
from fader.corpus.documents import Faults

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


def test_symbols_are_those_of_spacy() -> None:
    """The table has all names of spaCy that are in use, under its numbers."""
    symbols = pytest.importorskip("spacy.symbols")
    theirs = {i: name for i, name in enumerate(symbols.NAMES) if name and not name.startswith("DEPRECATED")}
    assert theirs == SYMBOLS


def read(path: Path, faults: Faults | None = None) -> list[dict[str, Any]]:
    faults = faults or Faults("fail")
    return DocBin().convert(next(DocBin().batches([str(path)], faults)), None, faults).documents


@cache
def vocabulary() -> Any:
    return pytest.importorskip("spacy").blank("en").vocab


def same_as_spacy(path: Path) -> None:
    pytest.importorskip("spacy")
    from spacy.tokens import DocBin as Theirs  # type: ignore[import-not-found]

    docs = list(Theirs().from_disk(path).get_docs(vocabulary()))
    mine = read(path)
    assert [d["text"] for d in mine] == [doc.text.removesuffix(" ") for doc in docs]
    linked = [[(e.start_char, e.end_char, e.kb_id_) for e in doc.ents if e.kb_id_ not in ("", "NIL")] for doc in docs]
    assert [[(m["start"], m["end"], m["entity"]) for m in d["mentions"]] for d in mine] == linked


def test_same_as_spacy() -> None:
    """Texts and entities are those that spaCy reads."""
    same_as_spacy(FIXTURE)


WORDS = st.sampled_from(["Ada", "number", "X", "NIL", "root", "PERSON", "_", "😀", "naïve", "ID", ".", "don't", "a b"])


@settings(deadline=None, max_examples=20)
@given(st.lists(st.lists(st.tuples(WORDS, st.booleans()), min_size=1, max_size=12), min_size=1, max_size=4), st.data())
def test_drawn_documents_are_read_as_spacy_does(drawn: list[list[tuple[str, bool]]], data: st.DataObject) -> None:
    """Whatever spaCy writes: words that are symbols, entities with and without ids, ids in the user data."""
    pytest.importorskip("spacy")
    from spacy.tokens import Doc, Span
    from spacy.tokens import DocBin as Theirs

    vocab = vocabulary()
    bin_ = Theirs(attrs=["ENT_IOB", "ENT_TYPE", "ENT_KB_ID"], store_user_data=True)
    for i, tokens in enumerate(drawn):
        doc = Doc(vocab, words=[word for word, _blank in tokens], spaces=[blank for _word, blank in tokens])
        cuts = sorted(data.draw(st.sets(st.integers(0, len(tokens)), max_size=4)))
        labels = data.draw(st.lists(st.sampled_from(["GPE", "nsubj", "MADE_UP"]), min_size=4, max_size=4))
        names = data.draw(st.lists(st.sampled_from(["Q64", "NIL", "", "number"]), min_size=4, max_size=4))
        pairs = zip(cuts[::2], cuts[1::2], strict=False)
        doc.ents = [Span(doc, a, b, label=labels[j], kb_id=names[j]) for j, (a, b) in enumerate(pairs)]
        doc.user_data["id"] = f"d{i}"
        bin_.add(doc)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.spacy"
        last = Doc(vocab, words=["Rome"])
        last.ents = [Span(last, 0, 1, label="GPE", kb_id="Q220")]
        bin_.add(last)  # with it, mentions without an id are dropped
        bin_.to_disk(path)
        same_as_spacy(path)
        assert [d["id"] for d in read(path)][: len(drawn)] == [f"d{i}" for i in range(len(drawn))]


def test_a_missing_string_costs_its_document(tmp_path: Path) -> None:
    """A document with a number that no string has is a fault; the others are read."""
    said = msgspec.msgpack.decode(zlib.decompress(FIXTURE.read_bytes()))
    said["strings"] = [text for text in said["strings"] if text != "Émile"]
    path = tmp_path / "x.spacy"
    path.write_bytes(zlib.compress(msgspec.msgpack.encode(said)))
    faults = Faults()
    assert [d["id"] for d in read(path, faults)] == ["doc-1", "x:3"]
    assert faults.counts == {WORDLESS: 1}
    assert 'document "doc-2"' in faults.examples[WORDLESS][0]
