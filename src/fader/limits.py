"""Every limit on what Fader takes in: what it bounds, its default, and how it is raised.

A limit keeps a mistake or an attack from using all memory or all time. It never changes an answer: input within it is
answered as if there were none, input beyond it is refused with an error that names the limit. A limit is set by
`Limits(...)`, by the environment variable FADER_LIMIT_<NAME> (`Limits.from_environment`), or is at its default. Knows
nothing of who checks it.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any

from fader.errors import UsageError, did_you_mean, quote

PREFIX = "FADER_LIMIT_"
INT32 = 2**31 - 1  # numbers of rows, documents and positions are 32 bits wide
MOST = 2**53  # a larger count is a mistake


def _limit(default: int | None, bounds: str, most: int = MOST, option: str = "", optional: bool = False) -> Any:
    """A limit: what it bounds, its largest value, the command line's option, and whether None (no limit) is one."""
    return field(default=default, metadata={"bounds": bounds, "most": most, "option": option, "optional": optional})


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """All limits; a whole number from 1 on, or None where a limit may be left out."""

    line_bytes: int = _limit(256_000_000, "bytes of a line of an input file, uncompressed")
    file_bytes: int = _limit(1_000_000_000, "bytes of a file that is read as a whole or unpacked, such as DOCX or HTML")
    file_pages: int = _limit(20_000, "pages of a PDF")
    file_seconds: int = _limit(120, "seconds that reading a PDF or a DOCX takes")
    # Offsets into a batch of documents would overflow beyond.
    document_characters: int = _limit(16_000_000, "characters of a document's text", 1 << 28, "--max-document-chars")
    document_mentions: int = _limit(1_000_000, "mentions of a document", 1 << 28, "--max-mentions")
    id_characters: int = _limit(2_000, "characters of the id of a document, an entity or a type")
    name_characters: int = _limit(20_000, "characters of a name, an alias, a title or an address")
    hierarchy_pairs: int = _limit(200_000_000, "pairs of a type and a type above it, through all levels", INT32)
    query_characters: int = _limit(2_000, "characters of a query, and of an answer type")
    literals: int = _limit(64, "words and phrases of a query", 1 << 12)
    phrase_terms: int = _limit(64, "words of a phrase")
    k: int = _limit(100_000, "entities of an answer", INT32)
    snippets: int = _limit(1_000, "snippets per entity", INT32)
    contexts: int | None = _limit(200_000_000, "contexts of a query", INT32, optional=True)
    memory_mb: int | None = _limit(4_096, "MB that a query takes, as estimated", optional=True)
    time_ms: int | None = _limit(None, "milliseconds that a query takes", option="--timeout-ms", optional=True)

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, _check_limit(each, getattr(self, each.name), each.name))

    @classmethod
    def from_environment(cls, **given: int | None) -> Limits:
        """The limits given (None: not given), else those of the environment, else the defaults."""
        known = {variable(each.name): each for each in fields(cls)}
        found: dict[str, Any] = {}
        for name, text in _variables(os.environ):
            if name not in known:
                hint = did_you_mean(name, known) or f"; known: {', '.join(known)}"
                raise UsageError(f"there is no limit {quote(name)}, set by the environment{hint}")
            found[known[name].name] = _check_limit(known[name], _parse(text), name)
        return cls(**found | {name: value for name, value in given.items() if value is not None})

    def at_most(self, name: str) -> str:
        """The end of a message about something beyond a limit: `at most 64, which FADER_LIMIT_LITERALS raises`."""
        option = next(each.metadata["option"] for each in fields(self) if each.name == name)
        return f"at most {getattr(self, name):,}, which {option + ' or ' if option else ''}{variable(name)} raises"

    def check(self, name: str, value: object, least: int = 1) -> int:
        """A number that a caller asks for, within its limit."""
        number, most = whole(value), getattr(self, name)
        if number is None or not least <= number <= most:
            bounds = f"{name} must be a whole number from {least} to {most:,}, not {_show_value(value)}"
            raise UsageError(f"{bounds}; {variable(name)} sets the limit")
        return number


def variable(name: str) -> str:
    """The environment variable of a limit."""
    return PREFIX + name.upper()


def whole(value: object) -> int | None:
    """A whole number as Python's own, None for anything else; True and False are no numbers here."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _show_value(value: object) -> str:
    number = whole(value)
    return quote(value) if number is None or abs(number) > MOST else str(number)


def _variables(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables that set a limit; an empty one sets none."""
    return ((name, text) for name, text in environment.items() if name.startswith(PREFIX) and text.strip())


def _parse(text: str) -> object:
    """A whole number or `none`; anything else stays as it is, to be refused."""
    word = text.strip()
    if word.lower() == "none":
        return None
    return int(word) if word.isascii() and word.isdigit() and len(word) < 20 else text


def _check_limit(each: Field[Any], value: object, name: str) -> int | None:
    """The value of a limit; `name` is what a message calls it."""
    if value is None and each.metadata["optional"]:
        return None
    number, most = whole(value), each.metadata["most"]
    if number is None or not 1 <= number <= most:
        none = ", or none" if each.metadata["optional"] else ""
        raise UsageError(f"{name} must be a whole number from 1 to {most:,}{none}, not {_show_value(value)}")
    return number


DEFAULTS = Limits()
