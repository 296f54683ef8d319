"""However a file is cut into spans, its lines are the same, with the same numbers; and blocks are found again."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fader.cluster.build.buckets import Blocks, BucketWriter, read_blocks, shard_of, splitters_of, unpack_lines
from fader.cluster.build.pieces import Lines, cut, first_number, lines_of, place_of
from fader.cluster.storage import SourceFile
from fader.corpus.readers import LongLine, read_batches
from fader.errors import DamagedError
from fader.limits import Limits

LIMITS = Limits(line_bytes=12)


def source_of(path: Path) -> SourceFile:
    return SourceFile(str(path), path.stat().st_size, "", path.name)


LINE = st.text("ab{ \r\u00e9\ufeff", max_size=12).map(str.encode)  # nothing that begins as compressed files do


@given(st.lists(st.lists(LINE, max_size=8), min_size=1, max_size=3), st.integers(1, 40))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_lines_of_all_spans(tmp_path: Path, files: list[list[bytes]], piece_bytes: int) -> None:
    """Lines of files one after another, read span by span, against each file read as a whole; a line that is too long
    is so wherever it is cut. Places are known when all lines are counted."""
    paths = [tmp_path / f"{n}.jsonl" for n in range(len(files))]
    for path, lines in zip(paths, files, strict=True):
        path.write_bytes(b"\n".join(lines))
    sources = [source_of(path) for path in paths]
    spans, pieces = cut(sources, piece_bytes)
    assert [span for piece in pieces for span in piece] == list(range(len(spans)))
    read, counts = [], dict[int, int]()
    for number, span in enumerate(spans):
        counts[number], expected = 0, first_number(span)
        for first, lines in lines_of(span, sources[span.source], LIMITS):
            assert first == expected
            read += [(number, first + n, line) for n, line in enumerate(lines)]
            counts[number] += len(lines)
            expected += len(lines)
    where = Lines(spans, sources, counts)
    found = [
        (where.restore_place(f"{place_of(span, n)}: x")[1], bytes(line), isinstance(line, LongLine))
        for span, n, line in read
    ]
    whole = [
        (f"{path.name}:{first + n}: x", bytes(line), isinstance(line, LongLine))
        for path in paths
        for first, lines, _consumed in read_batches(path, LIMITS)
        for n, line in enumerate(lines)
    ]
    assert found == whole


@given(
    st.lists(st.lists(st.tuples(st.text("abc", max_size=3), st.binary(max_size=9)), max_size=20), max_size=4),
    st.lists(st.text("abc", min_size=1, max_size=2), unique=True, max_size=4).map(sorted),
    st.integers(1, 600),
)
@settings(deadline=None)
def test_lines_come_back_from_buckets(
    pieces: list[list[tuple[str, bytes]]], splitters: list[str], run_bytes: int
) -> None:
    """Each shard has the lines of its ids, in the order of the corpus, with their spans and numbers."""
    blocks, files = Blocks(), list[bytes]()
    expected: dict[int, list[tuple[int, int, bytes]]] = {shard: [] for shard in range(len(splitters) + 1)}
    for piece, lines in enumerate(pieces):
        file = io.BytesIO()
        writer = BucketWriter(file, splitters, run_bytes)
        for n, (identifier, line) in enumerate(lines):
            clean = line.replace(b"\n", b"")
            writer.add(identifier, piece, n, clean)
            expected[shard_of(identifier, splitters)].append((piece, n, clean))
        writer.flush()
        blocks.add(piece, writer.runs)
        files.append(file.getvalue())
    for shard, lines_expected in expected.items():
        found = []
        for piece, own in read_blocks(blocks.of(shard)):
            for at, size in own:
                found += list(unpack_lines(files[piece][at : at + size], "it"))
        assert found == lines_expected


def test_a_damaged_block_is_told() -> None:
    file = io.BytesIO()
    writer = BucketWriter(file, [])
    writer.add("a", 0, 1, b"some line of a corpus")
    writer.flush()
    told = 0
    for at in range(len(file.getvalue())):
        data = bytearray(file.getvalue())
        data[at] ^= 1
        try:
            assert list(unpack_lines(bytes(data), "map/0")) == [(0, 1, b"some line of a corpus")]
        except DamagedError:
            told += 1
    assert told > len(file.getvalue()) - 5  # a few bits of a frame's header say nothing
    with pytest.raises(DamagedError, match=r"^map/0: "):
        list(unpack_lines(b"", "map/0"))


@given(
    st.lists(st.tuples(st.text("abcd", min_size=1, max_size=3), st.floats(0.5, 5.0)), max_size=60), st.integers(1, 9)
)
def test_splitters(samples: list[tuple[str, float]], shards: int) -> None:
    """They rise, are ids that were seen but not the least, and none more than is needed."""
    found = splitters_of(samples, shards)
    assert found == sorted(set(found))
    assert len(found) < shards
    assert set(found) <= {identifier for identifier, _weight in samples}
    assert not samples or min(samples)[0] not in found
