"""A task on a cluster: an item of a job that knows its own work, and that can be sent anywhere and done several times.

Errors of a task are returned, not raised, so that they reach the user in our words. Knows nothing of Ray.
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
    """Plain data and what is done with it. `memory` is what it may take on its node."""

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
        """An error in the words of the user; None where it is a fault of Fader."""
        if isinstance(error, IncompleteError | ClusterError):  # a node may be cut off from all others for a while
            return Failure(self.name, type(error).__name__, str(error), again=True)
        if isinstance(error, FaderError):
            return Failure(self.name, type(error).__name__, str(error))
        if isinstance(error, OSError):
            where = f"{error.filename}: " if error.filename else ""
            return Failure(self.name, "StorageError", f"{where}{error.strerror or error}", again=True)
        return None


def run_task(task: Task) -> bytes | Failure:
    """Do a task, in whatever process this is."""
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
    """What does tasks in a process. Runners raise a `Failure`, so that others see bytes alone."""
    return run_task  # type: ignore[return-value]
