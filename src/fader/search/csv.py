"""What is shown as CSV: an answer, two answers side by side, the contexts of an entity, a list of hits.

    file   := line*               lines end with CR LF, the first has the names of the columns (RFC 4180)
    cell   := text | number       a text with a comma, a quote, a semicolon, a tab or a line end is in quotes, and a
                                  quote in it is doubled
    guard  := '                   before a text that a spreadsheet could take for a formula: one whose first character,
                                  blanks and other invisible ones aside, is = + - @ or one of their full-width forms, or
                                  that begins with a tab or a line end

Several values in one cell are separated by `|`. Golden case: the name `=1+1, x` is `"'=1+1, x"`, the score -1.5 is
`-1.5`. Formulas in CSV: OWASP, "CSV injection". Knows nothing of files and of who reads it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from fader.errors import UsageError, quoted
from fader.search.answer import Answer, Snippet
from fader.search.entity import EntityEvidence, Placed
from fader.search.versus import Versus

EVIDENCE = ("doc", "title", "url", "contribution", "confidence", "snippet")
ENTITY = ("rank", "entity", "name", "types", "score", "support")
_QUOTED = re.compile(r'[,";\t\r\n]')
_FORMULA = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
_LINES = tuple("\t\r\n\v\f\x85\u2028\u2029")


def csv_of(shown: Answer | Versus | EntityEvidence | Sequence[Any]) -> str:
    """The CSV text of an answer, of two, of an entity's contexts, or of a list of values that have the same fields."""
    if isinstance(shown, Answer):
        return table([(*ENTITY, *EVIDENCE), *_answer(shown)])
    if isinstance(shown, Versus):
        return table([("side", "model", *ENTITY, "other_rank", *EVIDENCE), *_versus(shown)])
    if isinstance(shown, EntityEvidence):
        return table([("place", *EVIDENCE), *((item.place, *_evidence(item)) for item in shown.contexts.items)])
    if isinstance(shown, Sequence) and not isinstance(shown, str):
        return table(_values(shown))
    raise UsageError(f"{quoted(type(shown).__name__)} has no CSV; give an answer, an entity's evidence or a list")


def _answer(answer: Answer) -> Iterator[tuple[Any, ...]]:
    """A line a snippet, and one for an entity without any."""
    for r in answer.results:
        for found in _lines(r.evidence):
            yield r.rank, r.entity, r.name, r.types, r.score, r.support, *found


def _versus(both: Versus) -> Iterator[tuple[Any, ...]]:
    for label, side in zip("ab", both.sides, strict=True):
        for r in side.results:
            for found in _lines(r.evidence):
                of_entity = (r.rank, r.entity, r.name, r.types, r.score, r.support)
                yield label, side.model, *of_entity, r.other_rank, *found


def _lines(snippets: Sequence[Snippet]) -> list[tuple[Any, ...]]:
    return [_evidence(s) for s in snippets] or [("",) * len(EVIDENCE)]


def _evidence(s: Snippet | Placed) -> tuple[Any, ...]:
    return s.doc, s.title, s.url, s.score, s.confidence, s.snippet


def _values(items: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Data classes or mappings, their fields as columns; nothing of an empty list."""
    for i, item in enumerate(items):
        plain = item if isinstance(item, Mapping) else {f.name: getattr(item, f.name) for f in fields(item)}
        if not i:
            yield tuple(plain)
        yield tuple(plain.values())


def table(lines: Iterable[Sequence[Any]]) -> str:
    """Lines of texts, numbers, lists of them, and None for nothing."""
    return "".join(",".join(cell(value) for value in line) + "\r\n" for line in lines)


def cell(value: Any) -> str:
    """One cell; a number reads back as it is."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    text = guarded(value if isinstance(value, str) else "|".join(map(str, value)))
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def guarded(text: str) -> str:
    """The text with an apostrophe before it where it could be taken for a formula."""
    first = next((c for c in text if not _is_invisible(c)), "")
    return f"'{text}" if first in _FORMULA or text.startswith(_LINES) else text


def _is_invisible(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) in ("Cc", "Cf")
