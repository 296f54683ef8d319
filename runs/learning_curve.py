"""What judgments are worth: MAP on questions that nobody judged, after 0, 10, 30 and 100 judgments.

    python runs/learning_curve.py TESTBED... [--work DIR] [--draws 5]

A testbed is a folder with corpus.jsonl (or .gz, .zst), entities.tsv, types.tsv, queries.jsonl and qrels.txt. Half of
its judged queries are the pool, half the test, drawn by a seed. A simulated person goes through the pool in some order
and judges the answers of the default model from the first on, by the testbed's judgments: five of each query, or up to
the first good one among the first twenty. Of these judgments the first n are learned from (`fader.judging.learn`), and
the model that comes out ranks the test queries. Prints the mean over draws, and the standard deviation.

The shipped model was trained on queries of the public testbeds. `--model FILE` begins with a cascade that has seen none
of them: `python runs/default_model.py OTHERS... -o FILE` makes one of other testbeds.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import fader
from fader.corpus.queries import FaultCollector, QueryLine, read_qrels, read_queries
from fader.errors import FaderError
from fader.experiment.judged import judge_queries
from fader.judging.learn import learn
from fader.judging.record import RIGHT, WRONG, JudgedReading, Judgment
from fader.learn.model import Model, read_model
from fader.measures import AveragePrecision, judge
from fader.search.batch import parse_all
from fader.search.models import default_model

PRECISION = AveragePrecision()
STEPS = (0, 10, 30, 100)
EACH, DEEPEST = 5, 20
SHOWN = 1000  # entities that are ranked in a test


def simulate(
    index: fader.Index, pool: Sequence[QueryLine], qrels: dict[str, dict[str, int]], old: Model
) -> Iterator[Judgment]:
    """The judgments of a person who goes through the pool."""
    for line in pool:
        try:
            ranked = index.rank(line.query, line.type, DEEPEST, old).entities
        except FaderError:
            continue
        reading, found = JudgedReading(line.question, line.query, line.type), False
        for place, entity in enumerate(ranked):
            good = qrels[line.id].get(entity, 0) > 0
            if place >= EACH and found:
                break
            found = found or good
            yield Judgment("simulated", "", reading, entity, RIGHT if good else WRONG)


def measure(index: fader.Index, test: Sequence[QueryLine], qrels: dict[str, dict[str, int]], model: Model) -> float:
    """MAP of a model on test queries."""
    judged = judge_queries(index, parse_all(index, list(test), FaultCollector(skip=True)), qrels)
    find, found = index.collection.catalog.entity_ids.find, []
    for i in range(len(judged)):
        ranked = index.rank(judged.queries[i].query, k=SHOWN, model=model)
        entity = np.array([find(e) for e in ranked.entities], dtype=np.int32)
        found.append(
            PRECISION.of(-np.arange(entity.size, dtype=np.float64), judge(entity, entity.tolist(), judged.grades[i]))
        )
    return float(np.mean(found))


def draw_curve(
    index: fader.Index,
    lines: list[QueryLine],
    qrels: dict[str, dict[str, int]],
    seed: int,
    old: Model,
) -> list[float]:
    """MAP at each step, of one draw."""
    drawn = random.Random(seed).sample(lines, len(lines))
    pool, test = drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]
    made = simulate(index, pool, qrels, old)
    said: list[Judgment] = []
    curve = []
    for step in STEPS:
        said += [judgment for judgment, _n in zip(made, range(step - len(said)), strict=False)]
        try:
            model = learn(index, said, old).model if said else old
        except FaderError:  # too few of them are right
            model = old
        curve.append(measure(index, test, qrels, model))
    return curve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("testbeds", nargs="+", type=Path)
    parser.add_argument("--work", type=Path, help="where indexes are kept")
    parser.add_argument("--model", type=Path, help="a portable model to begin with; without, the shipped one")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--queries", type=int, default=200, help="at most so many of a testbed")
    given = parser.parse_args()
    old = read_model(given.model) if given.model else default_model()
    with tempfile.TemporaryDirectory() as temporary:
        work = given.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        print(f"{'testbed':16}" + "".join(f"{step:>18}" for step in STEPS))
        for folder in given.testbeds:
            place = work / folder.name
            if not place.exists():
                fader.build(place, sorted(folder.glob("corpus.jsonl*")), folder / "entities.tsv", folder / "types.tsv")
            index = fader.open(place)
            qrels = read_qrels(folder / "qrels.txt", FaultCollector())
            lines = [q for q in read_queries(folder / "queries.jsonl", FaultCollector()) if q.id in qrels]
            lines = [q for q in lines if max(qrels[q.id].values()) > 0]
            lines = random.Random(0).sample(lines, min(len(lines), given.queries))
            curves = np.array([draw_curve(index, lines, qrels, seed, old) for seed in range(given.draws)])
            cells = [f"{m:.4f} ± {s:.4f}" for m, s in zip(curves.mean(0), curves.std(0), strict=True)]
            print(f"{folder.name:16}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


if __name__ == "__main__":
    sys.exit(main())
