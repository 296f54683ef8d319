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
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fader.corpus.readers import display_name, read_batches, shown_line
from fader.errors import CorpusError, UsageError, quoted

EXAMPLES_KEPT = 5
DICTIONARIES = 4096  # taken together as one batch
MAX_TEXT = 1 << 28  # characters of one document; beyond it offsets into a batch could overflow


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
    """What could not be used, by kind: how often, and the first examples."""

    policy: str = "skip"
    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.policy not in ("skip", "fail"):
            raise UsageError(f'on_error must be "skip" or "fail", not {quoted(self.policy)}')

    def add(self, kind: str, message: str) -> None:
        """Count a fault, or raise it where the policy is to fail."""
        if self.policy == "fail":
            raise CorpusError(f"{message}; mend it, or pass --on-error skip")
        self.counts[kind] = self.counts.get(kind, 0) + 1
        kept = self.examples.setdefault(kind, [])
        if len(kept) < EXAMPLES_KEPT:
            kept.append(message)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def lines(self) -> list[str]:
        """For people: a line per kind, then its examples."""
        out = []
        for kind, count in self.counts.items():
            out.append(f"skipped {count:,} {kind}")
            out.extend(f"  {example}" for example in self.examples[kind])
            if count > len(self.examples[kind]):
                out.append(f"  and {count - len(self.examples[kind]):,} more")
        return out


@dataclass(slots=True)
class Batch:
    """Documents read together, and how far in the input they reach."""

    documents: list[Document]
    source: str
    consumed: int


def read_corpus(sources: Iterable[str | Path] | Iterable[Mapping[str, Any]], faults: Faults) -> Iterator[Batch]:
    """Batches of documents from files (paths, `-` for standard input) or from dictionaries."""
    pending: list[Mapping[str, Any]] = []
    number = 0
    for number, source in enumerate(sources, 1):
        if isinstance(source, Mapping):
            pending.append(source)
            if len(pending) == DICTIONARIES:
                yield _from_dicts(pending, number - len(pending) + 1, faults)
                pending = []
        elif isinstance(source, str | Path):
            yield from _from_file(source, faults)
        else:
            raise UsageError(f"corpus item {number} must be a path or a dictionary, not {quoted(source)}")
    if pending:
        yield _from_dicts(pending, number - len(pending) + 1, faults)


def _from_file(path: str | Path, faults: Faults) -> Iterator[Batch]:
    name = display_name(path)
    decode = msgspec.json.Decoder(RawDocument).decode
    for first, lines, consumed in read_batches(path):
        documents = []
        for number, line in enumerate(lines, first):
            if not line or line.isspace():
                continue
            try:
                raw = decode(line[3:] if number == 1 and line.startswith(b"\xef\xbb\xbf") else line)
                documents.append(_document(raw, f"{name}:{number}"))
            except (msgspec.MsgspecError, CorpusError, UnicodeError, RecursionError) as error:
                faults.add("lines", _line_fault(f"{name}:{number}", line, error))
        yield Batch(documents, name, consumed)


def _from_dicts(rows: list[Mapping[str, Any]], first: int, faults: Faults) -> Batch:
    documents = []
    for number, row in enumerate(rows, first):
        place = f"document {number} ({quoted(row.get('id'))})"
        try:
            documents.append(_document(msgspec.convert(dict(row), RawDocument), place))
            _check_text(documents[-1])
        except CorpusError as error:
            faults.add("documents", str(error))
        except UnicodeEncodeError:
            documents.pop()
            faults.add("documents", f"{place}: holds half a surrogate pair, which is no character")
        except msgspec.MsgspecError as error:
            faults.add("documents", f"{place}: {error}")
    return Batch(documents, "documents", 0)


def _check_text(document: Document) -> None:
    """Raise where a string cannot be written as UTF-8; what came from a file always can."""
    for text in (document.id, document.title, document.url, document.text):
        text.encode("utf-8")


def _document(raw: RawDocument, place: str) -> Document:
    text = raw.text if raw.text is not None else raw.contents
    if raw.id is None or raw.id == "":
        raise CorpusError(f'{place}: a document needs an "id"')
    if text is None:
        raise CorpusError(f'{place}: document {quoted(raw.id)} needs a "text" (or "contents")')
    if len(text) > MAX_TEXT:
        raise CorpusError(f"{place}: text of {len(text):,} characters; at most {MAX_TEXT:,}")
    prior = 1.0 if raw.prior is None else raw.prior
    if not (math.isfinite(prior) and prior >= 0):
        raise CorpusError(f'{place}: "prior" must be a number >= 0, not {prior}')
    mentions = raw.mentions if raw.mentions is not None else (raw.entities or [])
    return Document(str(raw.id), text, mentions, raw.title or "", raw.url or "", prior, place)


def _line_fault(place: str, line: bytes, error: Exception) -> str:
    if isinstance(error, CorpusError):
        return str(error)
    if isinstance(error, msgspec.ValidationError):
        return f"{place}: {error}"
    return f"{place}: not JSON ({error}): {shown_line(line)}"


def mention_columns(
    mentions: list[RawMention],
) -> tuple[NDArray[np.int64], NDArray[np.int64], list[str], list[float]]:
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
    return _bounded(starts), _bounded(ends), names, confidences


def _bounded(values: list[int | None]) -> NDArray[np.int64]:
    try:
        return np.array(values, dtype=np.int64)
    except (TypeError, OverflowError):
        return np.array([-1 if v is None or not 0 <= v <= MAX_TEXT else v for v in values], dtype=np.int64)


def mention_fields(mention: RawMention) -> tuple[int | None, int | None, str | None, float]:
    """Start, end, entity id and confidence, whichever spelling they came in."""
    start = mention.start if mention.start is not None else mention.start_pos
    end = mention.end if mention.end is not None else mention.end_pos
    entity = mention.entity
    if entity is None:
        entity = mention.wikidata_id if mention.wikidata_id is not None else mention.wikipedia_id
    confidence = 1.0 if mention.confidence is None else mention.confidence
    return start, end, None if entity is None else str(entity), confidence
