"""Ranking over readings: a value per entity from the evidence, and the readings that cover it.

    s(e|q) = ln sum_{z: e in t_z} p(z|q) exp(b V(e))  =  b V(e) + ln prior(e),     prior(e) = sum_{z: e in t_z} p(z|q)

All readings of a question have the same literals, so contexts are scored once. With r(z|e) = p_z [e in t_z] / prior(e):

    d s / d g(z) = r(z|e) - p(z)        d s / d b = V(e)        s(e) = sum_z r(z|e) s(e)

so the contributions r(z|e) s(e) of readings add up to the score. Rankers have values of very different scales, so V(e)
is -ln of the entity's rank by its evidence: one temperature serves all of them. Knows nothing of questions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fader.index.catalog import StoredCatalog
from fader.kernel import kernel

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
U64 = NDArray[np.uint64]
MOST_TYPES = 64


def find_members(catalog: StoredCatalog, types: Sequence[int], entities: I32) -> NDArray[np.bool_]:
    """(entities, types): whether each entity matches each of at most 64 types; -1 is no type, which all match."""
    bits = np.zeros(max(1, len(catalog.type_ids)), dtype=np.uint64)
    for place, number in enumerate(types):
        if number >= 0:
            bits[catalog.descendants(number)] |= np.uint64(1 << place)
    member = np.empty(entities.size, dtype=np.uint64)
    _join_bits(
        np.ascontiguousarray(entities, dtype=np.int32), catalog.entity_types_at, catalog.entity_types, bits, member
    )
    places = np.arange(len(types), dtype=np.uint64)
    found: NDArray[np.bool_] = (member[:, None] >> places & np.uint64(1)).astype(np.bool_)
    found[:, np.array(types) < 0] = True
    return found


@kernel
def _join_bits(entities: I32, at: I32, types: I32, bits: U64, out: U64) -> None:
    for i in range(entities.size):
        e, joined = entities[i], np.uint64(0)
        for j in range(at[e], at[e + 1]):
            joined |= bits[types[j]]
        out[i] = joined


def value_ranks(count: int) -> F64:
    """V of entities that are in the order of their evidence."""
    values: F64 = -np.log(np.arange(1.0, count + 1.0))
    return values


def score_mixture(values: F64, member: NDArray[np.bool_], probability: F64, temperature: float) -> F64:
    """s(e|q) of each entity; minus infinity where no reading covers it."""
    with np.errstate(divide="ignore"):
        scores: F64 = temperature * values + np.log(member @ probability)
    return scores


def share_readings(member: NDArray[np.bool_], probability: F64) -> F64:
    """r(z|e): (entities, readings), rows add up to 1 where a reading covers the entity."""
    weight = member * probability
    total = weight.sum(axis=1, keepdims=True)
    shares: F64 = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return shares
