"""HTTP responses: where pages begin, and chunks without what is between them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpora.parsers.web.html import read
from fader.corpora.parsers.web.httpresponse import blank_chunks, find_page_begin

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("body", "page"),
    [
        (b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n<p>a", b"<p>a"),
        (b"HTTP/1.0 200\nServer: x\n\n\na", b"\na"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nServer: x\r\n\r\n<p>a", b"<p>a"),
        (b"HTTP/1.1 200 OK\r\nServer: x\r\n<html>\r\n\r\na", b"<html>\r\n\r\na"),
        (b"HTTP/1.1 200 OK\r\nServer: x", b""),
        (b"HTTP/1.1 is a protocol\n\na", b"HTTP/1.1 is a protocol\n\na"),
        (b"<p>a\n\nb", b"<p>a\n\nb"),
        (b"", b""),
    ],
)
def test_page_begin(body: bytes, page: bytes) -> None:
    """Behind all headers, before the first tag of a page whose header has no end, or at the beginning."""
    assert body[find_page_begin(body) :] == page


@settings(deadline=None)
@given(st.lists(st.text("ab<>é0f\r\n", min_size=1, max_size=20)), st.booleans(), st.integers(0, 12))
def test_chunks(texts: list[str], ended: bool, missing: int) -> None:
    """What is left of a chunked body is its chunks, at their places, even if its end is missing."""
    body, kept = CHUNKED, b""
    for text in texts:
        data = text.encode()
        body += b"%x;x=y\r\n" % len(data) + data + b"\r\n"
        kept += data
    body += b"0\r\nTrailer: x\r\n\r\n" if ended else b""
    cut = (
        body[: len(body) - missing] if missing and texts and not ended and missing <= len(texts[-1].encode()) else body
    )
    found = blank_chunks(cut)
    assert len(found) == len(cut)
    assert kept.startswith(found[len(CHUNKED) :].replace(b"\0", b""))
    if cut is body and texts:
        assert found[len(CHUNKED) :].replace(b"\0", b"") == kept


@pytest.mark.parametrize("page", [b"<p>a</p>", b"12 apples\r\n", b"3\r\nabcd\r\n", b""])
def test_bodies_whose_chunks_are_joined(page: bytes) -> None:
    """A header may say so though the crawler has joined the chunks: nothing is taken for a length then."""
    assert blank_chunks(CHUNKED + page) == CHUNKED + page


def test_a_word_across_chunks() -> None:
    """A page has it in one piece."""
    body = blank_chunks(CHUNKED + b"6\r\n<p>Por\r\n6\r\nt Vell\r\n0\r\n\r\n")
    assert read(body, find_page_begin(body)).text == "Port Vell"
