"""How feature maps refuse a parameter: the part, the parameter, what it may be, what it was.

Knows nothing of what parameters do.
"""

from __future__ import annotations

from collections.abc import Sequence

from fader.errors import UsageError, quote


def check_choice(owner: str, key: str, value: object, choices: Sequence[str]) -> None:
    """Refuse a word that is none of the choices."""
    if value not in choices:
        allowed = " or ".join(", ".join(choices).rsplit(", ", 1))
        raise UsageError(f"{owner}: {key} must be {allowed}, not {quote(value)}")


def check_idf(owner: str, idf: object) -> None:
    """Refuse an IDF variant that is none."""
    check_choice(owner, "idf", idf, ("log", "paper"))


def check_flag(owner: str, key: str, value: object) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise UsageError(f"{owner}: {key} must be true or false, not {quote(value)}")
