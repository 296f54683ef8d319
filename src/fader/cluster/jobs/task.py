"""A task on a cluster: an item of a job with its own work, which any node can run, more than once.

A task returns its errors instead of raising them, so that the user gets readable messages. Knows nothing of Ray.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from fader import __version__
from fader.errors import ClusterError, FaderError, IncompleteError
from fader.jobs.runners import Failure


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """Plain data and the work on it. `memory` is what it may use on its node, in bytes."""

    name: str  # for messages
    memory: int = 0
    version: str = __version__

    @property
    def entry(self) -> str:
        """The name of its result in the journal."""
        return self.name

    @abstractmethod
    def run(self) -> bytes:
        """Do the work; the result is what the journal keeps."""

    def explain(self, error: Exception) -> Failure | None:
        """The failure to report for an error; None where it is a bug in Fader."""
        if isinstance(error, IncompleteError | ClusterError):  # a node may be cut off from all others for a while
            return Failure(self.name, type(error).__name__, str(error), again=True)
        if isinstance(error, FaderError):
            return Failure(self.name, type(error).__name__, str(error))
        if isinstance(error, OSError):
            where = f"{error.filename}: " if error.filename else ""
            return Failure(self.name, "StorageError", f"{where}{error.strerror or error}", again=True)
        return None


def run_task(task: Task) -> bytes | Failure:
    """Run a task in this process."""
    if task.version != __version__:
        here = f"this node has Fader {__version__}, the command Fader {task.version}"
        return Failure(task.name, "ClusterError", f"{here}; install the same on all nodes")
    try:
        return task.run()
    except Exception as error:
        failure = task.explain(error)
        if failure is None:
            raise
        return failure


def make_worker() -> Callable[[Task], bytes]:
    """The worker of a process. Runners raise a `Failure`, so callers see bytes only."""
    return run_task  # type: ignore[return-value]
