"""Everything that must hold before a change is done, in one run: `python tests/run.py`.

Linters, types, import direction, the tests, the tests again without the compiler on small cases, and a smoke run
of the benchmarks where their packages are installed. Stops at the first failure with its name and exit code 1.
Standard library only; uses the environment of the Python that runs it, from any working directory.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKED = ("src", "tests", "benchmarks", "runs")
BENCHMARK_PACKAGES = ("duckdb", "polars", "tantivy", "orjson")

# Small and quick uncompiled: cases worked out by hand, compressed lists, measures, features against explicit vectors.
UNCOMPILED = (
    "tests/annotate/test_golden.py",
    "tests/contexts/test_golden.py",
    "tests/index/test_lists.py",
    "tests/aggregate/test_golden.py",
    "tests/aggregate/test_edges.py",
    "tests/measures",
    "tests/features",
)
# Compiled integer arithmetic wraps silently; numpy scalars, which the kernels use when they are not compiled, wrap
# alike but warn. The values are the same, so that one warning is allowed in this pass, and no other.
OVERFLOW = "ignore:overflow encountered:RuntimeWarning"

# import-linter has no `python -m` form.
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def module(*arguments: str) -> list[str]:
    """`python -m ...` in this environment."""
    return [sys.executable, "-m", *arguments]


def run(name: str, command: Sequence[str], **environment: str) -> None:
    """Run one step from the project's root; end the whole run where it fails."""
    print(f"\n== {name}", flush=True)
    began = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False).returncode
    seconds = time.monotonic() - began
    if code:
        print(f"\n== FAILED: {name} (exit code {code}, {seconds:.0f} s)", flush=True)
        sys.exit(1)
    print(f"== passed: {name} ({seconds:.0f} s)", flush=True)


@contextmanager
def compiling() -> Iterator[None]:
    """Have the kernels that most tests need compiled on the other core meanwhile, once instead of in every process."""
    with tempfile.TemporaryDirectory() as place:
        command = module("fader", "demo", place + "/demo", "--quiet")
        demo = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield
            demo.wait()  # where it fails, a test will say why
        finally:
            demo.kill()
            demo.wait()


def main() -> None:
    began = time.monotonic()
    with compiling():
        check()
    run("pytest", module("pytest", "-n", "2", "-m", "not ray"))
    run("pytest, on a Ray cluster", module("pytest", "-m", "ray", "tests/cluster"))
    run("pytest, uncompiled", module("pytest", "-W", OVERFLOW, *UNCOMPILED), NUMBA_DISABLE_JIT="1")
    missing = [name for name in BENCHMARK_PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        print(f"\n== skipped: benchmarks --quick ({', '.join(missing)} not installed; pip install -e '.[benchmarks]')")
    else:
        with tempfile.TemporaryDirectory() as work:
            run("benchmarks --quick", module("benchmarks", "--quick", f"--work={work}"))
    print(f"\n== all passed ({time.monotonic() - began:.0f} s)", flush=True)


def check() -> None:
    """What needs no test to be run."""
    run("ruff check", module("ruff", "check", *CHECKED))
    run("ruff format --check", module("ruff", "format", "--check", *CHECKED))
    run("mypy", module("mypy"))
    run("lint-imports", [sys.executable, "-c", LINT_IMPORTS])


if __name__ == "__main__":
    main()
