"""All benchmarks in one run: query time, indexing, growth, living, training, systems.

python -m benchmarks --scale 1.0
"""

from __future__ import annotations

import sys

from benchmarks import common, growth, indexing, living, query, systems, training


def main() -> None:
    args = common.arguments("Query time, indexing, growth, changes, training and systems, in turn.").parse_args()
    if args.json:
        sys.exit("--json: each benchmark writes its own report; give --work instead")
    shared = [f"--scale={args.scale}", f"--work={args.work}", f"--seed={args.seed}"]
    shared += ["--quick"] if args.quick else []
    for benchmark in (query, indexing, growth, living, training, systems):
        print(f"\n== {benchmark.__name__.rpartition('.')[2]} ==\n", flush=True)
        benchmark.main(shared)


if __name__ == "__main__":
    main()
