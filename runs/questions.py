"""Measure what reading questions costs: MAP on the text of questions alone, beside the given types and queries.

    python runs/questions.py TESTBED... [--sample 800] [--model default] [--work DIR]

Testbeds are as for `runs/interpreter.py`. The same model ranks in every column of the table:

    given        the type and the query that a person or a program made of the question
    elsewhere    the question alone, by an interpreter that was trained on the other testbeds
    trained      the same, trained further on the testbed's own questions: five folds, each read by the others' training
    one reading  `trained` with the most probable reading alone, as it would be without summing over readings
    no type      the question's literals, entities of any type
    type         the question's literals with the given type
    type@1, @5   how often the given type, or one with at least half of its entities in common, is among the first

and the expected calibration error of the first ten answers of `trained`, calibrated by the other folds.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from interpreter import Testbed, ask_elsewhere, open_testbed

from fader.corpus.queries import QueryLine
from fader.experiment.measures import average_measures
from fader.experiment.questions import JudgedQuestion, calibrate_across, cross_validate_questions
from fader.measures import average_precision
from fader.questions.calibration import measure_calibration
from fader.questions.mixture import find_members, value_ranks

MOST = 1_000  # entities of a ranking


def rank_given(bed: Testbed) -> float:
    """MAP with the given types and queries."""
    system = bed.judge.system
    ranked = {line.id: bed.index.rank(line.query, line.type, k=MOST, model=system).entities for line in bed.lines}
    return average_measures(ranked, {line.id: bed.judge.grades[line.id] for line in bed.lines})["MAP"]


def restrict(question: JudgedQuestion, number: int) -> float:
    """Average precision of the question's literals with one type."""
    member = find_members(question.reader.catalog, [number], question.entity)[:, 0]
    entity, good = question.entity[member], question.good[member].astype(np.int64)
    return float(average_precision(value_ranks(entity.size), entity, good, question.relevant))


def find_type(bed: Testbed, line: QueryLine) -> int:
    """The number of the given type, -1 for none."""
    return -1 if line.type is None else bed.index.collection.catalog.resolve_type(line.type)


def has_type(bed: Testbed, given: int, types: list[int]) -> bool:
    """Whether the given type, or one that shares at least half of its entities, is among some."""
    catalog = bed.index.collection.catalog

    def members(number: int) -> set[int]:
        return set() if number < 0 else set(catalog.entities_of_type(number).tolist())

    wanted = members(given)
    return given in types or any(
        wanted and 2 * len(wanted & found) >= len(wanted | found) for found in map(members, types)
    )


def measure(beds: list[Testbed], bed: Testbed) -> None:
    """Print the row of a testbed."""
    given, (away, elsewhere) = rank_given(bed), ask_elsewhere(beds, bed)
    by_id = {line.id: line for line in bed.lines}
    types = {line.id: find_type(bed, line) for line in bed.lines}
    validated = cross_validate_questions(bed.judge, bed.lines, away)
    total = len(by_id)  # a question that cannot be read counts as 0

    def mean(values: list[float]) -> float:
        return sum(values) / total

    trained = mean([one.precision for _q, one, _fold in validated])
    alone = mean([restrict(question, one.types[0]) for question, one, _fold in validated])
    no_type = mean([restrict(question, -1) for question, _one, _fold in validated])
    typed = mean([restrict(question, types[question.id]) for question, _one, _fold in validated])
    first, five = (
        mean([float(has_type(bed, types[question.id], one.types[:n])) for question, one, _fold in validated])
        for n in (1, 5)
    )
    error, bins = measure_calibration(*calibrate_across([(one, fold) for _q, one, fold in validated]))
    untrained = mean([one.precision for one in elsewhere])
    figures = f"{given:.3f} | {untrained:.3f} ({untrained / given:.0%}) | {trained:.3f} ({trained / given:.0%})"
    figures += f" | {alone:.3f} | {no_type:.3f} | {typed:.3f} | {first:.0%} | {five:.0%} | {error:.3f}"
    print(f"| {bed.name} ({total}) | {figures} |", flush=True)
    reliability = ", ".join(f"{mean:.2f}: {share:.2f} ({count})" for mean, share, count in bins)
    print(f"<!-- {bed.name}: probability: share right (answers): {reliability} -->", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("testbeds", nargs="+", type=Path, metavar="TESTBED")
    options.add_argument("--sample", type=int, default=800, help="questions of each testbed at most")
    options.add_argument("--model", default="default", help="what ranks")
    options.add_argument("--work", type=Path, help="where indexes are, or are built")
    given = options.parse_args()
    print("| testbed | given | elsewhere | trained | one reading | no type | type | type@1 | type@5 | calibration |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = given.work or Path(scratch)
        beds = [open_testbed(folder, work, given.sample, given.model) for folder in given.testbeds]
        for bed in beds:
            measure(beds, bed)


if __name__ == "__main__":
    main()
