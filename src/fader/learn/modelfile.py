"""Model files as JSON with a checksum, and the scope of a model: what it was trained on and where it may be used.

A model fits an index of the same analysis (of any, where none is named) and the same collection, unless it is portable.
An index that documents are added to and deleted from stays the same collection: its commits share their origin. Knows
nothing of what ranks (`fader.learn.model`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import xxhash

from fader.errors import InputError, StorageError, quote

FORMAT, VERSION = "fader-model", 2
READ_VERSIONS = (1, 2)
LARGEST_BYTES = 64 << 20
MOST_DIGITS = 100
LARGEST = 1e100  # of numbers; scores, which are sums of products of them, stay finite
AGED = 0.2  # a collection that has grown or shrunk by more than this share may need a new model


@dataclass(frozen=True)
class CollectionFacts:
    """What distinguishes one collection from another: its counts, and the origin that all commits of an index share."""

    documents: int
    tokens: int
    mentions: int
    entities: int
    origin: str = ""  # unknown

    def __post_init__(self) -> None:
        if not all(type(count) is int for count in self.counts) or not isinstance(self.origin, str):
            raise TypeError("a collection has four numbers and an origin")

    @property
    def counts(self) -> tuple[int, int, int, int]:
        return self.documents, self.tokens, self.mentions, self.entities

    def is_of_same_index(self, other: CollectionFacts) -> bool:
        """Whether both are commits of one index, as far as is known."""
        return bool(self.origin) and self.origin == other.origin

    def matches(self, other: CollectionFacts) -> bool:
        """Whether a model of this collection fits the other."""
        return self.counts == other.counts or self.is_of_same_index(other)

    def __str__(self) -> str:
        return f"{self.documents:,} documents, {self.tokens:,} tokens, {self.mentions:,} mentions"


@dataclass(frozen=True)
class ModelScope:
    """Where a model comes from and where it may be used."""

    analysis: dict[str, Any] = field(default_factory=dict)
    collection: CollectionFacts | None = None
    portable: bool = False
    provenance: dict[str, Any] = field(default_factory=dict)

    def check(self, analysis: dict[str, Any], collection: CollectionFacts) -> None:
        """Refuse an index that the model does not fit."""
        if self.analysis and self.analysis != analysis:
            raise InputError(
                f"the model was trained on texts analysed with {_describe(self.analysis)}, this index has "
                f"{_describe(analysis)}: its words are others; train a model for this index"
            )
        if not self.portable and self.collection is not None and not self.collection.matches(collection):
            raise InputError(
                f"the model was trained on another index ({self.collection}; this one has {collection}); train a model "
                "for this index, or take the model as it is with --any-index (in Python: model.as_portable())"
            )

    def warnings(self, collection: CollectionFacts) -> list[str]:
        """What a user should know of a model that fits: that its index is no longer what it was trained on."""
        before = self.collection
        if before is None or not before.is_of_same_index(collection):
            return []
        if abs(collection.documents - before.documents) <= AGED * before.documents:
            return []
        then, now = f"{before.documents:,} documents", f"{collection.documents:,}"
        return [f"the model was trained when the index had {then}; it has {now} now; train it again"]

    def to_dict(self) -> dict[str, Any]:
        """Its keys of a model file."""
        collection = None if self.collection is None else dict(vars(self.collection))
        return {
            "analysis": self.analysis,
            "portable": self.portable,
            "provenance": self.provenance,
            "collection": collection,
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> ModelScope:
        """What `to_dict` gave."""
        collection, analysis = plain["collection"], plain["analysis"]
        stopwords = analysis.get("stopwords") or []
        if not isinstance(analysis.get("stemmer"), str | None) or not isinstance(stopwords, list):
            raise InputError(
                "analysis must have a stemmer's name or null, and a list of stop words; train the model again"
            )
        return cls(
            analysis=dict(analysis),
            collection=None if collection is None else CollectionFacts(**collection),
            portable=bool(plain["portable"]),
            provenance=dict(plain["provenance"]),
        )


def _describe(analysis: dict[str, Any]) -> str:
    stemmer, stop = analysis.get("stemmer"), len(analysis.get("stopwords") or ())
    return f"{f'the stemmer {stemmer}' if stemmer else 'no stemmer'} and {stop} stop words"


def _checksum(plain: dict[str, Any]) -> str:
    line = json.dumps(plain, ensure_ascii=False, sort_keys=True)
    # A file that was altered may hold half of a surrogate pair.
    return f"xxh3:{xxhash.xxh3_64_hexdigest(line.encode('utf-8', 'surrogatepass'))}"


def seal_file(plain: dict[str, Any]) -> dict[str, Any]:
    """The whole of a model file: format, version, contents, checksum."""
    whole = {"format": FORMAT, "version": VERSION, **plain}
    return {**whole, "checksum": _checksum(whole)}


def write_text(whole: dict[str, Any]) -> str:
    """The text of a model file."""
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def read_text(path: str | Path) -> str:
    """The text of a model file, unless it is too large to be one."""
    try:
        if Path(path).stat().st_size > LARGEST_BYTES:
            raise InputError(f"{path}: larger than {LARGEST_BYTES >> 20} MB; that is no model file")
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise StorageError(f"{path}: no such model file; make one with `fader train`") from None
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"{path}: cannot be read as a model file: {error}") from None


def _parse_whole(text: str) -> int:
    """A whole number that can be computed with as with any other."""
    if len(text) > MOST_DIGITS:
        raise InputError(f"numbers may have {MOST_DIGITS} digits at most, not {len(text):,}; train the model again")
    return int(text)


def check_numbers(parameters: dict[str, Any]) -> None:
    """Refuse numbers with which scores would not be finite."""
    for key, value in parameters.items():
        for number in value if isinstance(value, list) else [value]:
            if isinstance(number, float) and not abs(number) <= LARGEST:
                raise InputError(f"{key} must be numbers up to {LARGEST:g}, not {number:g}; train the model again")


def parse_file(text: str, name: str) -> dict[str, Any]:
    """The contents of a model file's text, if its checksum fits."""
    try:
        plain = json.loads(text, parse_int=_parse_whole)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: not a model file (no JSON: {error})") from None
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise InputError(f"{name}: not a model file; make one with `fader train`")
    if plain.get("version") not in READ_VERSIONS:
        known = " and ".join(map(str, READ_VERSIONS))
        raise InputError(f"{name}: a model of version {quote(plain.get('version'))}, this release reads {known}")
    given = plain.pop("checksum", None)
    try:
        fits = given == _checksum(plain)
    except RecursionError:
        raise InputError(f"{name}: not a model file (nested too deeply)") from None
    if not fits:
        raise InputError(f"{name}: the checksum does not fit: the file was cut or altered; train the model again")
    return plain
