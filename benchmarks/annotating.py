"""Annotating: texts and millions of names, Fader's annotator against pyahocorasick, one thread each.

The texts are those of the synthetic corpus, without its mentions; the names are those of its entities and others made
of its rarer words, one to four words each, a part of the single words in no text. Every word of these texts may be a
name's, which is harsh. With --testbed, the same again with a testbed's texts, the names of its catalog, and names made
of the words that its texts write with a capital: what ordinary text is like.

Measured are the making of the dictionary, the finding of names (for pyahocorasick: `iter_long` over the text in lower
case, then the check that a match ends at word boundaries, which a character automaton cannot know), and for Fader also
the whole way from lines of JSON to lines of JSON, with entities chosen and confidences written. Megabytes are of text,
in UTF-8; seconds are CPU seconds of one core, the best of some rounds.

    python -m benchmarks.annotating --names 2000000 --testbed FOLDER
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.common import Clock, Dataset
from benchmarks.indexing import peak_memory

NAMES, QUICK_NAMES = 2_000_000, 20_000
MEGABYTES, QUICK_MEGABYTES = 24.0, 0.5
LENGTHS = (0.15, 0.5, 0.25, 0.1)  # shares of names of one to four words
FLOOR = 3_000  # names of the synthetic corpus use words beyond this rank
INVENTED = 0.5  # share of the single words that no text has
TARGET = 20.0  # MB/s from JSON to JSON


def make_names(known: Iterable[str], words: list[str], floor: int, count: int, seed: int) -> list[str]:
    """Distinct names: those known first, then others of words, which are in the order of frequency."""
    rng = np.random.default_rng([seed, 77])
    names = dict.fromkeys(known)
    weights = (np.arange(len(words)) + 3.7) ** -1.07
    weights[: min(floor, len(words) // 2)] = 0
    cdf = np.cumsum(weights) / weights.sum()
    while len(names) < count:
        draws = np.minimum(np.searchsorted(cdf, rng.random((count // 4 + 1, 4))), len(words) - 1).tolist()
        lengths = rng.choice([1, 2, 3, 4], len(draws), p=LENGTHS).tolist()
        invented = (rng.random(len(draws)) < INVENTED).tolist()
        for row, length, new in zip(draws, lengths, invented, strict=True):
            name = " ".join([words[w] for w in row[:length]])
            names.setdefault(name + words[row[3]].lower() if new and length == 1 else name)
            if len(names) == count:
                break
    return list(names)[:count]


def synthetic_names(data: Dataset, count: int, seed: int) -> list[str]:
    lines = (data.folder / "entities.tsv").read_text().splitlines()
    return make_names((line.split("\t")[1] for line in lines), [w.capitalize() for w in data.words], FLOOR, count, seed)


def testbed_names(folder: Path, texts: list[str], count: int, seed: int) -> list[str]:
    """The catalog's names, and others of words that are written with a capital inside sentences."""
    lines = (folder / "entities.tsv").read_text("utf-8").splitlines()
    found = Counter(word for text in texts for word in re.findall(r"(?<=[a-z,] )[A-Z][a-z]+", text))
    words = [word for word, _count in found.most_common()]
    return make_names((line.split("\t")[1] for line in lines), words, 0, count, seed)


def read_texts(corpus: Path, megabytes: float) -> list[str]:
    """The first texts of a corpus."""
    from fader.corpus.readers import read_lines

    texts, size = [], 0
    for _number, line in read_lines(corpus):
        texts.append(json.loads(line)["text"])
        size += len(texts[-1])
        if size > megabytes * 1e6:
            break
    return texts


def size_of(texts: Sequence[str]) -> float:
    return sum(len(t.encode()) for t in texts) / 1e6


def fader(names: list[str], texts: list[str], work: Path, rounds: int) -> dict[str, Any]:
    """Build, then find, then convert; the best of some rounds."""
    from fader.corpora.annotate import Annotator
    from fader.corpora.annotate.annotator import make_dictionary
    from fader.corpora.annotate.dictionary import Dictionary
    from fader.corpora.annotate.names import read_names
    from fader.corpora.annotate.texts import convert, cut_pieces
    from fader.corpus.documents import Faults
    from fader.limits import Limits

    path = work / "names.tsv"
    path.write_text("".join(f"N{i}\t{name}\tthing\n" for i, name in enumerate(names)))
    make_dictionary(read_names([{"id": "warm", "name": "Warm Up, Ltd"}, {"id": "up", "name": "Warm Up, ltd"}]))
    with Clock() as built:
        dictionary, _made = make_dictionary(read_names(path))
    dictionary.save(work / "dictionary")
    del dictionary
    annotator = Annotator(Dictionary.load(work / "dictionary"))
    corpus, limits = work / "texts.jsonl", Limits()
    rows = (json.dumps({"id": str(i), "text": text}, ensure_ascii=False) + "\n" for i, text in enumerate(texts))
    corpus.write_text("".join(rows), "utf-8")
    cut = list(cut_pieces([str(corpus)], None, limits))
    encoded = [[json.loads(line)["text"].encode() for _source, _number, line in piece.rows] for piece in cut]
    find, whole, mentions = [], [], 0
    for _round in range(rounds + 1):  # the first maps the files
        with Clock() as clock:
            mentions = sum(annotator.columns(batch).entity.size for batch in encoded)
        find.append(clock.cpu)
        with Clock() as clock:
            for piece in cut:
                convert(piece, annotator, Faults(), limits)
        whole.append(clock.cpu)
    size = size_of(texts)
    return {
        "engine": "fader", "build_s": built.cpu, "dictionary_mb": annotator.dictionary.nbytes / 1e6,
        "find_mb_per_s": size / min(find[1:]), "whole_mb_per_s": size / min(whole[1:]), "mentions": mentions,
        "mentions_per_100_bytes": mentions / size / 1e4, "peak_mb": peak_memory() / 1e6,
    }  # fmt: skip


def pyahocorasick(names: list[str], texts: list[str], rounds: int) -> dict[str, Any]:
    import ahocorasick

    with Clock() as built:
        automaton = ahocorasick.Automaton()
        for i, name in enumerate(names):
            automaton.add_word(name.lower(), (i, len(name)))
        automaton.make_automaton()
    sample = texts[: max(1, len(texts) // 8)]
    find, mentions = [], 0
    for _round in range(rounds):
        mentions = 0
        with Clock() as clock:
            for text in sample:
                folded = text.lower()
                for end, (_i, length) in automaton.iter_long(folded):
                    start = end - length + 1
                    before = start == 0 or not folded[start - 1].isalnum()
                    if before and (end + 1 == len(folded) or not folded[end + 1].isalnum()):
                        mentions += 1
        find.append(clock.cpu)
    size = size_of(sample)
    return {
        "engine": "pyahocorasick", "build_s": built.cpu, "find_mb_per_s": size / min(find), "mentions": mentions,
        "mentions_per_100_bytes": mentions / size / 1e4, "dictionary_mb": automaton.get_stats()["total_size"] / 1e6,
    }  # fmt: skip


def measure(what: str, names: list[str], texts: list[str], quick: bool) -> list[dict[str, Any]]:
    """Both engines on the same names and texts."""
    with tempfile.TemporaryDirectory() as folder:
        results = [fader(names, texts, Path(folder), 1 if quick else 5)]
    try:
        results.append(pyahocorasick(names, texts, 1 if quick else 2))
    except ImportError:
        print("pyahocorasick is not installed: pip install pyahocorasick", file=sys.stderr)
    print(f"{what}: {len(names):,} names, {size_of(texts):.1f} MB of text")
    for row in results:
        shown = "  ".join(f"{key} {value:,.1f}" for key, value in row.items() if key != "engine")
        print(f"{row['engine']:14} {shown}", flush=True)
    return [{"texts": what, "names": len(names), "text_mb": size_of(texts), **row} for row in results]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = common.arguments(__doc__.splitlines()[0])
    parser.add_argument("--names", type=int, default=None, help=f"How many names; {NAMES:,} unless given.")
    parser.add_argument("--testbed", type=Path, help="A folder with corpus.jsonl(.gz, .zst) and entities.tsv.")
    parser.add_argument("--check", action="store_true", help="Exit with 1 where the target is missed.")
    args = parser.parse_args(arguments)
    common.one_thread()
    count = args.names or (QUICK_NAMES if args.quick else NAMES)
    megabytes = QUICK_MEGABYTES if args.quick else MEGABYTES
    data = common.dataset(args.work, 0.002 if args.quick else 0.1, None, args.seed)
    texts = read_texts(data.folder / "corpus.jsonl", megabytes)
    results = measure("synthetic", synthetic_names(data, count, args.seed), texts, args.quick)
    if args.testbed:
        texts = read_texts(next(iter(sorted(args.testbed.glob("corpus.jsonl*")))), megabytes)
        names = testbed_names(args.testbed, texts, count, args.seed)
        results += measure(args.testbed.name, names, texts, args.quick)
    path = args.json or args.work / f"annotating-{count}.json"
    common.write_report(path, {"results": results})
    print(f"\n{path}")
    if args.check and not args.quick and any(row.get("whole_mb_per_s", TARGET) < TARGET for row in results):
        sys.exit(f"target missed: {TARGET} MB/s")


if __name__ == "__main__":
    main()
