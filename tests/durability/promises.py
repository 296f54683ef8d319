"""What an index promises of its commits after a crash or a failure, and how a folder keeps it.

    whole        every commit that is there answers as it did, and `check` finds nothing wrong
    kept         the newest commit is one that may be; the commits that it keeps are there with it
    cleared up   the next writer works, and leaves nothing that no commit needs, in the folder or beside it

Knows nothing of how the crash came about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from durability.history import Documents, Operation, answers, debris, expected
from fader.errors import FaderError
from fader.index.commit import commit_numbers
from fader.index.verify.check import check


@dataclass(frozen=True)
class Made:
    """What an operation has made: a commit, and the commits that were there when it returned."""

    commit: int
    kept: tuple[int, ...]


NOTHING = Made(0, ())


def made(folder: Path) -> Made:
    """What is there now."""
    kept = there(folder)
    return Made(kept[-1], tuple(kept)) if kept else NOTHING


def there(folder: Path) -> list[int]:
    """The commits of a folder, which need not exist."""
    return commit_numbers(folder) if folder.is_dir() else []


def broken(folder: Path, allowed: Sequence[Made], documents: dict[int, Documents]) -> list[str]:
    """The promises that a folder breaks, in words; `allowed` may be the newest commit, each has its `documents`."""
    found = there(folder)
    whole = [fault for number in found for fault in _not_whole(folder, number, documents[number])]
    return [*_not_kept(found, allowed), *whole, *(check(folder) if found else [])]


def _not_kept(found: list[int], allowed: Sequence[Made]) -> Iterator[str]:
    newest = found[-1] if found else 0
    matching = [one for one in allowed if one.commit == newest]
    if not matching:
        yield f"the newest commit is {newest}, not {' or '.join(str(one.commit) for one in allowed)}"
    for one in matching:
        if not set(one.kept) <= set(found):
            yield f"commits {found} are there where {one.kept} were kept"


def _not_whole(folder: Path, number: int, documents: Documents) -> Iterator[str]:
    try:
        if answers(folder, number) != expected(documents):
            yield f"commit {number} answers otherwise"
    except FaderError as error:
        yield f"commit {number} is not whole: {error}"


def broken_by_next(folder: Path, operation: Operation, documents: dict[int, Documents]) -> list[str]:
    """What is wrong after another operation: it works on what is there, and clears up."""
    after = operation.after(documents.get(made(folder).commit, {}))
    try:
        operation.run(folder)
    except FaderError as error:
        return [f"the next writer fails: {error}"]
    wrong = [] if answers(folder) == expected(after) else ["the next writer's commit answers otherwise"]
    left = debris(folder)
    return [*wrong, *([f"the next writer has left {sorted(left)}"] if left else []), *check(folder)]
