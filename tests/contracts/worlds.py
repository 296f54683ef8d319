"""Hypothesis strategies for the small worlds of `fader.testing`.

Some documents match without a mention, some entities have one context, some literals occur nowhere.
"""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from fader.testing.worlds import ENTITIES, LITERALS, Document, Mention, World
from fader.testing.worlds import draw_world as drawn_world

__all__ = ["ENTITIES", "LITERALS", "Document", "Mention", "World", "documents", "drawn_world", "worlds"]

# Few draws, each of many values: what hypothesis does for a draw costs more than what the tests do with a world.
_MENTION = 4  # bytes: where, how long, of whom, how sure
_mentions = [st.binary(min_size=_MENTION * n, max_size=_MENTION * n) for n in range(7)]
_counts, _priors = st.integers(0, 6), st.sampled_from([1.0, 0.5, 2.0])
_literal_counts = st.integers(1, len(LITERALS))
_TOKENS = dict(zip("0123456789", (0, 1, 2, 3, 2, 4, 5, 6, 7, 8), strict=True))


@cache
def _texts(longest: int) -> st.SearchStrategy[str]:
    return st.text("".join(_TOKENS), min_size=1, max_size=longest)


@st.composite
def documents(draw: st.DrawFn, longest: int = 24) -> Document:
    """Tokens 0 to 4 are words of the query, more are others; mentions of one or two tokens that may overlap."""
    tokens = tuple(_TOKENS[letter] for letter in draw(_texts(longest)))
    drawn = draw(_mentions[draw(_counts)])
    each = (drawn[i : i + _MENTION] for i in range(0, len(drawn), _MENTION))
    found = sorted((at % len(tokens), 1 + n % 2, e % ENTITIES, 1 + c % 4) for at, n, e, c in each)
    mentions = tuple(Mention(s, min(s + n, len(tokens)), e, c / 4) for s, n, e, c in found)
    return Document(tokens, mentions, draw(_priors))


_documents = st.lists(documents(), max_size=9)


@st.composite
def worlds(draw: st.DrawFn, least: int = 0) -> World:
    """Up to nine documents, at least `least` contexts."""
    found = draw(_documents)
    if least:
        found.append(Document((5, 0, 6, 1), (Mention(0, 1, 3), Mention(2, 3, 1)), 1.0))
    return World(tuple(found), draw(_literal_counts))
