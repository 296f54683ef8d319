"""The folders that an operation of the history starts from and comes to, to be copied and harmed.

Knows nothing of crashes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from durability.history import HISTORY, IN_EMPTY, Documents, Operation, documents_after, scratch
from durability.promises import NOTHING, Made, made


@dataclass(frozen=True)
class Life:
    """An operation with the folder it starts from, if there is one, and what was made before and is made by it."""

    operation: Operation
    start: Path
    before: Made
    after: Made
    documents: dict[int, Documents]  # of each commit

    @contextmanager
    def copy(self) -> Iterator[Path]:
        """The folder to work on, alone in a new place."""
        with scratch() as place:
            if self.start.is_dir():
                shutil.copytree(self.start, place / "index")
            yield place / "index"


@contextmanager
def lives() -> Iterator[list[Life]]:
    """Every operation of the history, and the one that starts in an empty folder."""
    found: list[Life] = []
    known: dict[int, Documents] = {}
    last = NOTHING
    with scratch() as place:
        folder = place / "index"
        for i, (operation, documents) in enumerate(zip(HISTORY, documents_after(HISTORY), strict=True)):
            start = place / str(i)
            if last is not NOTHING:
                shutil.copytree(folder, start)
            operation.run(folder)
            after = made(folder)
            known = known | {after.commit: documents}
            found.append(Life(operation, start, last, after, known))
            last = after
        (place / "empty").mkdir()
        found.append(Life(IN_EMPTY, place / "empty", NOTHING, Made(1, (1,)), {1: IN_EMPTY.puts}))
        yield found
