"""Every file-system call below a folder, shown to a watcher before it is done.

    with watched(root, watcher): ...      watcher(call, perform) is called instead of the system; perform() does it

A watcher may look, count, refuse (raise OSError), cut a write (`perform(limit)`) or end the process. Files that are
opened to be written have Python's own buffers over a raw file that is watched, so that a write is what the system
would be asked to write. Calls that would change a folder in a way not shown here are refused by an assertion; that
none was overlooked is for the user to check, by doing the calls again. Knows nothing of indexes.
"""

from __future__ import annotations

import builtins
import fcntl
import io
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

Perform = Callable[..., Any]
NOT_SHOWN = ("link", "symlink", "truncate", "ftruncate", "pwrite", "sendfile", "copy_file_range")


@dataclass(frozen=True)
class Call:
    """One call. `file` numbers the file opened by create, truncate or open, in write and sync of that file."""

    kind: str  # create truncate open write sync syncfolder rename unlink mkdir rmdir | read folder list lock
    path: str
    to: str = ""
    file: int = 0
    offset: int = 0
    data: bytes = b""

    @property
    def changes(self) -> bool:
        """Whether the call can change what is on the disk, or make it safe."""
        return self.kind not in ("read", "folder", "list", "lock")


Watcher = Callable[[Call, Perform], Any]


class _Raw(io.FileIO):
    """A file whose writes are shown."""

    def __init__(self, path: str, mode: str, number: int, watcher: Watcher) -> None:
        super().__init__(path, mode)
        self._path, self._number, self._watcher = path, number, watcher

    def write(self, data: Any) -> int:
        whole = bytes(data)

        def perform(limit: int | None = None) -> int:
            return io.FileIO.write(self, whole[:limit])

        return int(self._watcher(Call("write", self._path, "", self._number, self.tell(), whole), perform))

    def truncate(self, size: int | None = None) -> int:
        raise AssertionError(f"{self._path}: truncate is not shown to watchers")


class _Watched:
    """The replacements of the system's functions, and which handles are open below the root."""

    def __init__(self, root: Path, watcher: Watcher) -> None:
        self._root, self._watcher = os.path.abspath(root), watcher
        self._real = {name: getattr(os, name) for name in (*SHOWN, *NOT_SHOWN) if hasattr(os, name)}
        self._real_open, self._real_flock = builtins.open, fcntl.flock
        self._files: dict[int, tuple[str, int]] = {}  # handle: path, number of the file (0: a folder)
        self._count = 0

    def path(self, given: Any, dir_fd: int | None = None) -> str | None:
        """The absolute path, None where it does not lie below the root."""
        if isinstance(given, int):
            return self._files[given][0] if given in self._files else None
        name = os.fsdecode(given)
        if dir_fd is not None:
            if dir_fd not in self._files:
                return None
            name = os.path.join(self._files[dir_fd][0], name)
        name = os.path.abspath(name)
        return name if name == self._root or name.startswith(self._root + os.sep) else None

    def open(self, file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        path = None if isinstance(file, int) else self.path(file)
        if path is not None and set(mode) & set("wxa+"):
            return self._open_to_write(path, mode, *arguments, **options)
        if path is None:
            opened = self._real_open(file, mode, *arguments, **options)
        else:
            opened = self._watcher(Call("read", path), lambda: self._real_open(file, mode, *arguments, **options))
        self._files.pop(opened.fileno(), None)
        return opened

    def _open_to_write(
        self, path: str, mode: str, buffering: int = -1, encoding: str | None = None,
        errors: str | None = None, newline: str | None = None,
    ) -> Any:  # fmt: skip
        assert mode.replace("b", "").replace("t", "") in ("w", "x"), f"open({path}, {mode}) is not shown"
        assert buffering == -1, f"open({path}) without Python's buffer is not shown"
        kind = "truncate" if os.path.exists(path) else "create"
        self._count += 1
        number = self._count
        raw = self._watcher(
            Call(kind, path, file=number), lambda: _Raw(path, "xb" if "x" in mode else "wb", number, self._watcher)
        )
        self._files[raw.fileno()] = (path, number)
        buffered = io.BufferedWriter(raw, max(os.fstat(raw.fileno()).st_blksize, 1))
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding or "utf-8", errors, newline)

    def open_handle(self, given: Any, flags: int, *arguments: Any, dir_fd: int | None = None) -> int:
        path = self.path(given, dir_fd)

        def perform() -> int:
            return int(self._real["open"](given, flags, *arguments, dir_fd=dir_fd))

        if path is None:
            handle = perform()
            self._files.pop(handle, None)
            return handle
        assert not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT), f"os.open({path}) to write is not shown"
        handle = int(self._watcher(Call("folder", path), perform))
        self._files[handle] = (path, 0)
        return handle

    def close(self, handle: int) -> None:
        self._files.pop(handle, None)
        self._real["close"](handle)

    def sync(self, handle: int) -> None:
        path, number = self._files.get(handle, (None, 0))
        if path is None:
            self._real["fsync"](handle)
        else:
            call = Call("sync", path, file=number) if number else Call("syncfolder", path)
            self._watcher(call, lambda: self._real["fsync"](handle))

    def lock(self, handle: Any, operation: int) -> Any:
        path = self.path(handle) if isinstance(handle, int) else None
        if path is None or operation & fcntl.LOCK_UN:
            return self._real_flock(handle, operation)
        return self._watcher(Call("lock", path), lambda: self._real_flock(handle, operation))

    def rename(self, old: Any, new: Any, **places: int) -> None:
        assert not places, "a rename relative to a handle is not shown"
        source, target = self.path(old), self.path(new)
        if source is None or target is None:
            assert source is target, f"a rename from {old} to {new} is not shown"
            self._real["rename"](old, new)
        else:
            self._watcher(Call("rename", source, target), lambda: self._real["rename"](old, new))

    def simple(self, name: str, kind: str) -> Callable[..., Any]:
        """The replacement of a function whose first argument is a path or a handle."""
        real = self._real[name]

        def replacement(given: Any = ".", *arguments: Any, dir_fd: int | None = None) -> Any:
            path = self.path(given, dir_fd)

            def perform() -> Any:
                return real(given, *arguments) if dir_fd is None else real(given, *arguments, dir_fd=dir_fd)

            return perform() if path is None else self._watcher(Call(kind, path), perform)

        return replacement

    def refused(self, name: str) -> Callable[..., Any]:
        """The replacement of a function that is not shown."""

        def replacement(given: Any, *arguments: Any, **options: Any) -> Any:
            assert self.path(given) is None, f"os.{name}({given}) is not shown to watchers"
            return self._real[name](given, *arguments, **options)

        return replacement

    def write_handle(self, handle: int, data: Any) -> int:
        assert handle not in self._files, f"os.write to {self._files[handle]} is not shown"
        return int(self._real["write"](handle, data))


SHOWN = (
    "open", "close", "write", "fsync", "fdatasync", "rename", "replace", "unlink", "remove", "mkdir", "rmdir",
    "listdir", "scandir",
)  # fmt: skip


@contextmanager
def watched(root: Path, watcher: Watcher) -> Iterator[None]:
    """Show a watcher every call below `root` that this process makes inside."""
    w = _Watched(root, watcher)
    replacements: dict[str, Any] = {
        "open": w.open_handle, "close": w.close, "write": w.write_handle, "fsync": w.sync, "fdatasync": w.sync,
        "rename": w.rename, "replace": w.rename, "unlink": w.simple("unlink", "unlink"),
        "remove": w.simple("remove", "unlink"), "mkdir": w.simple("mkdir", "mkdir"),
        "rmdir": w.simple("rmdir", "rmdir"), "listdir": w.simple("listdir", "list"),
        "scandir": w.simple("scandir", "list"),
    }  # fmt: skip
    replacements |= {name: w.refused(name) for name in NOT_SHOWN if hasattr(os, name)}
    with ExitStack() as stack:
        for name, replacement in replacements.items():
            stack.enter_context(patch.object(os, name, replacement))
        stack.enter_context(patch.object(fcntl, "flock", w.lock))
        for module in (builtins, io):
            stack.enter_context(patch.object(module, "open", w.open))
        yield


def recorder(log: list[Call]) -> Watcher:
    """A watcher that does every call and writes down those that change something."""

    def watcher(call: Call, perform: Perform) -> Any:
        result = perform()
        if call.kind == "write":
            log.append(Call(call.kind, call.path, "", call.file, call.offset, call.data[:result]))
        elif call.changes:
            log.append(call)
        return result

    return watcher
