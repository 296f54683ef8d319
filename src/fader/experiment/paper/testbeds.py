"""Testbeds: a folder of files, or an index with queries and judgments, as judged queries. Knows nothing of systems."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.demo.generate import generate
from fader.errors import InputError, UsageError
from fader.experiment.judged import JudgedQueries, judge_queries
from fader.progress import Progress
from fader.search.batch import parse_all
from fader.search.index import Index, build

KEPT = "kept"  # what is kept of a run, beside the testbeds
CORPUS = "corpus.jsonl"
FILES = ("entities.tsv", "types.tsv", "queries.jsonl", "qrels.txt")


@dataclass(frozen=True)
class Testbed:
    """A name, the files of queries and judgments, and an index or the folder whose files it is built from."""

    name: str
    queries: Path
    qrels: Path
    index: Path | None = None
    files: Path | None = None

    def read(self, out: Path, sample: int, progress: Progress) -> JudgedQueries:
        """Its judged queries; the index is built in a folder of `out` where it is not there."""
        place = self.index or out / self.name
        if self.files is not None and not place.exists():
            corpus = sorted(self.files.glob(f"{CORPUS}*"))
            build(place, corpus, self.files / "entities.tsv", self.files / "types.tsv", progress=progress)
        index = Index.open(place)
        queries = parse_all(index, read_queries(self.queries, FaultCollector()), FaultCollector())
        return judge_queries(index, queries, read_qrels(self.qrels, FaultCollector()), sample=sample)


def find_testbeds(folders: Sequence[Path]) -> list[Testbed]:
    """Testbeds by their folders; refuses what is none, and two that would share a folder."""
    names = [folder.resolve().name for folder in folders]
    for name in names:
        if names.count(name) > 1 or name == KEPT:
            raise UsageError(f"testbeds must have names that differ, and none may be {KEPT}: {name}")
    return [_find_testbed(folder, name) for folder, name in zip(folders, names, strict=True)]


def _find_testbed(folder: Path, name: str) -> Testbed:
    missing = [file for file in FILES if not (folder / file).exists()]
    if not any(folder.glob(f"{CORPUS}*")):
        missing.insert(0, CORPUS)
    if missing:
        raise InputError(f"{folder}: no {missing[0]} in it; a testbed has {CORPUS}, {', '.join(FILES)}")
    return Testbed(name, folder / "queries.jsonl", folder / "qrels.txt", files=folder)


def make_demo(stack: ExitStack) -> Testbed:
    """The demo as a testbed, in a temporary folder that lasts as long as the stack."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "demo"
    generate(folder)
    return _find_testbed(folder, folder.name)
