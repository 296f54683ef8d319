"""WARC records in both header styles, cut in pieces, compressed, damaged; compared with warcio where it is there."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fader.corpora.frame import inputs
from fader.corpora.parsers.web import warc
from fader.corpus.documents import Faults

FIXTURES = Path(__file__).parent / "fixtures" / "facc1"


def record(version: str, body: bytes, name: str, length: int | None = None) -> bytes:
    """A record with LF for version 0.18 and CRLF for 1.0."""
    end = b"\n" if version == "0.18" else b"\r\n"
    size = len(body) if length is None else length
    lines = [f"WARC/{version}", "WARC-Type: response", f"WARC-TREC-ID: {name}", f"Content-Length: {size}", "", ""]
    return end.join(line.encode() for line in lines) + body + end * (1 if version == "0.18" else 2)


def bodies(data: bytes) -> list[tuple[str, bytes]]:
    """Ids and bodies of all records of a buffer."""
    return [(warc.read_fields(data, r).get("warc-trec-id", ""), data[r.body : r.end]) for r in warc.read_records(data)]


def in_pieces(path: Path, faults: Faults) -> list[tuple[str, bytes]]:
    return [found for batch in warc.cut_warc([str(path)], faults) for found in bodies(batch.payload)]


BODIES = st.lists(
    st.one_of(
        st.binary(max_size=60).filter(lambda b: b"WARC/" not in b and b.strip(b"\r\n") == b),
        st.sampled_from([b"", b"x", b"a\n\nContent-Length: 3\n\nb", b"see WARC/1.0 there"]),
    ),
    max_size=8,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_bodies=BODIES, version=st.sampled_from(["0.18", "1.0"]), members=st.booleans(), piece=st.integers(1, 300))
def test_records_come_back(
    given_bodies: list[bytes], version: str, members: bool, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every body comes back whole, whatever it holds, in both styles, plain or in gzip members, at any piece size."""
    monkeypatch.setattr(inputs, "PIECE", piece)
    written = [record(version, body, f"d{i}") for i, body in enumerate(given_bodies)]
    path = tmp_path / "x.warc"
    path.write_bytes(b"".join(map(gzip.compress, written)) if members else b"".join(written))
    faults = Faults("fail")
    assert in_pieces(path, faults) == [(f"d{i}", body) for i, body in enumerate(given_bodies)]


def test_places_are_bytes_of_the_uncompressed_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece begins at its place."""
    monkeypatch.setattr(inputs, "PIECE", 1)
    data = b"".join(record("1.0", b"x" * n, f"d{n}") for n in range(5))
    (tmp_path / "x.warc.gz").write_bytes(gzip.compress(data))
    for batch in warc.cut_warc([str(tmp_path / "x.warc.gz")], Faults("fail")):
        assert data[batch.place : batch.place + len(batch.payload)] == batch.payload


def test_a_damaged_member_costs_its_record(tmp_path: Path) -> None:
    """A gzip member that is cut short, or whose bytes are altered, costs one record; the others are read."""
    pages = [b"<p>" + bytes(range(33, 127)) * (20 + i) + b"</p>" for i in range(6)]
    members = [gzip.compress(record("0.18", page, f"d{i}")) for i, page in enumerate(pages)]
    members[1] = members[1][: len(members[1]) // 2]
    members[4] = members[4][:40] + b"\xff\xff\xff\xff\xff\xff" + members[4][46:]
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"".join(members))
    faults = Faults()
    found = dict(in_pieces(path, faults))
    assert {name: found.get(name) for name in ("d0", "d2", "d3", "d5")} == {
        "d0": pages[0], "d2": pages[2], "d3": pages[3], "d5": pages[5],
    }  # fmt: skip
    assert faults.counts == {inputs.CUT: 2}


@pytest.mark.parametrize("read", [100, 1 << 18])
@pytest.mark.parametrize(
    "damage",
    [
        lambda member: b"\0\0\0" + member[3:],  # no gzip member to be seen
        lambda member: member[:3] + b"\x08" + member[4:],  # a flag: a name that goes on to the next NUL
        lambda member: member[30:],
        lambda member: member[: len(member) // 2],
    ],
)
def test_the_first_member_damaged(
    damage: Callable[[bytes], bytes], read: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it is damaged, it is one fault, and all records behind it are read."""
    monkeypatch.setattr(warc, "_READ", read)
    pages = [bytes(random.Random(i).choices(b"abcdefgh", k=2000)) for i in range(3)]
    members = [gzip.compress(record("1.0", page, f"d{i}")) for i, page in enumerate(pages)]
    path = tmp_path / "x.warc.gz"
    path.write_bytes(damage(members[0]) + b"".join(members[1:]))
    faults = Faults()
    found = dict(in_pieces(path, faults))
    assert [found[name] for name in ("d1", "d2")] == pages[1:]
    assert faults.counts == {inputs.CUT: 1}
    assert warc.is_warc(str(path))


def test_the_last_member_cut_short(tmp_path: Path) -> None:
    """What is left of it is read, and it is a fault that names the file."""
    members = [gzip.compress(record("1.0", bytes(range(33, 127)) * 50, f"d{i}")) for i in range(2)]
    (tmp_path / "x.warc.gz").write_bytes(b"".join(members)[:-12])
    faults = Faults()
    assert [name for name, _body in in_pieces(tmp_path / "x.warc.gz", faults)] == ["d0", "d1"]
    assert "x.warc.gz" in faults.examples[inputs.CUT][0]


@pytest.mark.parametrize("piece", [1, 10_000])
@pytest.mark.parametrize("length", [0, 3, 30, 500])
def test_wrong_lengths(length: int, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong length is noticed, and the next record found, wherever pieces are cut."""
    monkeypatch.setattr(inputs, "PIECE", piece)
    data = record("0.18", b"first page", "d0", length) + record("0.18", b"second", "d1")
    (tmp_path / "x.warc").write_bytes(data)
    batches = list(warc.cut_warc([str(tmp_path / "x.warc")], Faults("fail")))
    found = [
        (body.strip(), r.wrong)
        for b in batches
        for r in warc.read_records(b.payload)
        for body in [b.payload[r.body : r.end]]
    ]
    assert found == [(b"first page", True), (b"second", False)]


def test_broken_headers() -> None:
    """An address with an empty line in it, as ClueWeb09 has some; without a length, a body ends at the next one."""
    broken = b"WARC/0.18\nWARC-Target-URI: http://x/\n\nrest\nWARC-TREC-ID: d0\nContent-Length: 4\n\npage\n"
    lost = b"WARC/0.18\nWARC-TREC-ID: d1\n\npage\n"
    response = b"HTTP/1.1 200 OK\nContent-Length: 3\n\n<p>page"  # a length, but not the record's
    other = b"WARC/0.18\nWARC-TREC-ID: d2\n\n" + response + b"\n"
    data = broken + lost + other + record("0.18", b"second", "d3")
    found = [("d0", b"page"), ("d1", b"page\n"), ("d2", response + b"\n"), ("d3", b"second")]
    assert bodies(data) == found
    assert [r.wrong for r in warc.read_records(data)] == [False, True, True, False]


def test_agrees_with_warcio() -> None:
    """The same ids and bodies as warcio on both fixtures, but for the records whose headers are wrong."""
    archive = pytest.importorskip("warcio.archiveiterator", reason="warcio is not installed")
    for name in ("cw09.warc", "cw12.warc"):
        data = (FIXTURES / name).read_bytes()
        whole = [
            data[r.start : r.end] + b"\r\n\r\n"
            for r in warc.read_records(data)
            if not r.wrong and b"\n\nbroken" not in data[r.start : r.body]
        ]
        stream = io.BytesIO(b"".join(map(gzip.compress, whole)))
        found = [
            (r.rec_headers.get_header("WARC-TREC-ID") or "", r.raw_stream.read())
            for r in archive.ArchiveIterator(stream, no_record_parse=True)
        ]
        assert found == [each for piece in whole for each in bodies(piece)]


def test_a_record_over_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is passed over with a fault that says how the limit is raised; the next record is read."""
    monkeypatch.setenv("FADER_LIMIT_LINE_BYTES", "1000")
    monkeypatch.setattr(warc, "CHUNK", 400)
    big = bytes(random.Random(7).choices(b"abcdefgh ", k=5000))
    members = [gzip.compress(record("1.0", body, name)) for body, name in [(b"a", "d0"), (big, "d1"), (b"c", "d2")]]
    (tmp_path / "x.warc.gz").write_bytes(b"".join(members))
    faults = Faults()
    batches = list(warc.cut_warc([str(tmp_path / "x.warc.gz")], faults))
    assert [name for batch in batches for name, _body in bodies(batch.payload)] == ["d0", "d2"]
    assert faults.counts == {inputs.OVER: 1}
    assert all(batch.payload.startswith(b"WARC/1.0") for batch in batches)  # nothing of what is passed over
    assert "FADER_LIMIT_LINE_BYTES" in faults.examples[inputs.OVER][0]
