"""Compiled kernels are kept by content: shared by all who have the same sources, never run in an old form."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fader import kernel

SOURCE = Path(kernel.__file__).parent
PROGRAM = "from fader.inner import inner; from fader.outer import outer; print(outer(3))"


@pytest.fixture
def package(tmp_path):
    """A package called fader with two modules, each with a kernel; the outer one calls the inner one."""
    folder = tmp_path / "first" / "fader"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    for name in ("kernel.py", "compiling.py"):
        shutil.copy(SOURCE / name, folder)
    (folder / "inner.py").write_text("from fader.kernel import kernel\n\n@kernel\ndef inner(x):\n    return x + 1\n")
    imports = "from fader.inner import inner\nfrom fader.kernel import kernel\n"
    (folder / "outer.py").write_text(f"{imports}\n@kernel\ndef outer(x):\n    return inner(x)\n")
    return folder


def run(folder: Path, cache: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder.parent), "FADER_KERNEL_CACHE": str(cache)}
    environment.pop("NUMBA_CACHE_DIR", None)
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def compiled(cache: Path) -> dict[str, int]:
    """When each file of compiled code was written."""
    return {str(p.relative_to(cache)): p.stat().st_mtime_ns for p in cache.glob("*/*.nbc")}


def test_another_checkout_with_the_same_sources_compiles_nothing(package, tmp_path):
    cache = tmp_path / "cache"
    assert run(package, cache) == "4"
    before = compiled(cache)
    assert before
    other = tmp_path / "second" / "fader"
    shutil.copytree(package, other, ignore=shutil.ignore_patterns("__pycache__"))
    assert run(other, cache) == "4"
    assert compiled(cache) == before


def test_a_changed_kernel_is_not_run_in_its_old_form_by_its_callers(package, tmp_path):
    cache = tmp_path / "cache"
    assert run(package, cache) == "4"
    (package / "inner.py").write_text("from fader.kernel import kernel\n\n@kernel\ndef inner(x):\n    return x + 2\n")
    assert run(package, cache) == "5"


def test_a_folder_that_cannot_be_written_is_no_error(package, tmp_path):
    cache = tmp_path / "cache"
    cache.write_text("a file, no folder")
    assert run(package, cache) == "4"
