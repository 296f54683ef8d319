"""Results of systems kept in a folder while a comparison runs, so that it can be stopped and taken up again.

A result is found again only for the same system, queries, judgments, collection, folds, seed, measures and release of
Fader. A file is written beside its place and renamed; what cannot be read is computed again. Knows nothing of how
results come about.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import xxhash

from fader.errors import FaderError, StorageError
from fader.experiment.comparison import ContextScores, Grid, SystemResult, from_plain
from fader.jobs.files import whole_file


@dataclass(frozen=True)
class Measured:
    """A system's result, and what figures show of it."""

    result: SystemResult
    grids: list[Grid] = field(default_factory=list)
    scores: list[ContextScores] = field(default_factory=list)


class Kept:
    """The folder; `about` is what results hang on besides the system. Without a folder nothing is kept."""

    def __init__(self, folder: str | Path | None, about: dict[str, Any]) -> None:
        self._folder, self._about = None if folder is None else Path(folder), about
        if self._folder is not None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StorageError(f"{folder}: results cannot be kept there: {error.strerror}") from None

    def _path(self, system: str, cv: str) -> Path:
        assert self._folder is not None
        line = json.dumps({**self._about, "system": system, "cv": cv}, sort_keys=True, default=str)
        return self._folder / f"{xxhash.xxh3_64_hexdigest(line.encode())}.json"

    def find(self, system: str, cv: str) -> Measured | None:
        """What was kept of a system, if it was."""
        if self._folder is None:
            return None
        try:
            plain = json.loads(self._path(system, cv).read_text(encoding="utf-8"))
            return Measured(
                SystemResult.from_dict(plain["result"]),
                [from_plain(Grid, g, "grid") for g in plain["grids"]],
                [from_plain(ContextScores, s, "context scores") for s in plain["scores"]],
            )
        except (OSError, ValueError, KeyError, TypeError, FaderError):
            return None

    def keep(self, system: str, cv: str, measured: Measured) -> None:
        """Write a result down."""
        if self._folder is None:
            return
        path = self._path(system, cv)
        plain = {
            "system": system, "cv": cv, "result": measured.result.to_dict(),
            "grids": [asdict(g) for g in measured.grids], "scores": [asdict(s) for s in measured.scores],
        }  # fmt: skip
        with whole_file(path) as pending:
            pending.write_text(json.dumps(plain), encoding="utf-8")
