"""Every error that Fader raises on purpose, and helpers for their messages.

    FaderError                     base; `exit_code` 1: the input is at fault
    ├── InputError                 a file, a line or a value that cannot be used
    │   ├── CorpusError            documents and their mentions
    │   ├── CatalogError           entities and types
    │   └── QueryError             a query, with the position of the fault in it
    ├── LimitError                 a query needs more than a limit allows
    │   └── BudgetError            a query needs more time than its budget
    ├── ClusterError               the cluster cannot be reached, or has lost what it needs
    ├── IncompleteError            some shards of a cluster did not answer, so there is no answer
    ├── StorageError               files that cannot be read or written
    │   ├── NotAnIndexError        the folder is not an index
    │   ├── VersionError           an index of a format this release does not read
    │   └── DamagedError           a file is missing, cut or altered
    └── UsageError                 `exit_code` 2: the call itself is wrong

A message gives the thing, the constraint, the value and the remedy:
`queries.jsonl:17: unknown type "vacine"; did you mean "vaccine"?`
This module knows the number of an exit code but not its meaning, and nothing of HTTP.
"""

from __future__ import annotations

from collections.abc import Iterable


class FaderError(Exception):
    """Base of all errors raised on purpose; its message is meant for users."""

    exit_code = 1


class InputError(FaderError):
    """Something given to Fader cannot be used."""


class CorpusError(InputError):
    """A document or a corpus file cannot be used."""


class CatalogError(InputError):
    """The entities or types cannot be used."""


class QueryError(InputError):
    """A query cannot be understood; `position` is the character where it goes wrong."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message if position is None else f"{message} (at character {position + 1})")
        self.position = position


class LimitError(FaderError):
    """A query needs more than a limit allows; nothing is wrong with it otherwise."""


class BudgetError(LimitError):
    """A query took longer than its time budget."""


class ClusterError(FaderError):
    """The cluster itself has failed: it cannot be reached, denies access, or has lost data."""


class IncompleteError(FaderError):
    """Some shards of a cluster did not answer; a partial answer would be wrong."""


class StorageError(FaderError):
    """The index on disk cannot be read or written."""


class NotAnIndexError(StorageError):
    """The folder does not hold an index."""


class VersionError(StorageError):
    """The index has a format that this release does not read."""


class DamagedError(StorageError):
    """A file of the index is missing, cut or altered."""


class UsageError(FaderError):
    """The call itself is wrong, whatever the data."""

    exit_code = 2


def did_you_mean(wanted: str, known: Iterable[str], limit: int = 3) -> str:
    """`; did you mean "vaccine"?` for the nearest of `known`, or an empty string."""
    from rapidfuzz import process, utils

    found = process.extract(wanted, list(known), processor=utils.default_process, limit=limit, score_cutoff=75)
    names = list(dict.fromkeys(str(name) for name, _score, _key in found))
    return f"; did you mean {' or '.join(quote(n) for n in names)}?" if names else ""


def quote(value: object, limit: int = 80) -> str:
    """The value in double quotes, shortened if it is too long to read."""
    text = _text(value)
    text = text if len(text) <= limit else text[: limit - 1] + "…"
    return '"' + "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text) + '"'


def _text(value: object) -> str:
    try:
        return str(value)
    except ValueError:  # Python refuses to write out whole numbers of thousands of digits
        return f"a {type(value).__name__} too long to be shown"
