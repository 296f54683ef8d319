"""Train the interpreter that ships with Fader: how plain questions are read, from the judged questions of testbeds.

    python runs/interpreter.py TESTBED... [--sample 800] [--model default] [--work DIR] [-o FILE]

A testbed is a folder with corpus.jsonl (or .gz, .zst), entities.tsv, types.tsv, queries.jsonl and qrels.txt; a query
needs a question. The file holds weights, how often questions with a word had answers below types of a name, and a
calibration, fitted to answers of interpreters that were trained on the other testbeds. `runs/questions.py` measures it.
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
from fader.experiment.questions import (
    Asked,
    QuestionJudge,
    ask_judged,
    choose_dropped,
    fit_answers,
    measure_drops,
    train_interpreter,
)
from fader.learn.interpreter import Interpreter
from fader.search.models import resolve_model

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Testbed:
    """An index with its judged questions."""

    name: str
    judge: QuestionJudge
    lines: list[QueryLine]

    @property
    def index(self) -> fader.Index:
        return self.judge.index


def open_testbed(folder: Path, work: Path, sample: int, model: str) -> Testbed:
    """A testbed's index, built where it is not there yet, and a sample of its questions that have a good entity."""
    place = work / folder.name
    if not place.exists():
        fader.build(place, sorted(folder.glob("corpus.jsonl*")), folder / "entities.tsv", folder / "types.tsv")
    index = fader.open(place)
    lines = read_queries(folder / "queries.jsonl", FaultCollector())
    grades = read_qrels(folder / "qrels.txt", FaultCollector())
    lines = [line for line in lines if any(grade > 0 for grade in grades.get(line.id, {}).values())]
    drawn = np.random.default_rng(0).permutation(len(lines))[:sample]
    judge = QuestionJudge(index, grades, resolve_model(model, index.collection, any_index=True))
    return Testbed(folder.name, judge, [lines[i] for i in sorted(drawn.tolist())])


def train(beds: Sequence[Testbed]) -> Interpreter:
    """An interpreter from the questions of some testbeds."""

    def train_without(dropped: tuple[str, ...]) -> Interpreter:
        return train_interpreter([one for bed in beds for one in bed.judge.judge(bed.lines, dropped)], dropped)

    first = train_without(())
    gains = (gain for bed in beds for gain in measure_drops(bed.judge, bed.lines, first, keep=True).values())
    return train_without(choose_dropped(gains))


def ask_elsewhere(beds: Sequence[Testbed], bed: Testbed) -> tuple[Interpreter, list[Asked]]:
    """An interpreter that was trained on the other testbeds alone, and the questions of this one as it reads them."""
    away = train([other for other in beds if other is not bed])
    return away, [ask_judged(one, away) for one in bed.judge.judge(bed.lines, away.dropped)]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("testbeds", nargs="+", type=Path, metavar="TESTBED")
    options.add_argument("--sample", type=int, default=800, help="questions of each testbed at most")
    options.add_argument("--model", default="default", help="what ranks")
    options.add_argument("--work", type=Path, help="where indexes are, or are built")
    options.add_argument("-o", "--output", type=Path, default=ROOT / "src/fader/models/interpreter.json")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = given.work or Path(scratch)
        beds = [open_testbed(folder, work, given.sample, given.model) for folder in given.testbeds]
        interpreter = train(beds)
        if len(beds) > 1:
            asked = [one for bed in beds for one in ask_elsewhere(beds, bed)[1]]
            interpreter = replace(interpreter, calibration=fit_answers(asked))
        testbeds = {bed.name: len(bed.lines) for bed in beds}
        interpreter = replace(interpreter, provenance={"testbeds": testbeds, "model": given.model})
    interpreter.save(given.output)
    print(f"{given.output}: {sum(testbeds.values()):,} questions", file=sys.stderr)


if __name__ == "__main__":
    main()
