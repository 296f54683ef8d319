"""The one way kernels are compiled: without the interpreter lock, cached per user and by content.

A kernel is a private function on arrays below a thin typed function; `kernel.py_func` runs it uncompiled.

Compiled code is kept in `$XDG_CACHE_HOME/fader/kernels` (or where FADER_KERNEL_CACHE or NUMBA_CACHE_DIR points), in a
folder per module that is named after the contents of the module and of the kernels it imports. So every process,
virtual environment and checkout with the same sources shares one compilation, and a changed kernel that another one
calls is never run in its old form: numba by itself looks at the caller's file alone.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import caching, config
from numba.np import linalg

PACKAGE = Path(__file__).parent
KEPT_DAYS = 30  # folders of other contents that were not used for so long are removed
_IMPORT = re.compile(r"^\s*from (fader(?:\.\w+)*) import \(?([\w, ]+)", re.MULTILINE)


def _load_without_blas() -> None:
    """Load numba's functions of arrays, and keep them from importing scipy.linalg to see whether there is a BLAS.

    That import takes 0.2 to 0.4 s of every process that runs a kernel, and no kernel of this package calls BLAS. Code
    of others that does is served as ever: numba asks `ensure_blas` again where such a call is compiled.
    """
    ensure, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ensure


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called."""
    return njit(cache=True, nogil=True)(function)


def inline_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function into its callers: for the few lines that every element of an array goes through."""
    return njit(cache=True, nogil=True, inline="always")(function)


def cache_folder() -> Path:
    """Where compiled kernels are kept for this user."""
    given = os.environ.get("FADER_KERNEL_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fader" / "kernels"


def is_compiled(module: str) -> bool:
    """Whether some kernel of a module of the package (`contexts.nearest`) was compiled before, in its present form."""
    path = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
    return bool(_numba_folder()) or any(_cache_folder_of(path).glob("*.nbi"))


@cache
def _read(path: Path) -> bytes:
    """The source of a module; empty where there is none."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return b""


@cache
def _find_imports(path: Path) -> tuple[Path, ...]:
    """The modules of the package that a module imports and that define kernels."""
    found = []
    for package, names in _IMPORT.findall(_read(path).decode("utf-8")):
        folder = str(PACKAGE.joinpath(*package.split(".")[1:]))
        found += [Path(f"{folder}.py"), *(Path(f"{folder}/{name.strip()}.py") for name in names.split(","))]
    return tuple(m for m in found if m != path and b"fader.kernel import" in _read(m))


@cache
def _digest(path: Path) -> str:
    """The contents of a module and of all kernels that it imports, directly or not."""
    seen, left = {path}, [path]
    while left:
        new = [m for m in _find_imports(left.pop()) if m not in seen]
        seen.update(new)
        left += new
    digest = hashlib.sha256()
    for module in sorted(seen):
        digest.update(str(module.relative_to(PACKAGE)).encode() + b"\0" + _read(module) + b"\0")
    return digest.hexdigest()


def _numba_folder() -> str:
    """The folder that the user has chosen for all of numba's caches, if any."""
    return str(getattr(config, "CACHE_DIR", "") or "")


@cache
def _cache_folder_of(path: Path) -> Path:
    name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    return cache_folder() / f"{name}-{_digest(path)[:16]}"


class _ByContent(caching._CacheLocator):
    """Tells numba where the kernels of this package are kept."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file, self._lineno = file, function.__code__.co_firstlineno
        self._folder = _cache_folder_of(Path(file))

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return _digest(Path(self._py_file))

    def get_disambiguator(self) -> str:
        return str(self._lineno)

    def ensure_cache_path(self) -> None:
        if not self._folder.is_dir():
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _remove_unused(self._folder)
        if not os.access(self._folder, os.W_OK):
            raise PermissionError(f"{self._folder}: is not writable")

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        """A locator for a function of this package; None for others, and where the user names a folder for numba."""
        if _numba_folder() or PACKAGE not in Path(file).parents:
            return None
        self = cls(function, file)
        try:
            self.ensure_cache_path()
        except OSError:  # numba tries its own places next
            return None
        return self


def _remove_unused(folder: Path) -> None:
    """Remove folders of the same module's other contents that were not written for long."""
    oldest = time.time() - KEPT_DAYS * 86_400
    for other in folder.parent.glob(f"{folder.name.rsplit('-', 1)[0]}-*"):
        try:
            if other != folder and other.stat().st_mtime < oldest:
                shutil.rmtree(other, ignore_errors=True)
        except OSError:  # another process was quicker
            continue


_load_without_blas()
if _ByContent not in caching.CacheImpl._locator_classes:
    caching.CacheImpl._locator_classes.insert(0, _ByContent)
