"""FACC1: annotations by bytes of undecoded records to characters of texts; the index of annotations on disk."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpora.cases import documents
from fader.corpora.formats import facc1
from fader.corpora.formats.facc1 import MARKUP, MISMATCH, Annotation
from fader.corpora.frame import annotation_index as annotationindex
from fader.corpora.frame.annotation_index import Annotations, Writer
from fader.corpora.frame.run import import_corpus
from fader.corpus.documents import Faults
from fader.errors import FaderError

WORDS = st.text("abcéßñ’“ \n", min_size=0, max_size=20)
ENCODINGS = st.sampled_from(["utf-8", "iso-8859-1", "windows-1252", "utf-16"])


def document(body: bytes, given: list[Annotation], faults: Faults) -> dict[str, object]:
    return facc1._make_document("d", None, body, given, "x.warc: byte 0", faults)


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
    [
        ("Food\n and  Drug", "Food and Drug"),
        ("AT&amp;T", "AT&T"),
        ("U.S", "u.s"),
        ("New <b>York</b>", "New York"),
        ("New<br>York", "New York"),
        ("New<td>York", "New York"),
        ("Po\u00adrt", "Port"),
    ],
)
def test_mentions_match_loosely(raw: str, surface: str) -> None:
    """White space, case, entities and tags may differ."""
    body = f"<p>x {raw} y</p>".encode()
    at = body.index(raw.encode())
    faults = Faults()
    made = document(body, [Annotation("UTF-8", surface, at, at + len(raw.encode()), 0.9, 0.1, "/m/1")], faults)
    assert len(made["mentions"]) == 1  # type: ignore[arg-type]
    assert not faults.counts


@pytest.mark.parametrize("said", ["UTF-8", "ISO-8859-1", "", "nonsense"])
def test_a_broken_byte_does_not_change_the_reading(said: str) -> None:
    """A page in UTF-8 with a broken byte stays UTF-8, with mentions in ASCII before it, or without any."""
    body = "<p>Ada café résumé éé ".encode() + b"\xff"
    for marked in ([], [Annotation(said, "Ada", 3, 6, 0.9, 0.1, "/m/1")]):
        faults = Faults()
        assert document(body, marked, faults)["text"] == "Ada café résumé éé \ufffd"
        assert not faults.counts


def test_a_wide_page_below_narrow_headers() -> None:
    """Headers are ASCII, the page is UTF-16: offsets count both as UTF-8."""
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    at = len(head + "<p>é ".encode())
    faults = Faults()
    made = document(
        head + "<p>é Ada".encode("utf-16"), [Annotation("UTF-16", "Ada", at, at + 3, 0.9, 0.1, "/m/1")], faults
    )
    assert (made["text"], len(made["mentions"]), faults.counts) == ("é Ada", 1, {})  # type: ignore[arg-type]


def row(name: str, surface: str, start: object, confidence: object = 0.9, mid: str = "/m/1") -> str:
    end = start + len(surface) if isinstance(start, int) else start
    return "\t".join(map(str, [name, "UTF-8", surface, start, end, confidence, 0.1, mid]))


def record(name: str, page: bytes) -> bytes:
    return f"WARC/1.0\r\nWARC-TREC-ID: {name}\r\nContent-Length: {len(page)}\r\n\r\n".encode() + page + b"\r\n\r\n"


@pytest.mark.parametrize("options", [{}, {"min_confidence": 0.5}, {"min_confidence": 0.5, "unannotated": False}])
def test_every_annotation_is_accounted_for(options: dict[str, Any], tmp_path: Path) -> None:
    """Annotations that are read are mentions, or counted by the reason why not."""
    records = [
        record("a", b"<p>Ada and Bea - Cy <!-- Dee -->"), record("b", b"<p>Ada"), record("c", b""),
        record("d", b"<p>x"),
    ]  # fmt: skip
    (tmp_path / "1.warc").write_bytes(b"".join(records[:2]))
    (tmp_path / "2.warc.gz").write_bytes(gzip.compress(b"stray\r\n" + records[2] + records[3]))
    rows = [
        row("a", "Ada", 3), row("a", "Ada", 3), row("a", "Bea", 11, 0.4), row("a", "Cy", 3), row("a", "Dee", 25),
        row("a", "-", 15), row("b.html", "Ada", 3, "1e-2"), row("c", "Ada", 3), row("absent", "Ada", 3),
    ]  # fmt: skip
    bad = ["junk", row("a", "Ada", "three"), row("a", "Ada", 3, "nan"), row("a", "Ada", 3, 1, ""), row("a", "Ada", -1)]
    (tmp_path / "x.tsv").write_text("\ufeff" + "\r\n".join(rows + bad) + "\r\n", "utf-8")
    report = import_corpus("facc1", sorted(tmp_path.iterdir()), tmp_path / "out", restart=True, **options)
    lost = sum(report.faults.counts[kind] for kind in (MISMATCH, MARKUP, "mentions that cover no token"))
    counted = sum(n for what, n in report.counts.items() if what.startswith("annotations "))
    assert report.counts["annotations"] == len(rows) == report.counts["mentions"] + lost + counted
    assert report.faults.counts[facc1.MALFORMED] == len(bad)
    assert report.faults.counts[facc1.EMPTY] == report.faults.counts[facc1.STRAY] == 1
    assert report.counts[facc1.ABSENT] == 2
    if options:
        assert report.counts[facc1.UNSURE] + report.counts.get(facc1.LEFT_OUT, 0) == 2


def test_blocks(tmp_path: Path) -> None:
    """A name may lack its `.html`; lines below what is no name belong to no document."""
    lines = [
        "clueweb12-x-1.html",
        "Ada\t3\t6\t0.9\t0.1\t/m/1",
        "",
        "clueweb12-x-2",
        "Ada\t3\t6\t0.9\t0.1\t/m/1",
        "",
        "?",
    ]
    lines.append(lines[1])
    (tmp_path / "x.warc").write_bytes(record("clueweb12-x-1", b"<p>Ada") + record("clueweb12-x-2", b"<p>Ada"))
    (tmp_path / "x.txt").write_text("\n".join(lines))
    report = import_corpus("facc1", [tmp_path / "x.warc", tmp_path / "x.txt"], tmp_path / "out")
    assert [len(d["mentions"]) for d in documents(tmp_path / "out")] == [1, 1]
    assert report.faults.counts == {facc1.MALFORMED: 2}
    assert "x.txt:7:" in report.faults.examples[facc1.MALFORMED][0]


def test_sources_that_do_not_fit(tmp_path: Path) -> None:
    """What is missing is said, and wrong options are refused."""
    (tmp_path / "x.warc").write_bytes(record("a", b"<p>Ada"))
    (tmp_path / "x.tsv").write_text(row("a", "Ada", 3))
    for sources, options, message in [
        (["x.tsv"], {}, "no WARC file"), (["x.warc"], {"unannotated": False}, "files of FACC1"),
        (["x.warc"], {"min_confidence": 2.0}, "from 0 to 1"),
    ]:  # fmt: skip
        with pytest.raises(FaderError, match=message):
            import_corpus("facc1", [tmp_path / name for name in sources], tmp_path / "out", restart=True, **options)
    (tmp_path / "y.tsv").write_text(row("b", "Ada", 3))
    for sources, kind in [(["x.warc"], facc1.ALONE), (["x.warc", "y.tsv"], facc1.FOREIGN)]:
        report = import_corpus("facc1", [tmp_path / name for name in sources], tmp_path / kind)
        assert report.faults.counts == {kind: 1}
        assert report.counts["documents"] == 1


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
    monkeypatch.setattr(annotationindex.xxhash, "xxh3_64_intdigest", lambda _name: 7)
    monkeypatch.setattr(annotationindex, "_HELD", 1)
    with Writer(tmp_path) as writer:
        writer.add([("a", [b"a\t1"])])
        writer.add([("b", [b"b\t2"]), ("a", [b"a\t3"])])
        writer.finish()
    found = Annotations(tmp_path)
    assert found.of("a") == b"a\t1\na\t3\n"
    assert found.size == 3
