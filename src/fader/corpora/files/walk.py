"""The files of folders, with the names that their documents get.

A folder stands for all files below it, in the order of paths; hidden ones are left out and counted, links to folders
are not followed. A document's id begins with the folder's name, `notes/2024/a.txt` for `/home/ada/notes`, so that it
stays the same wherever the folder lies. Of a Maildir, `tmp` is left out, and names lose their flags, which change when
a mail is read. Knows nothing of what files hold.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fader.corpus.readers import check_readable
from fader.errors import InputError, UsageError


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file and the name by which its documents are called."""

    path: str
    name: str

    def stamp(self) -> list[int]:
        """Size and time, by which a change is noticed."""
        about = os.stat(self.path)
        return [about.st_size, about.st_mtime_ns]


@dataclass(slots=True)
class FoundFiles:
    """All files, sorted by name, and how many hidden ones were left out."""

    files: list[SourceFile] = field(default_factory=list)
    hidden: int = 0


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
                found.files.append(SourceFile(source, os.path.basename(source)))
    found.files = list({os.path.realpath(each.path): each for each in reversed(found.files)}.values())
    names = [each.name for each in found.files]
    if len(set(names)) < len(names):  # two folders of one name: the paths as given tell them apart
        found.files = [SourceFile(each.path, os.path.normpath(each.path)) for each in found.files]
    found.files.sort(key=lambda each: each.name)
    if not found.files:
        raise InputError(f"{sources[0]}: has no files; give a file, or a folder that has some")
    return found


def _walk(source: str, found: FoundFiles, out: set[str]) -> None:
    root = Path(os.path.abspath(source))
    for folder, folders, names in os.walk(root):
        is_maildir = {"cur", "new"} <= set(folders)
        seen = [name for name in folders if not name.startswith(".")]
        found.hidden += len(folders) - len(seen) + sum(name.startswith(".") for name in names)
        folders[:] = sorted(
            name
            for name in seen
            if not (is_maildir and name == "tmp") and os.path.realpath(os.path.join(folder, name)) not in out
        )
        in_maildir = os.path.basename(folder) in ("cur", "new") and os.path.isdir(os.path.join(folder, "..", "cur"))
        for name in names:
            path = os.path.join(folder, name)
            if name.startswith(".") or os.path.realpath(path) in out or not os.path.isfile(path):
                continue
            shown = name.partition(":2,")[0] if in_maildir else name
            below = os.path.relpath(folder, root)
            parts = [root.name, *([] if below == "." else below.split(os.sep)), shown]
            found.files.append(SourceFile(path, "/".join(part for part in parts if part)))
