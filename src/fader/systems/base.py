"""Systems by name: `proximity(width=20)` is a value that ranks.

Knows nothing of storage, of texts or of who asks.
"""

from __future__ import annotations

from fader.rank.system import System
from fader.registry import parse


def parse_system(text: str) -> System:
    """The system that a text such as `proximity(width=20)` names."""
    system: System = parse("fader.systems", text)
    return system
