"""Where the indexes of a service are: in folders of this machine, or wherever else somebody finds them.

A service opens indexes, looks for newer commits and asks how they are through this alone. Knows nothing of what is
behind it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fader.limits import Limits
from fader.search.health import ClusterHealth
from fader.search.index import Index


class Backing(Protocol):
    """What a service needs of the place where indexes are."""

    def open(self, folder: Path, limits: Limits) -> Index:
        """An index at its newest commit."""
        ...

    def newest(self, index: Index) -> Index:
        """An index at its newest commit: itself where that is open already."""
        ...

    def partial(self, index: Index) -> Index:
        """The same commit, for answers from what is there; where something is missing, a warning says so."""
        ...

    def find_damage(self, index: Index) -> str:
        """What has become of the files of an open index so that it must not be read any more; empty if nothing has."""
        ...

    def health(self) -> ClusterHealth | None:
        """How it is; `status` is `ok`, or `incomplete` where nothing can be answered. None: no part can be missing."""
        ...

    def counts(self) -> dict[str, int]:
        """What it counted since the start, by name."""
        ...


@dataclass(frozen=True)
class Folders:
    """Indexes in folders of this machine, which are there as a whole or not at all; with `verify` each commit is
    verified before it is served."""

    verify: bool = False

    def open(self, folder: Path, limits: Limits) -> Index:
        return Index.open(folder, self.verify, limits=limits)

    def newest(self, index: Index) -> Index:
        return index.refresh()

    def partial(self, index: Index) -> Index:
        return index

    def find_damage(self, index: Index) -> str:
        """A file that is shorter than it was written: to read the mapped rest of it would end the process.

        A file that is gone does no harm, for it stays mapped: a merge removes those of older commits.
        """
        folder, manifest = index.collection.folder, index.collection.manifest
        for name, entry in manifest.file_entries:
            with suppress(FileNotFoundError):
                size = (folder / name).stat().st_size
                if size < entry.bytes:
                    return (
                        f"{folder / name}: has {size:,} bytes instead of {entry.bytes:,}; restore or rebuild the index"
                    )
        return ""

    def health(self) -> ClusterHealth | None:
        return None

    def counts(self) -> dict[str, int]:
        return {}
