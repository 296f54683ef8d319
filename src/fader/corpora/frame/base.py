"""What an importer is: a frozen dataclass that cuts sources into batches and converts a batch to records.

    batches     in the parent process: cuts the sources, in order, into independent raw pieces; must be cheap
    prepare     once, before: a first pass over the sources whose result every worker gets
    open_state  once per worker: what `convert` gets for the result of `prepare` (side files mapped into memory)
    convert     in worker processes: a raw piece to documents, entities, types, queries and judgments
    finish      once, after: entities and types that are known only when all has been read
    unknown     once per entity that is mentioned but has no row: its row

An importer's options are its fields, each with a default; `option` gives a field its help. Batches depend on sources
and options alone, never on time or on the number of processes: that is what makes an import resumable. Knows nothing of
processes and files written.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NotRequired, TypedDict

from fader.corpus.documents import Faults
from fader.errors import UsageError, quote
from fader.progress import Progress
from fader.registry import write_part

if TYPE_CHECKING:
    from fader.corpora.frame.store import Store

THING = "thing"  # the type of an entity of which no type is known


class Batch(NamedTuple):
    """A raw piece of a source. `place` is the number of its first line, or its first byte (of what is uncompressed)."""

    source: str
    place: int
    payload: Any
    consumed: int


class EntityRow(NamedTuple):
    """An entity. Rows of one id are joined: the first name that is not empty, all types, all aliases."""

    id: str
    name: str
    types: Sequence[str] = ()
    aliases: Sequence[str] = ()


class TypeRow(NamedTuple):
    """A type. Rows of one id are joined like those of entities; supertypes that no row defines are added."""

    id: str
    name: str
    supertypes: Sequence[str] = ()


class MentionRow(TypedDict):
    """A mention of a document; offsets count characters."""

    start: int
    end: int
    entity: str
    confidence: NotRequired[float]


@dataclass(slots=True)
class Records:
    """What a batch gives.

    A document is `{"id", "text", "mentions": [MentionRow], "title"?, "url"?, "prior"?}`; further keys are kept. A
    query is `{"id", "query", "type"?, "question"?}`, a judgment `(query id, entity id, grade)`. `counts` are numbers
    for the report, added up over all batches.
    """

    documents: list[dict[str, Any]] = field(default_factory=list)
    entities: list[EntityRow] = field(default_factory=list)
    types: list[TypeRow] = field(default_factory=list)
    queries: list[dict[str, Any]] = field(default_factory=list)
    qrels: list[tuple[str, str, int]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


def option(default: Any, help: str, path: bool = False, choices: Iterable[str] = (), least: float | None = None) -> Any:
    """A field of an importer that is an option: text, number or truth value by its default.

    `path`: it names a file (empty: none), whose change makes an unfinished import unfit to be resumed. `choices` and
    `least` say which values it may have, where not every value will do.
    """
    return field(default=default, metadata={"help": help, "path": path, "choices": choices, "least": least})


class Importer(ABC):
    """A format. Concrete importers are frozen dataclasses, one per file."""

    name: ClassVar[str]
    title: ClassVar[str]  # one line
    example: ClassVar[str]  # a command line
    citation: ClassVar[str]  # where the layout is documented
    files: ClassVar[bool] = True  # sources are files; else they are names, handed on as they are
    archives: ClassVar[bool] = False  # tar and zip archives are read as they are
    compiles: ClassVar[bool] = False  # kernels are compiled at the first use, which takes a minute
    passes: ClassVar[int] = 1  # with more than one, a source cannot be standard input
    state_type: ClassVar[Any] = Any  # of what `prepare` returns, as msgspec reads it back from JSON

    def __post_init__(self) -> None:
        """Refuse options with other values than they may have."""
        for each in fields(self):  # type: ignore[arg-type]
            value, said = getattr(self, each.name), each.metadata
            if said.get("choices") and value not in said["choices"]:
                known = ", ".join(said["choices"])
                raise UsageError(f"{self.name}: {each.name} must be one of {known}, not {quote(value)}")
            if said.get("least") is not None and value < said["least"]:
                raise UsageError(f"{self.name}: {each.name} must be {said['least']} or more, not {value}")

    def __str__(self) -> str:
        """The text that parses back to the importer."""
        return write_part(self)

    @abstractmethod
    def batches(self, sources: Sequence[str], faults: Faults) -> Iterator[Batch]:
        """The sources in pieces, always the same ones in the same order. A folder has been replaced by its files."""

    def prepare(self, sources: Sequence[str], folder: Path, faults: Faults, progress: Progress) -> Any:
        """A first pass; the result is kept as JSON, and read back as `state_type`. Large tables belong into files in
        `folder`."""
        return None

    def open_state(self, state: Any, folder: Path) -> Any:
        """The result of `prepare` as `convert` and `finish` get it; called once in every process."""
        return state

    @abstractmethod
    def convert(self, batch: Batch, state: Any, faults: Faults) -> Records:
        """The records of a piece; faults are reported with source and line or byte."""

    def unknown(self, name: str, surface: str, state: Any) -> EntityRow:
        """An entity that is mentioned but has no row; `surface` is what its mentions have most often."""
        return EntityRow(name, surface)

    def finish(self, state: Any, store: Store) -> None:  # noqa: B027 most formats have nothing to add
        """Add entities and types to the store when all batches are in it."""
