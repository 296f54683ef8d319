"""What asks all shard groups at once, whatever carries the calls: in this process (local.py) or by sockets (client.py).

Knows no shard and no socket.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fader.errors import UsageError

# The same for all groups, or one for each; None: the group is not asked.
Arguments = Mapping[str, Any] | Sequence[Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Missing:
    """In place of the answer of a group that gave none, where a partial answer is allowed."""

    group: int
    why: str


class Transport(Protocol):
    """`call_all` gives one answer a group: None of one that was not asked, `Missing` of one that did not answer, which
    is an IncompleteError unless `allow_partial`. Calls take the time that is left of the budget that is counted."""

    @property
    def commit(self) -> int: ...

    def groups(self, commit: int) -> int: ...

    def call_all(
        self,
        method: str,
        arguments: Arguments,
        *,
        commit: int | None = None,
        deadline_ms: float | None = None,
        allow_partial: bool = False,
    ) -> list[Any]: ...


def for_each(arguments: Arguments, groups: int) -> list[dict[str, Any] | None]:
    """The arguments of each group."""
    if isinstance(arguments, Mapping):
        return [dict(arguments)] * groups
    if len(arguments) != groups:
        raise UsageError(f"there are {groups} shard groups, but arguments for {len(arguments)}")
    return [None if given is None else dict(given) for given in arguments]
