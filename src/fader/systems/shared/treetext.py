"""LightGBM's text of a forest, checked before LightGBM reads it: LightGBM trusts what is in it.

    text    := "tree" head "" block* "end of trees" ...      lines; a block has the bytes that `tree_sizes` says
    head    := key=value*                                    one class, one tree per round, lambdarank, named features
    block   := "Tree=i" key=value* "" ""                     a binary tree of n leaves in arrays: n - 1 nodes, n leaves
    child   := node above its parent's number | -1 - leaf    every node but the first and every leaf is a child once

A child that is out of range makes LightGBM read foreign memory, and one that closes a circle makes it run for ever.
Numbers higher than the parent's, each used once, are in range and without circles: LightGBM numbers nodes as it splits
them. Categories and linear leaves, which Fader grows none of, are refused. Golden case: LightGBM's own texts. The
format is that of LightGBM 4, src/io/gbdt_model_text.cpp and src/io/tree.cpp. Knows nothing of letters or of systems.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fader.errors import InputError, quote

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

FIRST, LAST = "tree\n", "\nend of trees\n"
MOST_TREES = 10_000
MOST_LEAVES = 131_072  # LightGBM's own bound
LARGEST_VALUE = 1e300  # of what leaves add up to; more could be infinite
HEAD = {"num_class": "1", "num_tree_per_iteration": "1", "label_index": "0", "objective": "lambdarank"}
HEAD_KEYS = {*HEAD, "version", "max_feature_idx", "feature_names", "feature_infos", "tree_sizes"}
WHOLE = ("split_feature", "decision_type", "left_child", "right_child", "internal_count")
REAL = ("split_gain", "threshold", "internal_value", "internal_weight")
TREE_KEYS = {
    *WHOLE,
    *REAL,
    "num_leaves",
    "num_cat",
    "leaf_value",
    "leaf_weight",
    "leaf_count",
    "is_linear",
    "shrinkage",
}
DECISIONS = (0, 2, 4, 6, 8, 10)  # bits: 1 a category, 2 what is missing goes left, 4 and 8 what counts as missing
_WHOLE = re.compile(r"-?[0-9]{1,12}")
_REAL = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?")


def check_forest_text(text: str) -> str:
    """The part of a forest's text that trees are read from; refuse one that is no forest of Fader's."""
    if not text.isascii():
        raise InputError("a forest is written in ASCII")
    whole = text[: text.find(LAST) + len(LAST)]
    head, gap, body = whole.partition("\n\n")
    keys = _read_keys(head.removeprefix(FIRST), HEAD_KEYS, "the head")
    for key, wanted in HEAD.items():
        if keys[key] != wanted:
            raise InputError(f"{key} must be {wanted}, not {quote(keys[key])}")
    features = int(_whole(keys, "max_feature_idx", 1, "the head")[0]) + 1
    for key in ("feature_names", "feature_infos"):
        if len(keys[key].split(" ")) != features:
            raise InputError(f"{key} must name {features:,} features, not {len(keys[key].split(' ')):,}")
    sizes = _whole(keys, "tree_sizes", None, "the head")
    end = len(body) - len(LAST) + 1  # the line end before it is the last tree's
    if not 1 <= sizes.size <= MOST_TREES or sizes.min() < 1 or sizes.sum() != end or not gap:
        said = f"{sizes.size:,} trees of {sizes.sum():,} bytes"
        raise InputError(f"tree_sizes must be those of 1 to {MOST_TREES:,} trees of {max(0, end):,} bytes, not {said}")
    starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    largest = 0.0
    for i, start in enumerate(starts[:-1]):
        largest += _check_tree(body[start : starts[i + 1]], i, features)
    if not largest <= LARGEST_VALUE:
        raise InputError(f"the leaves may add up to {LARGEST_VALUE:g} at most, not {largest:g}")
    return whole


def _check_tree(block: str, i: int, features: int) -> float:
    """Refuse a block that is no tree; the largest value of its leaves, without its sign."""
    place, start, end = f"tree {i:,}", f"Tree={i}\n", "\n\n\n"
    if not block.startswith(start) or not block.endswith(end):
        raise InputError(f"{place} must begin with {quote(start.strip())} and end with two empty lines")
    keys = _read_keys(block.removeprefix(start).removesuffix(end), TREE_KEYS, place)
    leaves = int(_whole(keys, "num_leaves", 1, place)[0])
    if not 1 <= leaves <= MOST_LEAVES or keys["num_cat"] != "0" or keys["is_linear"] != "0":
        raise InputError(f"{place} must have 1 to {MOST_LEAVES:,} leaves, no categories and no linear leaves")
    nodes = {key: _whole(keys, key, leaves - 1, place) for key in WHOLE}
    for key in REAL:
        _real(keys, key, leaves - 1, place)
    values = _real(keys, "leaf_value", leaves, place)
    _real(keys, "shrinkage", 1, place)
    if leaves == 1:  # a tree that could not be split has no weight, and a count in some versions only
        return float(np.abs(values).max())
    _real(keys, "leaf_weight", leaves, place)
    _whole(keys, "leaf_count", leaves, place)
    for key, good, wanted in (
        (
            "split_feature",
            (nodes["split_feature"] >= 0) & (nodes["split_feature"] < features),
            f"0 to {features - 1:,}",
        ),
        ("decision_type", np.isin(nodes["decision_type"], DECISIONS), f"one of {'/'.join(map(str, DECISIONS))}"),
    ):
        if not good.all():
            raise InputError(f"{place}: {key} must be {wanted}, not {nodes[key][~good][0]}")
    _check_children(nodes["left_child"], nodes["right_child"], place)
    return float(np.abs(values).max())


def _check_children(left: I64, right: I64, place: str) -> None:
    """Refuse children that are out of range, in a circle, or not there exactly once."""
    count = left.size
    for key, child in (("left_child", left), ("right_child", right)):
        bad = (child < -count - 1) | (child >= count) | ((child >= 0) & (child <= np.arange(count)))
        if bad.any():
            node = int(np.flatnonzero(bad)[0])
            wanted = f"a node from {node + 1:,} to {count - 1:,} or a leaf from -1 to {-count - 1:,}"
            raise InputError(f"{place}: {key} of node {node:,} must be {wanted}, not {child[node]}")
    seen = np.bincount(np.concatenate([left, right]) + count + 1, minlength=2 * count + 1)
    seen[count + 1] += 1  # the first node is nobody's child
    if (seen != 1).any():
        raise InputError(f"{place}: every leaf and every node but the first must be the child of one node")


def _read_keys(text: str, known: set[str], place: str) -> dict[str, str]:
    """The values of lines, one for each key that is known."""
    found: dict[str, str] = {}
    for line in text.split("\n"):
        key, equals, value = line.partition("=")
        if not equals or key not in known or key in found:
            raise InputError(
                f"{place} must have each of {', '.join(sorted(known))} once, and has the line {quote(line)}"
            )
        found[key] = value
    if len(found) < len(known):
        raise InputError(f"{place} has no {', '.join(sorted(known - found.keys()))}")
    return found


def _split(keys: Mapping[str, str], key: str, count: int | None, form: re.Pattern[str], place: str) -> list[str]:
    pieces = keys[key].split(" ") if keys[key] else []
    if count is not None and len(pieces) != count:
        raise InputError(f"{place}: {key} must have {count:,} numbers, not {len(pieces):,}")
    odd = next((piece for piece in pieces if not form.fullmatch(piece)), None)
    if odd is not None:
        raise InputError(f"{place}: {key} must be numbers, and has {quote(odd)}")
    return pieces


def _whole(keys: Mapping[str, str], key: str, count: int | None, place: str) -> I64:
    return np.array([int(piece) for piece in _split(keys, key, count, _WHOLE, place)], dtype=np.int64)


def _real(keys: Mapping[str, str], key: str, count: int, place: str) -> F64:
    numbers = np.array([float(piece) for piece in _split(keys, key, count, _REAL, place)])
    if not np.isfinite(numbers).all():
        raise InputError(f"{place}: {key} must be finite numbers, and has {numbers[~np.isfinite(numbers)][0]}")
    return numbers
