"""Words that speak for an entity, from the catalog: those of its names and of its types.

Only entities that share a name with another need any. The weight of word t is

    w(e, t) = 2 * log((E + 1) / E(t)) / log(E + 1)

with E(t) of the E profiles holding it: a word that only one entity has makes it about seven times as likely, one that
all have says nothing. The 64 heaviest words of a profile are kept. Knows nothing of texts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fader.arrays import F32, I32, I64
from fader.corpora.annotate.dictionary import Dictionary
from fader.corpora.annotate.names import Names
from fader.corpora.annotate.scan import Scanner
from fader.corpora.annotate.terms import Terms

HEAVIEST = 2.0
MOST_WORDS = 64


class Profiles(NamedTuple):
    """Words; and per pair of an entity and one of its words: the entity, the word's number, the weight."""

    words: list[bytes]
    owner: I64
    word: I32
    weight: F32


def find_ambiguous(dictionary: Dictionary) -> I64:
    """The entities that share a name with another."""
    shared = np.repeat(np.diff(dictionary.group_candidates) > 1, np.diff(dictionary.group_candidates))
    return np.unique(dictionary.candidate_entity[shared]).astype(np.int64)


def profile_catalog(names: Names, entities: I64) -> Profiles:
    """The profiles of some entities, from the catalog."""
    texts: dict[int, list[bytes]] = {e: names.type_texts(e) for e in entities.tolist()}
    for surface, entity in zip(names.surfaces, names.owners, strict=True):
        if entity in texts:
            texts[entity].append(surface)
    scanner = Scanner()
    tokens = scanner.scan([b" | ".join(parts) for parts in texts.values()])
    owner = np.repeat(entities, np.diff(tokens.ends, prepend=0))
    numbers: dict[bytes, int] = {}
    of_run = np.array([numbers.setdefault(f, len(numbers)) for f in scanner.take_new()], dtype=np.int64)
    pairs = np.unique(owner << 32 | of_run[tokens.raw]) if owner.size else np.zeros(0, dtype=np.int64)
    owner, word = pairs >> 32, (pairs & 0xFFFFFFFF).astype(np.int32)
    holders = np.bincount(word, minlength=len(numbers))
    many = max(1, entities.size)
    weight = HEAVIEST * np.log((many + 1) / np.maximum(1, holders)) / np.log(many + 1)
    return Profiles(list(numbers), owner, word, weight[word].astype(np.float32))


def add_profiles(dictionary: Dictionary, profiles: Profiles) -> Dictionary:
    """The dictionary with these profiles; words that no name has become terms of it."""
    terms, (words, owner, word, weight) = dictionary.terms, profiles
    number = terms.numbers(words)
    new = np.flatnonzero(number < 0)
    if new.size:
        terms = Terms.of(terms.words() + [words[i] for i in new.tolist()])
        number[new] = np.arange(terms.starts.size - 1 - new.size, terms.starts.size - 1)
    order = np.lexsort((number[word], -weight, owner))
    owner, word, weight = owner[order], word[order], weight[order]
    first = np.searchsorted(owner, owner)
    kept = np.arange(owner.size) - first < MOST_WORDS
    owner, word, weight = owner[kept], word[kept], weight[kept]
    starts = np.zeros(dictionary.entities + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=dictionary.entities), out=starts[1:])
    root = np.zeros(terms.starts.size - 1, dtype=np.int32)
    root[: dictionary.term_root.size] = dictionary.term_root
    return dictionary._replace(
        term_arena=terms.arena,
        term_starts=terms.starts,
        term_table=terms.table,
        term_root=root,
        profile_starts=starts,
        profile_term=number[word].astype(np.int32),
        profile_weight=weight.astype(np.float32),
    )
