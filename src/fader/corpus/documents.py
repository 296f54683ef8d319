"""Corpus lines and dictionaries to documents, with every fault named and counted.

Understands the project's own corpus format and the fields that Pyserini's entity linking writes
(`contents`; `entities` with `start_pos`, `end_pos`, `wikidata_id` or `wikipedia_id`).
Knows nothing of tokens, nor of which entities exist.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec
import numpy as np

from fader.arrays import I64
from fader.corpus.readers import LongLine, display_name, read_batches, show_line, too_long, without_mark
from fader.errors import CorpusError, UsageError, quote
from fader.limits import Limits

EXAMPLES_KEPT = 5
DICTIONARIES = 4096  # taken together as one batch
LARGEST_OFFSET = (1 << 63) - 1  # a larger one becomes -1
OBJECTS = 8  # a line with so many times more objects than mentions are allowed is not decoded
OVER = "documents over a limit"
LARGEST = 2**256
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class RawMention(msgspec.Struct, gc=False):
    """A mention as read: either spelling of the offsets and of the entity."""

    start: int | None = None
    end: int | None = None
    entity: str | int | None = None
    confidence: float | None = None
    start_pos: int | None = None
    end_pos: int | None = None
    wikidata_id: str | int | None = None
    wikipedia_id: str | int | None = None


class RawDocument(msgspec.Struct, gc=False):
    """A corpus line as read."""

    id: str | int | None = None
    text: str | None = None
    contents: str | None = None
    mentions: list[RawMention] | None = None
    entities: list[RawMention] | None = None
    title: str | None = None
    url: str | None = None
    prior: float | None = None


class _Objects(msgspec.Struct, gc=False):
    """A corpus line of which only what holds the mentions is taken, undecoded."""

    mentions: msgspec.Raw = msgspec.Raw(b"")
    entities: msgspec.Raw = msgspec.Raw(b"")


class _OverError(CorpusError):
    """A document beyond a limit."""


@dataclass(slots=True)
class Document:
    """One document: its text and the mentions in it, offsets in characters."""

    id: str
    text: str
    mentions: list[RawMention]
    title: str = ""
    url: str = ""
    prior: float = 1.0
    place: str = ""


@dataclass
class Faults:
    """What could not be used, by kind: how often, and the first examples; and what was used, though it is odd."""

    policy: str = "skip"
    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)
    odd: dict[str, int] = field(default_factory=dict)
    odd_examples: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.policy not in ("skip", "fail"):
            raise UsageError(f'on_error must be "skip" or "fail", not {quote(self.policy)}')

    def add(self, kind: str, message: str) -> None:
        """Count a fault, or raise it where the policy is to fail."""
        if self.policy == "fail":
            raise CorpusError(f"{message}; correct it, or pass --on-error skip")
        _tally(self.counts, self.examples, kind, 1, [message])

    def note(self, kind: str, message: str) -> None:
        """Count something odd that is used all the same."""
        _tally(self.odd, self.odd_examples, kind, 1, [message])

    def merge(self, more: Faults) -> None:
        """Add what another process or run has found; the first examples stay."""
        for kind, count in more.counts.items():
            _tally(self.counts, self.examples, kind, count, more.examples.get(kind, []))
        for kind, count in more.odd.items():
            _tally(self.odd, self.odd_examples, kind, count, more.odd_examples.get(kind, []))

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def lines(self) -> list[str]:
        """For people: a line per kind, then its examples."""
        found = [(f"skipped {count:,} {kind}", count, self.examples[kind]) for kind, count in self.counts.items()]
        found += [(f"odd: {count:,} {kind}", count, self.odd_examples[kind]) for kind, count in self.odd.items()]
        out = []
        for line, count, examples in found:
            out.extend([line, *(f"  {example}" for example in examples)])
            if count > len(examples):
                out.append(f"  and {count - len(examples):,} more")
        return out


def _tally(counts: dict[str, int], examples: dict[str, list[str]], kind: str, count: int, more: list[str]) -> None:
    counts[kind] = counts.get(kind, 0) + count
    kept = examples.setdefault(kind, [])
    kept.extend(more[: EXAMPLES_KEPT - len(kept)])


@dataclass(slots=True)
class DocumentBatch:
    """Documents read together, and how far in the input they reach."""

    documents: list[Document]
    source: str
    consumed: int


def read_corpus(
    sources: Iterable[str | Path] | Iterable[Mapping[str, Any]], faults: Faults, limits: Limits | None = None
) -> Iterator[DocumentBatch]:
    """Batches of documents from files (paths, `-` for standard input) or from dictionaries.

    Without limits given, those of the environment hold.
    """
    return read_sources(sources, DocumentReader(faults, limits or Limits.from_environment()))


class Reader(Protocol[T_co]):
    """Makes batches of what a corpus is given as."""

    def file(self, path: str | Path) -> Iterator[T_co]:
        """The documents of a file."""

    def dictionaries(self, rows: list[Mapping[str, Any]], first: int) -> T_co:
        """The documents of some dictionaries, numbered from `first` on."""


def read_sources(sources: Iterable[Any], reader: Reader[T]) -> Iterator[T]:
    """The batches that a reader makes of files and dictionaries."""
    pending: list[Mapping[str, Any]] = []
    number = 0
    for number, source in enumerate(sources, 1):
        if isinstance(source, Mapping):
            pending.append(source)
            if len(pending) == DICTIONARIES:
                yield reader.dictionaries(pending, number - len(pending) + 1)
                pending = []
        elif isinstance(source, str | Path):
            yield from reader.file(source)
        else:
            raise UsageError(f"corpus item {number} must be a path or a dictionary, not {quote(source)}")
    if pending:
        yield reader.dictionaries(pending, number - len(pending) + 1)


class DocumentReader:
    """Documents within limits, and a place for the faults of others."""

    def __init__(self, faults: Faults, limits: Limits) -> None:
        self._faults, self._limits = faults, limits
        self._decode = msgspec.json.Decoder(RawDocument).decode
        self._objects = msgspec.json.Decoder(_Objects).decode

    def file(self, path: str | Path) -> Iterator[DocumentBatch]:
        """The documents of a file."""
        name = display_name(path)
        for first, lines, consumed in read_batches(path, self._limits):
            documents = self.lines((f"{name}:{number}", number, line) for number, line in enumerate(lines, first))
            yield DocumentBatch(documents, name, consumed)

    def lines(self, placed: Iterable[tuple[str, int, bytes]]) -> list[Document]:
        """The documents of some lines, each with its place in words and its number in its file, the first being 1."""
        documents = []
        for place, number, line in placed:
            if not line or line.isspace():
                continue
            try:
                documents.append(_document(self._decode_line(line, number, place), place, self._limits))
            except _OverError as error:
                self._faults.add(OVER, str(error))
            except (msgspec.MsgspecError, CorpusError, ValueError, RecursionError) as error:
                what = f"{place}: {error}" if isinstance(error, msgspec.ValidationError) else str(error)
                if not isinstance(error, msgspec.ValidationError | CorpusError):
                    what = f"{place}: not JSON ({error}): {show_line(line)}"
                self._faults.add("lines", what)
        return documents

    def _decode_line(self, line: bytes, number: int, place: str) -> RawDocument:
        if isinstance(line, LongLine):
            raise _OverError(f"{place}: {too_long(line, self._limits)}")
        line = without_mark(line, number)
        # Decoding takes many times the memory of a line that is all mentions: such a line is looked through first.
        most = OBJECTS * self._limits.document_mentions
        if len(line) > 2 * most and line.count(b"{") > most:
            found = self._objects(line)
            count = max(bytes(raw).count(b"{") for raw in (found.mentions, found.entities))
            if count > most:
                raise _OverError(f"{place}: about {count:,} mentions; {self._limits.at_most('document_mentions')}")
        return self._decode(line)

    def dictionaries(self, rows: list[Mapping[str, Any]], first: int) -> DocumentBatch:
        """The documents of some dictionaries, numbered from `first` on."""
        documents = []
        for number, row in enumerate(rows, first):
            place = f"document {number} ({quote(row.get('id'))})"
            try:
                document = _document(msgspec.convert(dict(row), RawDocument), place, self._limits)
                for text in (document.id, document.title, document.url, document.text):
                    text.encode("utf-8")  # raises where it cannot be written; what came from a file always can
                documents.append(document)
            except _OverError as error:
                self._faults.add(OVER, str(error))
            except CorpusError as error:
                self._faults.add("documents", str(error))
            except UnicodeEncodeError:
                self._faults.add("documents", f"{place}: holds half a surrogate pair, which is no character")
            except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                self._faults.add("documents", f"{place}: {error}")
        return DocumentBatch(documents, "documents", 0)


def _document(raw: RawDocument, place: str, limits: Limits) -> Document:
    text = raw.text if raw.text is not None else raw.contents
    if raw.id is None or raw.id == "":
        raise CorpusError(f'{place}: a document needs an "id"')
    if isinstance(raw.id, int) and abs(raw.id) > LARGEST:
        raise CorpusError(f'{place}: an "id" that is a number has 77 digits at most; give it as text')
    if text is None:
        raise CorpusError(f'{place}: document {quote(raw.id)} needs a "text" (or "contents")')
    prior = 1.0 if raw.prior is None else raw.prior
    if not (math.isfinite(prior) and prior >= 0):
        raise CorpusError(f'{place}: "prior" must be a number >= 0, not {prior}')
    mentions = raw.mentions if raw.mentions is not None else (raw.entities or [])
    document = Document(str(raw.id), text, mentions, raw.title or "", raw.url or "", prior, place)
    sizes = (
        ("an id of {:,} characters", len(document.id), "id_characters"),
        ("a text of {:,} characters", len(document.text), "document_characters"),
        ("{:,} mentions", len(document.mentions), "document_mentions"),
        ("a title of {:,} characters", len(document.title), "name_characters"),
        ("a url of {:,} characters", len(document.url), "name_characters"),
    )
    for what, size, name in sizes:
        if size > getattr(limits, name):
            has = f"document {quote(document.id)} has {what.format(size)}"
            raise _OverError(f"{place}: {has}; {limits.at_most(name)}")
    return document


def mention_columns(
    mentions: list[RawMention],
) -> tuple[I64, I64, list[str], list[float]]:
    """Starts, ends, entity ids and confidences; what is missing or beyond all bounds becomes -1 or ""."""
    starts: list[Any] = [m.start for m in mentions]
    ends: list[Any] = [m.end for m in mentions]
    names: list[Any] = [m.entity for m in mentions]
    confidences: list[Any] = [m.confidence for m in mentions]
    if None in starts or None in ends or None in names or any(type(n) is not str for n in names):
        fields = [mention_fields(m) for m in mentions]
        starts, ends = [f[0] for f in fields], [f[1] for f in fields]
        names = ["" if f[2] is None else f[2] for f in fields]
    if None in confidences:
        confidences = [1.0 if c is None else c for c in confidences]
    return _bound(starts), _bound(ends), names, confidences


def _bound(values: list[int | None]) -> I64:
    try:
        return np.array(values, dtype=np.int64)
    except (TypeError, OverflowError):
        return np.array([-1 if v is None or abs(v) > LARGEST_OFFSET else v for v in values], dtype=np.int64)


def mention_fields(mention: RawMention) -> tuple[int | None, int | None, str | None, float]:
    """Start, end, entity id and confidence, whichever spelling they came in."""
    start = mention.start if mention.start is not None else mention.start_pos
    end = mention.end if mention.end is not None else mention.end_pos
    entity = mention.entity
    if entity is None:
        entity = mention.wikidata_id if mention.wikidata_id is not None else mention.wikipedia_id
    confidence = 1.0 if mention.confidence is None else mention.confidence
    name = entity if isinstance(entity, str | None) else str(_bound_number(entity))
    return _bound_number(start), _bound_number(end), name, confidence


def _bound_number(value: int | None) -> int | None:
    """A number as it is, but no larger than can be shown: Python refuses to write out thousands of digits."""
    return value if value is None else max(-LARGEST, min(value, LARGEST))
