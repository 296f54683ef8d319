"""All names of a catalog in flat arrays: a trie over terms, and at its nodes the spellings and whom they mean.

A name is the sequence of its tokens' terms; equal sequences end at one node. What names of one node differ in are their
*groups*, tried in this order, the first that applies to a text decides:

- OWN: applies where every token has the name's own case. Names of at most three characters; names all in capitals (two
  at least); every spelling that a linked corpus attests.
- CAPITALS: applies where each token that starts with a capital in the name does so in the text. Names of which every
  token is a common word, and which have a capital.
- ANY: applies in any case. All other names.

A name without capitals says nothing of case where a quarter of the catalog's names are written so: such names are ANY.
Among groups that apply, one that a text's HARD gaps do not fit is passed over (see scan.py).

A group holds its candidates: the entities of all names that apply wherever the group does, with their priors
`P(e | name) = (n(e) + w(e)) / sum`, n(e) being how often the linked corpus means e by it (0 without one), w(e) = 1 for
an entity's name and 1/2 for its other names. Candidates are ordered by prior, then by the catalog; 64 are kept.

Arrays only, so that a dictionary is saved as files that many processes map. Knows nothing of texts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fader.annotate.names import Names
from fader.annotate.scan import (
    CAPITALISED,
    I32,
    I64,
    KINDS,
    LOWER,
    U8,
    U64,
    UPPER,
    UPPERS,
    Scanner,
    Tokens,
    case_code,
    gap_class,
    gap_classes,
)  # fmt: skip
from fader.annotate.terms import Terms, flat
from fader.errors import InputError, quoted
from fader.kernel import inline_kernel, kernel

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

OWN, CAPITALS, ANY = 0, 1, 2
DEEP, NAMED, MARKS = 1, 2, 2  # marks of a node, below its number: longer names, names; how many bits they take
COMMON, OBSERVED = 1, 2  # flags of a group: all its words are common; the linked corpus has seen it
MOST_TOKENS = 64
MOST_GROUPS = 64
MOST_CANDIDATES = 64
SHORT = 3
LOWER_SHARE = 0.25

# How often a span that reads like a name is one, by the kind of name, where no linked corpus tells. Round numbers.
SEVERAL, SEVERAL_COMMON, ONE, ONE_COMMON, FEW_CHARACTERS, NO_LETTERS = range(6)
LINK = np.array([0.9, 0.7, 0.8, 0.4, 0.6, 0.3], dtype=np.float32)


@dataclass(slots=True)
class Dictionary:
    """See the head of the file. Names of arrays say what a row is of: a term, an edge, a node, a group, ..."""

    term_arena: U8
    term_starts: I64
    term_table: I32
    term_root: I32  # the node where names that start with the term go on, with its marks; 0 for none
    edges: U64  # open addressing: node and term; the child with its marks (0: free)
    edge_filter: U64  # a bit for each edge's hash: most look-ups end here, in a small array
    node_groups: I64
    group_rule: U8
    group_mask: U64  # which tokens start with a capital
    group_flags: U8
    group_link: F32  # how often a span like this is a mention
    group_case: I64  # where the case codes of an OWN group are, -1 for none
    group_gaps: I64  # where the characters of HARD gaps are, -1 for none
    group_candidates: I64
    case_codes: U64
    gap_bytes: U8
    candidate_entity: I32
    candidate_prior: F32  # logarithm
    profile_starts: I64  # per entity: words that speak for it
    profile_term: I32
    profile_weight: F32
    id_arena: U8  # per entity its id, as JSON
    id_starts: I64

    @property
    def terms(self) -> Terms:
        return Terms(self.term_arena, self.term_starts, self.term_table)

    @property
    def entities(self) -> int:
        return self.id_starts.size - 1

    def entity_id(self, number: int) -> str:
        return str(msgspec.json.decode(bytes(self.id_arena[self.id_starts[number] : self.id_starts[number + 1]])))

    def save(self, folder: Path) -> None:
        """Write the arrays as files into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for each in fields(self):
            np.save(folder / f"{each.name}.npy", getattr(self, each.name))
        (folder / "dictionary.json").write_text(json.dumps({"format": 1}))

    @classmethod
    def load(cls, folder: Path) -> Dictionary:
        """Map the arrays of a folder."""
        try:
            assert json.loads((folder / "dictionary.json").read_text()) == {"format": 1}
            return cls(**{f.name: _mapped(folder / f"{f.name}.npy") for f in fields(cls)})
        except (OSError, ValueError, AssertionError):
            raise InputError(f"{folder}: not a dictionary of names of this release; build it again") from None

    @property
    def nbytes(self) -> int:
        return sum(getattr(self, f.name).nbytes for f in fields(self))


def _mapped(path: Path) -> NDArray[Any]:
    """The array of a file. As a plain array, for which kernels are compiled already."""
    mapped = np.load(path, mmap_mode="r")
    return np.asarray(mapped).view(np.ndarray)


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
    return _Builder(names.ids, texts, owners, weights, counts, common).build(len(names.surfaces))


class _Builder:
    """Step by step from names to arrays."""

    def __init__(
        self, ids: list[str], texts: list[bytes], owners: I32, weights: F32, counts: I64, common: frozenset[bytes]
    ) -> None:
        self.ids, self.texts, self.owners, self.weights, self.counts = ids, texts, owners, weights, counts
        self.common = common
        self.notes: list[str] = []

    def build(self, catalog: int) -> Build:
        scanner = Scanner()
        tokens = scanner.scan(self.texts)
        words, term_of_run = _distinct(scanner.take_new())
        terms = Terms.of(words)
        term = term_of_run[tokens.raw]
        starts = np.concatenate([np.zeros(1, dtype=np.int64), tokens.ends])
        usable = self._usable(np.diff(starts), catalog)
        common = np.fromiter((w in self.common for w in words), dtype=np.uint8, count=len(words))
        forms = self._forms(scanner, tokens, starts, term, common, usable)
        root, edges, edge_filter, node, nodes = self._trie(term, starts, usable, len(words))
        parts = self._groups(tokens, scanner, starts, node, nodes, forms, usable)
        id_arena, id_starts = flat(list(map(msgspec.json.Encoder().encode, self.ids)))
        dictionary = Dictionary(
            term_arena=terms.arena, term_starts=terms.starts, term_table=terms.table, term_root=root,
            edges=edges, edge_filter=edge_filter, **parts,
            profile_starts=np.zeros(len(self.ids) + 1, dtype=np.int64), profile_term=np.zeros(0, dtype=np.int32),
            profile_weight=np.zeros(0, dtype=np.float32), id_arena=id_arena, id_starts=id_starts,
        )  # fmt: skip
        return Build(dictionary, int(usable[:catalog].sum()), self.notes)

    def _usable(self, lengths: I64, catalog: int) -> NDArray[np.bool_]:
        """Names that have tokens, and not too many."""
        for what, bad in (
            ("without a letter or digit", lengths == 0),
            (f"of more than {MOST_TOKENS} words", lengths > MOST_TOKENS),
        ):
            found = np.flatnonzero(bad[:catalog])
            if found.size:
                example = quoted(self.texts[found[0]].decode())
                self.notes.append(f"passed over {found.size:,} names {what}, such as {example}")
        usable: NDArray[np.bool_] = (lengths > 0) & (lengths <= MOST_TOKENS)
        return usable

    def _forms(
        self, scanner: Scanner, tokens: Tokens, starts: I64, term: I32, common: U8, usable: NDArray[np.bool_]
    ) -> dict[str, NDArray[Any]]:
        """Per name its rule, capitals, kind, and a key that names of one group share."""
        n = len(self.texts)
        forms: dict[str, NDArray[Any]] = {
            "rule": np.zeros(n, dtype=np.uint8), "mask": np.zeros(n, dtype=np.uint64),
            "kind": np.zeros(n, dtype=np.uint8), "key": np.zeros(n, dtype=np.uint64),
            "gaps": np.zeros(n, dtype=np.uint64),
        }  # fmt: skip
        plain = np.zeros(n, dtype=np.uint8)
        _look(
            tokens.buf, tokens.at, tokens.size, tokens.first, tokens.last, tokens.raw, tokens.gap, starts, term, common,
            scanner.flags, usable, forms["rule"], forms["mask"], forms["kind"], forms["gaps"], plain, gap_classes(),
        )  # fmt: skip
        named = (self.counts == 0) & (forms["kind"] != NO_LETTERS) & usable
        if named.any() and plain[named].mean() >= LOWER_SHARE:
            forms["rule"][(plain == 1) & (self.counts == 0)] = ANY
        forms["rule"][self.counts > 0] = OWN
        _group_keys(
            tokens.buf, tokens.at, tokens.size, tokens.raw, starts, scanner.case, forms["rule"], forms["mask"],
            forms["gaps"], forms["key"],
        )  # fmt: skip
        return forms

    def _trie(self, term: I32, starts: I64, usable: NDArray[np.bool_], terms: int) -> tuple[I32, U64, U64, I32, int]:
        """Edges, and the node at which each name ends."""
        most = int(np.where(usable, np.diff(starts) - 1, 0).sum())
        edges = np.zeros((_power(most + most // 2), 2), dtype=np.uint64)
        root = np.zeros(terms, dtype=np.int32)
        node = np.full(len(self.texts), -1, dtype=np.int32)
        deep = np.zeros(most + terms + 1, dtype=np.uint8)
        nodes, used = _insert(term, starts, usable, root, edges, node, deep)
        marks = deep[:nodes]
        marks[node[node >= 0]] |= NAMED
        root[root > 0] = root[root > 0] << MARKS | marks[root[root > 0]]
        final = np.zeros((_power(used + used // 2), 2), dtype=np.uint64)  # names share beginnings: fewer than thought
        edge_filter = np.zeros(_power(used // 16), dtype=np.uint64)  # 4 to 8 bits an edge
        _finish(edges, marks, final, edge_filter)
        return root, final, edge_filter, node, nodes

    def _groups(
        self, tokens: Tokens, scanner: Scanner, starts: I64, node: I32, nodes: int, forms: dict[str, NDArray[Any]],
        usable: NDArray[np.bool_],
    ) -> dict[str, NDArray[Any]]:  # fmt: skip
        """Names to groups with candidates."""
        rows = np.flatnonzero(usable)
        rows = rows[np.lexsort((self.owners[rows], forms["key"][rows], node[rows]))]
        key, at = forms["key"][rows], node[rows]
        opens = np.ones(rows.size, dtype=np.bool_)
        opens[1:] = (key[1:] != key[:-1]) | (at[1:] != at[:-1])
        first = np.flatnonzero(opens)
        keep = _within_most(at[first])
        if not keep.all():
            self.notes.append(
                f"passed over {int((~keep).sum()):,} spellings of names that have more than {MOST_GROUPS} spellings"
            )
            kept_rows = keep[np.cumsum(opens) - 1]
            rows, opens, at = rows[kept_rows], opens[kept_rows], at[kept_rows]
            first = np.flatnonzero(opens)
        heads, bounds = rows[first], np.append(first, rows.size)
        node_groups = np.zeros(nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(at[first], minlength=nodes), out=node_groups[1:])
        rule, kind = forms["rule"][heads], forms["kind"][heads]
        case_at, codes = self._cases(tokens, scanner, starts, heads, rule)
        gaps_at, gap_bytes = self._gap_bytes(tokens, starts, heads, forms["gaps"][heads])
        group_candidates, entity, prior, dropped = _candidates(
            node_groups, bounds, rows, rule, forms["mask"][heads], forms["gaps"][heads], self.owners, self.weights,
            self.counts, len(self.ids),
        )  # fmt: skip
        if dropped:
            note = (
                f"of names with more than {MOST_CANDIDATES} entities only the first are candidates: {dropped:,} are not"
            )
            self.notes.append(note)
        common = (kind == SEVERAL_COMMON) | (kind == ONE_COMMON)
        return {
            "node_groups": node_groups, "group_rule": rule, "group_mask": forms["mask"][heads],
            "group_flags": (common * COMMON).astype(np.uint8), "group_link": LINK[kind], "group_case": case_at,
            "group_gaps": gaps_at, "group_candidates": group_candidates, "case_codes": codes, "gap_bytes": gap_bytes,
            "candidate_entity": entity, "candidate_prior": prior,
        }  # fmt: skip

    def _cases(self, tokens: Tokens, scanner: Scanner, starts: I64, heads: I64, rule: U8) -> tuple[I64, U64]:
        own = rule == OWN
        lengths = np.where(own, starts[heads + 1] - starts[heads], 0)
        at = np.where(own, np.cumsum(lengths) - lengths, -1)
        codes = np.zeros(int(lengths.sum()), dtype=np.uint64)
        _fill_cases(tokens.buf, tokens.at, tokens.size, tokens.raw, starts, scanner.case, heads, at, codes)
        return at, codes

    def _gap_bytes(self, tokens: Tokens, starts: I64, heads: I64, gaps: U64) -> tuple[I64, U8]:
        at = np.full(heads.size, -1, dtype=np.int64)
        out = np.zeros(max(1, sum(len(self.texts[h]) + 1 for h in heads[gaps != 0].tolist())), dtype=np.uint8)
        used = _fill_gaps(tokens.buf, tokens.at, tokens.size, tokens.gap, starts, heads, gaps, gap_classes(), at, out)
        return at, out[:used].copy()


def _power(size: int) -> int:
    """The power of two above a size, 16 at least."""
    return 1 << max(4, size.bit_length())


def _distinct(folded: list[bytes]) -> tuple[list[bytes], I32]:
    """The distinct folded runs, and the number of each run's."""
    numbers: dict[bytes, int] = {}
    of_run = np.fromiter((numbers.setdefault(f, len(numbers)) for f in folded), dtype=np.int32, count=len(folded))
    return list(numbers), of_run


def _within_most(node: I32) -> NDArray[np.bool_]:
    """Of each node's groups, which are sorted, the last MOST_GROUPS: the rules that apply most widely come last."""
    later = np.ones(node.size, dtype=np.bool_)
    later[:-MOST_GROUPS] = node[:-MOST_GROUPS] != node[MOST_GROUPS:]
    return later


@kernel
def _look(
    buf: U8, at: I64, size: I32, first: I32, last: I32, raw: I32, gap: U8, starts: I64, term: I32, common: U8,
    flags: U8, usable: NDArray[np.bool_], rule: U8, mask: U64, kind: U8, gaps: U64, plain: U8, classes: U8,
) -> None:  # fmt: skip
    """What the spelling of each name says: its rule, its capitals, its kind, a hash of its HARD gaps (0: none)."""
    for i in range(starts.size - 1):
        if not usable[i]:
            continue
        a, b = starts[i], starts[i + 1]
        uppers, lowers, characters, capitals = 0, 0, 0, np.uint64(0)
        all_common = True
        hard = np.uint64(0)
        for t in range(a, b):
            characters += last[t] - first[t]
            all_common = all_common and common[term[t]] != 0
            if gap[t] & CAPITALISED:
                capitals |= np.uint64(1) << np.uint64(t - a)
            if size[t] < 0:
                uppers += 1 if flags[raw[t]] & UPPER else 0
                uppers += 1 if flags[raw[t]] & UPPERS else 0
                lowers += 1 if flags[raw[t]] & LOWER else 0
            else:
                for j in range(size[t]):
                    c = buf[at[t] + j]
                    uppers += 1 if 65 <= c <= 90 else 0
                    lowers += 1 if 97 <= c <= 122 else 0
            if t > a and (gap[t] & KINDS) != 0:
                hard = _hash_gap(buf, at[t - 1] + abs(size[t - 1]), at[t], classes, hard ^ np.uint64(t - a + 1))
        mask[i] = capitals
        gaps[i] = hard
        plain[i] = 1 if uppers == 0 else 0
        if uppers + lowers == 0 and _only_digits(buf, at, size, a, b):
            kind[i] = NO_LETTERS
        elif characters <= SHORT:
            kind[i] = FEW_CHARACTERS
        elif b - a == 1:
            kind[i] = ONE_COMMON if all_common else ONE
        else:
            kind[i] = SEVERAL_COMMON if all_common else SEVERAL
        if characters <= SHORT or (uppers >= 2 and lowers == 0):
            rule[i] = OWN
        elif all_common and capitals != 0:
            rule[i] = CAPITALS
        else:
            rule[i] = ANY


@inline_kernel
def _only_digits(buf: U8, at: I64, size: I32, a: int, b: int) -> Any:
    """Whether the tokens are all ASCII and, having no letters, all digits."""
    ascii_only = True
    for t in range(a, b):
        ascii_only = ascii_only and size[t] > 0
    return ascii_only


@inline_kernel
def _hash_gap(buf: U8, i: int, b: int, classes: U8, h: np.uint64) -> Any:
    """A hash of the characters of a gap, spaces aside; never 0."""
    h = (h ^ np.uint64(0xCBF29CE484222325)) * np.uint64(0x100000001B3)
    while i < b:
        c, width = gap_class(buf, i, classes)
        if c != 1 and c != 2:
            for j in range(width):
                h = (h ^ np.uint64(buf[i + j])) * np.uint64(0x100000001B3)
        i += width
    return h | np.uint64(1)


@kernel
def _group_keys(
    buf: U8, at: I64, size: I32, raw: I32, starts: I64, case: U64, rule: U8, mask: U64, gaps: U64, key: U64
) -> None:
    """Rule, how many capitals are wanted (many first), whether there are HARD gaps, and a hash of the rest."""
    for i in range(starts.size - 1):
        h = gaps[i]
        wanted = 0
        if rule[i] == CAPITALS:
            h = (h ^ mask[i]) * np.uint64(0x9E3779B97F4A7C15)
            for j in range(64):
                wanted += 1 if (mask[i] >> np.uint64(j)) & np.uint64(1) else 0
        if rule[i] == OWN:
            for t in range(starts[i], starts[i + 1]):
                h = (h ^ case_code(buf, at, size, raw, case, t)) * np.uint64(0x9E3779B97F4A7C15)
                h ^= h >> np.uint64(29)
        h *= np.uint64(0x9E3779B97F4A7C15)
        top = (np.uint64(rule[i]) << np.uint64(62)) | (np.uint64(64 - wanted) << np.uint64(55))
        top |= np.uint64(1 if gaps[i] != 0 else 0) << np.uint64(54)
        key[i] = top | (h >> np.uint64(10))


@kernel
def edge_hash(key: np.uint64) -> Any:
    """A hash of a node and a term."""
    h = key * np.uint64(0x9E3779B97F4A7C15)
    h ^= h >> np.uint64(29)
    h *= np.uint64(0xBF58476D1CE4E5B9)
    return h ^ (h >> np.uint64(32))


@kernel
def _insert(term: I32, starts: I64, usable: NDArray[np.bool_], root: I32, edges: U64, node: I32, deep: U8) -> Any:
    """Enter every name; returns the counts of nodes and edges. Node 0 is nobody's, so that a free slot has child 0."""
    nodes, used = 1, 0
    mask = np.uint64(edges.shape[0] - 1)
    for i in range(starts.size - 1):
        if not usable[i]:
            continue
        a, b = starts[i], starts[i + 1]
        if root[term[a]] == 0:
            root[term[a]] = nodes
            nodes += 1
        here = np.int64(root[term[a]])
        for t in range(a + 1, b):
            deep[here] = DEEP
            key = (np.uint64(here) << np.uint64(32)) | np.uint64(term[t])
            slot = edge_hash(key) & mask
            while edges[slot, 1] != 0 and edges[slot, 0] != key:
                slot = (slot + np.uint64(1)) & mask
            if edges[slot, 1] == 0:
                edges[slot, 0] = key
                edges[slot, 1] = nodes
                nodes += 1
                used += 1
            here = np.int64(edges[slot, 1])
        node[i] = here
    return nodes, used


@kernel
def _finish(old: U64, marks: U8, edges: U64, edge_filter: U64) -> None:
    """Edges in a table of the right size, children with their marks, and the filter."""
    mask = np.uint64(edges.shape[0] - 1)
    bits = np.uint64(64 * edge_filter.size - 1)
    for i in range(old.shape[0]):
        if old[i, 1] != 0:
            h = edge_hash(old[i, 0])
            slot = h & mask
            while edges[slot, 1] != 0:
                slot = (slot + np.uint64(1)) & mask
            edges[slot, 0] = old[i, 0]
            edges[slot, 1] = (old[i, 1] << np.uint64(MARKS)) | np.uint64(marks[old[i, 1]])
            bit = (h >> np.uint64(20)) & bits
            edge_filter[bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))


@inline_kernel
def may_go_on(key: np.uint64, edge_filter: U64) -> Any:
    """1 where there may be an edge, 0 where there is none."""
    bit = (edge_hash(key) >> np.uint64(20)) & np.uint64(64 * edge_filter.size - 1)
    return (edge_filter[bit >> np.uint64(6)] >> (bit & np.uint64(63))) & np.uint64(1)


@kernel
def _fill_cases(
    buf: U8, at: I64, size: I32, raw: I32, starts: I64, case: U64, heads: I64, case_at: I64, codes: U64
) -> None:
    for g in range(heads.size):
        if case_at[g] >= 0:
            a = starts[heads[g]]
            for t in range(a, starts[heads[g] + 1]):
                codes[case_at[g] + t - a] = case_code(buf, at, size, raw, case, t)


@kernel
def _fill_gaps(
    buf: U8, at: I64, size: I32, gap: U8, starts: I64, heads: I64, gaps: U64, classes: U8, gaps_at: I64, out: U8
) -> int:
    """The characters of each gap, spaces aside and nothing where it is SOFT, each ended by 0."""
    n = 0
    for g in range(heads.size):
        if gaps[g] == 0:
            continue
        gaps_at[g] = n
        for t in range(starts[heads[g]] + 1, starts[heads[g] + 1]):
            if (gap[t] & KINDS) != 0:
                i, b = at[t - 1] + abs(size[t - 1]), at[t]
                while i < b:
                    c, width = gap_class(buf, i, classes)
                    if c != 1 and c != 2:
                        for j in range(width):
                            out[n] = buf[i + j]
                            n += 1
                    i += width
            out[n] = 0
            n += 1
    return n


def _candidates(
    node_groups: I64, bounds: I64, rows: I64, rule: U8, mask: U64, gaps: U64, owners: I32, weights: F32, counts: I64,
    entities: int,
) -> tuple[I64, I32, F32, int]:  # fmt: skip
    """Per group its entities with the logarithms of their priors."""
    per_node = np.diff(node_groups)
    of_node = bounds[node_groups[1:]] - bounds[node_groups[:-1]]  # names of each node
    room = int((per_node * np.minimum(of_node, MOST_CANDIDATES)).sum())
    entity, prior = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.float32)
    ends = np.zeros(rule.size + 1, dtype=np.int64)
    value, stamp = np.zeros(entities, dtype=np.float64), np.zeros(entities, dtype=np.int64)
    found = np.empty(int(of_node.max(initial=0)), dtype=np.int32)
    used, dropped = _join(
        node_groups, bounds, rows, rule, mask, gaps, owners, weights, counts, value, stamp, found, ends, entity, prior
    )
    return ends, entity[:used].copy(), prior[:used].copy(), int(dropped)


@inline_kernel
def _also_applies(rule: U8, mask: U64, gaps: U64, h: int, g: int) -> Any:
    """Whether names of group h apply wherever those of g, of the same node, do."""
    if h == g:
        return True
    if rule[h] == OWN or (gaps[g] != 0 and gaps[h] != gaps[g]):
        return False
    return rule[h] == ANY or (rule[g] != ANY and (mask[h] & ~mask[g]) == np.uint64(0))


@kernel
def _join(
    node_groups: I64, bounds: I64, rows: I64, rule: U8, mask: U64, gaps: U64, owners: I32, weights: F32, counts: I64,
    value: F64, stamp: I64, found: I32, ends: I64, entity: I32, prior: F32,
) -> Any:  # fmt: skip
    used, dropped = 0, 0
    for v in range(node_groups.size - 1):
        g0, g1 = node_groups[v], node_groups[v + 1]
        for g in range(g0, g1):
            n = 0
            for h in range(g0, g1):
                if not _also_applies(rule, mask, gaps, h, g):
                    continue
                for r in range(bounds[h], bounds[h + 1]):
                    e = owners[rows[r]]
                    if stamp[e] != g + 1:
                        stamp[e] = g + 1
                        value[e] = 0.0
                        found[n] = e
                        n += 1
                    value[e] = max(value[e], np.float64(weights[rows[r]]))
            for h in range(g0, g1):
                # what other spellings are used for counts where no spelling applies of its own
                if rule[h] == OWN and (h == g or rule[g] != OWN):
                    for r in range(bounds[h], bounds[h + 1]):
                        if stamp[owners[rows[r]]] == g + 1:
                            value[owners[rows[r]]] += counts[rows[r]]
            best = found[:n]
            if n > 1:
                best = np.sort(best)
                worth = np.empty(n)
                for k in range(n):
                    worth[k] = -value[best[k]]
                best = best[np.argsort(worth, kind="mergesort")]
            kept = min(n, MOST_CANDIDATES)
            dropped += n - kept
            total = 0.0
            for k in range(kept):
                total += value[best[k]]
            for k in range(kept):
                entity[used + k] = best[k]
                prior[used + k] = np.float32(np.log(value[best[k]] / total))
            used += kept
            ends[g + 1] = used
    return used, dropped
