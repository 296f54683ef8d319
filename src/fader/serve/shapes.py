"""The shapes of answers that are made here; those of searching are in `fader.search`. Knows nothing of their making."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from msgspec import Struct

from fader.search.entity import EntityEvidence, TypePath
from fader.search.suggest import EntityHint, TypeHint
from fader.search.typetree import TypeNode


@dataclass(frozen=True, slots=True)
class EntityAnswer:
    """An entity, and what speaks for it where a query was given."""

    id: str
    name: str
    aliases: list[str]
    types: list[TypePath]
    documents: int
    evidence: EntityEvidence | None


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Types or entities whose labels fit, best first."""

    kind: Literal["type", "entity"]
    prefix: str
    suggestions: list[Any]


@dataclass(frozen=True, slots=True)
class TypesPage:
    """Some of the types right below one, with the way to it; of all roots where `parent` is null."""

    parent: TypeNode | None
    path: list[TypeNode]
    total: int
    types: list[TypeNode]


@dataclass(frozen=True, slots=True)
class Token:
    """A term and its characters."""

    term: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Analyzed:
    """A text and its terms as they are indexed."""

    text: str
    tokens: list[Token]


@dataclass(frozen=True, slots=True)
class Stats:
    """What is served, and the limits of it."""

    version: str
    limits: dict[str, float | None]
    indexes: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model that ranks by name."""

    name: str
    title: str
    default: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a system: its default, and the values worth trying."""

    name: str
    default: str
    tried: list[str]


@dataclass(frozen=True, slots=True)
class DescribedSystem:
    """A system in plain words; one that is trained ranks only as a model."""

    name: str
    description: str
    citation: str
    trained: bool
    parameters: list[Parameter]


@dataclass(frozen=True, slots=True)
class Systems:
    """All that ranks an index."""

    models: list[NamedModel]
    systems: list[DescribedSystem]


class Health(Struct, frozen=True, omit_defaults=True):  # what a cluster alone has is left out elsewhere
    """Whether requests are answered; `problems` are newer commits that cannot be opened.

    `cluster` is there where the index is on one: its groups of shards, and how many replicas some of them lack.
    """

    status: Literal["ok", "starting", "incomplete"]
    version: str
    indexes: dict[str, int]
    problems: dict[str, str]
    cluster: dict[str, Any] | None = None


HINTS = (TypeHint, EntityHint)
