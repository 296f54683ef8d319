"""Names in a text by their capitals.

    "In 1952 Grace Hopper of the Navy met Dr. Ada King."    Grace Hopper, Navy, Ada King (after the title Dr.)

A name is a run of words with a capital (or all digits after the first), joined by blanks, hyphens, apostrophes and
single small particles (of, de, van, ...), at most LONGEST words. It does not cross a comma, a line end or the end of a
sentence. The first word of a sentence has a capital whatever it is: a common word there is cut off, and a name that
is nothing else is *weak*. So are names in a line where most words have capitals, as in headings. Titles (Dr., Mrs) are
cut off and say that a person follows. Knows nothing of other texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from fader.corpora.annotate.annotator import english_words

LONGEST = 7
LINKS = frozenset("of the de del della di da dos du la le les van von der den zu zum bin ibn al el y".split())
PARTICLES = LINKS | {"and", "for"}
TITLES = frozenset(
    "mr mrs ms miss dr prof professor sir dame lord lady president minister senator judge captain".split()
)
# Words with a capital that are no part of a name where they begin one.
OPENERS = frozenset(
    """a an the this that these those i we you he she it they my our your his her its their in on at by for from with of
    to as and or but if when while where who what why how which there here then after before since until during because
    although though however moreover furthermore thus hence also both each every some many most all no not so such other
    another one two three four five first second third yes please dear hi hello thanks regards best subject re fwd is
    are was were be been do does did can could will would should may might must have has had let see note figure table
    section chapter appendix january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday am pm against""".split()
)
# Common words that begin names as often as sentences.
PREFIXES = frozenset(
    """new old saint san santa north south east west great united world royal national general lake mount river king
    queen central upper lower little big red black white green blue""".split()
)
# Adjectives that English writes with a capital; alone they name nothing that is asked for.
ADJECTIVES = frozenset(
    """british american english french german greek roman european african dutch persian spanish italian russian chinese
    japanese indian christian jewish muslim catholic protestant islamic latin asian australian canadian irish scottish
    welsh polish swedish norwegian danish turkish arab arabic egyptian mexican brazilian hebrew soviet korean austrian
    hungarian portuguese swiss belgian finnish bc ad bce ce internet web""".split()
)
_WORD = r"[^\W\d_](?:[\w]|['’](?=\w)|-(?=\w)|\.(?=\w\.)|(?<=\b[^\W\d_])\.(?= ?[A-Z]))*"
_TOKEN = re.compile(rf"{_WORD}|\d+")
_END = re.compile(r"[.!?:;]['”\")\]]*\s|\n|[•|]")
_GAP = re.compile(r"[ \u00a0\u2019'&-]{1,2}")
_LAST = re.compile(r"(?<!\w)[A-Z]\w*$")
_COMMON: frozenset[str] = frozenset()


class Name(NamedTuple):
    """Characters `[start, end)` of a text; whether its capital says little, and whether a title came before."""

    start: int
    end: int
    weak: bool
    titled: bool


def common_words() -> frozenset[str]:
    """Common English words, in lower case, which begin sentences rather than names."""
    global _COMMON
    if not _COMMON:
        _COMMON = frozenset(english_words()) | OPENERS
    return _COMMON


def find_names(text: str) -> Iterator[Name]:
    """The names of a text, in its order."""
    begin = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        if end > begin:
            if _is_abbreviation(text, begin, end):
                continue
            yield from _in_sentence(text, begin, end)
        begin = end


def _is_abbreviation(text: str, begin: int, end: int) -> bool:
    """Whether what ends here is an initial or a title with a full stop, which ends no sentence."""
    before = text[begin:end].rstrip()
    if not before.endswith("."):
        return False
    last = before[:-1].rsplit(None, 1)[-1:] or [""]
    return (len(last[0]) == 1 and last[0].isupper()) or last[0].lower() in TITLES | {"st", "mt", "jr"}


def _in_sentence(text: str, begin: int, end: int) -> Iterator[Name]:
    words = [(match.start(), match.end()) for match in _TOKEN.finditer(text, begin, end)]
    if not words:
        return
    upper = [_has_capital(text, a) for a, _b in words]
    ends = text[begin:end].rstrip().endswith((".", "!", "?", ":", ";", ","))
    shout = len(words) > 3 and sum(upper) > 0.6 * len(words) and not ends  # a heading
    i = 0
    while i < len(words):
        if not upper[i]:
            i += 1
            continue
        j = _extend(text, words, upper, i)
        name = _trim(text, words, i, j, i == 0, shout)
        if name is not None:
            yield name
        i = j


def _has_capital(text: str, at: int) -> bool:
    return text[at].isupper()


def _extend(text: str, words: list[tuple[int, int]], upper: list[bool], i: int) -> int:
    """The end of the run of words that begins at `i`."""
    j = i + 1
    while j < len(words) and j - i < LONGEST:
        if not _is_near(text, words[j - 1][1], words[j][0]):
            break
        word = text[words[j][0] : words[j][1]]
        if upper[j] or (word.isdigit() and len(word) < 5):
            j += 1
        elif word in LINKS:
            k = j + 1
            while k < len(words) and k - j < 2 and text[words[k][0] : words[k][1]] in LINKS:
                k += 1
            blank = (
                k < len(words)
                and upper[k]
                and all(_is_near(text, words[m - 1][1], words[m][0]) for m in range(j + 1, k + 1))
            )
            if not blank:
                break
            j = k + 1
        else:
            break
    return j


def _is_near(text: str, end: int, start: int) -> bool:
    gap = text[end:start]
    return _GAP.fullmatch(gap) is not None or (gap in (". ", ".") and _abbreviates(text, end))


def _abbreviates(text: str, end: int) -> bool:
    """Whether an initial or a title stands before `end`, as in `J. Smith` and `Dr. Smith`."""
    found = _LAST.search(text, max(0, end - 12), end)
    return found is not None and (len(found[0]) == 1 or found[0].lower() in TITLES)


def _trim(text: str, words: list[tuple[int, int]], i: int, j: int, first: bool, shout: bool) -> Name | None:
    """The name without what only begins a sentence, titles, and numbers at its end."""
    titled, weak, common = False, shout, common_words()
    opened = first
    while i < j:
        word = text[words[i][0] : words[i][1]].rstrip(".").lower()
        if word in TITLES:
            titled, opened = True, False
        elif (word in OPENERS and not (j - i == 1 and _all_capitals(text, words[i]))) or (
            opened and j - i == 2 and word in common and word not in PREFIXES
        ):
            titled = opened = False  # "President of the ..." titles nobody
        elif not word.isdigit():
            break
        i += 1
    while i < j and not _has_capital(text, words[i][0]):
        i += 1
    while i < j and text[words[j - 1][0] : words[j - 1][1]].lower() in PARTICLES:
        j -= 1
    while i < j and text[words[j - 1][0] : words[j - 1][1]].isdigit():
        j -= 1
    if i >= j:
        return None
    start, end = words[i][0], words[j - 1][1]
    if text[end - 2 : end] in ("'s", "’s"):
        end -= 2
    if end - start < 2:
        return None
    if first and i == 0 and j - i == 1 and not _all_capitals(text, words[i]):
        weak = True
    return Name(start, end, weak and not titled, titled)


def _all_capitals(text: str, word: tuple[int, int]) -> bool:
    return word[1] - word[0] > 1 and text[word[0] : word[1]].isupper()
