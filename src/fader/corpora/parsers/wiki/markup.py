"""Wikitext to plain text with links: `'''Ada''' met [[Charles Babbage|Babbage]]{{cn}}.` to `Ada met Babbage.`

Removed with what is in them: templates, tables, references, comments, files and galleries, formulas, code, language
links. Removed around what is in them: bold and italics, headings, list marks, HTML tags, external links, links to other
wikis and namespaces. `<nowiki>` is taken literally. Double braces and brackets that match nothing are dropped.

Comments, references and templates, half of a long article, go first (`strip`); a few passes at the speed of compiled
patterns take away the rest while no offset matters. Then one pass over the pieces between links writes text, offsets.
Characters that must not be read as markup are hidden as half surrogate pairs, which no decoded text has, and shown
again at the end, one for one. No template is expanded; those that only wrap their words leave them. Knows nothing of
XML, and of links only what it is given. The rules are those of https://www.mediawiki.org/wiki/Help:Formatting and
Help:Links.
"""

from __future__ import annotations

import html
import re
from itertools import accumulate
from typing import NamedTuple, Protocol

from fader.corpora.parsers.wiki.strip import close_up, remove_comments, remove_line_marks, remove_templates

# What a link is if not one to an article; no title begins like these.
TEXT, CATEGORY, DROP = "[text", "[category", "[drop"
_KINDS = frozenset((TEXT, CATEGORY, DROP))

_MARKUP = "[]{}|<>'=*#:;_~"
_HIDE = {ord(c): 0xDC00 + i for i, c in enumerate(_MARKUP)}
_HIDDEN = re.compile("[\udc00-\udc0d]")

_OPAQUE = re.compile(
    r"<(nowiki|math|chem|ce|pre|source|syntaxhighlight|gallery|timeline|score|imagemap|hiero|graph|mapframe|maplink|"
    r"templatedata|templatestyles|inputbox|poem|section|includeonly|categorytree|ref|references)"
    r"(?=[\s/>])([^<>]*)>",
    re.IGNORECASE,
)
_OPAQUE_BYTES = re.compile(_OPAQUE.pattern.encode(), re.IGNORECASE)
_KEPT = frozenset(("nowiki", "pre", "poem"))  # what is in them is text
# Templates that show one of their parameters as it is.
_WRAPPER = re.compile(
    rb"\{\{\s*(?:(?:[Nn]owrap|[Nn]obr|[Nn]obold|[Nn]oitalic|[Ss]mall|[Ss]maller|[Bb]ig|[Mm]var|[Ss]ic)\s*\|([^{}|=]*)|"
    rb"(?:[Ll]ang|[Tt]ransl|[Tt]ransliteration)\s*\|[^{}|]*\|([^{}|=]*))(?:\|[^{}]*)?\}\}"
)
_TABLES = re.compile(r"\n[ \t:*#;]*\{\||\n[ \t]*\|\}")
_CONVERT = re.compile(
    rb"\{\{\s*(?:[Cc]onvert|[Cc]vt)\s*\|([^{}|=]*)\|(?:(to|and|or|by|x|-|\+)\|([^{}|=]*)\|)?([^{}|=]*)(?:\|[^{}]*)?\}\}"
)
_BOLD = re.compile("'''''|'''")
_QUOTES = re.compile(_BOLD.pattern + "|''")
_LEAD = 3000  # characters in which bold words may be other names of the page
_NAME = re.compile(r"[^\[\]{}|<>\n]{2,80}")
_BREAKS = re.compile(r"<(?:br|p|div|li|tr|td|th|dd|dt|blockquote|center|ul|ol|dl|table|h[1-6])\b[^<>]*>", re.IGNORECASE)
_TAGS = re.compile(r"</?[a-zA-Z][^<>]*>")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,30});")
_HEADING = re.compile(r"\n=(={0,5})[ \t]*([^\n]*?)[ \t]*=\1[ \t]*(?=\n|\Z)")
_MAGIC = re.compile(r"__[A-Z]+__")
_EXTERNAL = re.compile(
    r"\[(?=[Hhfimn/])(?:(?:[Hh][Tt][Tt][Pp][Ss]?:|ftps?:|irc:)?//|mailto:|news:)[^\s\[\]<>]+[ \t]*"
    r"([^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*)\]"
)
_LEFT_OVER = re.compile(r"\[\[+|\]\]+")
_BRACKETS = re.compile(r"\[\[|\]\]")
# Letters right behind a link belong to it, in the scripts whose wikis have it so.
_TRAIL = "([a-z\u00df-\u00f6\u00f8-\u00ff\u0101-\u017f\u03ac-\u03ce\u0430-\u045f\u0561-\u0587\u10d0-\u10f0]*)"
_LINK = re.compile(r"\[\[([^\[\]|\n]*)(?:\|([^\[\]]*(?:\[(?!\[)[^\[\]]*\](?!\])[^\[\]]*)*))?\]\]" + _TRAIL)


class Table(Protocol):
    """What links lead to."""

    files: re.Pattern[str]  # the beginning of a link to a file, brackets and namespace

    def __getitem__(self, written: str) -> str:
        """For any target as written: an article's title, TEXT, CATEGORY or DROP."""
        ...


class WikiPage(NamedTuple):
    """Plain text; links to articles as (start, end, title); categories, templates' starts and bold words as written."""

    text: str
    links: list[tuple[int, int, str]]
    categories: list[str]
    templates: list[str]
    bold: list[str]


def parse(wikitext: str | bytes, targets: Table) -> WikiPage:
    """Parse a page: a text, or bytes as XML has them, with its escapes."""
    hidden = _Hidden()
    escaped = isinstance(wikitext, bytes)
    body = wikitext if isinstance(wikitext, bytes) else wikitext.encode("utf-8", "replace")
    raw = remove_comments(body, escaped)
    if _OPAQUE_BYTES.search(raw):
        raw = _remove_opaque(raw.decode("utf-8", "replace"), hidden).encode("utf-8", "surrogatepass")
    raw = _WRAPPER.sub(lambda match: match[1] if match[1] is not None else match[2], raw)
    if b"onvert" in raw or b"vt|" in raw:  # the words of a measure, as they are given: 3 to 5 km
        raw = _CONVERT.sub(lambda match: b" ".join(filter(None, match.groups())), raw)
    raw, starts = remove_templates(raw)
    text = raw.decode("utf-8", "surrogatepass" if hidden.some else "replace")
    if "{|" in text or "|}" in text:
        text = _remove_tables(text)
    text = _remove_files(text, targets)
    bold = _find_bold(text)
    text = _QUOTES.sub("", text)  # before tags go, for those that stand between quotes keep them apart
    if "<" in text:
        text = _TAGS.sub("", _BREAKS.sub("\n", text))
    if "&" in text:
        text = _ENTITY.sub(hidden.character, text.replace("&nbsp;", " ").replace("&ndash;", "–"))
    if "__" in text:
        text = _MAGIC.sub("", text)
    text = _EXTERNAL.sub(r"\1", text)
    raw = close_up(remove_line_marks(text.encode("utf-8", "surrogatepass")))
    text = raw.decode("utf-8", "surrogatepass")
    plain, links, categories = _find_links(text, targets)
    if hidden.some:
        plain = show_hidden(plain)
    return WikiPage(plain, links, categories, [start.decode("utf-8", "replace") for start in starts], bold)


def _find_bold(text: str) -> list[str]:
    """The bold words of the first paragraph that has some: names of the page."""
    for line in text[:_LEAD].split("\n"):
        words = [html.unescape(each.replace("''", "")).strip() for each in _BOLD.split(line)[1:-1:2]]
        if words:
            return [each for each in words if _NAME.fullmatch(each) and any(map(str.isalpha, each))]
        if line.startswith("=="):
            break
    return []


def _remove_opaque(text: str, hidden: _Hidden) -> str:
    """Without elements that hold no wikitext; of `<nowiki>` and the like, what they hold stays, taken literally."""
    out, last = list[str](), 0
    match = _OPAQUE.search(text)
    while match:
        out.append(text[last : match.start()])
        name, last = match[1].lower(), match.end()
        if not match[2].endswith("/"):
            end = text.find(f"</{match[1]}", last)
            if end < 0:
                end = text.find(f"</{name}", last)
            if end >= 0:
                if name in _KEPT:
                    inner = text[last:end]
                    out.append(hidden.literal(inner) if name == "nowiki" else inner)
                last = text.find(">", end) + 1 or len(text)
        match = _OPAQUE.search(text, last)
    out.append(text[last:])
    return "".join(out)


def _remove_tables(text: str) -> str:
    """Without tables; one that is not closed ends with its section."""
    out: list[str] = []
    last = depth = begin = 0
    for match in _TABLES.finditer(text):
        if match[0][-1] == "|":
            if not depth:
                begin = match.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                out.append(text[last:begin])
                last = match.end()
        else:
            out.append(text[last : match.start()])
            last = match.end()
    if depth:
        out.append(text[last:begin])
        stop = _HEADING.search(text, begin + 1)
        last = stop.start() if stop else len(text)
    out.append(text[last:])
    return "".join(out)


class _Hidden:
    """Hides characters that must not be read as markup, and knows whether it has."""

    def __init__(self) -> None:
        self.some = False

    def literal(self, text: str) -> str:
        self.some = True
        return text.translate(_HIDE)

    def character(self, match: re.Match[str]) -> str:
        """An entity as a character; what is none stays."""
        found = html.unescape(match[0])
        if len(found) != 1 or "\ud800" <= found <= "\udfff":
            return match[0]
        return self.literal(found) if found in _MARKUP else found


def show_hidden(text: str) -> str:
    """The text with all that was hidden."""
    return _HIDDEN.sub(lambda match: _MARKUP[ord(match[0]) - 0xDC00], text)


def _remove_files(text: str, targets: Table) -> str:
    """Without links to files, whose captions have links themselves; one that is not closed ends with its line."""
    out, last = list[str](), 0
    for match in targets.files.finditer(text):
        if match.start() < last:
            continue
        depth, end = 1, -1
        for bracket in _BRACKETS.finditer(text, match.end()):
            depth += 1 if bracket[0] == "[[" else -1
            if not depth:
                end = bracket.end()
                break
        out.append(text[last : match.start()])
        last = end if end >= 0 else text.find("\n", match.end()) % (len(text) + 1)
    out.append(text[last:])
    return "".join(out)


def _find_links(text: str, targets: Table, whole: bool = True) -> tuple[str, list[tuple[int, int, str]], list[str]]:
    """Text, links and categories; `whole` is false when brackets are known to be left over.

    Links are many, so each step is one expression over all of them.
    """
    pieces = _LINK.split(text)
    between, written, trails = pieces[::4], pieces[1::4], pieces[3::4]
    if not whole:
        between = [_LEFT_OVER.sub("", piece) for piece in between]
    ends = [targets[each] for each in written]
    words = [
        (label or (each if end == each else each.replace("_", " ").lstrip(": "))) + trail
        for each, end, label, trail in zip(written, ends, pieces[2::4], trails, strict=True)
    ]
    categories = _remove_unshown(written, ends, trails, words, between)
    out = [""] * (2 * len(words) + 1)
    out[::2], out[1::2] = between, words
    places = list(accumulate(map(len, out)))
    starts, stops = places[:-1:2], places[1::2]
    for i in [i for i, each in enumerate(words) if each.strip() != each or "\n" in each]:
        out[2 * i + 1] = each = words[i].replace("\n", " ")
        starts[i] += len(each) - len(each.lstrip())
        stops[i] -= len(each) - len(each.rstrip())
    plain = "".join(out).rstrip()
    if whole and (("[" in plain and "[[" in plain) or ("]" in plain and "]]" in plain)):  # one is found much faster
        return _find_links(text, targets, whole=False)
    links = [link for link in zip(starts, stops, ends, strict=True) if link[0] < link[1] and link[2] not in _KINDS]
    return plain, links, categories


def _remove_unshown(
    written: list[str], ends: list[str], trails: list[str], words: list[str], between: list[str]
) -> list[str]:
    """Take out the words of links that show nothing, with a blank or line end that would be left twice; categories."""
    categories = []
    for i in [i for i, end in enumerate(ends) if end in _KINDS]:
        if ends[i] is TEXT:
            continue
        if ends[i] is CATEGORY:
            categories.append(written[i])
        piece, before = trails[i] + between[i + 1], between[i][-1:]
        if piece[:1] in ("\n", " ") and (before in ("\n", "") or before == piece[:1]):
            piece = piece[1:]
        words[i], between[i + 1] = "", piece
    return categories
