"""Boosted trees by LightGBM: grown, written down as a parameter, read back. No part by itself.

    grown       trees on lambda gradients of NDCG; the gain of a candidate is its grade, 0 where that is negative
    letters     LightGBM's text of the model, compressed (zlib) and written in letters (base64), fit for a parameter
    predicted   the sum over trees of the leaf that a candidate's features reach

LightGBM keeps a gain for every label up to the largest, so that labels are the places 0, 1, ... of the grades that
occur and not the grades themselves, which may be in the billions: grades 0, 1 and 2000000000 are the labels 0, 1 and 2
with the gains 0, 1 and 2000000000. Letters come from files that others may have written: what is too large, cut,
altered or no forest (`fader.systems.shared.treetext`) is refused before LightGBM sees it, because LightGBM ends the
process on some texts and runs for ever on others. Every message begins with the owner, the system whose trees they are.

Golden case: LightGBM's own prediction. Burges, "From RankNet to LambdaRank to LambdaMART", Microsoft Research
MSR-TR-2010-82; Ke et al., "LightGBM", NIPS 2017. Needs the optional package lightgbm. Knows nothing of where features
come from.
"""

from __future__ import annotations

import base64
import binascii
import importlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fader import budget
from fader.errors import InputError, UsageError, quote
from fader.systems.shared.treetext import FIRST, LAST, MOST_LEAVES, MOST_TREES, check_forest_text

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

TREES = (1, MOST_TREES)
LEAVES = (2, MOST_LEAVES)
THREADS = 1  # folds are fitted side by side; threads of trees then only wait for each other
LARGEST_TEXT = 256 << 20
SEEDS = 2**31  # LightGBM's is a whole number of 32 bits


def check_sizes(owner: str, sizes: Mapping[str, tuple[object, tuple[int, int]]]) -> None:
    """Refuse what is no whole number within its bounds: {parameter: (value, (least, most))}."""
    for key, (value, (least, most)) in sizes.items():
        if not isinstance(value, int) or not least <= value <= most:
            raise UsageError(f"{owner}: {key} must be a whole number from {least} to {most:,}, not {quote(value)}")


def check_rate(owner: str, rate: float) -> None:
    """Refuse a learning rate that is none."""
    if not 0 < rate <= 1:
        raise UsageError(f"{owner}: rate must be a number above 0 and at most 1, not {quote(rate)}")


def lightgbm(owner: str) -> Any:
    """The package, or how to get it."""
    try:
        return importlib.import_module("lightgbm")
    except ImportError:
        raise UsageError(
            f"{owner}: needs the package lightgbm, which is not installed; pip install 'fader[lambdamart]'"
        ) from None


def labels_and_gains(grades: NDArray[Any]) -> tuple[I32, list[int]]:
    """The label of each grade, and the gain of each label; label 0 is that of grades up to 0."""
    gains, labels = np.unique(np.concatenate([[0], np.maximum(grades, 0)]), return_inverse=True)
    return labels[1:].astype(np.int32), gains.tolist()


def grow_forest(
    owner: str,
    tables: Sequence[NDArray[Any]],
    grades: Sequence[NDArray[Any]],
    trees: int,
    seed: int,
    settings: Mapping[str, Any],
) -> str:
    """The letters of so many trees, grown on a table of features and the grades of each query."""
    package = lightgbm(owner)
    labels, gains = labels_and_gains(np.concatenate(grades))
    every = {
        "objective": "lambdarank",
        "label_gain": gains,
        "deterministic": True,
        "force_row_wise": True,
        "seed": seed % SEEDS,
        "num_threads": THREADS,
        "verbosity": -1,
        **settings,
    }
    sizes = [table.shape[0] for table in tables]
    fault = f"{owner}: LightGBM cannot grow trees on queries of up to {max(sizes):,} candidates, which `bad` bounds"
    with _refuse(package, fault):
        data = package.Dataset(np.concatenate(tables), labels, group=sizes, params=every)
        return pack_model(owner, package.train(every, data, num_boost_round=trees).model_to_string())


def predict(owner: str, field: str, letters: str, table: NDArray[Any]) -> F64:
    """Values of candidates by their features; `field` is the parameter that has the letters."""
    model = _booster(owner, field, letters)
    if model.num_feature() != table.shape[1]:
        raise UsageError(
            f"{owner}: {field} was grown on {model.num_feature()} features, but there are {table.shape[1]}; "
            "train it again"
        )
    if not table.shape[0]:
        return np.zeros(0)
    parts = [
        model.predict(table[a:b], num_threads=THREADS, validate_features=False)
        for a, b in budget.chunks(table.shape[0], weight=model.num_trees())
    ]
    return np.asarray(np.concatenate(parts), dtype=np.float64)


def pack_model(owner: str, text: str) -> str:
    """A model's text as letters, digits, - and _."""
    raw = text.encode()
    if len(raw) > LARGEST_TEXT:
        raise UsageError(
            f"{owner}: the trees take {len(raw):,} bytes to write down, more than {LARGEST_TEXT:,}; "
            "ask for fewer trees or leaves"
        )
    return base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")


def unpack_model(owner: str, field: str, letters: str) -> str:
    """The model's text."""
    text = _decompress(letters)
    if not text.startswith(FIRST) or LAST not in text:
        raise UsageError(f"{owner}: {field} is no model, it begins {quote(letters[:20])}; train it again")
    return text


def _decompress(letters: str) -> str:
    """The text, or nothing where it is too large, cut or altered."""
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4)), LARGEST_TEXT)
        return raw.decode() if stream.eof else ""
    except (binascii.Error, zlib.error, ValueError):
        return ""


@lru_cache(maxsize=8)
def check_forest(owner: str, field: str, letters: str) -> str:
    """The text of the trees; refuse letters that are no forest."""
    try:
        return check_forest_text(unpack_model(owner, field, letters))
    except InputError as error:
        raise UsageError(f"{owner}: {field} is no forest, train it again: {error}") from None


@lru_cache(maxsize=8)
def _booster(owner: str, field: str, letters: str) -> Any:
    text, package = check_forest(owner, field, letters), lightgbm(owner)
    with _refuse(package, f"{owner}: {field} is no model that LightGBM {package.__version__} reads, train it again"):
        return package.Booster(model_str=text)


@contextmanager
def _refuse(package: Any, fault: str) -> Iterator[None]:
    """What LightGBM refuses, with what was wanted of it."""
    try:
        yield
    except package.basic.LightGBMError as error:
        raise UsageError(f"{fault}: {error}") from None
