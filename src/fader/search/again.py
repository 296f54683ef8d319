"""Annotate the documents of an index again with the catalog that it has now; replace those that change in a commit.

A document changes where its mentions are others than before: another place, entity or confidence. Texts come from the
index, which must have kept them. Knows nothing of names and rules: that is `corpora/annotate`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader.corpora.annotate.annotator import THOUSANDTHS, AnnotatedColumns, thousandths
from fader.corpora.annotate.options import Options
from fader.corpora.annotate.texts import Annotates
from fader.corpus.strings import join_strings
from fader.corpus.tokenise import RawVocabulary
from fader.errors import InputError, UsageError
from fader.index.catalog import StoredCatalog
from fader.index.reader import IndexReader
from fader.index.segment import Segment
from fader.index.write.builder import find_mention_tokens
from fader.index.write.change import ChangeOptions, ChangeReport, add
from fader.limits import Limits
from fader.progress import Progress, Silent

I32 = NDArray[np.int32]
BATCH_BYTES = 1 << 20
AS_BEFORE = ChangeOptions()
FOREIGN = ("entities", "types", "columns", "lines", "jsonl")  # options of files, which an index has no use for


@dataclass
class AgainReport:
    """How many documents were looked at and mentions found, by how many names; what was passed over; the change."""

    change: ChangeReport
    documents: int = 0
    mentions: int = 0
    names: int = 0
    notes: list[str] = field(default_factory=list)


def annotate_again(
    folder: Path, options: Options, changing: ChangeOptions = AS_BEFORE, progress: Progress | None = None
) -> AgainReport:
    """Annotate all documents of an index again, and replace those whose mentions have changed, in one commit."""
    given = [name for name in FOREIGN if getattr(options, name)]
    if given:
        raise UsageError(f"an index is annotated again with its own catalog; leave {given[0]} out")
    options.check()
    again = _Again(Path(folder), options, changing.limits or Limits.from_environment(), progress or Silent())
    change = add(folder, again.find_changed(), changing)
    return AgainReport(change, again.documents, again.mentions, again.names, again.notes)


def load_catalog(catalog: StoredCatalog) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of a catalog as dictionaries: entities, types."""
    rows = catalog.load()
    entities = [{"id": r.id, "name": r.name, "types": r.above, "aliases": r.aliases} for r in rows.entities]
    return entities, [{"id": r.id, "name": r.name} for r in rows.types]


class _Again:
    """Looks through an index and counts what it sees; opens it when it is asked, which is when the index is locked."""

    def __init__(self, folder: Path, options: Options, limits: Limits, progress: Progress) -> None:
        self._folder, self._options, self._limits, self._progress = folder, options, limits, progress
        self.documents = self.mentions = self.names = 0
        self.notes: list[str] = []

    def find_changed(self) -> Iterator[dict[str, Any]]:
        """The documents whose mentions are others now, as a corpus has them."""
        reader = IndexReader(self._folder, cache_mb=0)
        if not all(segment.text.keeps_text for segment in reader.segments):
            raise InputError(f"{self._folder}: its texts were not stored; build it without --no-text to annotate again")
        dictionary, made = self._options.dictionary("fail", self._limits, load_catalog(reader.catalog))
        self.names, self.notes = made.names, made.notes
        annotator = self._options.annotator(dictionary, self._limits)
        for segment in reader.segments:
            every = np.arange(segment.documents) if segment.alive is None else np.flatnonzero(segment.alive)
            for documents in _cut_batches(segment, every.tolist()):
                yield from self._compare(reader.catalog, segment, documents, annotator)
                self._progress.update(self.documents, reader.documents, f"{self.mentions:,} mentions")

    def _compare(
        self, catalog: StoredCatalog, segment: Segment, documents: list[int], annotator: Annotates
    ) -> Iterator[dict[str, Any]]:
        texts = [segment.text.read_text(d) for d in documents]
        found = annotator.columns(texts)
        new = _Mentions.of(found, annotator, texts)
        self.documents += len(documents)
        self.mentions += len(new.entity)
        first = 0
        for document, text, end in zip(documents, texts, found.ends.tolist(), strict=True):
            if new.list_tokens(catalog, first, end) != _list_stored(segment, document):
                yield {
                    "id": segment.text.ids[document],
                    "title": segment.text.titles[document],
                    "url": segment.text.urls[document],
                    "prior": float(segment.text.priors[document]),
                    "text": text.decode("utf-8"),
                    "mentions": new.list_characters(first, end),
                }
            first = end


@dataclass(frozen=True)
class _Mentions:
    """Mentions of a batch: characters and tokens [start, end), ids of entities, confidences."""

    found: AnnotatedColumns
    token_start: I32
    token_end: I32
    entity: list[str]
    confidence: list[float]

    @classmethod
    def of(cls, found: AnnotatedColumns, annotator: Annotates, texts: list[bytes]) -> _Mentions:
        names = {number: annotator.dictionary.entity_id(number) for number in set(found.entity.tolist())}
        confidence = (thousandths(found.confidence) / THOUSANDTHS).tolist()
        data, at = join_strings(texts)
        owner = np.repeat(np.arange(len(texts), dtype=np.int32), np.diff(found.ends, prepend=0))
        start, end = np.empty((2, found.start.size), dtype=np.int32)
        characters = np.array([len(text.decode("utf-8")) for text in texts], dtype=np.int64)
        tokens = RawVocabulary().tokenise(data, at[1:])
        find_mention_tokens(data, at[1:], characters, tokens, owner, found.start, found.end, start, end)
        return cls(found, start, end, [names[number] for number in found.entity.tolist()], confidence)

    def list_tokens(self, catalog: StoredCatalog, a: int, b: int) -> list[tuple[int, int, int, float]]:
        """The mentions [a, b) as an index has them, sorted: tokens, number of the entity, confidence."""
        entity = [catalog.entity_ids.find(one) for one in self.entity[a:b]]
        tokens = self.token_start[a:b].tolist(), self.token_end[a:b].tolist()
        return sorted(zip(*tokens, entity, self.confidence[a:b], strict=True))

    def list_characters(self, a: int, b: int) -> list[dict[str, Any]]:
        """The mentions [a, b) as a corpus has them."""
        columns = self.found.start[a:b].tolist(), self.found.end[a:b].tolist(), self.entity[a:b], self.confidence[a:b]
        names = ("start", "end", "entity", "confidence")
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _list_stored(segment: Segment, document: int) -> list[tuple[int, int, int, float]]:
    """The mentions that a document has, sorted."""
    m = segment.read_mentions(document)
    return sorted(zip(m.start.tolist(), m.end.tolist(), m.entity.tolist(), m.confidence.tolist(), strict=True))


def _cut_batches(segment: Segment, documents: list[int]) -> Iterator[list[int]]:
    """Documents that are annotated together."""
    batch, size = list[int](), 0
    for document in documents:
        first, end = segment.text.bounds(int(segment.text.row[document]))
        batch.append(document)
        size += end - first
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
