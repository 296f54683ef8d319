"""FACC1: annotations by bytes of undecoded records to characters of texts; the index of annotations on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fader.corpus.documents import Faults
from fader.importers import annotationindex, facc1
from fader.importers.annotationindex import Annotations, Writer
from fader.importers.facc1 import MARKUP, MISMATCH, Annotation

WORDS = st.text("abcéßñ’“ \n", min_size=0, max_size=20)
ENCODINGS = st.sampled_from(["utf-8", "iso-8859-1", "windows-1252", "utf-16"])


def document(body: bytes, given: list[Annotation], faults: Faults) -> dict[str, object]:
    return facc1._document("d", None, body, given, "x.warc: byte 0", faults)


@settings(deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=5), ENCODINGS, ENCODINGS, st.booleans())
def test_mentions_are_found_whatever_the_encoding(words: list[str], real: str, said: str, raw: bool) -> None:
    """Names between any text, offsets in the re-encoded or, for encodings of a byte a character, in the raw body."""
    page, places = "<html><meta charset=x><p>", []
    for i, word in enumerate(words):
        page += word + f" <b>N{i}é"
        places.append((len(page) - 3, len(page)))
        page += "</b>"
    if real == "utf-16" or said == "utf-16":
        real = said = "utf-16" if not raw else "utf-8"
    body = b"HTTP/1.1 200 OK\n\n" + page.encode(real, "replace")
    if real == "utf-16":
        body = ("HTTP/1.1 200 OK\n\n" + page).encode(real)
    page = body.decode(real).split("\n\n", 1)[1] if real != "utf-16" else page
    head = "HTTP/1.1 200 OK\n\n"
    annotations = []
    for i, (a, b) in enumerate(places):
        spans = [len((head + page[:n]).encode(real if raw else "utf-8")) for n in (a, b)]
        annotations.append(Annotation(said, f"N{i}é", spans[0], spans[1], 0.9, 0.1, f"/m/{i}"))
    faults = Faults()
    made = document(body, annotations, faults)
    text, mentions = made["text"], made["mentions"]
    assert isinstance(text, str)
    assert isinstance(mentions, list)
    assert not faults.counts
    assert [text[m["start"] : m["end"]] for m in mentions] == [f"N{i}é" for i in range(len(places))]


def test_shifted_and_hidden_mentions_are_dropped() -> None:
    """A shifted offset is a mismatch that shows what the page has; a mention in a comment or a header is in markup."""
    body = b"HTTP/1.1 200 OK\nServer: Ada\n\n<p>Ada <!-- Ada --> and " + b"x" * 32768 + b" Ada</p>"
    first = body.index(b"<p>") + 3
    given = [
        Annotation("UTF-8", "Ada", at, at + 3, 0.9, 0.1, "/m/1")
        for at in (first, first + 32768, body.index(b"Ada"), body.index(b"Ada -->"))
    ]
    faults = Faults()
    made = document(body, given, faults)
    assert [m["start"] for m in made["mentions"]] == [0]  # type: ignore[attr-defined]
    assert faults.counts == {MISMATCH: 1, MARKUP: 2}
    assert '"xxx"' in faults.examples[MISMATCH][0]


@pytest.mark.parametrize(
    ("raw", "surface"),
    [("Food\n and  Drug", "Food and Drug"), ("AT&amp;T", "AT&T"), ("U.S", "u.s"), ("New <b>York</b>", "New York")],
)
def test_mentions_match_loosely(raw: str, surface: str) -> None:
    """White space, case, entities and tags may differ."""
    body = f"<p>x {raw} y</p>".encode()
    at = body.index(raw.encode())
    faults = Faults()
    made = document(body, [Annotation("UTF-8", surface, at, at + len(raw.encode()), 0.9, 0.1, "/m/1")], faults)
    assert len(made["mentions"]) == 1  # type: ignore[arg-type]
    assert not faults.counts


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(groups=st.lists(st.tuples(st.sampled_from("abcdefgé"), st.lists(st.text("xyz", max_size=3), min_size=1))))
def test_index(groups: list[tuple[str, list[str]]], tmp_path_factory: pytest.TempPathFactory) -> None:
    """All groups of a document come back in their order, and none of another's."""
    folder = tmp_path_factory.mktemp("index")
    lines = [(name, [f"{name}\t{cell}".encode() for cell in cells]) for name, cells in groups]
    with Writer(folder) as writer:
        for pair in lines:
            writer.add([pair])
        writer.finish()
    annotations = Annotations(folder)
    for name in [*"abcdefgé", "absent"]:
        assert annotations.of(name) == b"".join(line + b"\n" for n, found in lines if n == name for line in found)


def test_ids_of_one_hash_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if all hashes were the same."""
    monkeypatch.setattr(annotationindex, "_hash", lambda _name: 7)
    monkeypatch.setattr(annotationindex, "_HELD", 1)
    with Writer(tmp_path) as writer:
        writer.add([("a", [b"a\t1"])])
        writer.add([("b", [b"b\t2"]), ("a", [b"a\t3"])])
        writer.finish()
    assert Annotations(tmp_path).of("a") == b"a\t1\na\t3\n"
