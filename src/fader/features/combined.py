"""Feature maps side by side: `noprox+rectangle(10x12)`, whose weights are theirs one after the other.

    w . f(x) = sum over maps m of  w_m . f_m(x)

Knows nothing of particular maps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from fader.contexts.table import Contexts
from fader.errors import UsageError, quote
from fader.features.base import F64, I32, Block, FeatureMap, Piece
from fader.features.fused import TermMaker
from fader.registry import parse, split_top


@dataclass(frozen=True)
class Combined(FeatureMap):
    """Some feature maps, each once."""

    maps: tuple[FeatureMap, ...]

    def __str__(self) -> str:
        return "+".join(str(m) for m in self.maps)

    @property
    def reads_table(self) -> bool:  # type: ignore[override]  # a fact of its maps
        return any(m.reads_table for m in self.maps)

    @property
    def size(self) -> int:
        return sum(m.size for m in self.maps)

    def labels(self) -> list[str]:
        return [f"{m.name}: {label}" for m in self.maps for label in m.labels()]

    def blocks(self, contexts: Contexts) -> list[Block]:
        return [block for m in self.maps for block in m.blocks(contexts)]

    def expand(self, w: F64) -> F64:
        return np.concatenate([m.expand(part) for m, part in self.split(w)])

    def collapse(self, cells: F64) -> F64:
        sizes = [m.expand(np.zeros(m.size)).shape[0] for m in self.maps]
        parts = np.split(cells, np.cumsum(sizes)[:-1])
        return np.concatenate([m.collapse(part) for m, part in zip(self.maps, parts, strict=True)])

    def score(self, contexts: Contexts, w: F64) -> F64:
        out = np.zeros(len(contexts))
        for m, part in self.split(w):
            out += m.score(contexts, part)
        return out

    def prepare_terms(self, w: F64) -> TermMaker | None:
        makers = [m.prepare_terms(part) for m, part in self.split(w)]
        known = [make for make in makers if make is not None]
        if len(known) < len(makers):
            return None
        return lambda statistics, farthest: tuple(term for make in known for term in make(statistics, farthest))

    def by_literal(self, contexts: Contexts, rows: I32, w: F64) -> F64:
        out = np.zeros((contexts.distances.shape[0], rows.size))
        for m, part in self.split(w):
            out += m.by_literal(contexts, rows, part)
        return out

    def pieces(self, contexts: Contexts, row: int, w: F64) -> list[Piece]:
        return [piece for m, part in self.split(w) for piece in m.pieces(contexts, row, part)]

    def fit_edges(self, tables: Iterable[Contexts]) -> Combined:
        kept = list(tables) if self.learns_edges else []
        return Combined(tuple(m.fit_edges(kept) for m in self.maps))

    @property
    def learns_edges(self) -> bool:
        return any(m.learns_edges for m in self.maps)

    def penalty(self) -> F64:
        whole = np.zeros((self.size, self.size))
        at = 0
        for m in self.maps:
            whole[at : at + m.size, at : at + m.size] = m.penalty()
            at += m.size
        return whole

    def bounds(self) -> tuple[F64, F64]:
        low, high = zip(*(m.bounds() for m in self.maps), strict=True)
        return np.concatenate(low), np.concatenate(high)

    def start(self) -> F64:
        return np.concatenate([m.start() for m in self.maps])

    def split(self, w: F64) -> Iterator[tuple[FeatureMap, F64]]:
        """Each map with its weights."""
        at = 0
        for m in self.maps:
            yield m, w[at : at + m.size]
            at += m.size


def feature_map(given: object) -> Combined:
    """The feature maps that a text such as `noprox+rectangle(10x12)`, a map, or a list of texts and maps stands for."""
    maps = tuple(_list_maps(given))
    names = [m.name for m in maps]
    if not maps:
        raise UsageError(f"{quote(given)} names no features; for example: noprox+rectangle")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"features {quote(given)}: {name} is there more than once")
    return Combined(maps)


def _list_maps(given: object) -> Iterator[FeatureMap]:
    match given:
        case str():
            yield from (parse("fader.features", piece) for piece in split_top(given, "+"))
        case Combined():
            yield from given.maps
        case FeatureMap():
            yield given
        case list() | tuple():
            for one in given:
                yield from _list_maps(one)
        case _:
            raise UsageError(
                f"features must be a text, a feature map such as Rectangle() or a list of these, not {quote(given)}"
            )


def as_text(given: object) -> str:
    """The text of features for a field that keeps texts; a class that is not registered is refused."""
    if not isinstance(given, str):
        given = str(feature_map(given))
        feature_map(given)
    return given
