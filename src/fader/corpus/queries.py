"""Query files and judgments: lines checked one by one, every fault with its file and line number.

Knows nothing of the query language or of which types and entities exist.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from fader.corpus.readers import display_name, read_lines
from fader.errors import InputError, quote

MOST = 2**31 - 1  # a grade beyond is a slip, and would not fit the column of grades in a table of contexts
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")


class RawQuery(msgspec.Struct):
    """A line of a query file."""

    id: str | int | None = None
    query: str | None = None
    type: str | None = None
    question: str | None = None


@dataclass(frozen=True, slots=True)
class QueryLine:
    """A query as written, and where."""

    id: str
    query: str
    type: str | None
    question: str
    place: str


class FaultCollector:
    """Raises a fault, or keeps it where faults are to be skipped."""

    def __init__(self, skip: bool = False) -> None:
        self._skip = skip
        self.messages: list[str] = []

    def __call__(self, message: str) -> None:
        if not self._skip:
            raise InputError(message)
        self.messages.append(message)


def read_queries(path: str | Path, fault: FaultCollector, questions: bool = False) -> list[QueryLine]:
    """The queries of a JSON-lines file; with `questions` a line needs a question, and no query."""
    needed = "question" if questions else "query"
    found: dict[str, QueryLine] = {}
    for number, line in read_lines(path, fault):
        if not line.strip():
            continue
        place = f"{display_name(path)}:{number}"
        try:
            raw = msgspec.json.decode(line, type=RawQuery)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            fault(f"{place}: not a query ({error}): {quote(line, 60)}")
            continue
        if raw.id in (None, "") or getattr(raw, needed) is None:
            fault(f'{place}: a query needs an "id" and a "{needed}"')
        elif any(c.isspace() for c in str(raw.id)):
            fault(f"{place}: query id {quote(raw.id)} has white space, which a TREC run cannot hold")
        elif str(raw.id) in found:
            fault(f"{place}: duplicate query id {quote(raw.id)}; the first is at {found[str(raw.id)].place}")
        else:
            found[str(raw.id)] = QueryLine(str(raw.id), raw.query or "", raw.type or None, raw.question or "", place)
    return list(found.values())


def read_qrels(path: str | Path, fault: FaultCollector) -> dict[str, dict[str, int]]:
    """Judgments in TREC form, `qid 0 entity grade`: a grade by query and entity.

    The same judgment may be repeated; another grade for the same entity is a fault.
    """
    qrels: dict[str, dict[str, int]] = {}
    lines: dict[tuple[str, str], int] = {}
    for number, line in read_lines(path, fault):
        cells = line.split()
        if not cells:
            continue
        place = f"{display_name(path)}:{number}"
        if len(cells) != 4:
            fault(f"{place}: {len(cells)} columns; expected qid 0 entity grade: {quote(line, 60)}")
            continue
        query, _iteration, entity, text = cells
        grade = int(text) if _WHOLE.fullmatch(text) else MOST + 1
        if abs(grade) > MOST:
            remedy = "write 1 or more for good, 0 or less for bad"
            fault(f"{place}: grade {quote(text)} is not a whole number within ±{MOST}; {remedy}")
            continue
        first = lines.setdefault((query, entity), number)
        if qrels.setdefault(query, {}).setdefault(entity, grade) != grade:
            before = f"{qrels[query][entity]} at {display_name(path)}:{first}"
            fault(f"{place}: {quote(entity)} has grade {grade} for query {quote(query)}, but {before}; keep one")
    return qrels
