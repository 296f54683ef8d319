"""The quota that the contexts of one query may take: asked for before columns are made, refused where it is too much.

    bytes of a context = 64 + 8 literals:  the mention's columns, its distances, both again when segments are put
                                           together, a score and a place in the evidence

Knows nothing of where contexts come from.
"""

from __future__ import annotations

from fader.allowance import REMEDY, check_memory, claim, claimed
from fader.errors import LimitError
from fader.limits import Limits

MENTION_BYTES = 28  # of a mention that a list of its type holds, decoded
CONTEXT_BYTES, LITERAL_BYTES = 64, 8


class ContextQuota:
    """What is left for one query."""

    def __init__(self, limits: Limits, literals: int) -> None:
        self._limits = limits
        self._each = CONTEXT_BYTES + LITERAL_BYTES * literals
        self._contexts = 0

    @property
    def contexts(self) -> int:
        """How many contexts have been taken."""
        return self._contexts

    def reserve(self, contexts: int) -> None:
        """Count so many contexts more; an error where they are too many."""
        self._contexts += contexts
        most = self._limits.contexts
        if most is not None and self._contexts > most:
            message = f"the query has {self._contexts:,} contexts or more; {self._limits.at_most('contexts')}"
            raise LimitError(f"{message}; {REMEDY}")
        check_memory(self._limits, self._contexts * self._each)
        claim(contexts * self._each)

    def check_list(self, mentions: int) -> None:
        """Count a list of mentions, some of which become contexts."""
        check_memory(self._limits, self._contexts * self._each + mentions * MENTION_BYTES)
        with claimed(mentions * MENTION_BYTES):
            pass
