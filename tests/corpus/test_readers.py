"""Lines come out of files the same, however these are packed; what is not whole is said to be so."""

from __future__ import annotations

import gzip
import io
import os
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpus.readers import CHUNK, read_batches, read_lines
from fader.errors import InputError

TEXT = "alpha\nbéta\n\n𝔤amma delta\nlast"


def zst(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def cut_in_three(pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Members that begin anywhere, also inside a character or a line."""
    return lambda data: b"".join(pack(data[a:b]) for a, b in ((0, 7), (7, 7), (7, len(data))))


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": gzip.compress,
    "multi-member gz": cut_in_three(gzip.compress),
    "padded gz": lambda data: gzip.compress(data) + b"\0" * 700,
    "zst": zst,
    "multi-frame zst": cut_in_three(zst),
}
packings = pytest.mark.parametrize("pack", PACKINGS.values(), ids=PACKINGS.keys())


def got_before_the_error(path: Path) -> tuple[list[str], str]:
    """The lines that were read, and the message that came after them."""
    lines = []
    with pytest.raises(InputError) as caught:  # noqa: PT012  what was read before the error counts too
        for _number, line in read_lines(path):
            lines.append(line)
    return lines, str(caught.value)


@packings
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_every_packing_gives_the_same_lines(tmp_path: Path, pack: Callable[[bytes], bytes], end: str) -> None:
    """Lines are numbered from 1; a last line without an end is a line, an end without a line is none."""
    path = tmp_path / "lines.txt"
    path.write_bytes(pack((TEXT + end).encode()))
    assert list(read_lines(path)) == list(enumerate(TEXT.split("\n"), 1))


@settings(deadline=None)
@given(st.lists(st.binary(max_size=9).map(lambda b: b.replace(b"\n", b"")), max_size=9), st.booleans())
def test_batches_hold_the_lines_bytes(lines: list[bytes], ended: bool) -> None:
    """`read_batches` gives each line's bytes, and the number of the first of each batch.

    A plain file that happens to begin like a compressed one is taken for one, so it begins with a letter here.
    """
    lines = [b"x", *lines, b"y"]
    data = b"\n".join(lines) + b"\n" * ended
    for pack in PACKINGS.values():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "lines"
            path.write_bytes(pack(data))
            found: list[bytes] = []
            for first, batch, _consumed in read_batches(path):
                assert first == len(found) + 1
                found += batch
            assert found == lines


@pytest.mark.parametrize("packing", ["plain", "gz", "zst"])
def test_long_files_are_read_in_pieces(tmp_path: Path, packing: str) -> None:
    """Lines that lie across the borders of pieces are whole; the bytes read grow up to the file's size."""
    lines = [b"%d %s" % (i, os.urandom(300).hex().encode()) for i in range(9000)]
    path = tmp_path / "long"
    path.write_bytes(PACKINGS[packing](b"\n".join(lines)))
    batches = list(read_batches(path))
    assert len(batches) > 1
    assert [line for _first, batch, _consumed in batches for line in batch] == lines
    consumed = [c for _first, _batch, c in batches]
    assert consumed == sorted(consumed)
    assert consumed[-1] == path.stat().st_size


@packings
def test_an_empty_file_has_no_lines(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """Nothing, packed or not, is no line and no error."""
    path = tmp_path / "empty"
    path.write_bytes(pack(b""))
    assert list(read_lines(path)) == []


@pytest.mark.parametrize(("packing", "least"), [("gz", 2), ("zst", 4)])
def test_a_truncated_file_is_an_error_wherever_it_was_cut(tmp_path: Path, packing: str, least: int) -> None:
    """The message names the file and the last whole line; the lines before it were given.

    Below `least` bytes nothing tells that the file was compressed.
    """
    whole = PACKINGS[packing](TEXT.encode() * 40)
    path = tmp_path / "cut"
    for size in range(least, len(whole)):
        path.write_bytes(whole[:size])
        lines, message = got_before_the_error(path)
        assert lines == (TEXT * 40).split("\n")[: len(lines)]
        assert message.startswith(f"{path}: damaged or cut short after line {len(lines)} (")
        assert message.endswith("; get a whole copy of the file")


@pytest.mark.parametrize("packing", ["multi-member gz", "multi-frame zst"])
def test_a_truncated_last_member_is_an_error(tmp_path: Path, packing: str) -> None:
    """Whole members before it do not make the file whole."""
    path = tmp_path / "cut"
    path.write_bytes(PACKINGS[packing](TEXT.encode())[:-3])
    assert "damaged or cut short" in got_before_the_error(path)[1]


@pytest.mark.parametrize("packing", ["gz", "zst"])
def test_garbage_inside_or_behind_a_compressed_file_is_an_error(tmp_path: Path, packing: str) -> None:
    """Neither a flipped byte nor bytes behind the end mark are passed over."""
    whole = PACKINGS[packing](TEXT.encode())
    flipped = bytearray(whole)
    flipped[-1 if packing == "gz" else 6] ^= 0xFF
    for data in (bytes(flipped), whole + b"garbage"):
        path = tmp_path / "garbage"
        path.write_bytes(data)
        assert "damaged or cut short" in got_before_the_error(path)[1]


def test_a_byte_order_mark_counts_only_at_the_start(tmp_path: Path) -> None:
    """A mark before the first line is no text; further on it is a character like others."""
    path = tmp_path / "bom"
    path.write_bytes("\ufeffa\r\n\ufeffb\r\n".encode())
    assert list(read_lines(path)) == [(1, "a"), (2, "\ufeffb")]


def test_text_that_is_not_utf_8_is_an_error(tmp_path: Path) -> None:
    """The message says file, line, byte, and what to do."""
    path = tmp_path / "latin"
    path.write_bytes(b"fine\ncaf\xe9\n")
    lines, message = got_before_the_error(path)
    assert lines == ["fine"]
    assert message == f"{path}:2: not UTF-8 at byte 4; save the file as UTF-8"


def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    """Each is named for what it is."""
    assert got_before_the_error(tmp_path / "none")[1] == f"{tmp_path / 'none'}: no such file; check the path"
    assert got_before_the_error(tmp_path)[1] == f"{tmp_path}: is a folder; give a file"


class Stdin:
    """A standard input that holds given bytes."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BufferedReader(io.BytesIO(data))  # type: ignore[arg-type]


@packings
def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]) -> None:
    """Standard input is unpacked like any file."""
    monkeypatch.setattr("sys.stdin", Stdin(pack(TEXT.encode())))
    assert [line for _number, line in read_lines("-")] == TEXT.split("\n")


def test_standard_input_has_a_name_in_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash would tell nothing."""
    monkeypatch.setattr("sys.stdin", Stdin(gzip.compress(b"text")[:-1]))
    with pytest.raises(InputError, match=r"^<stdin>: damaged"):
        list(read_lines("-"))


def test_a_file_that_expands_a_thousandfold_is_read_in_pieces(tmp_path: Path) -> None:
    """Memory is bounded by the pieces, not by what the file expands to."""
    path = tmp_path / "large.gz"
    path.write_bytes(gzip.compress(b"a" * 1_000_000 + b"\n" + b"b\n" * 20_000_000))
    largest = max(sum(map(len, lines)) for _first, lines, _consumed in read_batches(path))
    assert largest < 3 * CHUNK


def test_a_zst_that_begins_with_a_skippable_frame(tmp_path: Path) -> None:
    """Skippable frames hold other programs' data and are passed over wherever they stand."""
    path = tmp_path / "skip.zst"
    skippable = struct.pack("<II", 0x184D2A50, 4) + b"abcd"
    path.write_bytes(skippable + zstandard.ZstdCompressor().compress(b"a line\n"))
    assert [line for _number, line in read_lines(path)] == ["a line"]
