"""Systems by name: `proximity(width=20)` is a value that ranks.

Knows nothing of storage, of texts or of who asks.
"""

from __future__ import annotations

from functools import lru_cache

from fader.rank.system import System
from fader.registry import count_registered, parse

KEPT = 256  # texts whose systems are cached


def parse_system(text: str) -> System:
    """The system that a text such as `proximity(width=20)` names, one and the same while no part is registered."""
    return _parse(text, count_registered()) if isinstance(text, str) else _parse.__wrapped__(text, 0)


@lru_cache(maxsize=KEPT)
def _parse(text: str, _registered: int) -> System:
    system: System = parse("fader.systems", text)
    return system
