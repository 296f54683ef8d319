"""A judgment of an answer on an index: checked against its catalog, and with the reading of the question.

A text that was asked as a typed query is its own reading. A plain question without a given reading is judged as its
most probable one. Knows nothing of where judgments are kept.
"""

from __future__ import annotations

from fader.errors import CatalogError, quote
from fader.judging.record import JudgedReading, Judgment, now, parse_grade
from fader.search.index import Index


def judge_answer(
    index: Index,
    who: str,
    question: str,
    entity: str,
    grade: str | int | None,
    query: str | None = None,
    type: str | None = None,
) -> Judgment:
    """The judgment of an entity as an answer to a question; a grade of None takes an earlier one back.

    Without `query` the reading is the question's most probable one, of `type` where that is given.
    """
    catalog = index.collection.catalog
    if catalog.entity_ids.find(entity) < 0:
        raise CatalogError(f"no entity {quote(entity)}; `fader entities` looks ids up by name")
    if query is None:
        best = index.read(question).readings[0]
        query, type = best.query, best.type if type is None else type
    parsed = index.parse(query, type)  # a query that cannot be asked cannot be judged
    reading = JudgedReading(question, query, parsed.type)
    return Judgment(who, now(), reading, entity, None if grade is None else parse_grade(grade))
