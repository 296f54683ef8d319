"""The answers of tools as short texts, which a model reads. Knows nothing of tools or of MCP."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from fader.search.answer import Answer, Snippet
from fader.search.ask import AskedAnswer
from fader.search.document import DocumentPage
from fader.search.suggest import TypeHint
from fader.search.why import Why
from fader.serve.api.answers import EntityAnswer

SHOWN_READINGS = 3
HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]+")  # would break or turn a line

MOST_TEXT = 20_000  # characters of a document
MOST_NAMES = 50  # entities of a document


def line(text: str) -> str:
    """A text of the corpus on one line, without characters that would turn or hide what follows."""
    return " ".join(HIDDEN.sub(" ", text).split())


def write_snippet(shown: Snippet) -> str:
    """A snippet with its mention in brackets, and where it is from."""
    (a, b), text = shown.mention, shown.snippet
    return line(f"{text[:a]}[{text[a:b]}]{text[b:]} ({shown.title or shown.doc})")


def write_search(answer: Answer) -> str:
    def lines() -> Iterator[str]:
        shown = f"{len(answer.results)} of {answer.candidates:,} entities"
        yield f"{shown}, from {answer.contexts:,} contexts in {answer.matched_documents:,} documents"
        for r in answer.results:
            yield f"{r.rank}. {line(r.name)} (id {r.entity}), score {r.score:.4g}, contexts: {r.support:,}"
            yield from (f"   {write_snippet(each)}" for each in r.evidence)
        yield from _notes(answer.warnings)

    return "\n".join(lines())


def write_asked(answer: AskedAnswer) -> str:
    def lines() -> Iterator[str]:
        read = answer.readings[:SHOWN_READINGS] if answer.chosen is None else [answer.chosen]
        for reading in read:
            about = f"{line(reading.name)} (type {reading.type}, entities: {reading.entities:,})"
            yield f"Read as: {about}, query {line(reading.query)}, probability {reading.probability:.2f}"
        yield f"{len(answer.results)} of {answer.candidates:,} entities, from {answer.contexts:,} contexts"
        for r in answer.results:
            yield f"{r.rank}. {line(r.name)} (id {r.entity}), score {r.score:.4g}, contexts: {r.support:,}"
            yield from (f"   {write_snippet(each)}" for each in r.evidence)
        yield from _notes(answer.warnings)

    return "\n".join(lines())


def write_entity(entity: EntityAnswer) -> str:
    def lines() -> Iterator[str]:
        yield f"{line(entity.name)} (id {entity.id}), in {entity.documents:,} documents"
        yield "Types: " + "; ".join(" > ".join(line(t.name) for t in each.path) for each in entity.types)
        if entity.aliases:
            yield "Also: " + "; ".join(map(line, entity.aliases))
        if (evidence := entity.evidence) is not None:
            total = f"{evidence.contexts.total:,} contexts"
            yield f"For the query: {_rank(evidence.rank)} of {evidence.candidates:,}, {total}"
            yield from (f"   {write_snippet(each)}" for each in evidence.contexts.items)
            yield from _notes(evidence.warnings)

    return "\n".join(lines())


def write_document(page: DocumentPage) -> str:
    def lines() -> Iterator[str]:
        yield f"{line(page.title or page.id)} (id {page.id}), {page.characters:,} characters"
        yield line(page.text[:MOST_TEXT]) + (" …" if len(page.text) > MOST_TEXT else "")
        names = dict.fromkeys(f"{line(mention.name)} (id {mention.entity})" for mention in page.mentions)
        yield f"Mentions: {'; '.join(list(names)[:MOST_NAMES])}"

    return "\n".join(lines())


def write_why(why: Why) -> str:
    def lines() -> Iterator[str]:
        yield f"{line(why.name)} (id {why.entity}): {_rank(why.rank)} of {why.candidates:,}, by {why.model}"
        for literal in why.literals:
            share = f"{literal.share:.0%} of the query's weight"
            yield f"   {line(literal.text)}: {share}, in {literal.documents:,} documents"
        yield from (f"   {each.score:.4g}: {write_snippet(each)}" for each in why.evidence)
        yield from _notes(why.warnings)

    return "\n".join(lines())


def write_types(hints: Sequence[TypeHint]) -> str:
    found = [f"{line(h.name)} (id {h.id}), entities: {h.entities:,}" for h in hints]
    return "\n".join(found) or "no type has such a name; try another word, or a broader one"


def _rank(rank: int | None) -> str:
    return f"rank {rank}" if rank else "no rank"


def _notes(warnings: Iterable[str]) -> Iterator[str]:
    return (f"Note: {line(warning)}" for warning in warnings)
