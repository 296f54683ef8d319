"""Models that were learned from judgments, in a folder beside the index, and which of them ranks.

    DIR.learned/NAME.json          a model file (`fader.learn.modelfile`), whole or absent
    DIR.learned/NAME.report.json   its comparison with the model before it
    DIR.learned/adopted.json       {"adopted": [NAME, ...]}: the last ranks; a roll-back goes to those before it

Every file is written under another name, synced and renamed, so that whoever dies at whatever moment, the model that
ranks is a whole one. Knows nothing of how models are trained.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, final

import msgspec

from fader.errors import FaderError, InputError, UsageError, quote
from fader.jobs.files import whole_file
from fader.judging.learn import LearnReport
from fader.learn.model import Model, read_model

SUFFIX, STATE = ".learned", "adopted.json"
MOST_KEPT = 100
_NAME = re.compile(r"learned-([0-9]{1,6})")


@final
class LearnedModels:
    """The learned models of an index."""

    def __init__(self, index_folder: str | Path) -> None:
        whole = Path(index_folder).resolve()
        self.folder = whole.with_name(whole.name + SUFFIX)

    def names(self) -> list[str]:
        """All of them, the oldest first."""
        found = [path.stem for path in self.folder.glob("learned-*.json") if _NAME.fullmatch(path.stem)]
        return sorted(found, key=lambda name: int(name.rpartition("-")[2]))

    def save(self, model: Model, report: LearnReport) -> str:
        """Keep a model with its report; its name."""
        known = self.names()
        if len(known) >= MOST_KEPT:
            raise InputError(f"{self.folder}: holds {MOST_KEPT} models, the most it may; remove some")
        name = f"learned-{int(known[-1].rpartition('-')[2]) + 1 if known else 1}"
        self.folder.mkdir(parents=True, exist_ok=True)
        with whole_file(self.folder / f"{name}.report.json") as pending:
            pending.write_bytes(msgspec.json.encode(report))
        with whole_file(self.folder / f"{name}.json") as pending:  # last: a model that is there has its report
            pending.write_text(model.to_text(), encoding="utf-8")
        return name

    def read(self, name: str) -> Model:
        """A model by its name."""
        if not _NAME.fullmatch(name) or name not in self.names():
            raise UsageError(f"no learned model {quote(name)}; there are {', '.join(self.names()) or 'none'}")
        return read_model(self.folder / f"{name}.json")

    def report(self, name: str) -> LearnReport | None:
        """The report of a model; None where it cannot be read."""
        try:
            return msgspec.json.decode((self.folder / f"{name}.report.json").read_bytes(), type=LearnReport)
        except (OSError, msgspec.MsgspecError):
            return None

    def history(self) -> list[str]:
        """The models that were adopted, the last one ranking; none where the served model ranks."""
        try:
            plain: Any = json.loads((self.folder / STATE).read_text(encoding="utf-8"))
            return [name for name in plain["adopted"] if isinstance(name, str) and _NAME.fullmatch(name)]
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def adopted(self) -> tuple[str, Model] | None:
        """What ranks, and its name; None where no learned model does, or where its file is not whole."""
        for name in self.history()[-1:]:
            try:
                return name, self.read(name)
            except FaderError:
                return None
        return None

    def adopt(self, name: str) -> None:
        """Let a model rank from now on."""
        self.read(name)  # whole, and there
        self._write([*self.history(), name])

    def roll_back(self) -> str | None:
        """Let the model before the last one rank again; its name, None for that of the service's start."""
        history = self.history()[:-1]
        self._write(history)
        return history[-1] if history else None

    def _write(self, history: list[str]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with whole_file(self.folder / STATE) as pending:
            pending.write_text(json.dumps({"adopted": history[-MOST_KEPT:]}), encoding="utf-8")
