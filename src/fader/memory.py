"""Memory between queries: keep what was freed instead of giving it back to the system, and a bounded cache.

A query makes a dozen arrays of a megabyte or so. By default glibc returns such blocks to the kernel at once, and
every query pays for their pages again: more than half of a large query's time. Knows nothing of what is cached.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # glibc's names for mallopt's first argument
KEEP_FREE = 256 << 20
LARGEST_HEAP_BLOCK = 32 << 20


@cache
def keep_freed_memory() -> bool:
    """Let the allocator hold up to 256 MiB of freed memory; whether it could be told so."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    settings = ((_MMAP_THRESHOLD, LARGEST_HEAP_BLOCK), (_TRIM_THRESHOLD, KEEP_FREE), (_TOP_PAD, 16 << 20))
    return all(mallopt(name, value) == 1 for name, value in settings)


class Cache:
    """The values used last, up to so many bytes in all. Safe to share among threads."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._used = 0
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: Hashable) -> Any:
        """The value of a key; None where it is not kept."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def put(self, key: Hashable, value: Any, nbytes: int) -> None:
        """Keep a value; one too large for a quarter of the cache is not kept."""
        if nbytes * 4 > self._budget:
            return
        with self._lock:
            if key not in self._values:
                self._values[key] = (value, nbytes)
                self._used += nbytes
            while self._used > self._budget:
                _key, (_value, freed) = self._values.popitem(last=False)
                self._used -= freed

    def get(self, key: Hashable, make: Callable[[], Any], size: Callable[[Any], int]) -> Any:
        """The value of a key, made where it is not kept."""
        value = self.find(key)
        if value is None:
            value = make()
            self.put(key, value, size(value))
        return value
