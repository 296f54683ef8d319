"""Attributes that are computed when they are first read: as `functools.cached_property`, but without its lock.

Up to Python 3.11 that one has a lock per class and attribute, held while a value is computed. So of two queries in
threads, each with a table of its own, the second would wait for the first. As in 3.12 and later, threads that read the
same attribute of the same object at once may both compute it; one of the values is kept. Knows nothing of what is
computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(Generic[T]):  # noqa: N801 - it is used as functools' is
        """An attribute computed by a method, kept in the object's own dictionary."""

        def __init__(self, function: Callable[[Any], T]) -> None:
            self._function = function
            self.__doc__ = function.__doc__

        def __set_name__(self, owner: type[Any], name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self._name] = self._function(instance)
            return value


__all__ = ["cached_property"]
