"""All names of a catalog in flat arrays: a trie over terms, and at its nodes the spellings and whom they mean.

A name is the sequence of its tokens' terms; equal sequences end at one node of the trie (`trie`). What names of one
node differ in is their spelling (`spelling`): names of one form are a *group*, which holds the entities that can be
meant (`groups`). Groups are tried in order, the first that applies to a text decides; one that a text's HARD gaps do
not fit (see `scan`) does not apply.

Arrays only, so that a dictionary is saved as files that many processes map. Made by `build`. Knows nothing of texts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from fader.arrays import F32, I32, I64, U8, U64
from fader.corpora.annotate.terms import Terms
from fader.errors import InputError

COMMON, OBSERVED = 1, 2  # flags of a group: all its words are common; the linked corpus has seen it
MOST_TOKENS = 64  # of a name
FORMAT = {"format": 2}


class Dictionary(NamedTuple):
    """See the head of the file. Names of arrays say what a row is of: a term, an edge, a node, a group, ..."""

    term_arena: U8
    term_starts: I64
    term_table: I32
    term_root: I32
    edges: U64
    edge_filter: U64
    node_groups: I64
    group_rule: U8
    group_mask: U64  # which tokens start with a capital in all names of the group
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
        for name, array in self._asdict().items():
            np.save(folder / f"{name}.npy", array)
        (folder / "dictionary.json").write_text(json.dumps(FORMAT))

    @classmethod
    def load(cls, folder: Path) -> Dictionary:
        """Map the arrays of a folder."""
        try:
            if json.loads((folder / "dictionary.json").read_text()) == FORMAT:
                mapped = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in cls._fields}
                # as plain arrays: kernels are compiled for those
                return cls(**{name: np.asarray(array).view(np.ndarray) for name, array in mapped.items()})
        except (OSError, ValueError):
            pass
        raise InputError(f"{folder}: not a dictionary of names of this release; build it again")

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self)
