"""Hypothesis strategies for the small worlds of `fader.testing`.

Some documents match without a mention, some entities have one context, some literals occur nowhere.
"""

from __future__ import annotations

from hypothesis import strategies as st

from fader.testing.worlds import ENTITIES, LITERALS, Document, Mention, World
from fader.testing.worlds import draw_world as drawn_world

__all__ = ["ENTITIES", "LITERALS", "Document", "Mention", "World", "documents", "drawn_world", "worlds"]


@st.composite
def documents(draw: st.DrawFn, longest: int = 24) -> Document:
    """Tokens 0 to 4 are words of the query, more are others; mentions of one or two tokens that may overlap."""
    tokens = draw(st.lists(st.sampled_from([0, 1, 2, 3, 2, 4, 5, 6, 7, 8]), min_size=1, max_size=longest))
    drawn = draw(
        st.lists(
            st.tuples(
                st.integers(0, len(tokens) - 1), st.integers(1, 2), st.integers(0, ENTITIES - 1), st.integers(1, 4)
            ),
            max_size=6,
        )
    )
    mentions = [Mention(s, min(s + n, len(tokens)), e, c / 4) for s, n, e, c in sorted(drawn)]
    return Document(tuple(tokens), tuple(mentions), draw(st.sampled_from([1.0, 0.5, 2.0])))


@st.composite
def worlds(draw: st.DrawFn, least: int = 0) -> World:
    """Up to nine documents, at least `least` contexts."""
    found = draw(st.lists(documents(), max_size=9))
    if least:
        found.append(Document((5, 0, 6, 1), (Mention(0, 1, 3), Mention(2, 3, 1)), 1.0))
    return World(tuple(found), draw(st.integers(1, len(LITERALS))))
