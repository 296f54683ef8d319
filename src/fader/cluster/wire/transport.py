"""The interface to call all shard groups at once: in this process (local.py) or through sockets (client.py).

Knows nothing of sockets, or of what is asked.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

import msgspec

from fader.errors import UsageError

if TYPE_CHECKING:
    from fader.cluster.shards.shard import Shard

Answer = TypeVar("Answer")


class ShardCall(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """A call of a shard with its arguments; `reply` is the type that its answer is sent as."""

    reply: ClassVar[Any]

    @abstractmethod
    def run(self, shard: Shard) -> Any:
        """Answer it."""


# One call for all groups, or one per group; None: the group is not asked.
Calls = ShardCall | Sequence[ShardCall | None]


class ShardError(msgspec.Struct, frozen=True):
    """An error of a shard: the name of its class, its text, and its position in the query."""

    kind: str
    text: str
    position: int | None = None


class Reply(msgspec.Struct, Generic[Answer], frozen=True):
    """What a shard sends back: an answer or an error."""

    value: Answer | None = None
    error: ShardError | None = None


class Missing(msgspec.Struct, frozen=True):
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
        self, calls: Calls, *, commit: int | None = None, deadline_ms: float | None = None, allow_partial: bool = False
    ) -> list[Any]: ...


def for_each(calls: Calls, groups: int) -> list[ShardCall | None]:
    """The call per group."""
    if isinstance(calls, ShardCall):
        return [calls] * groups
    if len(calls) != groups:
        raise UsageError(f"there are {groups} shard groups, but calls for {len(calls)}")
    return list(calls)
