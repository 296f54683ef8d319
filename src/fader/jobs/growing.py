"""Output files that grow part by part: what a job with much output, in order, keeps of its results.

    growing = GrowingFiles(journal, folder, ["corpus.jsonl"])
    for data in growing.restore(): ...                 the data of the whole parts, after a run that was killed
    growing.end_part({"corpus.jsonl": lines}, data)

A part is appended to the files and synced; then an entry of the journal says how long the files are. After a crash they
are cut to the lengths of the last entry. Where parts end must depend on the results alone, so that the bytes are the
same however often a run was killed. Knows nothing of what is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from fader.jobs.files import sync_file
from fader.jobs.journal import Entry, Journal


class GrowingFiles:
    """Files of a folder, and how many parts of them are whole."""

    def __init__(self, journal: Journal, folder: Path, names: Iterable[str]) -> None:
        self._journal, self._folder = journal, folder
        self._lengths = dict.fromkeys(names, 0)
        self.parts = 0

    def restore(self) -> list[bytes]:
        """Go back to the last whole part; returns the data of all parts, in order."""
        entries: list[Entry] = []
        while entry := self._journal.find(part_name(len(entries) + 1)):
            paths = {self._folder / name: length for name, length in entry.files.items()}
            if not all(path.exists() and path.stat().st_size >= length for path, length in paths.items()):
                break
            entries.append(entry)
        self.parts = len(entries)
        if entries:
            self._lengths = entries[-1].files
        for name, length in self._lengths.items():
            if (self._folder / name).exists():
                os.truncate(self._folder / name, length)
        return [entry.data for entry in entries]

    def end_part(self, grown: Mapping[str, bytes], data: bytes) -> None:
        """Append to the files, and note that with the data of the part."""
        for name in self._lengths:
            with open(self._folder / name, "ab") as file:
                file.write(grown.get(name, b""))
                sync_file(file)
                self._lengths[name] = file.tell()
        self._journal.keep(part_name(self.parts + 1), data, self._lengths)
        self.parts += 1


def part_name(number: int) -> str:
    """The name of a part's entry."""
    return f"{number:06d}"
