"""wikiextractor's output: plain texts of a Wikipedia, with links where it was run with `--links`.

    <doc id="12" url="https://en.wikipedia.org/wiki?curid=12" title="Anarchism">
    Anarchism

    Anarchism is a <a href="political%20philosophy">political philosophy</a> ...
    </doc>

or JSON lines with `id`, `url`, `title` and `text`; links and text may be escaped as HTML. A document is an entity, its
id the title with underscores, as in `wikipedia`, which reads the dump itself and has what is lost here: redirects,
categories, infoboxes. Types come from first sentences and the brackets of titles.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple
from urllib.parse import unquote

import msgspec

from fader.corpora.frame.base import Batch, EntityRow, Importer, MentionRow, Records, option
from fader.corpora.frame.faults import at, tally
from fader.corpora.frame.inputs import decode_lines, group_batches, head
from fader.corpora.parsers.wiki.kinds import Kinds
from fader.corpora.parsers.wiki.propagate import PROPAGATE, list_own_names, propagate_links
from fader.corpora.parsers.wiki.titles import ARTICLE, Site, find_target, make_id, normalise_title
from fader.corpus.documents import Faults

OUTSIDE = "lines outside of a document"
UNCLOSED = "documents cut short"
BAD = "lines that are no document"
_HEAD = re.compile(r'<doc id="[^"]*"(?: [a-z]+="[^"]*")*? url="([^"]*)" title="(.*)">\s*')
_LINK = re.compile(r'<a href="([^"<>]*)">(.*?)</a>')
_LANGUAGE = re.compile(r"https?://([a-z-]+)\.(?:m\.)?wikipedia\.")
_SITE = Site()


class _Raw(NamedTuple):
    title: str
    url: str
    text: str


@dataclass(frozen=True)
class Wikiextractor(Importer):
    """Files that wikiextractor wrote, `AA/wiki_00`."""

    name: ClassVar[str] = "wikiextractor"
    title: ClassVar[str] = "what wikiextractor made of a Wikipedia, with --links"
    example: ClassVar[str] = "fader import wikiextractor extracted/ -o corpus/"
    citation: ClassVar[str] = "https://github.com/attardi/wikiextractor, section Output"

    propagate: bool = option(False, PROPAGATE)

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        for source in sources:  # a text may have lines that look like JSON
            opens = rb"\{" if _is_json(head(source)) else rb"<doc |\{\"" if source == "-" else rb"<doc "
            yield from group_batches([source], faults, re.compile(opens).match)

    def convert(self, batch: Batch, state: Any, faults: Faults) -> Records:
        out = Records()
        lines = decode_lines(enumerate(batch.payload, batch.place), batch.source, faults)
        first = next((raw for raw in batch.payload if raw.strip()), b"")
        read = _read_json if _is_json(first) else _read_marked
        for found in read(lines, batch.source, faults):
            self._document(found, out)
        return out

    def _document(self, found: _Raw, out: Records) -> None:
        title = normalise_title(found.title)
        first, _end, rest = found.text.lstrip("\n").partition("\n")
        body = rest if normalise_title(first) == title else found.text
        text, links = _extract_links(body.strip())
        language = _LANGUAGE.match(found.url)
        kinds = Kinds({}, not language or language[1] in ("en", "simple"), False)
        own, types = make_id(title), kinds.of_article(title, text, (), ())
        mentions: list[MentionRow] = [{"start": a, "end": b, "entity": e} for a, b, e in links]
        if self.propagate:
            more = propagate_links(text, links, list_own_names(title, (), kinds.includes(types, "person")), own)
            mentions += [{"start": a, "end": b, "entity": e, "confidence": sure} for a, b, e, sure in more]
            tally(out.counts, "mentions propagated", len(more))
        out.documents.append({"id": own, "text": text, "mentions": mentions, "title": title, "url": found.url or None})
        out.entities.append(EntityRow(own, title, types))
        out.types += kinds.rows


def _is_json(begin: bytes) -> bool:
    return begin.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def _read_json(lines: Iterator[tuple[int, str]], source: str, faults: Faults) -> Iterator[_Raw]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line)
            if not isinstance(row, dict):
                raise TypeError("not an object")
            title, text, url = row["title"], row["text"], row.get("url") or ""
            if not (isinstance(title, str) and title.strip() and isinstance(text, str) and isinstance(url, str)):
                raise TypeError("title, text and url must be strings")
        except (msgspec.DecodeError, KeyError, TypeError) as error:
            faults.add(BAD, f"{at(source, number)}: an object with title and text is needed: {error}")
            continue
        yield _Raw(html.unescape(title), url, html.unescape(text))


def _read_marked(lines: Iterator[tuple[int, str]], source: str, faults: Faults) -> Iterator[_Raw]:
    opened: re.Match[str] | None = None
    place, held = 0, list[str]()
    for number, line in lines:
        if line.startswith("<doc "):
            if opened:
                faults.add(UNCLOSED, f"{at(source, place)}: a document without </doc>; get a whole copy")
            opened, place, held = _HEAD.fullmatch(line), number, []
            if not opened:
                faults.add(BAD, f'{at(source, number)}: not of the form <doc id="12" url="..." title="...">')
        elif opened and line.strip() == "</doc>":
            yield _Raw(html.unescape(opened[2]), html.unescape(opened[1]), html.unescape("\n".join(held)))
            opened = None
        elif opened:
            held.append(line)
        elif line.strip() and line.strip() != "</doc>":
            faults.add(OUTSIDE, f"{at(source, number)}: a line that no <doc ...> is before; is it wikiextractor's?")
    if opened:
        faults.add(UNCLOSED, f"{at(source, place)}: a document without </doc>; get a whole copy")


def _extract_links(marked: str) -> tuple[str, list[tuple[int, int, str]]]:
    """The text without the marks of links, and the links to articles: start, end, entity."""
    pieces = _LINK.split(marked)
    out, size = [pieces[0]], len(pieces[0])
    links = []
    for quoted, words, after in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        written = unquote(quoted)
        found = find_target(_SITE, written)
        start, end = size + len(words) - len(words.lstrip()), size + len(words.rstrip())
        if found.space == ARTICLE and start < end and "://" not in written:
            links.append((start, end, make_id(found.title)))
        out += (words, after)
        size += len(words) + len(after)
    return "".join(out), links
