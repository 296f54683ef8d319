"""How much text is shown around a mention: a value, and its text.

    highlights   the mention and the nearest occurrence of each literal, with a few words around each (`cutting.py`)
    sentence     the sentence of the mention
    window:N     N tokens on each side of the mention, and no sentence that does not fit in, but the mention's own
    document     the whole text

Knows nothing of texts; `passages.py` cuts them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fader.errors import UsageError, quote

HIGHLIGHTS, SENTENCE, WINDOW, DOCUMENT = "highlights", "sentence", "window", "document"
MOST_WINDOW = 2_000  # tokens on each side
SENTENCE_REACH = 300  # tokens on each side among which the ends of a sentence are looked for
MOST_CHARACTERS = 20_000  # of a passage
_WINDOW = re.compile(rf"{WINDOW}:([0-9]{{1,9}})")


@dataclass(frozen=True, slots=True)
class Passage:
    """How much text is shown around a mention; `tokens` on each side of it where it is a window."""

    kind: str = HIGHLIGHTS
    tokens: int = 0

    def __str__(self) -> str:
        return f"{self.kind}:{self.tokens}" if self.kind == WINDOW else self.kind

    @property
    def reach(self) -> int:
        """Tokens on each side of a mention that are read."""
        reaches = {SENTENCE: SENTENCE_REACH, WINDOW: self.tokens + 1, DOCUMENT: MOST_CHARACTERS // 2}
        return reaches.get(self.kind, 0)


def parse_passage(text: str) -> Passage:
    """The passage that a text names."""
    if text in (HIGHLIGHTS, SENTENCE, DOCUMENT):
        return Passage(text)
    window = _WINDOW.fullmatch(text) if isinstance(text, str) else None
    if window is None:
        raise UsageError(f"a passage is highlights, sentence, window:N or document, not {quote(text)}; give one")
    if not 1 <= int(window[1]) <= MOST_WINDOW:
        raise UsageError(f"a window has 1 to {MOST_WINDOW:,} tokens on each side, not {int(window[1]):,}; give fewer")
    return Passage(WINDOW, int(window[1]))


def check_passage(text: str) -> None:
    """Refuse a text that names no passage."""
    parse_passage(text)
