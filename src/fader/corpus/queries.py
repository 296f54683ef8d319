"""Query files and judgments: lines checked one by one, every fault with its file and line number.

Knows nothing of the query language or of which types and entities exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from fader.corpus.readers import display_name, read_lines
from fader.errors import InputError, quoted


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


class Skipper:
    """Raises a fault, or keeps it where faults are to be skipped."""

    def __init__(self, skip: bool = False) -> None:
        self._skip = skip
        self.messages: list[str] = []

    def __call__(self, message: str) -> None:
        if not self._skip:
            raise InputError(message)
        self.messages.append(message)


def read_queries(path: str | Path, fault: Skipper) -> list[QueryLine]:
    """The queries of a JSON-lines file."""
    found: dict[str, QueryLine] = {}
    for number, line in read_lines(path):
        if not line.strip():
            continue
        place = f"{display_name(path)}:{number}"
        try:
            raw = msgspec.json.decode(line, type=RawQuery)
        except msgspec.MsgspecError as error:
            fault(f"{place}: not a query ({error}): {quoted(line, 60)}")
            continue
        if raw.id in (None, "") or raw.query is None:
            fault(f'{place}: a query needs an "id" and a "query"')
        elif any(c.isspace() for c in str(raw.id)):
            fault(f"{place}: query id {quoted(raw.id)} has white space, which a TREC run cannot hold")
        elif str(raw.id) in found:
            fault(f"{place}: duplicate query id {quoted(raw.id)}; the first is at {found[str(raw.id)].place}")
        else:
            found[str(raw.id)] = QueryLine(str(raw.id), raw.query, raw.type or None, raw.question or "", place)
    return list(found.values())


def read_qrels(path: str | Path, fault: Skipper) -> dict[str, dict[str, int]]:
    """Judgments in TREC form, `qid 0 entity grade`: a grade by query and entity."""
    qrels: dict[str, dict[str, int]] = {}
    for number, line in read_lines(path):
        cells = line.split()
        if not cells:
            continue
        place = f"{display_name(path)}:{number}"
        if len(cells) != 4:
            fault(f"{place}: {len(cells)} columns; expected qid 0 entity grade: {quoted(line, 60)}")
            continue
        try:
            grade = int(cells[3])
        except ValueError:
            fault(f"{place}: grade {quoted(cells[3])} is not a whole number")
            continue
        qrels.setdefault(cells[0], {})[cells[2]] = grade
    return qrels
