"""What a manifest must look like before anything in it is believed: names, counts and descriptions of files.

A manifest whose checksum fits may still have been made to harm: a name that leaves the folder, a count that asks for
all memory, a list where a number was expected. Knows nothing of what the files hold, and reads none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fader.corpus.analysis import Analysis
from fader.errors import FaderError

PARTS = ("terms", "mentions", "documents", "text")
OPERATIONS = ("build", "add", "delete", "merge")
MOST = 1 << 40
_HEX = re.compile(r"[0-9a-f]{16}")
_CATALOG = re.compile(r"[0-9]{8}\.catalog")
_SEGMENT = re.compile(r"[0-9]{8}-[0-9]+")
_DELETED = re.compile(r"[0-9]{8}-[0-9]+\.deleted")


def manifest_faults(manifest: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a manifest; every name, type and count is looked at."""
    yield from _counts(manifest, "the manifest", ("commit", "keep"), least=1)
    if manifest.get("origin") != "" and not _fits(_HEX, manifest.get("origin")):
        yield "origin is not 16 hexadecimal digits"
    yield from _operation(manifest.get("operation"))
    catalog = manifest.get("catalog")
    if not isinstance(catalog, dict) or not _fits(_CATALOG, catalog.get("name")):
        yield "catalog is not the description of a catalog's file"
    else:
        yield from _file(catalog, "the catalog")
        yield from _counts(catalog, "the catalog", ("entities", "types"))
    segments = manifest.get("segments")
    for segment in segments if isinstance(segments, list) else [None]:
        yield from _segment(segment)
    names = [s.get("name") for s in segments if isinstance(s, dict)] if isinstance(segments, list) else []
    if len(set(map(repr, names))) != len(names):
        yield "a segment is named twice"
    yield from _analysis(manifest.get("analysis"))
    skipped = manifest.get("skipped")
    if not isinstance(skipped, dict) or any(_count_fault(v) for v in skipped.values()):
        yield "skipped is not a table of counts"


def _fits(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _count_fault(value: object, least: int = 0) -> bool:
    return type(value) is not int or not least <= value < MOST


def _counts(given: Mapping[str, Any], whose: str, names: tuple[str, ...], least: int = 0) -> Iterator[str]:
    for name in names:
        if _count_fault(given.get(name), least):
            yield f"{name} of {whose} is no count"


def _file(described: object, whose: str) -> Iterator[str]:
    if not isinstance(described, dict) or not _fits(_HEX, described.get("xxh3")):
        yield f"{whose} has no checksum"
    else:
        yield from _counts(described, whose, ("bytes",))


def _operation(operation: object) -> Iterator[str]:
    if not isinstance(operation, dict) or operation.get("name") not in OPERATIONS:
        yield "operation is none of " + ", ".join(OPERATIONS)
    else:
        yield from _counts(operation, "the operation", ("documents", "replaced", "deleted", "merged"))


def _segment(segment: object) -> Iterator[str]:
    if not isinstance(segment, dict) or not _fits(_SEGMENT, segment.get("name")):
        yield "segments is not a list of descriptions of segments"
        return
    whose = f"segment {segment['name']}"
    yield from _counts(segment, whose, ("documents", "tokens", "mentions", "terms"))
    files = segment.get("files")
    if not isinstance(files, dict) or set(files) != set(PARTS):
        yield f"{whose} has not the files {', '.join(PARTS)}"
    else:
        for part, described in files.items():
            yield from _file(described, f"{segment['name']}.{part}")
    if segment.get("deleted") is not None:
        yield from _deleted(segment["deleted"], segment, whose)


def _deleted(deleted: object, segment: Mapping[str, Any], whose: str) -> Iterator[str]:
    if not isinstance(deleted, dict) or not _fits(_DELETED, deleted.get("name")):
        yield f"what is deleted of {whose} is no description of a file"
        return
    yield from _file(deleted, deleted["name"])
    for name in ("documents", "tokens", "mentions"):
        if _count_fault(deleted.get(name)) or _count_fault(segment.get(name)) or deleted[name] > segment[name]:
            yield f"more {name} of {whose} are deleted than there are, or the count is none"


def _analysis(given: object) -> Iterator[str]:
    """An analysis that can be used: known stemmer, words as texts."""

    def is_text(value: object) -> bool:
        return isinstance(value, str)

    if (
        not isinstance(given, dict)
        or not is_text(given.get("unicode"))
        or not (given.get("stemmer", 0) is None or is_text(given.get("stemmer")))
        or not isinstance(given.get("stopwords"), list)
        or not all(map(is_text, given["stopwords"]))
    ):
        yield "analysis is not the description of an analysis"
        return
    try:
        Analysis.from_dict(given)
    except FaderError as error:
        yield f"analysis cannot be used: {error}"
