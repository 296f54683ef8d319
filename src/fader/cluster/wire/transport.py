"""The interface to call all shard groups at once: in this process (local.py) or through sockets (client.py).

Knows nothing of shards or sockets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fader.errors import UsageError

# One mapping for all groups, or one per group; None: the group is not asked.
Arguments = Mapping[str, Any] | Sequence[Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Missing:
    """Stands for the answer of a group that gave none, where a partial answer is allowed."""

    group: int
    why: str


class Transport(Protocol):
    """Calls to all groups of a commit.

    `call_all` returns one answer per group: None for one that was not asked, and with `allow_partial` a `Missing` for
    one that did not answer, which is an IncompleteError otherwise. A call may take what is left of the query's budget.
    """

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
    """The arguments per group."""
    if isinstance(arguments, Mapping):
        return [dict(arguments)] * groups
    if len(arguments) != groups:
        raise UsageError(f"there are {groups} shard groups, but arguments for {len(arguments)}")
    return [None if given is None else dict(given) for given in arguments]
