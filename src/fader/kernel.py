"""The one way kernels are compiled: without the interpreter lock, cached per user and by content.

A kernel is a private function on arrays below a thin typed function; `kernel.py_func` runs it uncompiled.

A process that finds all its kernels in the cache does without the larger part of numba: its library of functions that
kernels can call is loaded where something is compiled, and scipy.linalg, which numba asks whether there is a BLAS, is
not imported at all. That takes about 0.2 s off every command.

Compiled code is kept in `$XDG_CACHE_HOME/fader/kernels` (or where FADER_KERNEL_CACHE or NUMBA_CACHE_DIR points), in a
folder per module that is named after the contents of the module and of the kernels it imports. So every process,
virtual environment and checkout with the same sources shares one compilation, and a changed kernel that another one
calls is never run in its old form: numba by itself looks at the caller's file alone. Where nothing can be written,
kernels are compiled for the process alone, and one warning says so.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import pickle
import re
import shutil
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, config, event
from numba.core.runtime.nrt import rtsys
from numba.extending import intrinsic

from fader import compiling
from fader.lazy import cached_property

njit: Any = numba.njit  # its annotations leave out options that it documents
PACKAGE = Path(__file__).parent
KEPT_DAYS = 30  # folders of other contents that were not used for so long are removed
_warned: list[str] = []
_IMPORT = re.compile(r"^\s*from (fader(?:\.\w+)*) import (\([^)]*|[\w, ]+)", re.MULTILINE)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called."""
    return _with_cache(njit(nogil=True, no_cfunc_wrapper=True)(function))


def bare_kernel(function: Callable[..., Any]) -> Any:
    """A kernel that makes no arrays, and so need not count who holds those that it is given.

    Counting is atomic: with dozens of arrays it costs more than a small query.
    """
    return _with_cache(njit(nogil=True, no_cfunc_wrapper=True, _nrt=False)(function))


def inner_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that kernels alone call: without the code that unpacks arguments from Python.

    That code is as long as the arguments are many: without it, a kernel of thirty arrays compiles in half the time.
    """
    return _compile_inner(function)


def bare_inner_kernel(function: Callable[..., Any]) -> Any:
    """An inner kernel that makes no arrays, as `bare_kernel`."""
    return _compile_inner(function, _nrt=False)


def _compile_inner(function: Callable[..., Any], **options: bool) -> Any:
    made = njit(nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True, **options)(function)
    if made is not function:
        # Python would jump to where nothing is: the calls that numba makes of Python's are refused.
        made.add_overload = lambda result: made.overloads.__setitem__(tuple(result.signature.args), result)
        made._compile_for_args = _refuse
    return _with_cache(made)


def inline_kernel(function: Callable[..., Any]) -> Any:
    """Compile a function into its callers: for the few lines that every element of an array goes through."""
    return _with_cache(njit(nogil=True, no_cfunc_wrapper=True, inline="always")(function))


def vector_kernel(python: Callable[..., Any], generate: Callable[..., Any]) -> Any:
    """Code of LLVM that is compiled into its callers, as `generate` writes it; `python` where nothing is compiled."""
    return python if getattr(config, "DISABLE_JIT", 0) else intrinsic(generate)


def _refuse(*_args: Any, **_named: Any) -> None:
    raise TypeError("an inner kernel is called by kernels alone; call its `py_func`")


def _with_cache(made: Any) -> Any:
    """A compiled function whose code is kept; the function itself where numba is told not to compile."""
    if not getattr(config, "DISABLE_JIT", 0):
        made._cache = _KernelCache(made.py_func)
    return made


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
        each = (name.strip("( \n") for name in names.split(","))
        found += [Path(f"{folder}.py"), *(Path(f"{folder}/{name}.py") for name in each)]
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


_FunctionCache: Any = caching.FunctionCache


class _KernelCache(caching._Cache):
    """The cache of one kernel: looked for when it is needed, given up where it cannot be written."""

    def __init__(self, function: Any) -> None:
        self._function = function

    @cached_property
    def _kept(self) -> Any:
        try:
            return _FunctionCache(self._function)
        except RuntimeError:  # numba has found no folder
            _warn_once("no folder for compiled kernels can be written")
            return caching.NullCache()

    @property
    def cache_path(self) -> str | None:
        path: str | None = self._kept.cache_path
        return path

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Compiled code for some types of arguments; None where it has to be made.

        numba's own method loads all that kernels can call first. Code that is compiled calls nothing of that by name:
        it needs the memory of numba's runtime and nothing else.
        """
        if type(self._kept) is caching.NullCache:
            return _load_without_blas()
        rtsys.initialize(target)
        try:
            found = self._kept._load_overload(signature, target)
        except OSError:
            found = None
        except (EOFError, ValueError, IndexError, pickle.UnpicklingError):  # cut off: made anew
            found = None
            with suppress(OSError):
                self._kept.flush()
        if found is None:
            _load_without_blas()
        return found

    def save_overload(self, signature: Any, data: Any) -> None:
        try:
            self._kept.save_overload(signature, data)
        except OSError as error:
            _warn_once(f"{self.cache_path}: compiled kernels cannot be kept: {error.strerror or error}")
            self._kept = caching.NullCache()

    def enable(self) -> None:
        self._kept.enable()

    def disable(self) -> None:
        self._kept.disable()

    def flush(self) -> None:
        self._kept.flush()


def _warn_once(reason: str) -> None:
    """Say that kernels are not kept; each process says it once."""
    if not _warned:
        _warned.append(reason)
        remedy = "free some space there, or name another folder in FADER_KERNEL_CACHE"
        warnings.warn(f"{reason}; every process compiles its own; {remedy}", RuntimeWarning, stacklevel=2)


class _Listener(event.Listener):
    """Passes on when a kernel begins and ends to be compiled; what it calls is compiled within."""

    def __init__(self) -> None:
        self._depth = 0  # numba compiles in one thread at a time

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            compiling.began(event.data["dispatcher"].py_func.__qualname__.lstrip("_"))

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            compiling.ended()


@cache
def _load_without_blas() -> None:
    """Load numba's functions of arrays, and keep them from importing scipy.linalg to see whether there is a BLAS.

    That import takes 0.2 to 0.4 s of a process, and no kernel of this package calls BLAS. Code of others that does is
    served as ever: numba asks `ensure_blas` again where such a call is compiled.
    """
    from numba.np import linalg  # needed to compile alone

    ensure, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ensure


_register: Any = event.register
_register("numba:compile", _Listener())
if _ByContent not in caching.CacheImpl._locator_classes:
    caching.CacheImpl._locator_classes.insert(0, _ByContent)
