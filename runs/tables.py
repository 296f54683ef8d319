"""The default model trained further, beside prior systems and with parts of it taken out, by five folds of a testbed.

    python runs/tables.py TESTBED [--sample 500] [--systems plm,cummins,lambdamart] [--base FILE] [--work DIR]
    python runs/tables.py TESTBED --ablations

A testbed is a folder with corpus.jsonl (or .gz, .zst), entities.tsv, types.tsv, queries.jsonl and qrels.txt. Prints
means of AP, RR and nDCG@10 over all queries, and p of a two-sided paired t-test of AP against `trained`, corrected for
the number of systems by Holm. An ablation takes the columns of one map out of the second stage; the others begin with
the weights that they have beside it. With `--keep DIR` a comparison that was stopped goes on where it was.

The shipped model has seen queries of the public testbeds. `--base FILE` begins with a cascade that has seen none of
this one: `python runs/default_model.py OTHERS... -o FILE` makes one of other testbeds.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

import fader
from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.experiment.compare import compare_judged
from fader.experiment.comparison import Comparison
from fader.experiment.judged import judge_queries
from fader.experiment.significance import compare_with_baseline
from fader.experiment.system_specs import TRAINED_DEFAULT, SystemSpec
from fader.features.combined import Combined
from fader.learn.model import read_model
from fader.search.batch import parse_all
from fader.search.models import default_model
from fader.systems.rerank import Rerank

PRIOR = "plm,cummins,lambdamart,balog1,entityrank,macdonald,voting,balog2,petkova,ranksvm,fang,entityengine,proximity"
MEASURES = ("AP", "RR", "nDCG@10")


def take_out(base: Rerank) -> Iterator[SystemSpec]:
    """The cascade without one map of its second stage after the other."""
    second = base.second_system
    assert isinstance(second.feature_map, Combined)
    parts = list(second.feature_map.split(np.array(second.weights)))
    for left_out, _weights in parts:
        kept = [(one, weights) for one, weights in parts if one is not left_out]
        weights = np.concatenate([own for _one, own in kept])
        features = "+".join(str(one) for one, _own in kept)
        smaller = replace(
            base, second=str(replace(second, features=features, weights=tuple(weights.tolist()))), prior=()
        )
        name = f"{TRAINED_DEFAULT} without {left_out.name}"
        yield SystemSpec(name, smaller.alternatives_near(), name)


def show(compared: Comparison) -> None:
    """The means of all systems, and p against the trained one."""
    values = compared.matrix("AP")
    names = [system.name for system in compared.systems]
    corrected = compare_with_baseline(list(values), names.index(TRAINED_DEFAULT), correct=True)
    print(f"{compared.title}, {len(compared.queries)} queries")
    print(f"{'system':36}{'MAP':>8}{'MRR':>8}{'NDCG@10':>9}{'p':>10}")
    for n, (name, p) in enumerate(zip(names, corrected, strict=True)):
        means = [float(np.mean(compared.matrix(measure)[n])) for measure in MEASURES]
        print(f"{name:36}{means[0]:8.4f}{means[1]:8.4f}{means[2]:9.4f}{'' if p is None else f'{p:10.2g}'}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("testbed", type=Path)
    options.add_argument("--systems", default=PRIOR, help="prior systems, with commas")
    options.add_argument("--ablations", action="store_true", help="parts taken out in place of prior systems")
    options.add_argument("--base", type=Path, help="a portable model to begin with; without, the shipped one")
    options.add_argument("--sample", type=int, default=0, help="queries at most, drawn by seed 0; 0: all")
    options.add_argument("--work", type=Path, help="where indexes are, or are built")
    options.add_argument("--keep", type=Path, help="where results are kept")
    options.add_argument("--workers", type=int, default=1)
    given = options.parse_args()
    base = (read_model(given.base) if given.base else default_model()).system
    if not isinstance(base, Rerank):
        options.error("--base must be a cascade, as runs/default_model.py writes it")
    with tempfile.TemporaryDirectory() as scratch:
        folder, place = given.testbed, (given.work or Path(scratch)) / given.testbed.name
        if not place.exists():
            fader.build(place, sorted(folder.glob("corpus.jsonl*")), folder / "entities.tsv", folder / "types.tsv")
        index = fader.open(place)
        queries = parse_all(index, read_queries(folder / "queries.jsonl", FaultCollector()), FaultCollector())
        qrels = read_qrels(folder / "qrels.txt", FaultCollector())
        judged = judge_queries(index, queries, qrels, sample=given.sample)
        trained = SystemSpec(TRAINED_DEFAULT, base.alternatives_near(), TRAINED_DEFAULT)
        others = list(take_out(base)) if given.ablations else given.systems.split(",")
        start = SystemSpec("base", (base,), "base")
        systems = [trained, start, *others]
        show(compare_judged(judged, systems, 5, measures=MEASURES, workers=given.workers, keep=given.keep))


if __name__ == "__main__":
    main()
