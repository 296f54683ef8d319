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
    for name in ("kernel.py", "compiling.py", "lazy.py"):
        shutil.copy(SOURCE / name, folder)
    (folder / "inner.py").write_text("from fader.kernel import kernel\n\n@kernel\ndef inner(x):\n    return x + 1\n")
    imports = "from fader.inner import (\n    inner,\n)\nfrom fader.kernel import kernel\n"
    (folder / "outer.py").write_text(f"{imports}\n@kernel\ndef outer(x):\n    return inner(x)\n")
    return folder


def run(folder: Path, cache: Path) -> str:
    # Bytecode is found by the second of a change: a module that changes twice in one would be read in its old form.
    environment = {**os.environ, "PYTHONPATH": str(folder.parent), "FADER_KERNEL_CACHE": str(cache)}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
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


def python(program: str, folder: Path, cache: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder.parent), "FADER_KERNEL_CACHE": str(cache), **more}
    environment.pop("NUMBA_CACHE_DIR", None)
    environment.pop("NUMBA_DISABLE_JIT", None)
    return subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)


def test_cached_kernels_are_loaded_without_what_only_compiling_needs(package, tmp_path):
    """Nothing goes to numba's library or to scipy.linalg; a kernel that allocates works all the same."""
    (package / "made.py").write_text(
        "import numpy as np\nfrom fader.kernel import kernel\n\n@kernel\ndef made(n):\n    return np.arange(n)\n"
    )
    program = (
        "import sys; from fader.made import made; print(made(4).sum());"
        "print(*[m in sys.modules for m in ('numba.np.arraymath', 'scipy.linalg')])"
    )
    assert python(program, package, tmp_path / "cache").stdout.split() == ["6", "True", "False"]
    assert python(program, package, tmp_path / "cache").stdout.split() == ["6", "False", "False"]


def test_blas_serves_those_who_call_it(package, tmp_path):
    program = (
        "from fader.outer import outer; outer(1); import numba, numpy as np;"
        "print(numba.njit(lambda a: np.dot(a, a))(np.arange(3.0)), numba.njit(np.kron)(np.eye(1), np.eye(1))[0, 0])"
    ).replace("numba.njit(np.kron)", "numba.njit(lambda a, b: np.kron(a, b))")
    pytest.importorskip("scipy")
    assert python(program, package, tmp_path / "cache").stdout.split() == ["5.0", "1.0"]


def test_a_cache_that_cannot_be_written_costs_one_warning(package, tmp_path):
    """As on a full disk: files of some size cannot be written, which numba takes for a reason to fail."""
    program = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)); {PROGRAM}"
    done = python(
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); " + program, package, tmp_path / "cache"
    )
    assert done.stdout.strip() == "4"
    assert done.stderr.count("RuntimeWarning") == 1
    assert "FADER_KERNEL_CACHE" in done.stderr
    assert not compiled(tmp_path / "cache")


def test_damaged_code_is_compiled_anew(package, tmp_path):
    cache = tmp_path / "cache"
    assert run(package, cache) == "4"
    for file in cache.glob("*/*.nb?"):
        file.write_bytes(file.read_bytes()[:40])
    assert run(package, cache) == "4"


def test_an_inner_kernel_is_not_for_python(package, tmp_path):
    """It has no code that Python could jump to: called from there it refuses, before and after it is compiled."""
    source = (package / "inner.py").read_text().replace("kernel\n\n@kernel", "inner_kernel\n\n@inner_kernel")
    (package / "inner.py").write_text(source)
    program = """
from fader.inner import inner
from fader.outer import outer
for _ in range(2):
    try:
        inner(3)
    except TypeError as error:
        print(error)
    print(outer(3), inner.py_func(3))
"""
    for _again in range(2):
        said = python(program, package, tmp_path / "cache").stdout
        assert said.count("called by kernels alone") == 2
        assert said.count("4 4") == 2


def test_watchers_hear_of_what_is_compiled_and_not_of_what_is_loaded(package, tmp_path):
    program = """
from fader import compiling
class Watcher:
    def began(self, name): print("began", name)
    def ended(self): print("ended")
from fader.outer import outer
with compiling.watch(Watcher()):
    outer(3)
outer(3.0)
"""
    assert python(program, package, tmp_path / "cache").stdout.split() == ["began", "outer", "ended"]
    assert python(program, package, tmp_path / "cache").stdout == ""
