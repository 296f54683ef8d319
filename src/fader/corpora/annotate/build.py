"""From names to a dictionary: tokens, trie, groups, candidates, step by step.

Names without a token and names of too many are passed over; what was passed over is noted. Knows nothing of files.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np

from fader.arrays import BOOL, I32, I64
from fader.corpora.annotate.dictionary import COMMON, MOST_TOKENS, Dictionary
from fader.corpora.annotate.groups import MOST_CANDIDATES, MOST_GROUPS, find_candidates, find_capitals, make_groups
from fader.corpora.annotate.names import Names
from fader.corpora.annotate.scan import Scanner
from fader.corpora.annotate.spelling import LINK, ONE_COMMON, SEVERAL_COMMON, collect_cases, collect_gaps, find_forms
from fader.corpora.annotate.terms import Terms, flatten
from fader.corpora.annotate.trie import make_trie, mark_capitals
from fader.errors import quote


@dataclass(slots=True)
class Surfaces:
    """Spellings that a linked corpus attests: what it means by them and how often. Numbers of entities as in Names."""

    texts: list[bytes]
    owners: I32
    counts: I64


@dataclass(slots=True)
class Build:
    """A dictionary, and what could not be used for it."""

    dictionary: Dictionary
    names: int
    notes: list[str]


def build(names: Names, common: frozenset[bytes] = frozenset(), attested: Surfaces | None = None) -> Build:
    """The dictionary of names, and of attested spellings; `common` are common words, folded."""
    texts, owners = list(names.surfaces), np.array(names.owners, dtype=np.int32)
    weights, counts = np.array(names.weights, dtype=np.float32), np.zeros(len(texts), dtype=np.int64)
    if attested is not None:
        texts += attested.texts
        owners = np.concatenate([owners, attested.owners])
        weights = np.concatenate([weights, np.zeros(attested.counts.size, dtype=np.float32)])
        counts = np.concatenate([counts, attested.counts])
    notes = list[str]()
    scanner = Scanner()
    tokens = scanner.scan(texts)
    starts = np.concatenate([np.zeros(1, dtype=np.int64), tokens.ends])
    usable = _find_usable(texts, np.diff(starts), len(names.surfaces), notes)
    numbers: dict[bytes, int] = {}  # of the distinct folded runs
    runs = scanner.take_new()
    term_of_run = np.fromiter((numbers.setdefault(f, len(numbers)) for f in runs), dtype=np.int32, count=len(runs))
    words = list(numbers)
    term, terms = term_of_run[tokens.raw], Terms.of(words)
    is_common = np.fromiter((w in common for w in words), dtype=np.uint8, count=len(words))
    forms = find_forms(scanner, tokens, starts, term, is_common, usable, counts > 0)
    trie = make_trie(term, starts, usable, len(words))
    groups = make_groups(forms, trie.node, trie.nodes, owners, usable)
    mark_capitals(trie.root, find_capitals(groups, forms))
    heads = groups.heads
    case_at, codes = collect_cases(scanner, tokens, starts, heads, forms.rule[heads])
    gaps_at, gap_bytes = collect_gaps(tokens, starts, heads, forms.gaps[heads])
    candidates, dropped = find_candidates(groups, forms, owners, weights, counts, len(names.ids))
    if groups.dropped:
        notes.append(f"passed over {groups.dropped:,} spellings of names that have more than {MOST_GROUPS} spellings")
    if dropped:
        few = f"of names with more than {MOST_CANDIDATES} entities only the first are candidates"
        notes.append(f"{few}: {dropped:,} are not")
    kind = forms.kind[heads]
    id_arena, id_starts = flatten(list(map(msgspec.json.Encoder().encode, names.ids)))
    dictionary = Dictionary(
        term_arena=terms.arena,
        term_starts=terms.starts,
        term_table=terms.table,
        term_root=trie.root,
        edges=trie.edges,
        edge_filter=trie.edge_filter,
        node_groups=groups.of_node,
        group_rule=forms.rule[heads],
        group_mask=groups.common_capitals(forms.mask),
        group_flags=np.where((kind == SEVERAL_COMMON) | (kind == ONE_COMMON), COMMON, 0).astype(np.uint8),
        group_link=LINK[kind],
        group_case=case_at,
        group_gaps=gaps_at,
        group_candidates=candidates.starts,
        case_codes=codes,
        gap_bytes=gap_bytes,
        candidate_entity=candidates.entity,
        candidate_prior=candidates.prior,
        profile_starts=np.zeros(len(names.ids) + 1, dtype=np.int64),
        profile_term=np.zeros(0, dtype=np.int32),
        profile_weight=np.zeros(0, dtype=np.float32),
        id_arena=id_arena,
        id_starts=id_starts,
    )
    return Build(dictionary, int(usable[: len(names.surfaces)].sum()), notes)


def _find_usable(texts: list[bytes], lengths: I64, catalog: int, notes: list[str]) -> BOOL:
    """Which names have tokens, and not too many; of those of the catalog, the first ones, others are noted."""
    for what, bad in (
        ("without a letter or digit", lengths == 0),
        (f"of more than {MOST_TOKENS} words", lengths > MOST_TOKENS),
    ):
        found = np.flatnonzero(bad[:catalog])
        if found.size:
            example = quote(texts[found[0]].decode())
            notes.append(f"passed over {found.size:,} names {what}, such as {example}")
    usable: BOOL = (lengths > 0) & (lengths <= MOST_TOKENS)
    return usable
