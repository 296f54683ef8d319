"""Training: memory, time to train, leave-one-query-out against refitting with scipy, and other libraries' rankers.

On synthetic judged queries of the paper's size (contexts.py): features noprox+rectangle(10x12), pairwise loss,
lambda 1, every mention a context. Each part compares within one run, one thread each; CPU seconds are the result.

    memory    the dataset and one evaluation of the objective by entity and by context, in a process of its own
    fit       training with sum, logsumexp and softmax
    loo       all folds by `fader.learn.leaveoneout`, and some of them by four other ways, scaled up to all
    rankers   LightGBM and a RankSVM on the entities' summed vectors, beside sum; one split of the queries

    python -m benchmarks.training --scale 1.0
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import common, contexts
from benchmarks.common import Clock
from benchmarks.indexing import peak_memory
from benchmarks.plain import Plain, cells_of, features_of
from benchmarks.rankers import PAIRS, LambdaRank, Ranker, RankSVM, Vectors
from fader.aggregate.base import Aggregator
from fader.aggregate.logsumexp import LogSumExp
from fader.aggregate.softmax import SoftMax
from fader.aggregate.sum import Sum
from fader.learn.crossvalidate import groups_of
from fader.learn.dataset import Dataset
from fader.learn.feature_trainer import EXACT, linear_problem
from fader.learn.leaveoneout import Problem, leave_one_out, polish
from fader.learn.loss import Loss
from fader.learn.objective import EntityLevel, labels_of, values_of
from fader.learn.train import Fit, FitSettings, Objective, fit, minimise
from fader.measures import AveragePrecision

PARTS = ("memory", "fit", "loo", "rankers")
AGGREGATORS: tuple[Aggregator, ...] = (Sum(), LogSumExp(), SoftMax())
SETTINGS = FitSettings(lam=1.0, starts=1)
PRECISION = AveragePrecision()
MEMORY_TARGET, SPEED_TARGET = 8e9, 10.0
SAME_OBJECTIVE, SAME_PRECISION = 1e-9, 1e-6
HELD_OUT = 5  # one part in five


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What a call returns, and its seconds."""
    with Clock() as clock:
        result = work()
    return result, {"cpu_s": clock.cpu, "wall_s": clock.wall}


def warm_up() -> None:
    """Compile or load the kernels on a few queries, so that no part pays for it."""
    data = contexts.dataset(0.0)
    for aggregator in AGGREGATORS:
        fit(data, aggregator, FitSettings(iterations=2, starts=1))
    problem = linear_problem(data, Sum(), SETTINGS)
    solution = polish(problem, data.features.start(), EXACT)
    list(leave_one_out(problem, solution, np.arange(len(data)), EXACT))


# --- memory ------------------------------------------------------------------------------------------------


def evaluate(data: Dataset, aggregator: Aggregator) -> None:
    """One loss and gradient, from nothing but the dataset."""
    loss = Loss("pairwise", labels_of(data, False))
    values_of(data, aggregator).loss(1e-3 * data.features.start(), loss)


def memory_here(scale: float, seed: int) -> dict[str, Any]:
    """The peak of this process after each step, and what each step took."""
    steps: dict[str, Any] = {"imports": {"peak_mb": peak_memory() / 1e6}}
    data, took = timed(lambda: contexts.dataset(scale, seed))
    steps["dataset"] = {**took, "peak_mb": peak_memory() / 1e6}
    for aggregator in (SoftMax(), LogSumExp(), Sum()):
        evaluate(contexts.dataset(0.0), aggregator)  # compiles
        _none, took = timed(lambda a=aggregator: evaluate(data, a))
        steps[f"evaluation, {aggregator}"] = {**took, "peak_mb": peak_memory() / 1e6}
    return {"steps": steps, "peak_mb": peak_memory() / 1e6}


def memory(args: argparse.Namespace) -> dict[str, Any]:
    """The same in a new process."""
    command = [sys.executable, "-m", "benchmarks.training", "--one", f"--scale={args.scale}", f"--seed={args.seed}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    rows = [(n, f"{s.get('cpu_s', 0.0):.2f}", f"{s['peak_mb']:,.0f}") for n, s in found["steps"].items()]
    print(common.table(("step, in a process of its own", "CPU s", "peak MB so far"), rows))
    found["met"] = found["peak_mb"] * 1e6 < MEMORY_TARGET
    return found


# --- training ----------------------------------------------------------------------------------------------


def fits(data: Dataset, iterations: int) -> dict[str, Any]:
    """Training with each aggregator, from one start."""
    rows, found = [], {}
    for aggregator in AGGREGATORS:
        settings = FitSettings(lam=1.0, starts=1, iterations=iterations)
        model, took = timed(lambda a=aggregator, s=settings: fit(data, a, s))
        found[str(aggregator)] = {
            **took,
            "iterations": model.iterations,
            "objective": model.objective,
            "converged": model.converged,
            "map": mean_precision(data, aggregator, model),
            "cpu_ns_per_context_iteration": 1e9 * took["cpu_s"] / data.contexts / max(1, model.iterations),
        }
        row = found[str(aggregator)]
        rows.append((
            str(aggregator), f"{row['cpu_s']:.1f}", f"{row['wall_s']:.1f}", row["iterations"],
            f"{row['objective']:.6f}", "yes" if row["converged"] else "no", f"{row['map']:.3f}",
        ))  # fmt: skip
    header = ("aggregator", "CPU s", "wall s", "iterations", "objective", "converged", "MAP on these queries")
    print(common.table(header, rows))
    return found


def mean_precision(data: Dataset, aggregator: Aggregator, model: Fit) -> float:
    """Mean average precision on the queries themselves."""
    cells = data.features.expand(model.weights)
    values = (aggregator.values(q.scores(cells), q.at) for q in data.queries)
    return float(np.mean([PRECISION.of(v, q.judgments) for v, q in zip(values, data.queries, strict=True)]))


# --- leave-one-out -----------------------------------------------------------------------------------------


class LeaveOneOut:
    """All folds our way, some folds in others' ways; each way's seconds for all folds."""

    def __init__(self, data: Dataset, sample: Sequence[int]) -> None:
        self.data, self.sample = data, sample
        self.ways: dict[str, dict[str, Any]] = {}

    def add(self, name: str, cpu: float, wall: float, folds: int, note: str) -> None:
        """A way's seconds for so many folds, scaled up to all."""
        times = len(self.data) / folds
        row = {"cpu_s": cpu * times, "wall_s": wall * times, "folds_timed": folds, "note": note}
        self.ways[name] = row

    def ours(self) -> tuple[Problem, np.ndarray]:
        """The problem, and the weights without each query."""
        folds: list[np.ndarray] = []
        with Clock() as training:
            model = fit(self.data, Sum(), SETTINGS)
            problem = linear_problem(self.data, Sum(), SETTINGS)
            self.solution = polish(problem, model.weights, EXACT)
        with Clock() as leaving:
            for _queries, weights in leave_one_out(problem, self.solution, np.arange(len(self.data)), EXACT):
                folds.append(weights)
        note = f"with {training.cpu:.1f} s to sum contexts and train on all"
        self.add("Fader", training.cpu + leaving.cpu, training.wall + leaving.wall, len(self.data), note)
        self.ways["Fader"]["training_cpu_s"] = training.cpu
        return problem, np.concatenate(folds, axis=1)

    def refits(self) -> None:
        """Fader's training, by Newton's method, for each fold of the sample, cold and warm."""
        features, labels = self.data.features, labels_of(self.data, False)
        values, penalty = EntityLevel(self.data, Sum()), features.penalty() / SETTINGS.lam**2
        for name, start in (("cold", features.start()), ("warm", self.solution)):
            iterations = 0
            with Clock() as clock:
                for q in self.sample:
                    weight = labels.weight.copy()
                    weight[q] = 0.0
                    objective = Objective(values, Loss("pairwise", labels.with_weights(weight)), penalty)
                    iterations += minimise(objective, features.bounds(), start, SETTINGS).iterations
            note = f"{iterations / len(self.sample):.0f} iterations a fold"
            self.add(f"Fader's Newton, {name}", clock.cpu, clock.wall, len(self.sample), note)

    def plain(self, problem: Problem, folds: np.ndarray) -> dict[str, float]:
        """The plain way for the sample, cold and warm; how far its solutions are from ours."""
        way = Plain(problem)
        common_solution = way.solve().weights
        objective, precision = 0.0, 0.0
        for name, start in (("plain scipy, cold", None), ("plain scipy, warm", common_solution)):
            evaluations, clock, solved = 0, Clock(), {}
            with clock:
                for q in self.sample:
                    solved[q] = way.solve(q, start)
                    evaluations += solved[q].evaluations
            note = f"{evaluations / len(self.sample):.0f} evaluations a fold"
            self.add(name, clock.cpu, clock.wall, len(self.sample), note)
            for q, theirs in solved.items():
                here = way.objective(folds[:, q], q)[0]
                objective = max(objective, abs(here - theirs.objective) / theirs.objective)
                apart = _precision(problem, self.data, q, folds[:, q]) - _precision(
                    problem, self.data, q, theirs.weights
                )
                precision = max(precision, abs(apart))
        return {"objective_difference": objective, "precision_difference": precision}


def _precision(problem: Problem, data: Dataset, q: int, w: np.ndarray) -> float:
    """Average precision of a query under weights."""
    weight = np.zeros(len(data))
    weight[q] = 1.0
    a, b = problem.sparse.at[q], problem.sparse.at[q + 1]
    return PRECISION.of(problem.sparse.times(problem.expand @ w, weight)[a:b], data.queries[q].judgments)


def loo(data: Dataset, sampled: int) -> tuple[dict[str, Any], Problem]:
    """All ways, their ratios, and whether the solutions are the same."""
    sample = np.linspace(0, len(data) - 1, min(sampled, len(data))).round().astype(int).tolist()
    ways = LeaveOneOut(data, sample)
    problem, folds = ways.ours()
    ways.refits()
    apart = ways.plain(problem, folds)
    ours = ways.ways["Fader"]["cpu_s"]
    for way in ways.ways.values():
        way["ratio"] = way["cpu_s"] / ours
    rows = [
        (f"{name}  ({r['note']})", f"{r['cpu_s']:,.1f}", f"{r['wall_s']:,.1f}", f"{r['ratio']:,.1f}x", r["folds_timed"])
        for name, r in ways.ways.items()
    ]
    header = (f"all {len(data)} folds, sum", "CPU s", "wall s", "ratio", "folds timed")
    print(common.table(header, rows))
    left_out = float(np.mean([_precision(problem, data, q, folds[:, q]) for q in range(len(data))]))
    same = apart["objective_difference"] <= SAME_OBJECTIVE and apart["precision_difference"] <= SAME_PRECISION
    print(
        f"sampled folds differ by {apart['objective_difference']:.1e} in the objective (relative) and"
        f" {apart['precision_difference']:.1e} in average precision; MAP of the left-out queries {left_out:.3f}"
    )
    met = ways.ways["plain scipy, cold"]["ratio"] >= SPEED_TARGET and same
    return {"ways": ways.ways, **apart, "same": same, "map": left_out, "met": met}, problem


# --- rankers -----------------------------------------------------------------------------------------------


def vectors_of(problem: Problem) -> Vectors:
    """The entities' summed features, dense."""
    rows = np.empty((problem.labels.label.size, problem.expand.shape[1]), dtype=np.float32)
    for first, some in features_of(cells_of(problem), problem.expand):
        rows[first : first + some.shape[0]] = some
    return Vectors(rows, problem.sparse.at, problem.labels.label > 0)


def any_sign(problem: Problem, weight: np.ndarray) -> np.ndarray:
    """The same objective without bounds, as the peers have none: what the bounds cost."""
    labels = problem.labels.with_weights(problem.labels.weight * weight)
    return polish(replace(problem, labels=labels, free=np.ones_like(problem.free)), np.zeros(problem.free.size), EXACT)


def rankers(data: Dataset, problem: Problem, args: argparse.Namespace) -> dict[str, Any]:
    """Each trained on four fifths of the queries; mean average precision on these and on the others."""
    held_out = groups_of(len(data), HELD_OUT, args.seed)[0]
    training = np.setdiff1d(np.arange(len(data)), held_out)
    weight = np.zeros(len(data))
    weight[training] = 1.0
    model, took = timed(lambda: fit(data, Sum(), SETTINGS, weight))
    vectors = vectors_of(problem)
    found = {"Fader, sum": {**took, "note": f"{model.iterations} iterations, with the summing of contexts"}}
    found["Fader, sum"] |= precisions(data, vectors, lambda rows: rows @ model.weights, training, held_out)
    unbound, took = timed(lambda: any_sign(problem, weight))
    found["Fader, sum, weights of any sign"] = {**took, "note": "Newton's method, from summed cells"}
    found["Fader, sum, weights of any sign"] |= precisions(data, vectors, lambda r: r @ unbound, training, held_out)
    peers: list[Ranker] = [LambdaRank(args.trees), RankSVM(args.pairs)]
    for peer in peers:
        if find_spec({"scikit-learn": "sklearn"}.get(peer.package, peer.package)) is None:
            print(f"{peer.name} is left out: {peer.package} is not installed; pip install -e '.[benchmarks]'")
            continue
        clock = peer.fit(vectors, training, args.seed)
        found[peer.name] = {"cpu_s": clock.cpu, "wall_s": clock.wall, "note": peer.note}
        found[peer.name] |= precisions(data, vectors, peer.values, training, held_out)
    rows = [
        (
            f"{name}  ({r['note']})",
            *(f"{r[k]:.1f}" for k in ("cpu_s", "wall_s")),
            f"{r['train_map']:.3f}",
            f"{r['test_map']:.3f}",
        )
        for name, r in found.items()
    ]
    header = ("training on entities", "CPU s", "wall s", f"MAP of {training.size}", f"of {held_out.size} others")
    print(common.table(header, rows))
    return found


def precisions(
    data: Dataset, vectors: Vectors, values: Callable[[np.ndarray], np.ndarray], training: np.ndarray,
    held_out: np.ndarray,
) -> dict[str, float]:  # fmt: skip
    """Mean average precision on either side of the split."""

    def mean(queries: np.ndarray) -> float:
        each = (PRECISION.of(values(vectors.rows[vectors.of(q)]), data.queries[q].judgments) for q in queries)
        return float(np.mean(list(each)))

    return {"train_map": mean(training), "test_map": mean(held_out)}


# --- all of it ---------------------------------------------------------------------------------------------


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """The parts asked for, one after the other."""
    report: dict[str, Any] = {"scale": args.scale}
    if "memory" in args.parts:
        report["memory"] = memory(args)
    if set(args.parts) == {"memory"}:
        return report
    warm_up()
    data, took = timed(lambda: contexts.dataset(args.scale, args.seed))
    entities = sum(q.entity.size for q in data.queries)
    report["dataset"] = {"queries": len(data), "entities": entities, "contexts": data.contexts, **took}
    print(
        f"\n{len(data):,} queries, {entities:,} entities, {data.contexts:,} contexts, made in {took['cpu_s']:.1f} CPU s"
    )
    if "fit" in args.parts:
        print()
        report["fit"] = fits(data, args.iterations)
    if "loo" in args.parts or "rankers" in args.parts:
        problem = None
        if "loo" in args.parts:
            print()
            report["loo"], problem = loo(data, args.folds)
        if "rankers" in args.parts:
            print()
            report["rankers"] = rankers(data, problem or linear_problem(data, Sum(), SETTINGS), args)
    return report


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("Training time and memory of Fader and its peers.")
    parser.add_argument("--parts", default=",".join(PARTS), help="which parts, comma-separated")
    parser.add_argument("--folds", type=int, default=4, help="folds that the other ways are timed on")
    parser.add_argument("--iterations", type=int, default=SETTINGS.iterations, help="at most, in training")
    parser.add_argument("--trees", type=int, default=300, help="of LightGBM")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="of the RankSVM, in all")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    parser.add_argument("--one", action="store_true", help="internal: the memory part, in this process")
    args = parser.parse_args(argv)
    args.parts = args.parts.split(",")
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"--parts: no part is called {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    common.one_thread()
    if args.one:
        print(json.dumps(memory_here(args.scale, args.seed)))
        return
    if args.quick:
        args.scale, args.folds, args.iterations, args.trees, args.pairs = 0.01, 2, 5, 5, 500
    with threadpool_limits(1):
        report = measure(args)
    report["targets"] = {"memory_bytes": MEMORY_TARGET, "loo_ratio": SPEED_TARGET}
    path = args.json or args.work / f"training-{args.scale:g}.json"
    common.write_report(path, report)
    print(f"\n{path}")
    missed = [part for part in ("memory", "loo") if not report.get(part, {}).get("met", True)]
    if args.check and missed:
        sys.exit(f"targets missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
