"""A judgment, and what is made of many: who found an entity right, partly right or wrong for a question, and when.

A question is judged as it was read: `query` and `type` are the reading. The last judgment of a person on a question and
an entity counts; of several people's the lower median does. Knows nothing of files or of who asks.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import xxhash

from fader.errors import UsageError, did_you_mean, quote

WRONG, PARTLY, RIGHT = 0, 1, 2
GRADES = {"wrong": WRONG, "partly": PARTLY, "right": RIGHT}
FREE_SHARE = 100  # judgments of one person that always count


class JudgedReading(NamedTuple):
    """What was judged: a question as it was written, and the typed query that it was read as."""

    question: str
    query: str
    type: str | None = None

    @property
    def id(self) -> str:
        """The same for the same question and reading."""
        return "j" + xxhash.xxh3_64_hexdigest(json.dumps([self.question, self.query, self.type]).encode())


@dataclass(frozen=True, slots=True)
class Judgment:
    """A judgment; a grade of None takes an earlier one back."""

    who: str
    when: str
    reading: JudgedReading
    entity: str
    grade: int | None


@dataclass(frozen=True, slots=True)
class Undo:
    """None of a person's judgments so far counts any more; `by` is who said so."""

    who: str
    when: str
    by: str


Record = Judgment | Undo


def now() -> str:
    """The time as records have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_grade(text: str | int) -> int:
    """`right`, `partly` or `wrong`, or 2, 1 or 0."""
    if text in GRADES.values() and not isinstance(text, bool):
        return int(text)
    word = str(text).lower()
    if word in GRADES:
        return GRADES[word]
    if word in ("0", "1", "2"):
        return int(word)
    hint = did_you_mean(word, GRADES) or "; give one of them"
    raise UsageError(f"a grade is right, partly or wrong (2, 1, 0), not {quote(text)}{hint}")


class CurrentJudgments:
    """The judgments that count, each person's last on a question and an entity, in the order of their records."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, JudgedReading, str], Judgment] = {}
        self.count: Counter[str] = Counter()  # by person

    def __iter__(self) -> Iterator[Judgment]:
        return iter(self._found.values())

    def take(self, record: Record) -> None:
        """The next record."""
        if isinstance(record, Undo):
            self._found = {key: judgment for key, judgment in self._found.items() if judgment.who != record.who}
            del self.count[record.who]
            return
        key = (record.who, record.reading, record.entity)
        self.count[record.who] -= self._found.pop(key, None) is not None
        if record.grade is not None:
            self._found[key] = record
            self.count[record.who] += 1

    def adds(self, record: Judgment) -> bool:
        """Whether a record would be one more judgment that counts."""
        return record.grade is not None and (record.who, record.reading, record.entity) not in self._found


def limit_shares(judgments: Sequence[Judgment]) -> list[Judgment]:
    """The judgments without the oldest of a person who has more than 100, and more than all others together.

    So nobody decides alone what others' questions teach, however many judgments they send.
    """
    count: dict[str, int] = {}
    for judgment in judgments:
        count[judgment.who] = count.get(judgment.who, 0) + 1
    if len(count) < 2:
        return list(judgments)
    left = {who: max(FREE_SHARE, len(judgments) - own) for who, own in count.items()}
    kept = []
    for judgment in reversed(judgments):
        left[judgment.who] -= 1
        if left[judgment.who] >= 0:
            kept.append(judgment)
    return kept[::-1]


def combine(judgments: Iterable[Judgment]) -> dict[JudgedReading, dict[str, int]]:
    """The grade of each judged entity by question: the lower median of what people say."""
    said: dict[JudgedReading, dict[str, list[int]]] = {}
    for judgment in judgments:
        assert judgment.grade is not None
        said.setdefault(judgment.reading, {}).setdefault(judgment.entity, []).append(judgment.grade)
    return {
        reading: {entity: sorted(grades)[(len(grades) - 1) // 2] for entity, grades in entities.items()}
        for reading, entities in said.items()
    }
