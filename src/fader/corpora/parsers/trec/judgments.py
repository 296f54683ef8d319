"""Judgments of any TREC track: which columns have the query, what is judged, and the grade.

    301 0 AP880212-0001 1                          four columns, and more after them
    EX51 0 candidate-0010 lists-015-8537 2         a supporting document before the grade
    101 clueweb09-en0001-02-21241 1 0 1.0          prels: grade third, then method and probability
    301 AP880212-0001 1                            three columns

The second of four columns may be a subtopic; the same is then judged several times, and the highest grade counts. A
grade may be negative. Lines of a run (query, Q0, id, rank, score, tag) are no judgments. Knows nothing of queries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fader.corpora.frame.faults import at, tally
from fader.corpora.frame.inputs import decode_lines
from fader.corpus.documents import Faults
from fader.errors import quote

MALFORMED = "judgments that cannot be read"
_NEEDED = "needs query, 0, id and a grade, which is a whole number"
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d{1,9}(?:\.0+)?")


def is_run(cells: list[str]) -> bool:
    """Whether the columns are those of a run: query, Q0, id, rank, score and the name of a system."""
    if len(cells) != 6 or not (_WHOLE.fullmatch(cells[3]) and _NUMBER.fullmatch(cells[4])):
        return False
    return cells[1].upper() == "Q0" or not _NUMBER.fullmatch(cells[5])


def read_judgment(cells: list[str]) -> tuple[str, str, int] | None:
    """Query, what is judged and grade; None where the columns are no judgment."""
    if is_run(cells):
        return None
    if len(cells) == 3 and _WHOLE.fullmatch(cells[2]):
        return cells[0], cells[1], _read_grade(cells[2])
    if len(cells) < 4:
        return None
    if len(cells) == 5 and _WHOLE.fullmatch(cells[2]) and not _WHOLE.fullmatch(cells[1]):
        return cells[0], cells[1], _read_grade(cells[2])
    if _WHOLE.fullmatch(cells[3]):
        return cells[0], cells[2], _read_grade(cells[3])
    if len(cells) == 5 and _WHOLE.fullmatch(cells[4]):
        return cells[0], cells[2], _read_grade(cells[4])
    return None


def read_judgments(data: bytes, source: str, faults: Faults) -> Iterator[tuple[str, str, int]]:
    """All judgments of a file, in their order."""
    for number, line in decode_lines(enumerate(data.split(b"\n"), 1), source, faults):
        if found := read_judgment(line.split()):
            yield found
        elif line.strip():
            faults.add(MALFORMED, f"{at(source, number)}: {_NEEDED}: {quote(line, 60)}")


def keep_highest(rows: Iterable[tuple[str, str, int]], counts: dict[str, int]) -> list[tuple[str, str, int]]:
    """Each pair of query and what is judged once, with its highest grade, in the order in which pairs came."""
    best: dict[tuple[str, str], int] = {}
    for query, judged, grade in rows:
        if (query, judged) in best:
            tally(counts, "judgments repeated")
        best[query, judged] = max(grade, best.get((query, judged), grade))
    return [(query, judged, grade) for (query, judged), grade in best.items()]


def _read_grade(text: str) -> int:
    return int(float(text))
