"""Cutting sources: every byte or line once, in order, cut only where it may be; damage is a fault, not a loss."""

from __future__ import annotations

import bz2
import gzip
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpora.frame import inputs
from fader.corpus.documents import Faults
from fader.errors import CorpusError, InputError

LINES = st.lists(st.sampled_from([b"", b"a", b"bb", b"# c", b"\xff", b"x</p>y", b"</p>"]), max_size=30)


def put(folder: Path, data: bytes, name: str = "source") -> str:
    (folder / name).write_bytes(data)
    return str(folder / name)


@settings(deadline=None, max_examples=100)
@given(LINES, st.integers(1, 20))
def test_lines(lines: list[bytes], size: int) -> None:
    """Lines come once and in order, numbered; groups begin with a line that opens one."""
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        source = put(Path(name), b"\n".join(lines))
        expected = b"\n".join(lines).split(b"\n")
        expected = expected[:-1] if not expected[-1] else expected
        for opens in (None, lambda line: line.startswith(b"#")):
            batches = list(inputs.group_batches([source], Faults(), opens, size))
            assert [line for batch in batches for line in batch.payload] == expected
            at = 1
            for batch in batches:
                assert batch.place == at
                assert opens is None or at == 1 or opens(batch.payload[0])
                at += len(batch.payload)


@settings(deadline=None, max_examples=100)
@given(LINES, st.integers(1, 20))
def test_marks(lines: list[bytes], size: int) -> None:
    """Bytes come once and in order; all pieces but the last end behind the mark, and have their size."""
    import tempfile

    data = b"\n".join(lines)
    with tempfile.TemporaryDirectory() as name:
        batches = list(inputs.mark_batches([put(Path(name), data)], Faults(), b"</p>", size))
    joined = b"".join(batch.payload for batch in batches)
    assert data.startswith(joined)
    assert not data[len(joined) :].strip()
    at = 0
    for batch in batches:
        assert batch.place == at
        at += len(batch.payload)
    assert all(batch.payload.endswith(b"</p>") and len(batch.payload) >= size for batch in batches[:-1])


@pytest.mark.parametrize(
    "compress",
    [gzip.compress, zstandard.ZstdCompressor().compress, lambda data: bz2.compress(data[:9]) + bz2.compress(data[9:])],
)
def test_compressed(tmp_path: Path, compress: object) -> None:
    """Any compression, also several streams after each other; a cut one gives a fault that names it."""
    data = b"".join(b"line %d\n" % i for i in range(50_000))
    packed = compress(data)  # type: ignore[operator]
    source = put(tmp_path, packed)
    assert b"\n".join(line for b in inputs.line_batches([source], Faults()) for line in b.payload) + b"\n" == data
    assert next(inputs.whole_files([source], Faults())).payload == data
    cut = put(tmp_path, packed[:-9], "cut")
    faults = Faults()
    list(inputs.line_batches([cut], faults))
    assert faults.counts == {inputs.CUT: 1}
    assert "cut: damaged or cut short after line" in faults.examples[inputs.CUT][0]
    with pytest.raises(CorpusError, match="cut short"):
        list(inputs.mark_batches([cut], Faults("fail"), b"9\n"))


def test_damaged_bzip2(tmp_path: Path) -> None:
    """Bytes that make no sense are damage, not a traceback."""
    packed = bytearray(bz2.compress(b"x" * 100_000))
    packed[20:24] = b"????"
    faults = Faults()
    assert list(inputs.whole_files([put(tmp_path, bytes(packed))], faults)) == []
    assert faults.counts == {inputs.CUT: 1}


@pytest.mark.parametrize("compress", [bytes, zstandard.ZstdCompressor().compress])
def test_a_reader_left_open_is_silent(tmp_path: Path, compress: object) -> None:
    """A program that ends amid a source says nothing about it."""
    source = put(tmp_path, compress(b"a</p>" * (1 << 20)))  # type: ignore[operator]
    program = (
        "from fader.corpus.documents import Faults\n"
        "from fader.corpus.readers import read_batches\n"
        "from fader.corpora.frame.inputs import mark_batches\n"
        f"pieces, lines = mark_batches([{source!r}], Faults(), b'</p>'), read_batches({source!r})\n"
        "next(pieces), next(lines)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ended.stderr == b""


def test_records_over_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no mark within the limit is passed over with its place; what follows is read."""
    monkeypatch.setenv("FADER_LIMIT_LINE_BYTES", "1000")
    source = put(tmp_path, b"a</p>" + b"x" * (9 << 20) + b"</p>b</p>")
    faults = Faults()
    pieces = [batch.payload for batch in inputs.mark_batches([source], faults, b"</p>", 1)]
    assert pieces == [b"a</p>", b"b</p>"]
    assert "byte 5" in faults.examples[inputs.OVER][0]
    long = put(tmp_path, b"a\n" + b"x" * 2000 + b"\nb\n", "long")
    assert [line for batch in inputs.line_batches([long], faults) for line in batch.payload] == [b"a", b"", b"b"]
    assert list(inputs.whole_files([long], faults)) == []


def test_folders(tmp_path: Path) -> None:
    """A folder stands for the files below it, by path, without hidden ones."""
    for name in ("b/2", "b/1", "a", ".hidden", "b/.x/3"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_bytes(b"x")
    assert inputs.expand_folders([str(tmp_path)]) == [str(tmp_path / name) for name in ("a", "b/1", "b/2")]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="without files"):
        inputs.expand_folders([str(tmp_path / "empty")])
