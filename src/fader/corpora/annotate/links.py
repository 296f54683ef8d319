"""What an annotated corpus teaches: what names mean there, how often they are mentions, and near which words.

Two passes over the linked corpus.

1. Every mention counts its surface for its entity. Surfaces become spellings of the dictionary, in their own case.
2. The dictionary's names are looked for in the same texts. With n spans of a group, m of which are mentions, and p the
   group's value without a linked corpus (see dictionary.py),

       link(g) = (m + 2 p) / (n + 2)                      (link probability, Mihalcea and Csomai 2007)

   For entities that share a name with another, near the first 200 mentions each, words t within 50 tokens are counted:
   c(e, t) of M(e) mentions have it, as have a share p(t) of all mentions looked at. With
   p(t | e) = (c(e, t) + 2 p(t)) / (M(e) + 2),

       w(e, t) = 1/2 log(p(t | e) / p(t)),                where c(e, t) >= 2 and it is positive

   The half is because words of one text are not independent. Words of the catalog's profile keep the larger weight.

Where a linked corpus does not mark every mention, link(g) is too low; confidences are then those of its habits.
Mentions whose entity the catalog does not have are counted and passed over. Memory grows with distinct surfaces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fader.arrays import BOOL, I32, I64
from fader.corpora.annotate.build import Build, Surfaces, build
from fader.corpora.annotate.dictionary import OBSERVED, Dictionary
from fader.corpora.annotate.match import LONGEST, Matcher
from fader.corpora.annotate.names import Names
from fader.corpora.annotate.profiles import Profiles, add_profiles, find_ambiguous, profile_catalog
from fader.corpora.annotate.resolve import WINDOW
from fader.corpora.annotate.scan import Scanner, Tokens
from fader.corpus.analysis import normalise
from fader.corpus.documents import Document, DocumentBatch, Faults, mention_columns, read_corpus
from fader.corpus.readers import check_readable
from fader.errors import UsageError
from fader.kernel import kernel
from fader.limits import Limits

STRENGTH = 2.0  # of what is believed before counting
DAMPING = 0.5
MOST_MENTIONS = 200  # of an entity, whose words are counted
LEAST_COUNT = 2
LONGEST_SURFACE = 1_000  # characters
MERGE_AT = 1 << 24  # pairs of an entity and a word before they are counted together


class Gold(NamedTuple):
    """The mentions of known entities in a batch: document in the batch, start, end and entity."""

    document: I64
    start: I64
    end: I64
    entity: I64


def build_from_links(
    names: Names, links: Sequence[str | Path], common: frozenset[bytes], limits: Limits | None = None
) -> tuple[Dictionary, Build]:
    """The dictionary of a catalog and a linked corpus."""
    for path in links:
        check_readable(path)
        if str(path) == "-":
            raise UsageError("a linked corpus is read twice; give a file, not -")
    number = {name: i for i, name in enumerate(names.ids)}
    faults = Faults()
    attested, unknown = _count_surfaces(links, number, faults, limits)
    made = build(names, common, attested)
    made.notes += faults.lines()
    if unknown:
        made.notes.append(f"passed over {unknown:,} links to entities that the catalog does not have")
    dictionary, learned = _learn(made.dictionary, links, number, limits)
    catalog = profile_catalog(names, find_ambiguous(dictionary))
    return add_profiles(dictionary, _join_profiles(catalog, learned)), made


def _count_surfaces(
    links: Sequence[str | Path], number: dict[str, int], faults: Faults, limits: Limits | None
) -> tuple[Surfaces, int]:
    """How often which surface means which entity; and how many mentions name none that is known."""
    counts: Counter[tuple[str, int]] = Counter()
    unknown = 0
    for batch in read_corpus(links, faults, limits):
        for document in batch.documents:
            for start, end, entity in _known_mentions(document, number):
                if entity < 0:
                    unknown += 1
                elif end - start <= LONGEST_SURFACE:
                    counts[document.text[start:end], entity] += 1
    texts = [surface.encode() for surface, _entity in counts]
    owners = np.fromiter((entity for _surface, entity in counts), dtype=np.int32, count=len(counts))
    return Surfaces(texts, owners, np.fromiter(counts.values(), dtype=np.int64, count=len(counts))), unknown


def _known_mentions(document: Document, number: dict[str, int]) -> Iterator[tuple[int, int, int]]:
    """Start, end and entity's number (-1: unknown) of each mention that lies in its text."""
    starts, ends, entities, _confidences = mention_columns(document.mentions)
    size = len(document.text)
    for start, end, entity in zip(starts.tolist(), ends.tolist(), entities, strict=True):
        if 0 <= start < end <= size:
            yield start, end, number.get(entity, -1)


def _learn(
    dictionary: Dictionary, links: Sequence[str | Path], number: dict[str, int], limits: Limits | None
) -> tuple[Dictionary, Profiles]:
    """Link probabilities, and words near mentions."""
    matcher = Matcher(dictionary)
    seen, linked = (np.zeros(dictionary.group_link.size, dtype=np.int64) for _ in range(2))
    words = _Words(dictionary)
    for batch in read_corpus(links, Faults(), limits):
        encoded = [d.text.encode() for d in batch.documents]
        tokens, term = matcher.scan(encoded)
        matches = matcher.match(tokens, term, LONGEST)
        gold = _find_gold(batch, number)
        document = np.repeat(np.arange(matches.ends.size), np.diff(matches.ends, prepend=0))
        start = tokens.first[matches.token].astype(np.int64)
        end = tokens.last[matches.token + matches.length - 1].astype(np.int64)
        found = np.isin(_span_keys(document, start, end), _span_keys(gold.document, gold.start, gold.end))
        np.add.at(seen, matches.group, 1)
        np.add.at(linked, matches.group[found], 1)
        words.count(tokens, matcher.scanner, gold)
    link = (linked + STRENGTH * dictionary.group_link) / (seen + STRENGTH)
    flags = dictionary.group_flags | np.where(seen > 0, OBSERVED, 0).astype(np.uint8)
    return dictionary._replace(group_link=link.astype(np.float32), group_flags=flags), words.weights()


def _find_gold(batch: DocumentBatch, number: dict[str, int]) -> Gold:
    """Find every mention of a known entity."""
    rows = [
        (d, start, end, entity)
        for d, document in enumerate(batch.documents)
        for start, end, entity in _known_mentions(document, number)
        if entity >= 0
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return Gold(columns[:, 0], columns[:, 1], columns[:, 2], columns[:, 3])


def _span_keys(document: I64, start: I64, end: I64) -> I64:
    """One number for a span of a batch; offsets are below 2^28, mentions longer than 2^15 are no names."""
    keys: I64 = document << 43 | start << 15 | np.minimum(end - start, 0x7FFF)
    return keys


class _Words:
    """Counts words near the mentions of entities that share names."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._left = np.zeros(dictionary.entities, dtype=np.int32)
        self._left[find_ambiguous(dictionary)] = MOST_MENTIONS
        self._quota = self._left.copy()
        self._numbers: dict[bytes, int] = {}
        self._of_run = np.zeros(0, dtype=np.int64)
        self._vocabulary: object = None
        self._pending: list[I64] = []
        self._pairs, self._counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    def count(self, tokens: Tokens, scanner: Scanner, gold: Gold) -> None:
        """Take in the mentions of a batch."""
        if not gold.entity.size:
            return
        taken = np.zeros(gold.entity.size, dtype=np.bool_)
        _take(gold.entity, self._left, taken)
        if not taken.any():
            return
        of_run = self._word_of_run(scanner)
        room = int(taken.sum()) * (2 * WINDOW + 1)
        pairs = np.empty(room, dtype=np.int64)
        stamp = np.full(len(self._numbers), -1, dtype=np.int64)
        used = _find_near(tokens, of_run[tokens.raw], gold, taken, stamp, pairs)
        self._pending.append(pairs[:used].copy())
        if sum(p.size for p in self._pending) > MERGE_AT:
            self._merge()

    def _word_of_run(self, scanner: Scanner) -> I64:
        """The scanner's runs as this object's words."""
        first = self._of_run.size
        if scanner.vocabulary is not self._vocabulary:
            self._vocabulary, first = scanner.vocabulary, 0
            self._of_run = self._of_run[:0]
        numbers = self._numbers
        new = [
            numbers.setdefault(run if run.isascii() else normalise(run.decode()).encode(), len(numbers))
            for run in scanner.vocabulary.runs(first)
        ]
        self._of_run = np.concatenate([self._of_run, np.array(new, dtype=np.int64)])
        return self._of_run

    def _merge(self) -> None:
        pairs = np.concatenate([self._pairs, *self._pending])
        counts = np.concatenate([self._counts, np.ones(pairs.size - self._pairs.size, dtype=np.int64)])
        self._pairs, place = np.unique(pairs, return_inverse=True)
        self._counts = np.bincount(place, weights=counts).astype(np.int64)
        self._pending = []

    def weights(self) -> Profiles:
        """What was counted, as profiles."""
        self._merge()
        entity, word = self._pairs >> 32, self._pairs & 0xFFFFFFFF
        mentions = self._quota - self._left
        total = max(1, int(mentions.sum()))
        share = np.bincount(word, weights=self._counts, minlength=max(1, len(self._numbers))) / total
        near = (self._counts + STRENGTH * share[word]) / (mentions[entity] + STRENGTH)
        weight = DAMPING * np.log(near / share[word])
        kept = (self._counts >= LEAST_COUNT) & (weight > 0)
        columns = entity[kept], word[kept].astype(np.int32), weight[kept].astype(np.float32)
        return Profiles(list(self._numbers), *columns)


@kernel
def _take(entity: I64, left: I32, taken: BOOL) -> None:
    """Which mentions' words are counted: the first ones of each entity."""
    for i in range(entity.size):
        if left[entity[i]] > 0:
            left[entity[i]] -= 1
            taken[i] = True


@kernel
def _find_near(tokens: Tokens, word: I64, gold: Gold, taken: BOOL, stamp: I64, pairs: I64) -> int:
    """Find pairs of entity and word, each once per mention. A document's mentions may be in any order."""
    n = 0
    for i in range(gold.entity.size):
        if not taken[i]:
            continue
        low = tokens.ends[gold.document[i] - 1] if gold.document[i] else 0
        high = tokens.ends[gold.document[i]]
        a, b = low, high
        while a < b:  # the first token that ends after the mention's start
            middle = (a + b) // 2
            if tokens.last[middle] <= gold.start[i]:
                a = middle + 1
            else:
                b = middle
        after = a
        while after < high and tokens.first[after] < gold.end[i]:
            after += 1
        for t in range(max(low, a - WINDOW), min(high, after + WINDOW)):
            if not a <= t < after and stamp[word[t]] != i:
                stamp[word[t]] = i
                pairs[n] = gold.entity[i] << 32 | word[t]
                n += 1
    return n


def _join_profiles(one: Profiles, other: Profiles) -> Profiles:
    """Two profiles as one; of a pair's weights the larger."""
    numbers = {word: i for i, word in enumerate(one.words)}
    place = np.full(len(other.words), -1, dtype=np.int64)
    for i in np.unique(other.word).tolist():
        place[i] = numbers.setdefault(other.words[i], len(numbers))
    pairs = np.concatenate([one.owner << 32 | one.word, other.owner << 32 | place[other.word]])
    weight = np.concatenate([one.weight, other.weight])
    order = np.lexsort((-weight, pairs))
    pairs, weight = pairs[order], weight[order]
    kept = np.ones(pairs.size, dtype=np.bool_)
    kept[1:] = pairs[1:] != pairs[:-1]
    pairs = pairs[kept]
    return Profiles(list(numbers), pairs >> 32, (pairs & 0xFFFFFFFF).astype(np.int32), weight[kept])
