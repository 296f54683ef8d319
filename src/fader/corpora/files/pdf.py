"""PDF by pypdf: the text of its pages, parts of at most PART characters, each beginning with a page.

A word that is hyphenated at a line's end is joined. A file none of whose pages has text is taken for a scan. Runs in a
process of its own (`apart`), because a hostile file can take any time and memory.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

from fader.corpora.files.piece import DAMAGED, ENCRYPTED, MISSING, OVER, SCANNED, Piece, UnreadableError
from fader.limits import Limits

PART = 200_000
_HYPHEN = re.compile(r"([^\W\d_])-\n([a-zà-öø-ÿ])")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_pdf(path: str, limits: Limits) -> Iterator[Piece]:
    """The parts of a file; later ones than the first are called by their first page."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import DependencyError, PyPdfError
    except ImportError:
        raise UnreadableError(MISSING, "PDF needs pypdf: pip install 'fader[documents]'") from None
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableError(ENCRYPTED, "is encrypted; save it without a password")
        count = int(reader.root_object["/Pages"]["/Count"])  # type: ignore[index]
        if count > limits.file_pages:
            raise UnreadableError(OVER, f"has {count:,} pages; {limits.at_most('file_pages')}")
        title = str((reader.metadata.title if reader.metadata else "") or "")
        yield from _cut(reader, title, limits)
    except DependencyError:
        raise UnreadableError(
            ENCRYPTED, "is encrypted by a method that is not read; save it without a password"
        ) from None
    except UnreadableError:
        raise
    except (PyPdfError, ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, OSError) as error:
        raise UnreadableError(
            DAMAGED, f"is no PDF that can be read ({type(error).__name__}: {str(error)[:100]})"
        ) from None


def _cut(reader: object, title: str, limits: Limits) -> Iterator[Piece]:
    held, size, first, total, pages = list[str](), 0, 1, 0, 0
    for pages, page in enumerate(reader.pages, 1):  # type: ignore[attr-defined]
        if pages > limits.file_pages:
            raise UnreadableError(OVER, f"has more pages than {limits.at_most('file_pages')}")
        text = _SURROGATE.sub("\ufffd", page.extract_text().strip()).replace("\0", " ")
        total += len(text)
        if total > limits.document_characters:
            raise UnreadableError(OVER, f"has more text than {limits.at_most('document_characters')}")
        if held and size + len(text) > PART:
            yield _part(held, first, title)
            held, size, first = [], 0, pages
        if text:
            held.append(text)
            size += len(text)
    if not total:
        what = f"its {pages:,} pages have no text" if pages else "it has no pages"
        raise UnreadableError(SCANNED, f"{what}; recognise the text first if it is scanned")
    if held:
        yield _part(held, first, title)


def _part(pages: list[str], first: int, title: str) -> Piece:
    text = _HYPHEN.sub(r"\1\2", "\n\n".join(pages))
    return Piece(text, " ".join(_SURROGATE.sub("", title).split()), f"#page={first}" if first > 1 else "")
