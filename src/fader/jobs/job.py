"""A job: items, work on each of them, and a join that keeps the results; interrupted, it goes on where it was.

    job = Job(key, items, work, join)
    run_job(job, journal, runner)

The key is everything that the results depend on. Items come in the same order for the same key. `work()` is called once
in each process and gives the function that turns an item into its result. `join(journal)` reads what the journal holds,
says which items are left, and takes their results. There are two kinds of joins:

- `KeptResults`: an entry of the journal per item; when all are kept, they are joined in the order of items.
- `fader.jobs.growing`: results, in order, are appended to output files; an entry of the journal per part of these.

Knows nothing of what is done, and by whom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from fader.jobs.journal import Journal, Key, digest_key
from fader.jobs.runners import Runner

Item = TypeVar("Item")
Result = TypeVar("Result")
Out = TypeVar("Out")
Result_contra = TypeVar("Result_contra", contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)


class Join(Protocol[Item, Result_contra, Out_co]):
    """Keeps results as they come."""

    def choose_left(self, items: Iterable[Item]) -> Iterable[Item]:
        """The items whose results are not kept yet."""
        ...

    def take(self, item: Item, result: Result_contra) -> None:
        """Keep the result of an item."""
        ...

    def finish(self) -> Out_co:
        """Join the results when all are there."""
        ...


@dataclass(frozen=True)
class Job(Generic[Item, Result, Out]):
    """What is to be done; see the head of this file."""

    key: Key
    items: Iterable[Item]
    work: Callable[[], Callable[[Item], Result]]
    join: Callable[[Journal], Join[Item, Result, Out]]


def run_job(job: Job[Item, Result, Out], journal: Journal, runner: Runner[Item]) -> Out:
    """Do what the journal does not hold yet, and join all results."""
    if journal.key != digest_key(job.key):
        raise ValueError(f"{journal.storage.shown}: the journal there is of another job")
    join = job.join(journal)
    runner.run(job.work, join.choose_left(job.items), join.take)
    return join.finish()


class NamedPart(Protocol):
    """An item that has a name in the journal."""

    @property
    def entry(self) -> str: ...


NamedItem = TypeVar("NamedItem", bound=NamedPart)


class KeptResults(Generic[NamedItem, Out]):
    """Keeps the result of each item as an entry; results may come in any order. `taken` hears of each that is kept."""

    def __init__(
        self,
        journal: Journal,
        join: Callable[[Iterator[bytes]], Out],
        taken: Callable[[NamedItem], None] = lambda _item: None,
    ) -> None:
        self._journal, self._join, self._taken = journal, join, taken
        self._entries: list[str] = []

    def choose_left(self, items: Iterable[NamedItem]) -> Iterator[NamedItem]:
        for item in items:
            self._entries.append(item.entry)
            if self._journal.find(item.entry) is None:
                yield item
            else:
                self._taken(item)

    def take(self, item: NamedItem, result: bytes) -> None:
        self._journal.keep(item.entry, result)
        self._taken(item)

    def finish(self) -> Out:
        return self._join(map(self._journal.get, self._entries))
