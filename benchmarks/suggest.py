"""Completion: CPU milliseconds for first letters and for some words, among many types and entities.

Scale 1.0 is 200,000 types in six levels and 2 million entities with names of one to four words, under a Zipf law, and
aliases. Texts are cut from labels drawn at random: their first 0 to 10 characters, or the beginnings of one to three of
their words in any order; single letters are among these. The peer is numpy and plain Python in memory: a sorted list of
labels, a list of words, postings as one array a word, and sorting; it gives numbers, and Fader the hints with names and
types, which take a quarter of a millisecond. Answers are compared before they are timed. Beside it, the time to store
the labels, which a build pays once, and to open them, which a server pays at its start.

    python -m benchmarks.suggest --scale 1.0
"""

from __future__ import annotations

import random
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.common import Clock
from benchmarks.synthetic import _draw, _zipf_cdf, make_types, make_words
from fader.corpus.catalog import read_catalog
from fader.corpus.rows import Row
from fader.index.catalog import StoredCatalog, write_catalog
from fader.index.names import InMemory, Labels, fold, words_of, write_names
from fader.search.suggest import Suggester

TYPES, ENTITIES, VOCABULARY = 200_000, 2_000_000, 400_000
LONGEST, MOST_WORDS, K = 10, 3, 10
TARGET_MS = 10.0


def labels(rng: np.random.Generator, words: list[str], count: int, most: int) -> list[str]:
    """Names of one to `most` words."""
    cdf = _zipf_cdf(len(words))
    lengths = rng.integers(1, most + 1, count)
    drawn = iter(_draw(rng, cdf, int(lengths.sum())).tolist())
    return [" ".join(words[next(drawn)].capitalize() for _ in range(n)) for n in lengths.tolist()]


def draw_rows(scale: float, seed: int) -> tuple[list[Row], list[Row]]:
    """Entities and types as they stand in files; the numbers of things are the order of their ids."""
    rng = np.random.default_rng(seed)
    words = make_words(rng, max(2_000, round(VOCABULARY * min(1.0, scale) ** 0.5)))
    types, entities = max(300, round(TYPES * scale)), max(3_000, round(ENTITIES * scale))
    parents = make_types(rng, types)
    type_names, names = labels(rng, words, types, 3), labels(rng, words, entities, 4)
    aliases = [rng.random(entities) < share for share in (0.4, 0.1)]
    others = labels(rng, words, int(aliases[1].sum()), 2)
    direct = rng.integers(types // 4, types, (entities, 2))
    ids = [f"T{i:07}" for i in range(types)]
    rows = [
        Row(f"Q{i:08}", name, [ids[t] for t in sorted(set(pair))], [], "")
        for i, (name, pair) in enumerate(zip(names, direct.tolist(), strict=True))
    ]
    for i in np.flatnonzero(aliases[0]).tolist():
        rows[i].aliases.append(names[i].rpartition(" ")[2])
    for i, other in zip(np.flatnonzero(aliases[1]).tolist(), others, strict=True):
        rows[i].aliases.append(other)
    above = ([ids[p] for p in sorted({p for p in pair if p >= 0})] for pair in parents.tolist())
    return rows, [Row(*each, [], "") for each in zip(ids, type_names, above, strict=True)]


def write_files(folder: Path, entities: list[Row], types: list[Row]) -> tuple[Path, Path]:
    """The files of a catalog."""
    paths = folder / "entities.tsv", folder / "types.tsv"
    for path, rows in zip(paths, (entities, types), strict=True):
        with open(path, "w", encoding="utf-8") as file:
            for row in rows:
                cells = [row.id, row.name, "|".join(row.above)] + (["|".join(row.aliases)] if row.aliases else [])
                file.write("\t".join(cells) + "\n")
    return paths


class Plain:
    """The same completion by sorted Python lists, an array of rows for each word, and numpy's sorting."""

    def __init__(self, labels_of: Sequence[Sequence[str]], popularity: np.ndarray) -> None:
        rows = sorted({(fold(label), i) for i, each in enumerate(labels_of) for label in each})
        self._labels = [label for label, _i in rows]
        self._owner = np.array([i for _label, i in rows])
        found: dict[str, list[int]] = {}
        for row, label in enumerate(self._labels):
            for word in set(words_of(label)):
                found.setdefault(word, []).append(row)
        self._words = sorted(found)
        self._rows = [np.array(found[word]) for word in self._words]
        names = [fold(each[0]) for each in labels_of]
        self._order = np.array(sorted(range(len(names)), key=lambda i: (-int(popularity[i]), names[i])))
        self._rank = np.empty_like(self._order)
        self._rank[self._order] = np.arange(len(names))

    def best(self, text: str, k: int) -> list[int]:
        """Numbers of the best things."""
        key = fold(text)
        if not key:
            return [int(i) for i in self._order[:k]]
        found: list[int] = []
        for rows in self._matches(key):
            ranks = np.unique(self._rank[self._owner[rows]])
            found += [r for r in ranks[: k + len(found)].tolist() if r not in found]
            if len(found) >= k:
                break
        return [int(self._order[r]) for r in found[:k]]

    def _matches(self, key: str) -> Iterator[Any]:
        a = bisect_left(self._labels, key)
        b = bisect_left(self._labels, key + chr(0x10FFFF))
        end = a
        while end < b and self._labels[end] == key:
            end += 1
        yield slice(a, end)
        yield slice(a, b)
        each = [self._with_word(word) for word in words_of(key)]
        rows = each[0] if each else np.zeros(0, dtype=np.int64)
        for other in each[1:]:
            rows = np.intersect1d(rows, other)
        yield rows

    def _with_word(self, word: str) -> np.ndarray:
        a, b = bisect_left(self._words, word), bisect_left(self._words, word + chr(0x10FFFF))
        return np.concatenate([np.zeros(0, dtype=np.int64), *self._rows[a:b]])


@dataclass(frozen=True)
class Case:
    """Texts of one sort."""

    name: str
    texts: list[str]


def cases(names: Sequence[str], count: int, seed: int) -> list[Case]:
    """First letters, and beginnings of words in any order."""
    chance = random.Random(seed)
    found = [
        Case(f"{n} letters", [chance.choice(names)[:n] for _ in range(count)]) for n in range(LONGEST + 1)
    ]  # fmt: skip
    for n in range(1, MOST_WORDS + 1):
        several = [words for words in (name.split() for name in chance.choices(names, k=50 * count)) if len(words) >= n]
        texts = []
        for words in several[:count]:
            cut = [word[: chance.randint(1, len(word))] for word in chance.sample(words, n)]
            texts.append(" ".join(cut))
        found.append(Case(f"{n} words", texts))
    return found


def timed(call: Callable[[str], object], texts: Sequence[str], rounds: int) -> list[float]:
    """CPU milliseconds for each text, the least of some rounds."""
    best = [float("inf")] * len(texts)
    for _ in range(rounds):
        for i, text in enumerate(texts):
            start = time.process_time()
            call(text)
            best[i] = min(best[i], 1000 * (time.process_time() - start))
    return best


def percentiles(ms: Sequence[float]) -> tuple[float, float]:
    return float(np.percentile(ms, 50)), float(np.percentile(ms, 99))


def compare(
    kind: str, ours: Callable[[str], list[int]], plain: Plain, names: Sequence[str], args: Any
) -> list[dict[str, Any]]:
    """All cases of a kind of things; an answer that differs ends the run."""
    rows = []
    for case in cases(names, args.queries, args.seed):
        for text in case.texts:
            if ours(text) != plain.best(text, K):
                sys.exit(f"{kind} {text!r}: {ours(text)}, by the peer {plain.best(text, K)}")
        mine = timed(ours, case.texts, args.rounds)
        theirs = timed(lambda text: plain.best(text, K), case.texts, 1)
        (p50, p99), (peer50, peer99) = percentiles(mine), percentiles(theirs)
        rows.append({"kind": kind, "case": case.name, "p50": p50, "p99": p99, "peer p50": peer50, "peer p99": peer99})
    return rows


def typed(suggester: Suggester, names: Sequence[str], types: Sequence[str], args: Any) -> dict[str, Any]:
    """Three letters of entities of a type: the first call for a type finds its entities."""
    chance = random.Random(args.seed)
    first, again = [], []
    for wanted in types:
        text = chance.choice(names)[:3]
        for into in (first, again):
            start = time.process_time()
            suggester.entities(text, K, wanted)
            into.append(1000 * (time.process_time() - start))
    return {"first": percentiles(first), "again": percentiles(again)}


def measure(work: Path, args: Any) -> dict[str, Any]:
    entities, types = draw_rows(args.scale, args.seed)
    catalog = read_catalog(*write_files(work, entities, types))
    entity_labels = [(e.name, *e.aliases) for e in entities]
    type_labels = [(t.name, t.id) for t in types]
    del entities, types
    path = work / "suggest.catalog"
    path.unlink(missing_ok=True)
    write_names(InMemory(), "", Labels.of(entity_labels[:100]))  # compiles
    with Clock() as written:
        described = write_catalog(path, catalog)
    with Clock() as stored:
        write_names(InMemory(), "", Labels.of(entity_labels))
    rng = np.random.default_rng(args.seed)
    documents = np.minimum(rng.zipf(1.6, len(entity_labels)), 1 << 20).astype(np.int32)
    reader: Any = SimpleNamespace(catalog=StoredCatalog(path, described), entity_documents=documents)
    suggester = Suggester(reader)
    with Clock() as warmed:
        suggester.warm()
    number = {"type": reader.catalog.type_ids.find, "entity": reader.catalog.entity_ids.find}
    ours = {"type": suggester.types, "entity": suggester.entities}
    below = np.array(reader.catalog.entities_below)
    report: dict[str, Any] = {
        "types": len(type_labels), "entities": len(entity_labels), "write catalog s": written.cpu,
        "of it labels s": stored.cpu, "warm s": warmed.cpu, "bytes": described.bytes, "rows": [],
    }  # fmt: skip
    for kind, given, popularity in (("type", type_labels, below), ("entity", entity_labels, documents)):
        plain = Plain(given, popularity)
        names = [each[0] for each in given]

        def answer(text: str, kind: str = kind) -> list[int]:
            return [number[kind](hint.id) for hint in ours[kind](text, K)]

        report["rows"] += compare(kind, answer, plain, names, args)
        del plain
    popular = [reader.catalog.type_ids[t] for t in reader.catalog.types_by_popularity[: args.queries]]
    report["of a type"] = typed(suggester, [each[0] for each in entity_labels], popular, args)
    path.unlink()
    return report


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("Completion of types and entities.")
    parser.add_argument("--queries", type=int, default=100, help="texts of each sort")
    parser.add_argument("--rounds", type=int, default=3, help="times each text is asked; the least counts")
    parser.add_argument("--check", action="store_true", help="exit with 1 if the target is missed")
    args = parser.parse_args(argv)
    if args.quick:
        args.scale, args.queries, args.rounds = 0.002, 10, 1
    args.work.mkdir(parents=True, exist_ok=True)
    report = measure(args.work, args)
    sizes = f"{report['types']:,} types, {report['entities']:,} entities; catalog of {report['bytes'] / 1e6:.0f} MB"
    print(
        f"\n{sizes}, written in {report['write catalog s']:.1f} CPU s, {report['of it labels s']:.1f} of it for labels"
    )
    print(f"ready in {report['warm s']:.2f} CPU s\n")
    columns = ("p50", "p99", "peer p50", "peer p99")
    rows = [(row["kind"], row["case"], *(f"{row[c]:.3f}" for c in columns)) for row in report["rows"]]
    print(common.table(("kind", "text", *(f"{c} ms" for c in columns)), rows))
    for name, (p50, p99) in report["of a type"].items():
        print(f"three letters of entities of a type, {name}: p50 {p50:.3f} ms, p99 {p99:.3f} ms")
    common.write_report(args.json or args.work / f"suggest-{args.scale:g}.json", {"scale": args.scale, **report})
    slow = [f"{row['kind']} {row['case']}" for row in report["rows"] if row["p99"] > TARGET_MS]
    if args.check and slow:
        sys.exit(f"p99 above {TARGET_MS:g} ms: {', '.join(slow)}")


if __name__ == "__main__":
    main()
