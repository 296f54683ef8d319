"""The compiled passes give what the plain ones of the oracle give, on any mixture of markup."""

from __future__ import annotations

from xml.sax.saxutils import escape

from hypothesis import given, settings
from hypothesis import strategies as st

from corpora import wiki_oracle as oracle
from fader.corpora.parsers.wiki import strip

PIECES = [
    "{{", "}}", "{", "}", "{{{", "}}}", "|", "a", "é", "𝄞", " ", "\n", "\r\n", "\r", "&", "&amp;", "&lt;", '"',
    "<", ">", "/", "<ref>", "</ref>", "<ref name=x>", "<ref/>", "<ref name=x />", "<references/>", "</ref",
    "<ref", "<!--", "-->", "--",
]  # fmt: skip
MARKUP = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
BLANKS = st.lists(
    st.sampled_from(["(", ")", " ", "  ", "\t", "\n", ",", ";", ":", ".", "–", "-", "a", "é"]), max_size=40
)


@settings(deadline=None, max_examples=400)
@given(MARKUP)
def test_unwrapped(text: str) -> None:
    """Comments and references; the same for a text and for its bytes as XML has them."""
    expected = oracle.unwrapped(text).encode()
    assert strip.remove_comments(text.encode(), escaped=False) == expected
    assert strip.remove_comments(escape(text, {'"': "&quot;"}).encode(), escaped=True) == expected


@settings(deadline=None, max_examples=400)
@given(MARKUP)
def test_templates(text: str) -> None:
    """Templates, and the starts of the outermost ones; no double brace is ever left."""
    plain, starts = strip.remove_templates(text.encode())
    expected, inside = oracle.without_templates(text)
    assert plain.decode() == expected
    assert [start.decode("utf-8", "replace")[:50] for start in starts] == [each[:50] for each in inside]


@settings(deadline=None, max_examples=400)
@given(BLANKS.map("".join))
def test_closed_up(text: str) -> None:
    """What removals leave is closed up."""
    assert strip.close_up(text.encode()).decode() == oracle.closed_up(text)


LINES = ["=", "==", " ", "\t", "\n", "*", "#:;", "----", "-", "a", "é"]


@settings(deadline=None, max_examples=400)
@given(st.lists(st.sampled_from(LINES), max_size=40).map("".join))
def test_line_marks(text: str) -> None:
    """Headings and what lines begin with; blanks at the ends of lines do not matter."""
    found, expected = strip.remove_line_marks(text.encode()).decode(), oracle.without_line_marks(text)
    assert [line.rstrip() for line in found.split("\n")] == [line.rstrip() for line in expected.split("\n")]


def test_uncompiled() -> None:
    """The kernels give the same values uncompiled."""
    import numpy as np

    text = b"a{{b{{c}}}} <ref>x</ref>&lt;!-- y --&gt; ( ) , z"
    source, out = np.frombuffer(text, dtype=np.uint8), np.empty(len(text) + 1, dtype=np.uint8)
    assert strip._unescape.py_func(source, out) == len(text) - len("&lt;!-- y --&gt;") + 1
    n = strip._close_up.py_func(source, out)
    assert out[:n].tobytes() == strip.close_up(text)


def test_deep_nesting() -> None:
    """Thousands of templates in each other, or braces that never close, end in time and leave no braces."""
    deep = "{{a" * 5000 + "}}" * 5000
    assert strip.remove_templates(f"x{deep}y".encode())[0].startswith(b"x")
    assert b"{{" not in strip.remove_templates(b"{{a" * 20000)[0]
    assert b"}}" not in strip.remove_templates(b"}}a" * 20000)[0]
