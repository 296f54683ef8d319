"""Search results as CSV: an answer, two answers side by side, the contexts of an entity, a list of hits.

The rules of the format are in `fader.csvtext`. Knows nothing of files or of who reads the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import singledispatch
from typing import Any

from fader.csvtext import Cell, format_csv
from fader.errors import UsageError, quote
from fader.search.answer import Answer, Result, Snippet
from fader.search.ask import AskedAnswer, AskedResult
from fader.search.entity import EntityEvidence, Placed
from fader.search.versus import Moved, Versus

EVIDENCE = ("doc", "title", "url", "contribution", "confidence", "snippet")
ENTITY = ("rank", "entity", "name", "types", "score", "support")
Line = tuple[Cell, ...]


def to_csv(shown: Answer | AskedAnswer | Versus | EntityEvidence | Sequence[Any]) -> str:
    """The CSV text of an answer, of two, of an entity's contexts, or of a list of values that have the same fields."""
    return format_csv(_lines(shown))


@singledispatch
def _lines(shown: object) -> Iterator[Line]:
    raise UsageError(f"{quote(type(shown).__name__)} has no CSV; give an answer, an entity's evidence or a list")


@_lines.register(Answer)
@_lines.register(AskedAnswer)
def _lines_of_answer(answer: Answer | AskedAnswer) -> Iterator[Line]:
    """One line per snippet, and one for an entity without any."""
    yield *ENTITY, *EVIDENCE
    for result in answer.results:
        for evidence in _evidence_lines(result.evidence):
            yield *_entity_cells(result), *evidence


@_lines.register
def _lines_of_versus(both: Versus) -> Iterator[Line]:
    yield "side", "model", *ENTITY, "other_rank", *EVIDENCE
    for label, side in zip("ab", both.sides, strict=True):
        for result in side.results:
            for evidence in _evidence_lines(result.evidence):
                yield label, side.model, *_entity_cells(result), result.other_rank, *evidence


@_lines.register
def _lines_of_contexts(evidence: EntityEvidence) -> Iterator[Line]:
    yield "place", *EVIDENCE
    for item in evidence.contexts.items:
        yield item.place, *_evidence_cells(item)


@_lines.register(list)
@_lines.register(tuple)
def _lines_of_values(values: Sequence[Any]) -> Iterator[Line]:
    """Data classes or mappings, one column per field; an empty list has no columns either."""
    for i, value in enumerate(values):
        plain = value if isinstance(value, Mapping) else {f.name: getattr(value, f.name) for f in fields(value)}
        if not i:
            yield tuple(plain)
        yield tuple(plain.values())


def _entity_cells(result: Result | AskedResult | Moved) -> Line:
    return result.rank, result.entity, result.name, result.types, result.score, result.support


def _evidence_lines(snippets: Sequence[Snippet]) -> list[Line]:
    return [_evidence_cells(s) for s in snippets] or [("",) * len(EVIDENCE)]


def _evidence_cells(s: Snippet | Placed) -> Line:
    return s.doc, s.title, s.url, s.score, s.confidence, s.snippet
