"""Plain text, Markdown and HTML: a file is a document.

Text is UTF-8, UTF-16 or, where it is neither, what the web's rules say (`charset`). Of Markdown the words remain,
without marks, and code; links leave their text. HTML is read as `parsers.web.html` says.
"""

from __future__ import annotations

import re
from typing import Any

from fader.corpora.files.piece import EMPTY, Piece, UnreadableError
from fader.corpora.parsers.web import charset, html

_FRONT = re.compile(r"\A---\r?\n(.*?)\r?\n(?:---|\.\.\.)\r?\n", re.S)
_TITLE = re.compile(r"""^title:\s*["']?(.+?)["']?\s*$""", re.M)
_BREAKS = ("softbreak", "hardbreak")


def read_text(data: bytes) -> Piece:
    """A plain text as it is, white space at its ends aside."""
    text = charset.decode(data)[0].lstrip("\ufeff").replace("\r\n", "\n").strip()
    return Piece(_some(text.replace("\0", " ")))


def read_markdown(data: bytes) -> Piece:
    """The words of a Markdown file; its title is that of its front matter, or its first heading."""
    from markdown_it import MarkdownIt

    text = charset.decode(data)[0].lstrip("\ufeff").replace("\0", " ")
    title = ""
    if front := _FRONT.match(text):
        found = _TITLE.search(front[1])
        title, text = found[1] if found else "", text[front.end() :]
    tokens = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table").parse(text)
    blocks, heading = list[str](), ""
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "inline":
            blocks.append(_words(token))
        elif token.type in ("fence", "code_block"):
            blocks.append(token.content.strip())
        elif token.type == "html_block":
            blocks.append(html.read(token.content.encode("utf-8", "replace")).text)
        elif token.type == "heading_open" and after is not None and not heading:
            heading = _words(after)
    return Piece(_some("\n\n".join(filter(None, blocks))), title or heading)


def _words(inline: Any) -> str:
    """The text of a line with marks, without them."""
    parts = []
    for child in inline.children or []:
        if child.type in _BREAKS:
            parts.append("\n")
        elif child.type == "image":
            parts.append(_words(child))
        elif child.type in ("text", "code_inline", "text_special"):
            parts.append(child.content)
    return "".join(parts)


def read_page(data: bytes) -> Piece:
    """The text of an HTML page, and its title."""
    page = html.read(charset.decode(data)[0].encode("utf-8", "replace"))
    return Piece(_some(page.text), " ".join(page.title.split()))


def _some(text: str) -> str:
    if not text.strip():
        raise UnreadableError(EMPTY, "has no text")
    return text
