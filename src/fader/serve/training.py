"""Training on judgments beside requests: one run at a time, in a thread, with its progress.

A model that was learned is kept beside the index and can be asked for by name; it ranks by default when it is adopted.
Knows nothing of HTTP but its refusals.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from fader.errors import FaderError
from fader.judging.learn import learn
from fader.judging.learned import LearnedModels
from fader.judging.propose import Proposals, propose
from fader.judging.record import JudgedReading, Judgment
from fader.learn.model import Model
from fader.rank.system import System
from fader.search.index import Index
from fader.serve.errors import Refusal

log = logging.getLogger("fader.serve")
KEPT = 5  # learned models that can be asked for by name


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """A run: `idle` before the first, `running`, `done` with a model's name, or `failed` with what went wrong."""

    state: str = "idle"
    share: float = 0.0
    note: str = ""
    name: str | None = None
    error: str = ""


class TrainingRoom:
    """The runs of a service, one for each index; `on_change` is called when what ranks may have changed."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._runs: dict[str, TrainingRun] = {}
        self._ensembles: dict[str, list[System]] = {}
        self._lock = threading.Lock()

    def run_of(self, name: str) -> TrainingRun:
        """How the last run on an index stands."""
        return self._runs.get(name, TrainingRun())

    def start(self, name: str, index: Index, judgments: list[Judgment], old: Model, kept: LearnedModels) -> TrainingRun:
        """Begin a run; refuses a second one beside it."""
        with self._lock:
            if any(run.state == "running" for run in self._runs.values()):
                raise Refusal(409, "busy", "a model is being trained", "wait until it is done")
            self._runs[name] = TrainingRun("running", 0.0, "reading judgments")
        work = threading.Thread(target=self._work, args=(name, index, judgments, old, kept), daemon=True)
        work.start()
        return self.run_of(name)

    def _work(self, name: str, index: Index, judgments: list[Judgment], old: Model, kept: LearnedModels) -> None:
        try:
            found = learn(index, judgments, old, _Told(lambda share, note: self._tell(name, share, note)))
            self._ensembles[name] = found.ensemble
            saved = kept.save(found.model, found.report)
            self._on_change()
            self._runs[name] = TrainingRun("done", 1.0, "", saved)
            log.info("trained", extra={"fields": {"index": name, "model": saved, "questions": found.report.questions}})
        except FaderError as error:
            self._runs[name] = TrainingRun("failed", error=str(error))
        except Exception:
            log.exception("training failed", extra={"fields": {"index": name}})
            self._runs[name] = TrainingRun("failed", error="something went wrong in the server; its log says what")

    def _tell(self, name: str, share: float, note: str) -> None:
        self._runs[name] = replace(self._runs[name], share=share, note=note)

    def propose(self, name: str, index: Index, judgments: list[Judgment], old: Model, most: int) -> Proposals:
        """Answers to judged questions that are worth judging next."""
        readings: list[JudgedReading] = [judgment.reading for judgment in judgments]
        known = {(judgment.reading, judgment.entity) for judgment in judgments}
        return propose(index, readings, known, [old.system, *self._ensembles.get(name, [])], most)


class _Told:
    """Progress that is passed on as a share and a note."""

    def __init__(self, tell: Callable[[float, str], None]) -> None:
        self._tell = tell

    def update(self, done: float, total: float | None = None, note: str = "") -> None:
        self._tell(min(1.0, done / total) if total else 0.0, note)


def read_learned(folder: Path) -> tuple[str, dict[str, Model]]:
    """The name of the learned model that ranks an index, empty for none, and all that can be read of the newest."""
    kept = LearnedModels(folder)
    adopted = kept.adopted()
    found = dict([adopted]) if adopted else {}
    for name in kept.names()[-KEPT:]:
        try:
            found.setdefault(name, kept.read(name))
        except FaderError as error:
            log.warning("learned model left out", extra={"fields": {"model": name, "problem": str(error)}})
    return adopted[0] if adopted else "", found
