"""A disk that promises no more than POSIX does: what a power loss may leave after a list of calls.

    file    what was written before its last sync is safe; of the rest any bytes may have arrived: none, a prefix, some
            pages of 4 KiB, or only the length, with zeros
    folder  entries (create, rename, unlink, mkdir, rmdir) are safe when the folder was synced after them; of the rest
            each may be there or not, whatever happened to those before it; a rename happens or not, never half

The sync of a file does not save its name, the sync of a folder does not save the contents of its files. Knows nothing
of indexes.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from durability.calls import Call

PAGE = 4096
Tree = dict[str, bytes | None]  # path below the root: content of a file, None for a folder


@dataclass(eq=False)
class File:
    """A file: what it holds, and what of that is safe."""

    data: bytes = b""
    safe: bytes = b""


@dataclass(frozen=True)
class Change:
    """One change of a folder's entries: `new` leads to `node`, `old` leads nowhere any more."""

    node: File | Folder
    old: str | None = None
    new: str | None = None


@dataclass(eq=False)
class Folder:
    """A folder: its entries, those that are safe, and the changes since."""

    entries: dict[str, File | Folder] = field(default_factory=dict)
    safe: dict[str, File | Folder] = field(default_factory=dict)
    loose: list[Change] = field(default_factory=list)

    def change(self, change: Change) -> None:
        _do(self.entries, change)
        self.loose.append(change)

    def sync(self) -> None:
        self.safe, self.loose = dict(self.entries), []


def _do(entries: dict[str, File | Folder], change: Change) -> None:
    if change.old is not None and entries.get(change.old) is change.node:
        del entries[change.old]
    if change.new is not None:
        entries[change.new] = change.node


Keeps = Callable[[Change], bool]
Tears = Callable[[File], bytes]


class Disk:
    """The disk as the calls so far have left it, in memory and for certain; at first all of `tree` is safe."""

    def __init__(self, root: str, tree: Tree | None = None) -> None:
        self._root = root
        self.top = Folder()
        for path, content in sorted((tree or {}).items()):
            folder, name = self._find(os.path.join(root, path))
            folder.entries[name] = Folder() if content is None else File(content, content)
            folder.sync()
        self._open: dict[int, File] = {}

    def _find(self, path: str) -> tuple[Folder, str]:
        """The folder of a path, and its name there."""
        parts = os.path.relpath(path, self._root).split(os.sep)
        folder = self.top
        for part in parts[:-1]:
            below = folder.entries[part]
            assert isinstance(below, Folder)
            folder = below
        return folder, parts[-1]

    def _folder(self, path: str) -> Folder:
        if path == self._root:
            return self.top
        folder, name = self._find(path)
        found = folder.entries[name]
        assert isinstance(found, Folder)
        return found

    def do(self, call: Call) -> None:
        """One call that has returned."""
        if call.kind == "write":
            file = self._open[call.file]
            gap = call.data if call.offset <= len(file.data) else bytes(call.offset - len(file.data)) + call.data
            at = min(call.offset, len(file.data))
            file.data = file.data[:at] + gap + file.data[at + len(gap) :]
        elif call.kind == "sync":
            file = self._open[call.file]
            file.safe = file.data
        elif call.kind == "syncfolder":
            self._folder(call.path).sync()
        else:
            self._change(call)

    def _change(self, call: Call) -> None:
        folder, name = self._find(call.path)
        if call.kind in ("create", "mkdir"):
            node = File() if call.kind == "create" else Folder()
            folder.change(Change(node, new=name))
            if isinstance(node, File):
                self._open[call.file] = node
        elif call.kind == "truncate":
            file = folder.entries[name]
            assert isinstance(file, File)
            file.data = b""
            self._open[call.file] = file
        elif call.kind in ("unlink", "rmdir"):
            folder.change(Change(folder.entries[name], old=name))
        else:
            assert call.kind == "rename", call.kind
            target, new = self._find(call.to)
            assert target is folder, "a rename from one folder into another is not modelled"
            folder.change(Change(folder.entries[name], name, new))

    def loose(self) -> list[Change]:
        """The changes that may be lost, of every folder that can be reached with or without them."""
        found: list[Change] = []
        seen: set[int] = set()
        todo: list[File | Folder] = [self.top]
        while todo:
            folder = todo.pop()
            if isinstance(folder, Folder) and id(folder) not in seen:
                seen.add(id(folder))
                found += folder.loose
                todo += [*folder.safe.values(), *folder.entries.values(), *(c.node for c in folder.loose)]
        return found

    def left(self, keeps: Keeps, tears: Tears) -> Tree:
        """What is there after a power loss that has kept these changes, and left of every file this."""
        tree: Tree = {}
        torn: dict[File, bytes] = {}

        def walk(folder: Folder, prefix: str) -> None:
            entries = dict(folder.safe)
            for change in folder.loose:
                if keeps(change):
                    _do(entries, change)
            for name, node in entries.items():
                if isinstance(node, Folder):
                    tree[prefix + name] = None
                    walk(node, f"{prefix}{name}/")
                else:
                    if node not in torn:
                        torn[node] = node.safe if node.data == node.safe else tears(node)
                    tree[prefix + name] = torn[node]

        walk(self.top, "")
        return tree

    def all_kept(self) -> Tree:
        """What is there as long as the power stays."""
        return self.left(lambda _change: True, lambda file: file.data)

    def crashes(self, rng: random.Random, draws: int) -> Iterator[Tree]:
        """What a power loss now may leave: the extreme cases, and as many drawn ones."""
        changes = self.loose()
        for tears in (_nothing, _everything, _zeros):
            for kept in (True, False):
                yield self.left(lambda _change, kept=kept: kept, tears)  # type: ignore[misc]
        for one in changes:
            yield self.left(lambda change, one=one: change is not one, _everything)  # type: ignore[misc]
            yield self.left(lambda change, one=one: change is one, _everything)  # type: ignore[misc]
        for _ in range(draws):
            share = rng.choice((0.2, 0.5, 0.8))
            kept_ones = {id(change) for change in changes if rng.random() < share}
            yield self.left(lambda change, kept=kept_ones: id(change) in kept, _torn_by(rng))  # type: ignore[misc]


def _nothing(file: File) -> bytes:
    return file.safe


def _everything(file: File) -> bytes:
    return file.data


def _zeros(file: File) -> bytes:
    """The length has arrived, and nothing else."""
    return file.safe + bytes(max(0, len(file.data) - len(file.safe)))


def _torn_by(rng: random.Random) -> Tears:
    """A drawn part of what is not safe: a prefix, or some pages with what was there before, or zeros, between them."""

    def tears(file: File) -> bytes:
        way = rng.randrange(5)
        if way < 3:
            return (_nothing, _everything, _zeros)[way](file)
        size = rng.randint(min(len(file.safe), len(file.data)), len(file.data))
        if way == 3:
            return file.data[:size] if file.data.startswith(file.safe) else file.data[:size] + file.safe[size:]
        pages = bytearray(_zeros(file)[: len(file.data)])
        for at in range(0, len(file.data), PAGE):
            if rng.random() < 0.5:
                pages[at : at + PAGE] = file.data[at : at + PAGE]
        return bytes(pages if rng.random() < 0.5 else pages[:size])

    return tears


def tree_of(path: Path) -> Tree:
    """What lies in a real folder."""
    tree: Tree = {}
    for at, folders, files in os.walk(path):
        for name in folders:
            tree[os.path.relpath(os.path.join(at, name), path)] = None
        for name in files:
            tree[os.path.relpath(os.path.join(at, name), path)] = Path(at, name).read_bytes()
    return tree
