"""The files of folders, with the names that their documents get.

A folder stands for all files below it, in the order of paths; hidden ones are left out and counted, and so are links to
folders, which are not followed. What cannot be read is found all the same, with the reason: links to nothing, pipes,
sockets, folders that are locked or more than DEEPEST folders deep.

A document's id begins with the folder's name, `notes/2024/a.txt` for `/home/ada/notes`, so that it stays the same
wherever the folder lies. Bytes of a name that are no UTF-8 are written as `\\xff`. Of a Maildir, `tmp` is left out, and
names lose their flags, which change when a mail is read. Knows nothing of what files hold.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fader.corpus.readers import check_readable
from fader.errors import InputError, UsageError

DEEPEST = 100


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file, the name by which its documents are called, and why it cannot be read where that is known already."""

    path: str
    name: str
    fault: str = ""

    def stamp(self) -> list[int]:
        """Size and time, by which a change is noticed; nothing where there is no file any more."""
        try:
            about = os.stat(self.path)
        except OSError:
            return []
        return [about.st_size, about.st_mtime_ns]


@dataclass(slots=True)
class FoundFiles:
    """All files, sorted by name, and how many hidden ones and links to folders were left out."""

    files: list[SourceFile] = field(default_factory=list)
    hidden: int = 0
    links: int = 0


def find_files(sources: Sequence[str], leave_out: Sequence[str | Path] = ()) -> FoundFiles:
    """The files of folders and files; those of `leave_out`, files or folders, are none."""
    if not sources:
        raise UsageError("no file or folder is given")
    found, out = FoundFiles(), {os.path.realpath(path) for path in leave_out}
    for source in sources:
        if os.path.isdir(source):
            _walk(source, found, out)
        else:
            check_readable(source)
            if os.path.realpath(source) not in out:
                found.files.append(SourceFile(source, _readable(os.path.basename(source))))
    found.files.sort(key=lambda each: os.path.islink(each.path))  # of a file and links to it the file itself counts
    places = [each.path if each.fault else os.path.realpath(each.path) for each in found.files]
    found.files = list(dict(zip(reversed(places), reversed(found.files), strict=True)).values())
    names = [each.name for each in found.files]
    if len(set(names)) < len(names):  # two folders of one name: the paths as given tell them apart
        found.files = [replace(each, name=_readable(os.path.normpath(each.path))) for each in found.files]
    found.files.sort(key=lambda each: each.name)
    if not found.files:
        raise InputError(f"{sources[0]}: has no files; give a file, or a folder that has some")
    return found


def _walk(source: str, found: FoundFiles, out: set[str]) -> None:
    root, real = Path(os.path.abspath(source)), os.path.realpath(source)

    def name_of(path: str) -> str:
        below = os.path.relpath(path, real)
        return _readable("/".join(part for part in (root.name, *([] if below == "." else below.split(os.sep))) if part))

    def note(error: OSError) -> None:
        fault = f"is a folder that cannot be read: {error.strerror or error}"
        found.files.append(SourceFile(str(error.filename), name_of(str(error.filename)), fault))

    for folder, folders, names in os.walk(real, onerror=note):
        is_maildir = {"cur", "new"} <= set(folders)
        seen = [name for name in folders if not name.startswith(".")]
        found.hidden += len(folders) - len(seen) + sum(name.startswith(".") for name in names)
        links = {name for name in seen if os.path.islink(os.path.join(folder, name))}
        found.links += len(links)
        folders[:] = sorted(
            name
            for name in seen
            if name not in links and not (is_maildir and name == "tmp") and os.path.join(folder, name) not in out
        )
        if folder.count(os.sep) - real.count(os.sep) >= DEEPEST and folders:
            note(OSError(0, f"it is more than {DEEPEST} folders deep", os.path.join(folder, folders[0])))
            folders.clear()
        in_maildir = os.path.basename(folder) in ("cur", "new") and os.path.isdir(os.path.join(folder, "..", "cur"))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.startswith(".") or path in out or (os.path.islink(path) and os.path.realpath(path) in out):
                continue
            shown = os.path.join(folder, name.partition(":2,")[0]) if in_maildir else path
            found.files.append(SourceFile(path, name_of(shown), _find_fault(path)))


def _find_fault(path: str) -> str:
    """Why a path is no file that could be read; nothing where it may be one."""
    if os.path.isfile(path):
        return ""
    return "is a pipe, a socket or a device" if os.path.exists(path) else "is a link to nothing"


def _readable(name: str) -> str:
    """A name as text, with bytes that are no UTF-8 written out."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
