"""HTML to text: what is text, and where each byte of the page went."""

from __future__ import annotations

import html as standard
from html.entities import html5
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpora.parsers.web.html import HtmlPage, looks_like_html, read, read_plain


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", ""),
        ("  a  \n b ", "a b"),
        ("<p>a</p><p>b</p>", "a\nb"),
        ("a<br>b<BR/>c", "a\nb\nc"),
        ("a<b>b</b>c", "abc"),
        ("<tr><td>a</td><td>b</td></tr><tr><td>c", "a b\nc"),
        ("<pre>a\n  b</pre>c\nd", "a\nb\nc d"),
        ("a<!-- b > c -->d", "ad"),
        ("a<!---->b<!-->c", "abc"),
        ("a<!-- no end > b", "a b"),
        ("a<!--->b-->c<!-- x --!>d-->", "ab-->cd-->"),
        ("a<!doctype html>b<?php x ?>c", "abc"),
        ("a<script>if (x < y) '<p>'</script>b<STYLE>p{}</style >c", "abc"),
        ("a<script>never ended", "a"),
        ("a<script/>b</script>c", "ac"),
        ("<script><!-- w('<script></script>') --></script>a", "a"),
        ("<script><!-- <script> no end </script>a<script><!-- <script></script>b", "ab"),
        ("<style><!-- <script></style>a", "a"),
        ("<a title='x > y' href=\"z\">b</a>", "b"),
        ("<a title='x>y</a> no end of the quotation", "y no end of the quotation"),
        ("a <b", "a <b"),
        ("1 < 2 <3 <> </> x", "1 < 2 <3 <> x"),
        (
            "<ada@example.org> or <http://example.org/> or <o:p>c</o:p>",
            "<ada@example.org> or <http://example.org/> or c",
        ),
        ("a&amp;b &lt;c&gt; &eacute;&#233;&#xE9;&eacute", "a&b <c> éééé"),
        ("a&nbsp;b\u00a0c in&shy;form\u00adation", "a b c information"),
        ("R&D &unknown; & &#; &#xD800; AT&T", "R&D &unknown; & &#; \ufffd AT&T"),
        ("&#146; &#x80;", "’ €"),
        ("&#00000000000233;&#x00000000e9;&#99999999999;&#xFFFFFFFFFFF;", "éé\ufffd\ufffd"),
        ("a&blank;b&hyph;c", "a b-c"),
        ("\ufeffa\0b", "ab"),
        ("\u0092windows", "’windows"),
        ("<head><title>T &amp; U</title><meta content='m'></head><body>b", "T & U\nb"),
    ],
)
def test_text(source: str, text: str) -> None:
    """What is text, with white space as the file's docstring says."""
    assert read(source.encode()).text == text


def test_title() -> None:
    """The title is the first line, and told apart."""
    page = read(b"x<title> The\n title </title><p>text<svg><title>other</title></svg>")
    assert (page.title, page.text) == ("The title", "x\nThe title\ntext\nother")


def test_begin_leaves_out_headers() -> None:
    """Bytes before `begin` are no text, and offsets count them."""
    page = read(b"HTTP/1.1 200 <b> OK\n\n<p>caf\xc3\xa9 x", 21)
    assert page.text == "café x"
    assert page.span(24, 29) == (0, 4)
    assert page.span(30, 31) == (5, 6)
    assert page.span(0, 20) is None


def test_span_of_markup_is_none() -> None:
    """Bytes of tags, comments and scripts became nothing; a span that holds words and tags becomes its words."""
    page = read(b"<a title='Ada'>Ada <b>Quill</b></a> &amp; Co")
    assert page.span(10, 13) is None
    assert page.text[slice(*page.span(15, 27) or (0, 0))] == "Ada Quill"
    assert page.text[slice(*page.span(36, 41) or (0, 0))] == "&"
    assert page.span(-5, 3) is None
    assert page.span(1000, 2000) is None


WORDS = st.text("abcXYZ0é漢😀", min_size=1, max_size=6)
PIECES = st.one_of(
    st.tuples(st.just("word"), WORDS),
    st.tuples(st.just("word"), st.sampled_from(["&amp;", "&eacute;", "&#233;", "&#x1F600;", "&lt;b&gt;"])),
    st.tuples(st.just("blank"), st.sampled_from([" ", "\n", "\r\n", "&nbsp;", "\u00a0", "<td>", "</th>"])),
    st.tuples(st.just("break"), st.sampled_from(["<p>", "</P>", "<br/>", "<div class='x > y'>", "</li>", "<h1 a=b>"])),
    st.tuples(
        st.just("nothing"),
        st.sampled_from(["<b>", "</b>", "<!-- é > x -->", "<script>a<b</script>", '<a title="é>">', "\u00ad", "<o:p>"]),
    ),
)


@settings(deadline=None)
@given(st.lists(PIECES))
def test_every_word_is_found_by_its_bytes(pieces: list[tuple[str, str]]) -> None:
    """A page of known words: the text is these with the white space between them, each at the place of its bytes."""
    source, text, gap = b"", "", ""
    places = []
    for kind, piece in pieces:
        if kind == "word":
            text += gap if text else ""
            gap = ""
            places.append((len(source), len(source) + len(piece.encode()), len(text), standard.unescape(piece)))
            text += standard.unescape(piece)
        elif kind != "nothing":
            gap = "\n" if kind == "break" or gap == "\n" else " "
        source += piece.encode()
    page = read(source)
    assert page.text == text
    for start, end, first, word in places:
        assert page.span(start, end) == (first, first + len(word))


class Standard(HTMLParser):
    """The standard library's reading: data outside of scripts and styles."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words = ""
        self._dropped = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._dropped = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._dropped = False

    def handle_data(self, data: str) -> None:
        self.words += "" if self._dropped else data


@settings(deadline=None)
@given(st.lists(PIECES))
def test_agrees_with_the_standard_library(pieces: list[tuple[str, str]]) -> None:
    """White space and soft hyphens aside, the text is what html.parser gives."""
    source = "".join(piece for _kind, piece in pieces)
    parser = Standard()
    parser.feed(source)
    parser.close()
    assert "".join(read(source.encode()).text.split()) == "".join(parser.words.replace("\u00ad", "").split())


@settings(deadline=None)
@given(st.text("<>/!-?&;#ab\"'= \n\u00e9\u00a0\u00adscriptyle@:", max_size=80))
def test_any_text_is_read(source: str) -> None:
    """Nothing stops the reader; places never go back, lie in the text, and a plain letter is where its byte says."""
    data = source.encode()
    for page in (read(data), read_plain(data)):
        shown = [int(a) for a in page.at if a >= 0]
        assert shown == sorted(shown)
        assert not shown or shown[-1] < len(page.text)
        assert len(page.at) == len(data)
        for i, c in enumerate(data):
            if page.at[i] >= 0 and 97 <= c <= 122 and b"&" not in data:
                assert page.text[page.at[i]] == chr(c)


class Placed(HTMLParser):
    """The standard library's reading, with the place in the source of every character of data."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=False)
        self._lines = [0, *(i + 1 for i, c in enumerate(source) if c == "\n")]
        self.places: list[tuple[int, int, str]] = []
        self._dropped = False
        self.feed(source)
        self.close()

    def _at(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._dropped = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._dropped = False

    def handle_data(self, data: str) -> None:
        if not self._dropped:
            self.places += [(self._at() + i, self._at() + i + 1, c) for i, c in enumerate(data)]

    def handle_entityref(self, name: str) -> None:
        self._reference(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._reference(f"&#{name};")

    def _reference(self, written: str) -> None:
        self.places.append((self._at(), self._at() + len(written), standard.unescape(written)))


@settings(deadline=None)
@given(st.lists(PIECES))
def test_every_byte_of_text_is_where_the_standard_library_has_it(pieces: list[tuple[str, str]]) -> None:
    """Bytes of each character of data that is no white space lead to it in the text, all others nowhere."""
    source = "".join(piece for _kind, piece in pieces)
    page = read(source.encode())
    expected = [""] * len(source.encode())
    for start, end, c in Placed(source).places:
        if not c.isspace() and c != "\u00ad":
            for byte in range(len(source[:start].encode()), len(source[:end].encode())):
                expected[byte] = c
    assert ["" if at < 0 else page.text[at] for at in page.at] == expected


@pytest.mark.parametrize(
    "piece", ['<a ="', "<!--", "<a", "<script>", "<a '", "&", "<a b='>", "</", "<!", "<script><!-- <script></script>"]
)
def test_hostile_pages_take_linear_time(piece: str) -> None:
    """What is never ended is looked for once; two million bytes would not come back otherwise."""
    assert isinstance(read(piece.encode() * (2_000_000 // len(piece))), HtmlPage)


def test_a_row_of_names_before_an_address_takes_linear_time() -> None:
    """No address holds a `<`, so the `@` is looked for once."""
    assert read(b"<x" * 1_000_000 + b"@").text.endswith("<x@")


def test_plain_and_looks() -> None:
    """Plain text stays as it is but for its ends; a tag of a page makes it a page, an address does not."""
    page = read_plain("\n é <x@y>\n z \n".encode())
    assert page.text == "é <x@y>\n z"
    assert page.span(2, 4) == (0, 1)
    page = read_plain("\ufeff a\0\0b".encode())
    assert page.text == "ab"
    assert page.span(4, 8) == (0, 2)
    assert looks_like_html(b"text <P class=x>")
    assert looks_like_html(b"<!DOCTYPE HTML PUBLIC")
    assert not looks_like_html(b"From: Ada <ada@example.org>, 1 < 2, <pa>")


def test_every_entity_is_decoded_as_the_standard_library_does() -> None:
    """All names, with and without a semicolon, before letters, and numbers; white space and soft hyphens aside."""
    written = [f"&{name}" for name in html5] + [f"&{name}x" for name in html5 if not name.endswith(";")]
    written += [f"&#{code};" for code in (34, 233, 8217, 0x1F600, 0x110000, 0)] + ["&#xe9", "&#XE9;", "&#x1F600;z"]
    for entity in written:
        expected = "" if entity == "&blank;" else standard.unescape(entity).replace("\xad", "")
        assert "".join(read(f"a{entity}!".encode()).text.split()) == "a" + "".join(expected.split()) + "!", entity
