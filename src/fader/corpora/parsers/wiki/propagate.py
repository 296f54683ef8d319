"""Names that a page has linked, or that are its own, wherever else they stand in it.

A wiki links a name once and its own subject never. Each later occurrence of the words of a link becomes a mention of
the same entity, with a lower confidence, if the words begin with a capital letter (the page's own may be small), if all
links with these words in the page lead to one entity, and if they stand free (no letter or digit at either end, no
other mention over them). The page's own names are its title without brackets, the bold words of its lead, and the last
name of a person. The longest name wins; of words that begin alike, those of more words. Knows nothing of wikitext.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

LINKED, OWN, LAST_NAME = 0.9, 0.9, 0.8
PROPAGATE = "Names that a page links, and its own, are mentions wherever else they stand in it."  # help of the option
# Capital letters of Latin, Greek and Cyrillic, spelled out: it is four times as fast as asking for their category.
_WORD = re.compile("[A-Z\u00c0-\u00d6\u00d8-\u00de\u0391-\u03a9\u0400-\u042f]\\w*")
_BRACKETS = re.compile(r" \([^()]*\)$")
_JUNIOR = frozenset(("Jr", "Sr", "II", "III", "IV"))


def list_own_names(title: str, bold: Iterable[str], is_person: bool) -> dict[str, float]:
    """The names of a page's subject, each with its confidence."""
    bare = _BRACKETS.sub("", title)
    names = dict.fromkeys([bare, *(name.strip() for name in bold)], OWN)
    if bare == title and not is_person and bare[1:].islower():
        names.setdefault(bare[0].lower() + bare[1:], OWN)  # a common noun, whose first letter is large only in titles
    if is_person and "," not in bare:
        words = [word.strip(".") for word in bare.split()]
        while len(words) > 2 and words[-1] in _JUNIOR:
            words.pop()
        if len(words) > 1 and len(words[-1]) > 2 and not {"of", "the"} & set(words):
            names.setdefault(words[-1], LAST_NAME)
    return names


def propagate_links(
    text: str, links: Sequence[tuple[int, int, str]], own: dict[str, float], entity: str
) -> list[tuple[int, int, str, float]]:
    """Mentions beside the links: start, end, entity, confidence. The links are in order and do not overlap."""
    names: dict[str, tuple[str, float] | None] = {name: (entity, sure) for name, sure in own.items() if len(name) > 2}
    for start, end, target in links:
        surface = text[start:end]
        known = names.get(surface, surface)
        if known is surface:
            if end - start > 2:
                names[surface] = (target, LINKED)
        elif known is not None and known[0] != target:
            names[surface] = None  # it means several things
    by_word: dict[str, list[str]] = {}
    for name in names:
        first = _WORD.match(name)
        if first:
            by_word.setdefault(first[0], []).append(name)
    places = [(match.start(), match[0]) for match in _WORD.finditer(text) if match[0] in by_word]
    small = [name for name in own if len(name) > 3 and not _WORD.match(name)]
    for name in small:
        by_word[name] = [name]
        places += [(match.start(), name) for match in re.finditer(re.escape(name), text)]
    if small:
        places.sort()
    found = []
    done = i = 0
    starts = [link[0] for link in links] + [len(text)]
    ends = [link[1] for link in links] + [len(text) + 1]
    for start, word in places:
        while ends[i] <= start:
            i += 1
        limit = starts[i]
        if limit <= start or start < done or text[start - 1 : start].isalnum():
            continue  # it is linked, or part of a name or of a word
        candidates = by_word[word]
        if len(candidates) > 1:
            candidates.sort(key=lambda name: -len(name))
        for name in candidates:
            end = start + len(name)
            if end <= limit and text.startswith(name, start) and not text[end : end + 1].isalnum():
                if (meant := names[name]) is not None:
                    found.append((start, end, *meant))
                done = end
                break
    return found
