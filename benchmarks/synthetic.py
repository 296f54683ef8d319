"""A seeded, scalable corpus with the proportions of a Web corpus annotated with entities.

Scale 1.0 is 200k documents, 50M tokens, 2.4M mentions, 100k entities and 2,000 types. Word forms follow a
Zipf-Mandelbrot law, a word used once in a document is likelier there again, two-word collocations recur,
entities have Zipf popularity and names of one to three words which their mentions write into the text.

The corpus is made in chunks of documents, each with its own seed: memory is bounded, and for one catalog a
larger corpus begins with the smaller one. Beside the text the same data is kept as arrays (`Dataset` in
common.py), from which the peers load and which the query search reads. This file knows nothing of engines.

    python -m benchmarks.synthetic --scale 0.25 --work build/bench
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

VOCABULARY = 400_000
COLLOCATIONS = 30_000
CHUNK = 2_000  # documents
ZIPF_EXPONENT, ZIPF_SHIFT = 1.07, 2.7
REPEAT_WORD = 0.25  # share of tokens that repeat an earlier token of their document
REPEAT_ENTITY = 0.30  # share of mentions that repeat an earlier entity of their document
COLLOCATION_SHARE = 0.03  # collocations per token
NAME_FLOOR = 1_500  # names use words beyond this rank
LEVELS = (0.0005, 0.005, 0.04, 0.2, 0.45)  # shares of the types on levels 0 to 4; the rest is on level 5
STREAM_LENGTHS, STREAM_TEXT, STREAM_CATALOG, STREAM_WORDS = range(4)


@dataclass(frozen=True)
class Shape:
    """How large a corpus is: everything that, with the seed, decides its content."""

    documents: int
    entities: int
    types: int
    mean_length: float = 250.0
    mentions_per_document: float = 12.0
    vocabulary: int = VOCABULARY
    seed: int = 1

    @classmethod
    def of(cls, scale: float, catalog_scale: float | None = None, seed: int = 1) -> Shape:
        """The shape for a scale; `catalog_scale` sizes entities and types apart from the documents."""
        catalog = scale if catalog_scale is None else catalog_scale
        return cls(
            documents=max(100, round(200_000 * scale)),
            entities=max(200, round(100_000 * catalog)),
            types=max(60, round(2_000 * min(1.0, catalog) ** 0.5)),
            vocabulary=max(20_000, round(VOCABULARY * min(1.0, catalog) ** 0.5)),
            seed=seed,
        )


@dataclass(frozen=True)
class Catalog:
    """Words, collocations, entities with names and types, and the type graph, all as arrays."""

    words: list[str]
    collocations: np.ndarray  # (COLLOCATIONS, 2) word ids
    name_words: np.ndarray  # (entities, 3) word ids, -1 past the end
    name_lengths: np.ndarray
    entity_types: np.ndarray  # (entities, 2) direct types, -1 for none
    type_parents: np.ndarray  # (types, 2) supertypes, -1 for none


@dataclass(frozen=True)
class Chunk:
    """Some consecutive documents: tokens, and mentions by token position relative to the chunk."""

    lengths: np.ndarray
    tokens: np.ndarray
    starts: np.ndarray
    entities: np.ndarray
    confidences: np.ndarray  # in hundredths


def _rng(shape: Shape, stream: int, part: int = 0) -> np.random.Generator:
    return np.random.default_rng([shape.seed, stream, part])


def _zipf_cdf(size: int, exponent: float = ZIPF_EXPONENT, shift: float = ZIPF_SHIFT) -> np.ndarray:
    weights = (np.arange(size) + 1.0 + shift) ** -exponent
    cdf = np.cumsum(weights)
    return cdf / cdf[-1]


def _draw(rng: np.random.Generator, cdf: np.ndarray, size: int) -> np.ndarray:
    return np.searchsorted(cdf, rng.random(size)).astype(np.int32)


# --- the catalog -------------------------------------------------------------------------------------------


def make_words(rng: np.random.Generator, size: int) -> list[str]:
    """Distinct pronounceable words, longer with rank as in English (about 4.8 letters per token)."""
    consonants, vowels = np.frombuffer(b"tnshrdlcmwfgypbvkjxqz", "u1"), np.frombuffer(b"eaoiu", "u1")
    consonant_cdf, vowel_cdf = _zipf_cdf(21, 0.9, 2.0), _zipf_cdf(5, 0.6, 1.0)
    words: dict[str, None] = {}
    while len(words) < size:
        rank = np.arange(len(words), size) + 1.0
        length = 1.6 + 0.5 * np.log(rank) + rng.normal(0.0, 0.16, len(rank)) * np.log(rank + 2.0)
        length = np.clip(np.rint(length), 1, 16).astype(np.int64)
        letters = np.empty((len(rank), 16), np.uint8)
        phase = rng.integers(0, 2, len(rank))
        for column in range(16):
            c = consonants[_draw(rng, consonant_cdf, len(rank))]
            v = vowels[_draw(rng, vowel_cdf, len(rank))]
            letters[:, column] = np.where((column + phase) % 2 == 0, c, v)
        for row, n in zip(letters, length.tolist(), strict=True):
            words.setdefault(row[:n].tobytes().decode())
    return list(words)


def make_types(rng: np.random.Generator, size: int) -> np.ndarray:
    """Supertypes of each type: a DAG of six levels, most types with one supertype, some with two."""
    counts = [max(1, round(share * size)) for share in LEVELS]
    bounds = np.concatenate(([0], np.cumsum(counts), [size]))
    parents = np.full((size, 2), -1, np.int32)
    for level in range(1, len(bounds) - 1):
        above, here = bounds[level - 1 : level + 1], np.arange(bounds[level], bounds[level + 1])
        cdf = _zipf_cdf(above[1] - above[0], 0.8, 1.0)
        parents[here, 0] = above[0] + _draw(rng, cdf, len(here))
        second = above[0] + _draw(rng, cdf, len(here))
        keep = (rng.random(len(here)) < 0.1) & (second != parents[here, 0])
        parents[here[keep], 1] = second[keep]
    return parents


def make_catalog(shape: Shape) -> Catalog:
    words = make_words(_rng(shape, STREAM_WORDS), shape.vocabulary)
    rng = _rng(shape, STREAM_CATALOG)
    cdf = _zipf_cdf(shape.vocabulary)
    common = cdf[20]  # collocations and names leave out the commonest words
    pair = common + (1 - common) * rng.random((COLLOCATIONS, 2))
    collocations = np.searchsorted(cdf, pair).astype(np.int32)
    lengths = rng.choice([1, 2, 3], shape.entities, p=[0.45, 0.4, 0.15]).astype(np.int32)
    floor = cdf[NAME_FLOOR]
    names = np.searchsorted(cdf, floor + (1 - floor) * rng.random((shape.entities, 3))).astype(np.int32)
    names[np.arange(3) >= lengths[:, None]] = -1
    parents = make_types(rng, shape.types)
    first = max(1, round(sum(LEVELS[:2]) * shape.types))  # direct types lie on level 2 or deeper
    popularity = rng.permutation(np.diff(_zipf_cdf(shape.types - first, 0.9, 3.0), prepend=0.0))
    direct = first + _draw(rng, np.cumsum(popularity), 2 * shape.entities).reshape(-1, 2)
    direct[(rng.random(shape.entities) < 0.7) | (direct[:, 0] == direct[:, 1]), 1] = -1
    return Catalog(words, collocations, names, lengths, direct.astype(np.int32), parents)


# --- documents ---------------------------------------------------------------------------------------------


def _resolve_repeats(rng: np.random.Generator, values: np.ndarray, first: np.ndarray, share: float) -> None:
    """Let a share of `values` repeat a random earlier one of the same document, in place.

    `first[i]` is where the document of i begins. Pointers are followed to their ends by doubling.
    """
    here = np.arange(len(values), dtype=np.int32)
    repeat = (rng.random(len(values)) < share) & (here > first)
    source = first + (rng.random(len(values)) * (here - first)).astype(np.int32)
    pointer = np.where(repeat, source, here)
    while True:
        further = pointer[pointer]
        if np.array_equal(further, pointer):
            break
        pointer = further
    values[:] = values[pointer]


def _apart(starts: np.ndarray, lengths: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Which spans neither run past their document's end nor begin inside the span before them."""
    ends = starts + lengths
    keep = ends <= limits
    keep[1:] &= starts[1:] >= ends[:-1]
    return keep


def make_lengths(shape: Shape, part: int, count: int) -> np.ndarray:
    """Lognormal document lengths."""
    sigma = 0.7
    draw = _rng(shape, STREAM_LENGTHS, part).lognormal(np.log(shape.mean_length) - sigma**2 / 2, sigma, CHUNK)
    return np.clip(np.rint(draw), 12, 6_000).astype(np.int64)[:count]


def make_chunk(shape: Shape, catalog: Catalog, part: int, lengths: np.ndarray) -> Chunk:
    """Words, then collocations, then mentions over them."""
    rng = _rng(shape, STREAM_TEXT, part)
    size = int(lengths.sum())
    bounds = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    first = np.repeat(bounds[:-1], lengths)
    limit = np.repeat(bounds[1:], lengths)
    tokens = _draw(rng, _zipf_cdf(shape.vocabulary), size)
    _resolve_repeats(rng, tokens, first, REPEAT_WORD)

    at = np.flatnonzero(rng.random(size) < COLLOCATION_SHARE).astype(np.int32)
    which = _draw(rng, _zipf_cdf(len(catalog.collocations), 0.8, 5.0), len(at))
    keep = _apart(at, np.full(len(at), 2, np.int32), limit[at])
    at, pair = at[keep], catalog.collocations[which[keep]]
    tokens[at], tokens[at + 1] = pair[:, 0], pair[:, 1]

    rate = shape.mentions_per_document / shape.mean_length * 1.04  # some are dropped by _apart
    at = np.flatnonzero(rng.random(size) < rate).astype(np.int32)
    entities = _draw(rng, _zipf_cdf(shape.entities, 0.85, 20.0), len(at))
    _resolve_repeats(rng, entities, np.searchsorted(at, first[at]).astype(np.int32), REPEAT_ENTITY)
    keep = _apart(at, catalog.name_lengths[entities], limit[at])
    at, entities = at[keep], entities[keep]
    for offset in range(3):
        has = catalog.name_lengths[entities] > offset
        tokens[at[has] + offset] = catalog.name_words[entities[has], offset]
    confidences = np.rint(100 * rng.beta(6.0, 1.2, len(at))).astype(np.uint8)
    return Chunk(lengths, tokens, at, entities, confidences)


class Renderer:
    """Chunks to JSON lines. Sentences begin with a capital; commas and full stops follow words."""

    def __init__(self, shape: Shape, catalog: Catalog) -> None:
        self.shape, self.name_lengths = shape, catalog.name_lengths
        plain = catalog.words
        title = [word.capitalize() for word in plain]
        forms = plain + title
        forms = forms + [word + "," for word in forms] + [word + "." for word in forms]
        self.forms = np.array(forms, dtype=object)
        self.sizes = np.array([len(form) for form in forms], np.int32)

    def lines(self, chunk: Chunk, part: int) -> Iterator[str]:
        rng = np.random.default_rng([self.shape.seed, STREAM_TEXT, part, 1])
        size, vocabulary = len(chunk.tokens), self.shape.vocabulary
        bounds = np.concatenate(([0], np.cumsum(chunk.lengths)))
        mark = np.searchsorted([0.9, 0.945], rng.random(size))  # 0 none, 1 comma, 2 full stop
        capital = np.concatenate(([False], mark[:-1] == 2))
        capital[bounds[:-1]] = True
        capital[chunk.starts] = True
        form = chunk.tokens + vocabulary * (capital + 2 * mark)
        ends = np.cumsum(self.sizes[form] + 1)  # within the chunk, a space after each word
        begins = ends - self.sizes[form] - 1
        last = chunk.starts + self.name_lengths[chunk.entities] - 1
        document = np.searchsorted(bounds, chunk.starts, side="right") - 1
        origin = begins[bounds[document]]
        start = (begins[chunk.starts] - origin).tolist()
        end = (ends[last] - 1 - (mark[last] > 0) - origin).tolist()
        mentions = [
            f'{{"start":{s},"end":{e},"entity":"{entity_id(i)}","confidence":{c / 100:.2f}}}'
            for s, e, i, c in zip(start, end, chunk.entities.tolist(), chunk.confidences, strict=True)
        ]
        groups = np.searchsorted(document, np.arange(len(chunk.lengths) + 1)).tolist()
        words = self.forms[form].tolist()
        cuts = bounds.tolist()
        for i in range(len(chunk.lengths)):
            text = " ".join(words[cuts[i] : cuts[i + 1]])
            inner = ",".join(mentions[groups[i] : groups[i + 1]])
            yield f'{{"id":"{document_id(part * CHUNK + i)}","text":"{text}","mentions":[{inner}]}}\n'


def document_id(number: int) -> str:
    return f"D{number:08d}"


def entity_id(number: int) -> str:
    """Padded, so that ids sort as their numbers do."""
    return f"E{number:07d}"


def type_id(number: int) -> str:
    return f"T{number:04d}"


# --- files -------------------------------------------------------------------------------------------------


def write_catalog(folder: Path, catalog: Catalog) -> None:
    with open(folder / "entities.tsv", "w") as out:
        names = catalog.name_words.tolist()
        for i, (name, direct) in enumerate(zip(names, catalog.entity_types.tolist(), strict=True)):
            label = " ".join(catalog.words[w].capitalize() for w in name if w >= 0)
            out.write(f"{entity_id(i)}\t{label}\t{'|'.join(type_id(t) for t in direct if t >= 0)}\n")
    with open(folder / "types.tsv", "w") as out:
        for i, parents in enumerate(catalog.type_parents.tolist()):
            label = f"{catalog.words[100 + i]} {i}"
            out.write(f"{type_id(i)}\t{label}\t{'|'.join(type_id(p) for p in parents if p >= 0)}\n")
    (folder / "words.txt").write_text("\n".join(catalog.words) + "\n")


def write_corpus(folder: Path, shape: Shape, catalog: Catalog) -> None:
    """The JSON lines and, chunk by chunk, the arrays of the same corpus."""
    parts = range(0, shape.documents, CHUNK)
    per_part = [make_lengths(shape, p, min(CHUNK, shape.documents - at)) for p, at in enumerate(parts)]
    offsets = np.concatenate(([0], np.cumsum(np.concatenate(per_part))))
    tokens = np.lib.format.open_memmap(folder / "tokens.npy", "w+", np.int32, (int(offsets[-1]),))
    renderer = Renderer(shape, catalog)
    columns: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    base = 0
    with open(folder / "corpus.jsonl", "w", buffering=1 << 20) as out:
        for part, lengths in enumerate(per_part):
            chunk = make_chunk(shape, catalog, part, lengths)
            out.writelines(renderer.lines(chunk, part))
            tokens[base : base + len(chunk.tokens)] = chunk.tokens
            columns.append((chunk.starts.astype(np.int64) + base, chunk.entities, chunk.confidences))
            base += len(chunk.tokens)
    tokens.flush()
    starts, entities, confidences = (np.concatenate(c) for c in zip(*columns, strict=True))
    np.save(folder / "doc_offsets.npy", offsets.astype(np.int64))
    np.save(folder / "mention_start.npy", starts.astype(np.int32))
    np.save(folder / "mention_length.npy", catalog.name_lengths[entities].astype(np.int32))
    np.save(folder / "mention_entity.npy", entities.astype(np.int32))
    np.save(folder / "mention_confidence.npy", confidences)
    for name in ("entity_types", "type_parents", "collocations"):
        np.save(folder / f"{name}.npy", getattr(catalog, name))


def generate(folder: Path, shape: Shape) -> Path:
    """Write the corpus of this shape into `folder`, unless it is there already; returns the folder."""
    mark = folder / "shape.json"
    if mark.exists() and json.loads(mark.read_text()) == asdict(shape):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    catalog = make_catalog(shape)
    write_catalog(folder, catalog)
    write_corpus(folder, shape, catalog)
    mark.write_text(json.dumps(asdict(shape)))
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the synthetic corpus and its query sets.")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--work", type=Path, default=Path("build/bench"))
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    from benchmarks import workload  # late: the query search imports this module

    folder = generate(args.work / f"corpus-{args.scale:g}-{args.seed}", Shape.of(args.scale, seed=args.seed))
    workload.standard_sets(folder)
    print(folder)


if __name__ == "__main__":
    main()
