"""What the page offers to begin with: questions of the owner, or examples that are made from the index.

A file of examples has a question in each line, or is a queries.jsonl whose lines have questions; the first 12 are
shown. Knows nothing of HTTP.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from fader.corpus.queries import RawQuery
from fader.errors import InputError, StorageError
from fader.search.examples import ExampleQuery

SHOWN = 12
LONGEST = 300


def read_examples_file(path: Path) -> list[ExampleQuery]:
    """The questions of a file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    found = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("{"):
            try:
                raw = msgspec.json.decode(text, type=RawQuery)
            except (msgspec.MsgspecError, ValueError) as error:
                raise InputError(f"{path}:{number}: not a query ({error}); write a question a line") from None
            text = raw.question or raw.query or ""
        if len(text) > LONGEST:
            raise InputError(f"{path}:{number}: an example has at most {LONGEST} characters; shorten it")
        if text and not text.startswith("#"):
            found.append(ExampleQuery(text))
    if not found:
        raise InputError(f"{path}: has no example; write a question in each line")
    return found[:SHOWN]
