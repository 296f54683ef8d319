"""The terms of a dictionary by their stems: an order in which terms of one stem stand together.

The order is (stem, term), stems by Snowball. Only the places of terms are kept: a stem is found by halving, and the
stems on the way are computed again. Knows nothing of postings.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from fader.index.encoding.strings import SortedStrings

I32 = NDArray[np.int32]


@cache
def stemmer(language: str) -> Callable[[str], str]:
    """What stems a word of a language."""
    import Stemmer

    return Stemmer.Stemmer(language).stemWord  # type: ignore[no-any-return]


def sort_by_stem(terms: SortedStrings, language: str) -> I32:
    """The places of all terms in the order of their stems."""
    stems = list(map(stemmer(language), terms))
    return np.array(sorted(range(len(stems)), key=stems.__getitem__), dtype=np.int32)


def find_stem(order: I32, terms: SortedStrings, term: str, language: str) -> list[int]:
    """The numbers of the terms that have the stem of a term, ascending."""
    stem = stemmer(language)
    wanted = stem(term)
    a = bisect_left(range(order.size), wanted, key=lambda i: stem(terms[int(order[i])]))
    b = a
    while b < order.size and stem(terms[int(order[b])]) == wanted:
        b += 1
    numbers: list[int] = order[a:b].tolist()
    return numbers
