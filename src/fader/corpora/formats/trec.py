"""TREC collections: SGML documents or pages between DOC tags, topics and judgments of any track.

    fader import trec disk4/ft topics.301-350 qrels.trec6 -o corpus/

What a source holds is seen from its content (`trec.files`). Documents have no mentions: `fader annotate` finds them.

    newswire and the like     the text is in known elements (`tags`), in their order; a document that has none of them,
                              or only titles, is taken whole
    collections of pages      all that is not a tag (`html`), the address from DOCHDR

A document is in UTF-8, else in what it declares, else in windows-1252, unless `encoding` says. Judgments are of
documents in most tracks: they are written as they are, `qid 0 docno grade`, and become judgments of entities only
where what is judged is an entity (experts, Entity track).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from fader.corpora.frame.base import Batch, Importer, Records, option
from fader.corpora.frame.faults import tally
from fader.corpora.parsers.trec import files as trecfiles
from fader.corpora.parsers.trec.files import TrecDocument
from fader.corpora.parsers.web import charset, html
from fader.corpus.documents import Faults
from fader.errors import UsageError, quote

_PAGE = re.compile(rb"<(?:!doctype\s+html|html|body)\b", re.IGNORECASE)
_TAG = re.compile(rb"</?[A-Za-z][\w-]*[\s>]")  # of any element, which is apart from others though HTML has none such
_TITLES = ("headline", "title", "ttl", "hl", "h3", "head")
TEXTLESS = "documents without text"
WHOLE = "documents taken whole, for they have none of the tags"


@dataclass(frozen=True)
class Trec(Importer):
    """Documents, topics and judgments as TREC has them."""

    name: ClassVar[str] = "trec"
    title: ClassVar[str] = "TREC collections: SGML documents or pages, topics, judgments"
    example: ClassVar[str] = "fader import trec disk4/ft topics.301-350.txt qrels.trec6.txt -o corpus/"
    citation: ClassVar[str] = "https://trec.nist.gov/data/docs_eng.html, https://trec.nist.gov/data/qrels_eng/"

    tags: str = option(
        "headline,title,hl,ttl,head,h3,leadpara,lp,summary,text,graphic",
        "Elements that have the text, by commas; a document that has none of them, or only titles, is taken whole.",
    )
    encoding: str = option("", "The encoding of documents; empty: as each declares, UTF-8 or windows-1252.")

    def __post_init__(self) -> None:
        if self.encoding and not charset.find_encoding(self.encoding):
            raise UsageError(f"trec: encoding must be one such as utf-8 or iso-8859-1, not {quote(self.encoding)}")

    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        return trecfiles.cut_files(sources, faults)

    def convert(self, batch: Batch, state: Any, faults: Faults) -> Records:
        kind, data = batch.payload
        if kind != trecfiles.DOCUMENTS:
            return trecfiles.read_judged(batch, faults)
        out = Records()
        names = [tag.strip().lower() for tag in self.tags.split(",") if tag.strip()]
        any_of = b"|".join(re.escape(name.encode()) for name in names) or b"(?!)"
        sections = re.compile(rb"<(" + any_of + rb")(?:\s[^>]*)?>(.*?)</\1\s*>", re.IGNORECASE | re.DOTALL)
        titles = _TITLES if set(names) - set(_TITLES) else ()  # they are the text if nothing else is asked for
        for raw in trecfiles.read_documents(data, batch.source, batch.place, faults):
            text, encoding = charset.decode(raw.body, self.encoding)
            made = _make_document(raw, text.encode("utf-8", "replace"), sections, titles, out.counts)
            if not made["text"]:
                faults.add(TEXTLESS, f"{raw.place}: document {raw.id} has no text")
                continue
            tally(out.counts, f"documents in {encoding}", encoding != "utf-8")
            out.documents.append(made)
        return out


def _make_document(
    raw: TrecDocument, body: bytes, sections: re.Pattern[bytes], titles: Sequence[str], counts: dict[str, int]
) -> dict[str, Any]:
    if raw.web or _PAGE.search(body):
        page = html.read(body) if html.looks_like_html(body) else html.read_plain(body)
        return {"id": raw.id, "text": page.text, "mentions": [], "title": page.title or None, "url": raw.url}
    found = [(name.decode().lower(), html.read(inside).text) for name, inside in sections.findall(body)]
    first = dict(reversed(found))
    title = next((first[name] for name in _TITLES if first.get(name)), None)
    some = any(text and name not in titles for name, text in found)
    tally(counts, WHOLE, not some)
    text = "\n".join(text for _name, text in found if text) if some else html.read(_TAG.sub(rb" \g<0>", body)).text
    return {"id": raw.id, "text": text, "mentions": [], "title": title, "url": raw.url}
