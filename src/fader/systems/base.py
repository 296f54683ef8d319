"""Systems by name: `proximity(width=20)` is a value that ranks.

Knows nothing of storage, of texts or of who asks.
"""

from __future__ import annotations

from typing import Any

from fader.rank.base import Contributions, Ranking, System, WhatIf, order_entities
from fader.registry import parse

__all__ = ["Contributions", "Ranking", "System", "WhatIf", "order_entities", "system"]


def system(text: str) -> Any:
    """The system that a text such as `proximity(width=20)` names."""
    return parse("fader.systems", text)
