"""Should words be stemmed, and where? MAP of the same queries over words, stems of words, and an index of stems.

    python runs/stemming.py TESTBED... [--sample 150] [--documents 1000] [--work DIR]

A testbed is a folder as in runs/learning_curve.py. Three ways, each by the default model and by plm, both as they ship:

    words    an index of words; a word occurs where it stands
    stems    the same index; a word occurs where any word of its stem stands (`stem=true`), but for `=word`
    index    an index that was built with `--stemmer english`, which knows stems alone

With `--documents` only so many documents are indexed, drawn by a seed: a collection of the size of a person's files,
where a word is more often missing in the form that was asked for. MAP is low, as most good entities are in no document.

Prints MAP, and wins, losses and the p of a paired t-test against words. The default model was trained on queries of
these testbeds over words: what it gains by stems is the least, what it loses the most that a model of their own would.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import stats

import fader
from fader.corpus.queries import FaultCollector, QueryLine, read_qrels, read_queries
from fader.corpus.readers import read_lines
from fader.experiment.judged import judge_queries
from fader.learn.model import Model
from fader.measures import AveragePrecision, judge
from fader.search.batch import parse_all
from fader.search.models import default_model
from fader.systems.base import parse_system
from fader.systems.fader import FeatureModel
from fader.systems.rerank import Rerank

F64 = np.ndarray[tuple[int], np.dtype[np.float64]]
PRECISION = AveragePrecision()
SHOWN = 1000  # entities that are ranked
STEMMER = "english"


def by_stems(model: Model) -> Model:
    """The default model where words match by their stems."""
    cascade = model.system
    assert isinstance(cascade, Rerank)
    first, second = cascade.first_system, cascade.second_system
    assert isinstance(first, FeatureModel)
    first, second = replace(first, stem=True), replace(second, stem=True)
    return replace(model, system=replace(cascade, first=str(first), second=str(second)))


def measure(index: fader.Index, lines: Sequence[QueryLine], qrels: dict[str, dict[str, int]], model: Model) -> F64:
    """The average precision of each query."""
    judged = judge_queries(index, parse_all(index, list(lines), FaultCollector(skip=True)), qrels)
    find, found = index.collection.catalog.entity_ids.find, dict.fromkeys((line.id for line in lines), 0.0)
    for i, query in enumerate(judged.queries):
        ranked = index.rank(query.query, k=SHOWN, model=model)
        entity = np.array([find(e) for e in ranked.entities], dtype=np.int32)
        values = -np.arange(entity.size, dtype=np.float64)
        found[query.id] = PRECISION.of(values, judge(entity, entity.tolist(), judged.grades[i]))
    return np.array(list(found.values()))


def draw_documents(folder: Path, most: int, out: Path) -> list[Path]:
    """The files of a testbed's corpus, or one with some of its documents."""
    files = sorted(folder.glob("corpus.jsonl*"))
    if not most:
        return files
    lines = [line for path in files for _, line in read_lines(path, FaultCollector())]
    drawn = random.Random(0).sample(lines, min(len(lines), most))
    out.write_text("".join(line.rstrip("\n") + "\n" for line in drawn), encoding="utf-8")
    return [out]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("testbeds", nargs="+", type=Path)
    parser.add_argument("--sample", type=int, default=150, help="at most so many queries of a testbed")
    parser.add_argument("--documents", type=int, default=0, help="index only so many documents; 0: all")
    parser.add_argument("--work", type=Path, help="where indexes are kept, TESTBED and TESTBED-english")
    given = parser.parse_args()
    plm = Model(parse_system("plm"), None)
    systems = {
        "default": (default_model(), by_stems(default_model())),
        "plm": (plm, Model(parse_system("literals(plm,entities=false,stem=true)"), None)),
    }
    print(
        f"{'testbed':14}{'system':10}{'words':>8}{'stems':>8}{'index':>8}   stems: won, lost, p   index: won, lost, p"
    )
    with tempfile.TemporaryDirectory() as temporary:
        work = given.work or Path(temporary)
        for folder in given.testbeds:
            qrels = read_qrels(folder / "qrels.txt", FaultCollector())
            every = read_queries(folder / "queries.jsonl", FaultCollector())
            lines = [q for q in every if max(qrels.get(q.id, {"": 0}).values()) > 0]
            lines = random.Random(0).sample(lines, min(len(lines), given.sample))
            indexes = []
            for stemmer in (None, STEMMER):
                of = f"{folder.name}-{given.documents}" if given.documents else folder.name
                place = work / (of + (f"-{stemmer}" if stemmer else ""))
                if not place.exists():
                    corpus = draw_documents(folder, given.documents, work / f"{of}.jsonl")
                    fader.build(place, corpus, folder / "entities.tsv", folder / "types.tsv", stemmer=stemmer)
                indexes.append(fader.open(place))
            for name, (plain, stemmed) in systems.items():
                words = measure(indexes[0], lines, qrels, plain)
                others = [measure(indexes[0], lines, qrels, stemmed), measure(indexes[1], lines, qrels, plain)]
                row = f"{folder.name:14}{name:10}" + "".join(f"{each.mean():8.4f}" for each in (words, *others))
                for each in others:
                    won, lost, p = (
                        int((each > words).sum()),
                        int((each < words).sum()),
                        stats.ttest_rel(each, words).pvalue,
                    )
                    row += f"   {won:8} {lost:5} {p:6.3f}"
                print(row, flush=True)


if __name__ == "__main__":
    sys.exit(main())
