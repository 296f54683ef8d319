"""The manifest of a commit as typed records, and the checks that a manifest must pass before anything in it is used.

    manifest  := {"format", "commit", "origin", "operation", "keep", "catalog", "segments", "analysis", "skipped"}
    origin    := 16 hexadecimal digits that all commits of an index share, "" where unknown
    operation := {"name": build | add | delete | merge, "documents", "replaced", "deleted", "merged",
                  "entities", "types": counts}
    keep      := how many of the newest commits stay
    catalog   := {"name", "bytes", "xxh3", "entities", "types"}
    segments  := [{"name", "files": {part: {"bytes", "xxh3"}}, "documents", "tokens", "mentions", "terms", "deleted",
                  "renewed"}]
    deleted   := {"name", "bytes", "xxh3", "documents", "tokens", "mentions"}, absent where nothing is deleted

A segment's files are named after it. Where a change of the catalog wrote its mentions anew, `renewed` is the name of
the files `mentions` and `documents`.

A manifest whose checksum matches may still be hostile: a name that leaves the folder, a count that asks for all memory,
a list where a number is expected. Types, patterns and bounds of fields are checked by msgspec; what holds between
fields is checked by `decode_manifest`. Fields are in alphabetical order, which is their order on disk. Knows nothing of
what the files hold, and reads none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import xxhash
from msgspec import Meta, Struct

from fader.corpus.analysis import Analysis
from fader.errors import FaderError
from fader.index.format import Checksum, Count, FileEntry

KEEP = 2  # commits that stay unless the user says otherwise

Positive = Annotated[int, Meta(ge=1, lt=1 << 40)]
Origin = Annotated[str, Meta(pattern=r"\A([0-9a-f]{16})?\Z")]
CatalogName = Annotated[str, Meta(pattern=r"\A[0-9]{8}\.catalog\Z")]
SegmentName = Annotated[str, Meta(pattern=r"\A[0-9]{8}-[0-9]+\Z")]
DeletedName = Annotated[str, Meta(pattern=r"\A[0-9]{8}-[0-9]+\.deleted\Z")]


OperationName = Literal["build", "add", "delete", "merge"]


class Counts(NamedTuple):
    """Documents with their tokens and mentions."""

    documents: int
    tokens: int
    mentions: int

    @classmethod
    def total(cls, counts: Iterable[Counts]) -> Counts:
        """The sums of several counts."""
        rows = list(counts)
        return cls(sum(c.documents for c in rows), sum(c.tokens for c in rows), sum(c.mentions for c in rows))


class CatalogEntry(Struct, frozen=True):
    """The file of a catalog, and how many entities and types it has."""

    bytes: Count
    entities: Count
    name: CatalogName
    types: Count
    xxh3: Checksum

    @property
    def file(self) -> FileEntry:
        return FileEntry(self.bytes, self.xxh3)


class DeletedEntry(Struct, frozen=True):
    """The file that lists the deleted documents of a segment, and what is deleted in all."""

    bytes: Count
    documents: Count
    mentions: Count
    name: DeletedName
    tokens: Count
    xxh3: Checksum

    @property
    def file(self) -> FileEntry:
        return FileEntry(self.bytes, self.xxh3)

    @property
    def counts(self) -> Counts:
        return Counts(self.documents, self.tokens, self.mentions)


class PartEntries(Struct, frozen=True, forbid_unknown_fields=True):
    """The files of a segment, each named after the segment with its part as the suffix."""

    documents: FileEntry
    mentions: FileEntry
    terms: FileEntry
    text: FileEntry

    def items(self) -> tuple[tuple[str, FileEntry], ...]:
        """The files by their parts."""
        return ("terms", self.terms), ("mentions", self.mentions), ("documents", self.documents), ("text", self.text)


PARTS = ("terms", "mentions", "documents", "text")
RENEWED = ("mentions", "documents")  # what a change of the catalog may write anew


class SegmentEntry(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A segment: its files, what it stores, and what of that is deleted."""

    deleted: DeletedEntry | None = None
    documents: Count
    files: PartEntries
    mentions: Count
    name: SegmentName
    renewed: SegmentName | None = None
    terms: Count
    tokens: Count

    def name_file(self, part: str) -> str:
        """The name of a file of the segment."""
        return f"{self.renewed or self.name if part in RENEWED else self.name}.{part}"

    @property
    def stored(self) -> Counts:
        """Everything in the files, deleted or not."""
        return Counts(self.documents, self.tokens, self.mentions)

    @property
    def buried(self) -> Counts:
        """What is deleted."""
        return self.deleted.counts if self.deleted else Counts(0, 0, 0)

    @property
    def live(self) -> Counts:
        """What is not deleted."""
        stored, buried = self.stored, self.buried
        return Counts(*(a - b for a, b in zip(stored, buried, strict=True)))

    @property
    def file_entries(self) -> Iterator[tuple[str, FileEntry]]:
        """The name and entry of each file, the one with deleted documents included."""
        for part, entry in self.files.items():
            yield self.name_file(part), entry
        if self.deleted:
            yield self.deleted.name, self.deleted.file


class AnalysisEntry(Struct, frozen=True):
    """How text became terms, as it is stored."""

    stemmer: str | None
    stopwords: tuple[str, ...]
    unicode: str

    @classmethod
    def of(cls, analysis: Analysis) -> AnalysisEntry:
        return cls(analysis.stemmer, analysis.stopwords, analysis.unicode)

    def load(self) -> Analysis:
        return Analysis(self.stemmer, self.stopwords, self.unicode)


class Operation(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a commit did, and to how many documents, segments, or rows of the catalog."""

    deleted: Count
    documents: Count
    entities: Count = 0
    merged: Count
    name: OperationName
    replaced: Count
    types: Count = 0

    @classmethod
    def build(cls, documents: int) -> Operation:
        return cls(deleted=0, documents=documents, merged=0, name="build", replaced=0)


class _Version(Struct):
    format: Any


class Manifest(Struct, frozen=True):
    """Everything a commit says."""

    analysis: AnalysisEntry
    catalog: CatalogEntry
    commit: Positive
    format: int
    keep: Positive
    operation: Operation
    origin: Origin
    segments: tuple[SegmentEntry, ...]
    skipped: dict[str, Count]

    @property
    def live(self) -> Counts:
        """What is not deleted, in all segments."""
        return Counts.total(segment.live for segment in self.segments)

    @property
    def buried(self) -> Counts:
        """What is still in the files but deleted; merging drops it."""
        return Counts.total(segment.buried for segment in self.segments)

    @property
    def fingerprint(self) -> str:
        """A hash that tells the files of this commit from those of any other commit of any index."""
        return fingerprint_files(self.catalog, self.segments)

    @property
    def file_entries(self) -> Iterator[tuple[str, FileEntry]]:
        """The name and entry of each file that the commit needs."""
        yield self.catalog.name, self.catalog.file
        for segment in self.segments:
            yield from segment.file_entries

    @property
    def file_names(self) -> list[str]:
        """Each file that the commit needs."""
        return [name for name, _entry in self.file_entries]


def build_manifest(
    number: int,
    keep: int,
    catalog: CatalogEntry,
    segments: Iterable[SegmentEntry],
    analysis: Analysis,
    skipped: dict[str, int],
) -> Manifest:
    """The manifest of an index built from nothing; `write_commit` puts the format's version in."""
    every = tuple(segments)
    return Manifest(
        analysis=AnalysisEntry.of(analysis),
        catalog=catalog,
        commit=number,
        format=0,
        keep=keep,
        operation=Operation.build(sum(segment.documents for segment in every)),
        origin=fingerprint_files(catalog, every),
        segments=every,
        skipped=dict(skipped),
    )


def fingerprint_files(catalog: CatalogEntry, segments: Iterable[SegmentEntry]) -> str:
    """A hash of the files of a commit; that of the first commit is the origin of an index."""
    return _fingerprint(msgspec.to_builtins([catalog, list(segments)]))


def _fingerprint(entries: list[Any]) -> str:
    return xxhash.xxh3_64_hexdigest(json.dumps(entries, sort_keys=True).encode())


def encode_manifest(manifest: Manifest) -> str:
    """The manifest as one line of JSON."""
    return json.dumps(msgspec.to_builtins(manifest), ensure_ascii=False, sort_keys=True)


def decode_version(line: str) -> object:
    """The version of the format that a manifest says it has."""
    try:
        return msgspec.json.decode(line, type=_Version).format
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(f"is not a manifest ({error})") from None


def decode_manifest(line: str, number: int) -> Manifest:
    """The manifest of commit `number`, checked; what is wrong is a `ValueError`.

    The caller has checked the format's version. Version 1 had no `origin`, `operation` and `keep`: it could only build.
    """
    try:
        given: dict[str, Any] = msgspec.json.decode(line)
        if given["format"] == 1:
            documents = sum(segment["documents"] for segment in given["segments"])
            origin = _fingerprint([given["catalog"], given["segments"]])
            operation = msgspec.to_builtins(Operation.build(documents))
            given = {"origin": origin, "keep": KEEP, "operation": operation} | given
        manifest = msgspec.convert(given, Manifest)
    except (msgspec.MsgspecError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"is not a manifest ({error})") from None
    fault = next(_find_faults(manifest, number), None)
    if fault is not None:
        raise ValueError(fault)
    return manifest


def _find_faults(manifest: Manifest, number: int) -> Iterator[str]:
    """What is wrong among fields that are sound by themselves."""
    if manifest.commit != number:
        yield f"is the manifest of commit {manifest.commit}"
    if not manifest.segments:
        yield "names no segment"
    names = [name for segment in manifest.segments for name in (segment.name, segment.renewed) if name is not None]
    if len(set(names)) != len(names):
        yield "a segment is named twice"
    for segment in manifest.segments:
        if min(segment.live) < 0:
            yield f"more is deleted of segment {segment.name} than it has: {segment.buried} of {segment.stored}"
    for name in manifest.file_names:
        if int(name[:8]) > number:  # files are named by the commit that made them
            yield f"names {name}, which is no file of this commit"
    try:
        manifest.analysis.load()
    except FaderError as error:
        yield f"analysis cannot be used: {error}"
