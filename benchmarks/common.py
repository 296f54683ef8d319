"""What the benchmarks share: the dataset as arrays, queries as values, timing, tables and reports.

Arrays are the peers' starting point: a peer lays them out as it likes, outside the measured time.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.collection import Collection
from benchmarks.synthetic import Shape, generate, type_id

K = 10
GENERAL, HAND_LAID = "general", "hand-laid"
LAYOUTS = (GENERAL, HAND_LAID)
OPTIONAL, REQUIRED, FORBIDDEN = "optional", "required", "forbidden"
SIGN = {OPTIONAL: "", REQUIRED: "+", FORBIDDEN: "-"}
ONE_THREAD = {
    "POLARS_MAX_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


def one_thread() -> None:
    """Hold every engine to one thread. Call before the engines are imported."""
    os.environ.update(ONE_THREAD)


# --- queries -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Literal:
    """A word or phrase by term numbers, and its kind."""

    terms: tuple[int, ...]
    kind: str = OPTIONAL


@dataclass(frozen=True)
class Query:
    """A query as text for the engine, as numbers for the peers, with its size as counted from the arrays."""

    id: str
    text: str
    type: int
    literals: tuple[Literal, ...]
    contexts: int
    documents: int
    candidates: int

    @property
    def counted(self) -> list[Literal]:
        """The literals that score: all but the forbidden ones."""
        return [t for t in self.literals if t.kind != FORBIDDEN]

    @property
    def forbidden(self) -> list[Literal]:
        return [t for t in self.literals if t.kind == FORBIDDEN]

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "type": type_id(self.type),
            "query": self.text,
            "literals": [{"terms": list(t.terms), "kind": t.kind} for t in self.literals],
            "contexts": self.contexts,
            "documents": self.documents,
            "candidates": self.candidates,
        }

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Query:
        literals = tuple(Literal(tuple(t["terms"]), t["kind"]) for t in row["literals"])
        sizes = row["contexts"], row["documents"], row["candidates"]
        return cls(row["id"], row["query"], int(row["type"][1:]), literals, *sizes)


def query_text(literals: Sequence[Literal], words: Sequence[str]) -> str:
    def one(literal: Literal) -> str:
        text = " ".join(words[t] for t in literal.terms)
        return SIGN[literal.kind] + (f'"{text}"' if len(literal.terms) > 1 else text)

    return " ".join(one(t) for t in literals)


def write_queries(path: Path, queries: Iterable[Query]) -> None:
    path.write_text("".join(json.dumps(q.to_json()) + "\n" for q in queries))


def read_queries(path: Path) -> list[Query]:
    return [Query.from_json(json.loads(line)) for line in path.read_text().splitlines()]


# --- the dataset -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Occurrences:
    """A literal's occurrences: first token positions in the corpus, and their documents, both ascending."""

    positions: np.ndarray
    documents: np.ndarray
    width: int

    @cached_property
    def distinct(self) -> np.ndarray:
        """The documents, each once."""
        new = np.ones(len(self.documents), bool)
        new[1:] = self.documents[1:] != self.documents[:-1]
        return self.documents[new]


class Dataset:
    """The arrays of one synthetic corpus, and what follows from them; computed once, on first use."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._literals: dict[tuple[int, ...], Occurrences] = {}
        self._types: dict[int, np.ndarray] = {}
        for name in ("tokens", "doc_offsets", "mention_start", "mention_length", "mention_entity"):
            setattr(self, name, np.load(folder / f"{name}.npy", mmap_mode="r"))

    tokens: np.ndarray
    doc_offsets: np.ndarray
    mention_start: np.ndarray
    mention_length: np.ndarray
    mention_entity: np.ndarray

    @property
    def documents(self) -> int:
        return len(self.doc_offsets) - 1

    @cached_property
    def collection(self) -> Collection:
        """The arrays that general layouts are built from."""
        return Collection(self)

    @cached_property
    def words(self) -> list[str]:
        return (self.folder / "words.txt").read_text().split()

    @cached_property
    def collocations(self) -> np.ndarray:
        return np.load(self.folder / "collocations.npy")

    @cached_property
    def entity_types(self) -> np.ndarray:
        return np.load(self.folder / "entity_types.npy")

    @cached_property
    def token_document(self) -> np.ndarray:
        return np.repeat(np.arange(self.documents, dtype=np.int32), np.diff(self.doc_offsets))

    @cached_property
    def mention_document(self) -> np.ndarray:
        return self.token_document[self.mention_start]

    @cached_property
    def term_offsets(self) -> np.ndarray:
        counts = np.bincount(self.tokens, minlength=len(self.words))
        return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)

    @cached_property
    def postings(self) -> np.ndarray:
        """Token positions, grouped by term and ascending within a term; kept on disk once made."""
        path = self.folder / "postings.npy"
        if not path.exists():
            np.save(path, np.argsort(self.tokens, kind="stable").astype(np.int32))
        return np.load(path, mmap_mode="r")

    @cached_property
    def document_frequency(self) -> np.ndarray:
        """Documents per term."""
        path = self.folder / "document_frequency.npy"
        if not path.exists():
            terms, documents = self.tokens[self.postings], self.token_document[self.postings]
            new = np.ones(len(terms), bool)
            new[1:] = (terms[1:] != terms[:-1]) | (documents[1:] != documents[:-1])
            np.save(path, np.bincount(terms[new], minlength=len(self.words)))
        return np.load(path)

    @cached_property
    def ancestors(self) -> np.ndarray:
        """`ancestors[t, u]`: u is t or above it."""
        parents = np.load(self.folder / "type_parents.npy")
        reach = np.eye(len(parents), dtype=bool)
        for t, above in enumerate(parents.tolist()):  # supertypes come first
            for parent in above:
                if parent >= 0:
                    reach[t] |= reach[parent]
        return reach

    @cached_property
    def closure(self) -> tuple[np.ndarray, np.ndarray]:
        """Entities per type, supertypes included, as (offsets, entities)."""
        first, second = self.entity_types[:, 0], self.entity_types[:, 1]
        has = self.ancestors[first] | (self.ancestors[second] & (second >= 0)[:, None])
        types, entities = np.nonzero(has.T)
        offsets = np.searchsorted(types, np.arange(has.shape[1] + 1))
        return offsets, entities.astype(np.int32)

    def type_rows(self, type_: int) -> np.ndarray:
        """Mentions of entities of a type, in text order."""
        if type_ not in self._types:
            offsets, entities = self.closure
            mask = np.zeros(len(self.entity_types), bool)
            mask[entities[offsets[type_] : offsets[type_ + 1]]] = True
            self._types[type_] = np.flatnonzero(mask[self.mention_entity]).astype(np.int32)
        return self._types[type_]

    def occurrences(self, terms: tuple[int, ...]) -> Occurrences:
        """Where a word or phrase occurs; a phrase lies within one document."""
        if terms not in self._literals:
            at = np.array(self._term(terms[0]))
            for shift, term in enumerate(terms[1:], 1):
                at = np.intersect1d(at + shift, self._term(term), assume_unique=True) - shift
            whole = self.token_document[at] == self.token_document[at + len(terms) - 1]
            at = at[whole].astype(np.int32)
            self._literals[terms] = Occurrences(at, self.token_document[at], len(terms))
        return self._literals[terms]

    def _term(self, term: int) -> np.ndarray:
        return self.postings[self.term_offsets[term] : self.term_offsets[term + 1]]

    def matching(self, literals: Sequence[Literal]) -> np.ndarray:
        """Which documents match: all required literals, no forbidden one, at least one of the others."""
        match = np.zeros(self.documents, bool)
        for literal in literals:
            if literal.kind != FORBIDDEN:
                match[self.occurrences(literal.terms).distinct] = True
        for literal in literals:
            if literal.kind != OPTIONAL:
                has = np.zeros(self.documents, bool)
                has[self.occurrences(literal.terms).distinct] = True
                match &= has if literal.kind == REQUIRED else ~has
        return match

    def weights(self, literals: Sequence[Literal]) -> list[float]:
        """IDF(t) / IDF(q) per literal, IDF = ln(1 + N/df)."""
        df = [len(self.occurrences(t.terms).distinct) for t in literals]
        idf = [float(np.log(1 + self.documents / n)) if n else 0.0 for n in df]
        return [x / sum(idf) for x in idf]


def dataset(work: Path, scale: float, catalog_scale: float | None = None, seed: int = 1) -> Dataset:
    """The dataset of a scale, made in `work` unless it is there."""
    parts = [scale, seed] if catalog_scale is None else [scale, catalog_scale, seed]
    name = "-".join(["corpus", *(f"{part:g}" for part in parts)])
    return Dataset(generate(work / name, Shape.of(scale, catalog_scale, seed)))


# --- peers -------------------------------------------------------------------------------------------------

Answer = list[tuple[int, float]]  # entity number, score; best first


class Peer(ABC):
    """An engine in the comparison. `prepare` and `choose` are not timed; `answer` is.

    In the general layout, `prepare` lays out the whole collection and must not look at the queries: what it makes
    answers any query. In the hand-laid one it may look up in advance whatever these queries will need.
    """

    name: str
    same_answer = True  # False: computes another ranking, shown for orientation
    formulation = ""  # what `choose` has settled on

    def __init__(self, layout: str = GENERAL) -> None:
        self.layout = layout

    @abstractmethod
    def prepare(self, data: Dataset, queries: Sequence[Query]) -> None: ...

    def choose(self, queries: Sequence[Query]) -> None:  # noqa: B027 - most have but one way
        """Settle on the fastest of several ways to put such queries."""

    @abstractmethod
    def answer(self, query: Query) -> Answer: ...


def same(a: Answer, b: Answer, tolerance: float = 1e-9) -> bool:
    """Equal scores rank by rank, and equal entities wherever scores leave no doubt about the order."""
    if len(a) != len(b) or any(abs(x[1] - y[1]) > tolerance for x, y in zip(a, b, strict=True)):
        return False
    for i, ((left, score), (right, _)) in enumerate(zip(a, b, strict=True)):
        near = [j for j in (i - 1, i + 1) if 0 <= j < len(a) and abs(a[j][1] - score) <= tolerance]
        if left != right and not near and i < len(a) - 1:
            return False
    return True


# --- timing ------------------------------------------------------------------------------------------------


@dataclass
class Clock:
    """CPU and wall seconds of a block."""

    cpu: float = 0.0
    wall: float = 0.0

    def __enter__(self) -> Clock:
        self._start = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu = time.process_time() - self._start[0]
        self.wall = time.perf_counter() - self._start[1]


def interleave(peers: Sequence[Peer], queries: Sequence[Query], rounds: int, warm: int = 3) -> dict[str, list[float]]:
    """CPU milliseconds per query and peer, the least of `rounds`; all peers on one query before the next."""
    for peer in peers:
        for query in queries[:warm]:
            peer.answer(query)
    best = {peer.name: [float("inf")] * len(queries) for peer in peers}
    gc.collect()
    gc.disable()
    for turn in range(rounds):
        for number, query in enumerate(queries):
            for peer in (*peers[turn % len(peers) :], *peers[: turn % len(peers)]):
                start = time.process_time()
                peer.answer(query)
                took = 1e3 * (time.process_time() - start)
                best[peer.name][number] = min(best[peer.name][number], took)
    gc.enable()
    return best


def in_a_row(peers: Sequence[Peer], queries: Sequence[Query], rounds: int) -> dict[str, list[float]]:
    """The same with all queries of a peer in a row: a round that is not counted, then the least of `rounds`."""
    best = {peer.name: [float("inf")] * len(queries) for peer in peers}
    gc.collect()
    gc.disable()
    for peer in peers:
        for turn in range(rounds + 1):
            for number, query in enumerate(queries):
                start = time.process_time()
                peer.answer(query)
                took = 1e3 * (time.process_time() - start)
                if turn:
                    best[peer.name][number] = min(best[peer.name][number], took)
    gc.enable()
    return best


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def bandwidth(megabytes: int = 256, rounds: int = 5) -> float:
    """GB/s at which one thread reads memory: the sum of an array larger than the caches."""
    array = np.ones(megabytes << 17, np.float64)
    best = min(_time(array.sum) for _ in range(rounds))
    return array.nbytes / best / 1e9


def _time(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


# --- reports -----------------------------------------------------------------------------------------------


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Plain text columns: the first to the left, the others to the right."""
    cells = [[str(c) for c in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]

    def line(row: Sequence[str]) -> str:
        pairs = enumerate(zip(row, widths, strict=True))
        return "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in pairs)

    return "\n".join([line(cells[0]), "  ".join("-" * w for w in widths), *map(line, cells[1:])])


def environment() -> dict[str, str]:
    """Versions that a figure depends on."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for package in ("numpy", "scipy", "numba", "duckdb", "polars", "tantivy", "lightgbm", "scikit-learn", "fader"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def write_report(path: Path, report: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**report, "environment": environment()}, indent=1) + "\n")


def arguments(description: str) -> argparse.ArgumentParser:
    """The options every benchmark takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--scale", type=float, default=1.0, help="1.0 (default) is 200k documents; in training, 845 queries"
    )
    parser.add_argument("--work", type=Path, default=Path("build/bench"), help="for corpora and indexes")
    parser.add_argument("--json", type=Path, help="report file (default: in the work folder)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a tiny corpus, under a minute: does it run?")
    return parser
