"""Train the interpreter that ships with Fader: how plain questions are read, from the judged questions of testbeds.

    python runs/interpreter.py TESTBED... [--sample 800] [--work DIR] [-o FILE] [--validate]

A testbed is a folder with corpus.jsonl (or .gz, .zst), entities.tsv, types.tsv, queries.jsonl and qrels.txt; a query
needs a question. The file holds weights, and how often questions with a word had answers below types of a name. With
`--validate` it prints instead, per testbed: MAP with the given type and query, by five-fold cross-validation from the
testbed's own questions beside those of the others, and by an interpreter that has seen the others alone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import fader
from fader.corpus.queries import FaultCollector, QueryLine, read_qrels, read_queries
from fader.experiment.measures import average_measures
from fader.experiment.questions import JudgedQuestion, find_frame, judge_questions, measure_question, train_interpreter
from fader.questions.interpreter import Interpreter

ROOT = Path(__file__).resolve().parent.parent
FOLDS = 5


@dataclass
class Testbed:
    """An index with its judged questions."""

    name: str
    index: fader.Index
    lines: list[QueryLine]
    grades: dict[str, dict[str, int]]
    questions: list[JudgedQuestion]
    frame: tuple[str, ...]


def open_testbed(folder: Path, work: Path, sample: int) -> Testbed:
    """A testbed's index, built where it is not there yet, and a sample of its judged questions."""
    place = work / folder.name
    if not place.exists():
        fader.build(place, sorted(folder.glob("corpus.jsonl*")), folder / "entities.tsv", folder / "types.tsv")
    index = fader.open(place)
    lines = read_queries(folder / "queries.jsonl", FaultCollector())
    grades = read_qrels(folder / "qrels.txt", FaultCollector())
    drawn = np.random.default_rng(0).permutation(len(lines))[:sample]
    lines = [lines[i] for i in sorted(drawn.tolist())]
    frame = find_frame(lines)
    return Testbed(folder.name, index, lines, grades, judge_questions(index, lines, grades, frame), frame)


def train(beds: Sequence[Testbed], left_out: set[str] = frozenset()) -> Interpreter:  # type: ignore[assignment]
    """An interpreter from the questions of some testbeds, without those of some ids."""
    questions = [q for bed in beds for q in bed.questions if q.id not in left_out]
    return train_interpreter(questions, tuple(sorted({word for bed in beds for word in bed.frame})))


def validate(beds: Sequence[Testbed]) -> None:
    """Print what reading costs, per testbed."""
    for bed in beds:
        asked = {q.id for q in bed.questions}
        typed = {
            line.id: bed.index.rank(line.query, line.type, k=1000).entities for line in bed.lines if line.id in asked
        }
        given = average_measures(typed, {q: bed.grades[q] for q in typed})["MAP"]
        fold = np.random.default_rng(1).permutation(len(bed.questions)) % FOLDS
        results = []
        for k in range(FOLDS):
            test = [q for q, f in zip(bed.questions, fold.tolist(), strict=True) if f == k]
            interpreter = train(beds, {q.id for q in test})
            results += [measure_question(q, interpreter) for q in test]
        own = float(np.mean([precision for precision, _types in results]))
        print(f"{bed.name}: given {given:.4f}, cross-validated {own:.4f} ({own / given:.0%})", end="", flush=True)
        if len(beds) > 1:
            away = train([other for other in beds if other is not bed])
            other = float(np.mean([measure_question(q, away)[0] for q in bed.questions]))
            print(f", trained on the others {other:.4f} ({other / given:.0%})", end="")
        print(flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("testbeds", nargs="+", type=Path, metavar="TESTBED")
    options.add_argument("--sample", type=int, default=800, help="questions of each testbed at most")
    options.add_argument("--work", type=Path, help="where indexes are, or are built")
    options.add_argument("--validate", action="store_true", help="print what reading costs, and write nothing")
    options.add_argument("-o", "--output", type=Path, default=ROOT / "src/fader/models/interpreter.json")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        beds = [open_testbed(folder, given.work or Path(scratch), given.sample) for folder in given.testbeds]
        if given.validate:
            validate(beds)
            return
        interpreter = replace(train(beds), provenance={"testbeds": {bed.name: len(bed.questions) for bed in beds}})
    interpreter.save(given.output)
    print(f"{given.output}: {sum(len(bed.questions) for bed in beds):,} questions", file=sys.stderr)


if __name__ == "__main__":
    main()
