"""Everything that must hold before a change is done, in one run: `python tests/run.py`.

Linters, types, import direction, the tests, the tests again without the compiler on small cases, and a smoke run
of the benchmarks where their packages are installed. What mostly waits runs beside what computes. Stops at the first
failure with its name and exit code 1.
Standard library only; uses the environment of the Python that runs it, from any working directory.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKED = ("src", "tests", "benchmarks", "runs")
MEMORY, ROOM = "/dev/shm", 4 << 30  # a file system in memory, and the bytes that must be free in it
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
    "tests/fused/test_bits.py::test_the_contract_of_every_system",
)
# Compiled integer arithmetic wraps silently; numpy scalars, which the kernels use when they are not compiled, wrap
# alike but warn. The values are the same, so that one warning is allowed in this pass, and no other.
OVERFLOW = "ignore:overflow encountered:RuntimeWarning"

# import-linter has no `python -m` form.
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def module(*arguments: str) -> list[str]:
    """`python -m ...` in this environment."""
    return [sys.executable, "-m", *arguments]


class StepError(Exception):
    """A step ended with another exit code than 0."""


_running, _over = set[subprocess.Popen[bytes]](), threading.Event()


def run(name: str, command: Sequence[str], live: bool = True, **environment: str) -> None:
    """Run one step from the project's root; the first that fails ends all.

    A step beside a live one prints what it has to say when it is over, as a whole.
    """
    if _over.is_set():
        return
    began = time.monotonic()
    if live:
        print(f"\n== {name}", flush=True)
    with tempfile.TemporaryFile() as kept:
        output = None if live else kept
        step = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
        )
        _running.add(step)
        code = step.wait()
        _running.discard(step)
        if _over.is_set():
            return
        if not live:
            kept.seek(0)
            print(f"\n== {name}", flush=True)
            shutil.copyfileobj(kept, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    seconds = time.monotonic() - began
    if code:
        print(f"\n== FAILED: {name} (exit code {code}, {seconds:.0f} s)", flush=True)
        _over.set()
        for other in list(_running):
            other.terminate()
        raise StepError
    print(f"== passed: {name} ({seconds:.0f} s)", flush=True)


def at_once(*lanes: Callable[[], None]) -> None:
    """Run several lanes of steps at the same time."""
    with ThreadPoolExecutor(len(lanes)) as pool:
        for done in [pool.submit(lane) for lane in lanes]:
            done.result()


@contextmanager
def temporary_files() -> Iterator[None]:
    """Keep what tests write in memory, where there is enough of it.

    Tests wait for thousands of small files to reach the disk, which tells nothing about Fader. What a loss of power
    leaves is simulated (tests/durability), on any file system.
    """
    roomy = os.path.isdir(MEMORY) and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM
    with tempfile.TemporaryDirectory(
        prefix="fader-", dir=MEMORY if roomy else None, ignore_cleanup_errors=True
    ) as place:
        os.environ["TMPDIR"], before = place, os.environ.get("TMPDIR")
        try:
            yield
        finally:
            del os.environ["TMPDIR"]
            if before is not None:
                os.environ["TMPDIR"] = before


def compile_kernels() -> None:
    """Compile what most tests need once, instead of in every process; where it fails, a test will say why."""
    if _over.is_set():
        return
    with tempfile.TemporaryDirectory() as place:
        command = module("fader", "demo", place + "/demo", "--quiet")
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def check() -> None:
    """What needs no test to be run; then small cases without the compiler."""
    run("ruff check", module("ruff", "check", *CHECKED), live=False)
    run("ruff format --check", module("ruff", "format", "--check", *CHECKED), live=False)
    run("mypy", module("mypy"), live=False)
    run("lint-imports", [sys.executable, "-c", LINT_IMPORTS], live=False)
    run("pytest, uncompiled", module("pytest", "-W", OVERFLOW, *UNCOMPILED), live=False, NUMBA_DISABLE_JIT="1")


def test() -> None:
    # Each process begins with its half of the files, so that what a module's tests share is mostly made once.
    run("pytest", module("pytest", "-n", "2", "--dist", "worksteal", "-m", "not ray", "--durations", "15"))


def test_waiting() -> None:
    """Tests that mostly wait, beside those that compute."""
    run("pytest, on a Ray cluster", module("pytest", "-m", "ray", "tests/cluster"), live=False)


def test_all() -> None:
    compile_kernels()
    at_once(test, test_waiting)


def main() -> None:
    began = time.monotonic()
    # Tests start hundreds of processes. Where Python is told to write no bytecode, each of them compiles all modules
    # that it imports, for half a second to a second of its own.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        with temporary_files():
            at_once(check, test_all)
        missing = [name for name in BENCHMARK_PACKAGES if importlib.util.find_spec(name) is None]
        if missing:
            print(
                f"\n== skipped: benchmarks --quick ({', '.join(missing)} not installed; pip install -e '.[benchmarks]')"
            )
        else:
            with tempfile.TemporaryDirectory() as work:
                run("benchmarks --quick", module("benchmarks", "--quick", f"--work={work}"))
    except StepError:
        sys.exit(1)
    print(f"\n== all passed ({time.monotonic() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
