"""Fader itself, from the raw query text: parsing, planning, matching, scoring and ranking are all timed."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

import fader
from benchmarks.common import Answer, Dataset, K, Peer, Query
from benchmarks.synthetic import type_id


class FaderPeer(Peer):
    name = "Fader"
    model = "proximity"

    def prepare(self, data: Dataset, queries: Sequence[Query]) -> None:
        self.index = built_index(data.folder)

    def answer(self, query: Query) -> Answer:
        found = self.index.rank(query.text, type=type_id(query.type), k=K, model=self.model)
        scores = [float(score) for score in found.scores]
        return [(int(entity[1:]), score) for entity, score in zip(found.entities, scores, strict=True)]


class DefaultFaderPeer(FaderPeer):
    """The default model, which the peers do not have."""

    name = "Fader, default model"
    model = "default"
    same_answer = False


class UndecodedFaderPeer(FaderPeer):
    """With no memory of decoded lists: every query unpacks what its plan reads, and keeps nothing."""

    name = "Fader, nothing kept decoded"

    def prepare(self, data: Dataset, queries: Sequence[Query]) -> None:
        super().prepare(data, queries)
        self.index = fader.open(data.folder / "fader", cache_mb=0)


class NewListsFaderPeer(FaderPeer):
    """Lists are forgotten before each query: it decodes them whole and keeps them, as the first of its kind does."""

    name = "Fader, lists decoded anew"

    def answer(self, query: Query) -> Answer:
        ranker = self.index.collection._fused
        ranker._begin_anew(ranker._arena)
        return super().answer(query)


def code_fingerprint() -> str:
    """Changes whenever the code that writes an index does."""
    digest = hashlib.sha256()
    package = Path(fader.__file__).parent
    for file in sorted(f for part in ("corpus", "index") for f in (package / part).rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def built_index(folder: Path) -> fader.Index:
    """The corpus's Fader index, built unless it is there and written by the present code."""
    path, mark, code = folder / "fader", folder / "fader.done", code_fingerprint()
    if mark.exists() and mark.read_text() == code:
        return fader.open(path)
    shutil.rmtree(path, ignore_errors=True)
    index = build(folder, path)
    mark.write_text(code)
    return index


def build(folder: Path, path: Path, store_text: bool = True) -> fader.Index:
    """Index a corpus with one thread."""
    return fader.build(
        path,
        corpus=folder / "corpus.jsonl",
        entities=folder / "entities.tsv",
        types=folder / "types.tsv",
        threads=1,
        store_text=store_text,
    )
