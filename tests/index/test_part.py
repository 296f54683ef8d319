"""Some segments opened by themselves: their documents have the numbers that they have in the whole index."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fader
from fader.errors import UsageError
from fader.index.numbering import find_starts, number_documents, number_from, read_starts
from fader.index.reader import IndexReader
from index.histories import ENTITIES, STOP, TYPES, History, some_document


@pytest.mark.parametrize("seed", range(6))
def test_numbers_are_those_of_the_whole(seed: int, tmp_path: Path) -> None:
    """After any history, for any choice of segments: numbers, ids, texts, counts."""
    history = History(tmp_path / "index", random.Random(seed))
    history.begin()
    for _ in range(8):
        history.change()
    whole = IndexReader(history.folder)
    every = range(len(whole.segments))
    known = read_starts(history.folder, whole.manifest)
    chosen = [list(every), *([s] for s in every), sorted(history.chance.sample(every, (len(every) + 1) // 2))]
    held: dict[int, list[int]] = {}
    for only in chosen:
        for given_starts in (None, known):
            part = IndexReader(history.folder, at=whole.commit, segments=only, starts=given_starts)
            assert (part.documents, part.tokens, part.mentions) == (whole.documents, whole.tokens, whole.mentions)
            for s, number in zip(only, part.numbers, strict=True):
                np.testing.assert_array_equal(number, whole.numbers[s])
            own = sorted(int(n) for number in part.numbers for n in number if n >= 0)
            assert part.number_range == ((own[0], own[-1]) if own else (0, -1))
            assert [d for d in range(whole.documents) if part.holds(d)] == own
            assert part.read_documents(own) == whole.read_documents(own)
            assert [part.find_document(whole.document_id(d)) for d in own] == own
            part.verify()
        if len(only) == 1:
            held[only[0]] = own
    assert sorted(d for own in held.values() for d in own) == list(range(whole.documents))


def brute(parts: list[dict[str, bool]]) -> list[list[int]]:
    """Ranks of ids among those that live, by sorting them all; -1 for a deleted one."""
    order = sorted((name.encode() for part in parts for name, lives in part.items() if lives))
    return [[order.index(n.encode()) if lives else -1 for n, lives in sorted(p.items(), key=_by_bytes)] for p in parts]


def _by_bytes(item: tuple[str, bool]) -> bytes:
    return item[0].encode()


class _Ids:
    """A segment's ids, in order."""

    def __init__(self, part: dict[str, bool]) -> None:
        named = sorted(part.items(), key=_by_bytes)
        self.documents = len(named)
        self.alive = np.array([lives for _n, lives in named], dtype=np.uint8)
        self.text = self
        self.ids = _Strings([n for n, _lives in named])
        self.id_order = np.arange(len(named), dtype=np.int32)


class _Strings(list[str]):
    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        encoded = [name.encode() for name in self]
        at = np.cumsum([0, *map(len, encoded)]).astype(np.uint64)
        return np.frombuffer(b"".join(encoded), dtype=np.uint8), at


NAMES = st.text("abé0", min_size=1, max_size=3)


@settings(deadline=None)
@given(st.dictionaries(NAMES, st.tuples(st.integers(0, 4), st.booleans()), max_size=25), st.booleans())
def test_numbers_of_drawn_ids(drawn: dict[str, tuple[int, bool]], apart: bool) -> None:
    """Ranges that overlap, that are apart, that are empty: ranks of ids among all that live."""
    parts: list[dict[str, bool]] = [{} for _ in range(5)]
    for n, name in enumerate(sorted(drawn, key=str.encode)):
        place, lives = drawn[name]
        parts[5 * n // len(drawn) if apart else place][name] = lives
    segments = [_Ids(part) for part in parts]
    wanted = brute(parts)
    assert [number.tolist() for number in number_documents(segments)] == wanted
    first = find_starts(segments)
    for s, segment in enumerate(segments):
        if first[s] >= 0:
            assert number_from(segment, first[s]).tolist() == wanted[s]
    if apart:
        assert min(first) >= 0


def test_segments_that_are_not_there(tmp_path: Path) -> None:
    """Places beyond the manifest, none at all, starts of another index."""
    documents = [some_document(random.Random(i)) for i in range(9)]
    fader.build(tmp_path / "i", documents, ENTITIES, TYPES, stopwords=STOP)
    for only in ([1], [-1], []):
        with pytest.raises(UsageError, match="has the segments 0 to 0, not"):
            IndexReader(tmp_path / "i", segments=only)
    with pytest.raises(UsageError, match="has 1 segments, but 2 starts"):
        IndexReader(tmp_path / "i", segments=[0], starts=[0, 5])


def test_a_document_of_another_part(tmp_path: Path) -> None:
    """It is not here, and that is said."""
    documents = [{"id": f"{i:03d}", "text": "a b c d e", "mentions": []} for i in range(20)]
    fader.build(tmp_path / "i", documents, ENTITIES, TYPES, segment_tokens=20)
    part = IndexReader(tmp_path / "i", segments=[1])
    first, last = part.number_range
    assert first > 0
    assert part.document_id(last) == f"{last:03d}"
    with pytest.raises(UsageError, match="document 0 is not in the segments"):
        part.locate(0)
