"""All benchmarks in one run: queries, indexing, growth, living, training, systems, completion, questions, catalogs,
importing, annotating, shards.

Testbeds, stages and throughput need testbeds, the service one too; they are run by themselves. With --quick they are
tried on the demo, the service if its packages are installed.

python -m benchmarks --scale 1.0
"""

from __future__ import annotations

import importlib.util
import sys

from benchmarks import (
    annotating,
    asking,
    catalog,
    cluster,
    common,
    growth,
    importing,
    importing_catalogs,
    importing_web,
    indexing,
    living,
    query,
    service,
    stages,
    start,
    suggest,
    systems,
    testbeds,
    throughput,
    training,
)


def main() -> None:
    args = common.arguments(
        "Query time, indexing, growth, changes, training, systems, completion, questions, catalogs, importing, "
        "annotating, shards."
    ).parse_args()
    if args.json:
        sys.exit("--json: each benchmark writes its own report; give --work instead")
    shared = [f"--scale={args.scale}", f"--work={args.work}", f"--seed={args.seed}"]
    shared += ["--quick"] if args.quick else []
    benchmarks = [query, indexing, growth, living, training, systems, suggest, asking, catalog]
    benchmarks += [importing, importing_web, importing_catalogs, annotating, cluster]
    if args.quick:
        benchmarks += [testbeds, stages, throughput]
    if args.quick and importlib.util.find_spec("fastapi"):
        benchmarks += [service, *([start] if importlib.util.find_spec("docx") else [])]
    for benchmark in benchmarks:
        print(f"\n== {benchmark.__name__.rpartition('.')[2]} ==\n", flush=True)
        benchmark.main(shared)


if __name__ == "__main__":
    main()
