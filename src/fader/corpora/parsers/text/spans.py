"""Where a mention is: offsets of a source turned into offsets of characters, checked by the mention's own words.

Sources count characters, UTF-16 units (Java, JavaScript) or bytes of UTF-8, and rarely say which. For the mentions of a
text together, the unit is taken under which most have their words at their offsets; characters where none is better.
A mention whose words stand elsewhere, but within `NEAR` characters of its offset, is moved there; one whose words are
not there at all has no place. White space counts as equal to any other white space.

    place_mentions("naïve Bayes", [(7, 12, "Bayes")])   # bytes: Placed([(6, 11)], "bytes", 0)

Knows nothing of formats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fader.corpora.frame.base import MentionRow
from fader.corpora.frame.faults import FURTHER, MOVED, REPEATED, tally
from fader.corpus.documents import Faults
from fader.errors import quote

NEAR = 40  # characters that offsets may be off
UNITS = ("characters", "UTF-16 units", "bytes")
ELSEWHERE = "mentions whose words are not at their offsets"

Given = tuple[int, int, str]  # start, end (exclusive), words; no words: the offsets are believed


class Placed(NamedTuple):
    """Offsets in characters of each mention (None: it has no place), the unit found, how many mentions were moved."""

    spans: list[tuple[int, int] | None]
    unit: str
    moved: int

    @property
    def wrong(self) -> int:
        """How many mentions do not have their words at their offsets."""
        return self.spans.count(None) + self.moved


def place_mentions(text: str, given: Sequence[Given]) -> Placed:
    """The mentions of a text in characters."""
    best, unit = _count_offsets(text, given, None), UNITS[0]
    if None in best and not text.isascii():
        for other in UNITS[1:]:
            found = _count_offsets(text, given, _find_boundaries(text, other))
            if found.count(None) < best.count(None):
                best, unit = found, other
    spans, moved = list(best), 0
    for i, (start, _end, words) in enumerate(given):
        if best[i] is None:
            spans[i] = _find_near(text, start, words)
            moved += spans[i] is not None
    return Placed(spans, unit, moved)


class Linked(NamedTuple):
    """A mention of entities; how a message about it begins, its type, and how sure it is."""

    given: Given
    entities: Sequence[str]
    place: str
    kind: str = ""
    confidence: float | None = None


def make_mentions(
    text: str, linked: Sequence[Linked], faults: Faults, counts: dict[str, int]
) -> tuple[list[MentionRow], set[str]]:
    """Mentions as documents have them, one for each entity of each and none twice; and the entities that they are of.

    What is in `linked` is a mention, a fault, or counted as repeated; further mentions of composite ones are counted
    too.
    """
    found = place_mentions(text, [each.given for each in linked])
    tally(counts, MOVED, found.moved)
    tally(counts, f"documents with offsets in {found.unit}", found.unit != UNITS[0])
    out: dict[tuple[int, int, str], MentionRow] = {}
    for each, span in zip(linked, found.spans, strict=True):
        if span is None:
            start, end, words = each.given
            here = quote(text[max(start, 0) : max(end, 0)], 40)
            what = f"{quote(words, 40)} is not at {start}-{end}, where {here} is"
            if not words:
                what = f"{start}-{end} is no place in a text of {len(text):,} characters"
            faults.add(ELSEWHERE, f"{each.place}: {what}")
            continue
        tally(counts, FURTHER, len(each.entities) - 1)
        for entity in each.entities:
            tally(counts, REPEATED, (*span, entity) in out)
            mention: MentionRow = {"start": span[0], "end": span[1], "entity": entity}
            if each.confidence is not None:
                mention["confidence"] = each.confidence
            out.setdefault((*span, entity), mention)
    return list(out.values()), {entity for _start, _end, entity in out}


def stretch_pieces(text: str, pieces: Sequence[tuple[int, int]], words: str) -> Given:
    """A mention in pieces as one from the first to the last; if the pieces have its words, it needs no others."""
    start, end = pieces[0][0], max(end for _start, end in pieces)
    if len(pieces) > 1:
        found = "".join(text[max(a, 0) : max(b, 0)] for a, b in pieces)
        words = "" if "".join(found.split()) == "".join(words.replace("...", "").split()) else words
    return start, end, words


def read_number(cell: str) -> int | None:
    """The number in a cell of digits, None if it is none or too long to be an offset."""
    cell = cell.strip()
    return int(cell) if cell.isdecimal() and len(cell) <= 18 else None


def is_same(one: str, other: str) -> bool:
    """Whether two texts are equal but for white space."""
    return one == other or one.split() == other.split()


def _count_offsets(
    text: str, given: Sequence[Given], boundaries: dict[int, int] | None
) -> list[tuple[int, int] | None]:
    """Each mention's place if offsets count in a unit, None where its words are not there."""
    out: list[tuple[int, int] | None] = []
    size = len(text)
    for start, end, words in given:
        first, last = (start, end) if boundaries is None else (boundaries.get(start, -1), boundaries.get(end, -1))
        inside = 0 <= first < last <= size
        out.append((first, last) if inside and (not words or is_same(text[first:last], words)) else None)
    return out


def _find_boundaries(text: str, unit: str) -> dict[int, int]:
    """The number of the character that begins at an offset in a unit."""
    found, at = {}, 0
    for i, c in enumerate(text):
        found[at] = i
        code = ord(c)
        if unit == "bytes":
            at += 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
        else:
            at += 1 if code < 0x10000 else 2
    found[at] = len(text)
    return found


def _find_near(text: str, start: int, words: str) -> tuple[int, int] | None:
    """The occurrence of the words that is nearest to an offset."""
    if not words:
        return None
    low, high = max(0, start - NEAR), start + len(words) + NEAR
    best = -1
    at = text.find(words, low, high)
    while at >= 0:
        if best < 0 or abs(at - start) < abs(best - start):
            best = at
        at = text.find(words, at + 1, high)
    return (best, best + len(words)) if best >= 0 else None
