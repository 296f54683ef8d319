"""Trees of LightGBM: labels and gains, letters that come back or are refused, and every message with its owner."""

from __future__ import annotations

import base64
import importlib
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fader.errors import UsageError
from fader.systems.shared import forest
from fader.systems.shared.forest import (
    check_rate,
    check_sizes,
    grow_forest,
    labels_and_gains,
    pack_model,
    predict,
    unpack_model,
)

F64 = NDArray[np.float64]
lightgbm = pytest.importorskip("lightgbm")
LEAVES = {"num_leaves": 4, "min_data_in_leaf": 1}


def tables(queries: int = 4, candidates: int = 30) -> list[F64]:
    draw = np.random.default_rng(7)
    return [draw.random((candidates, 3)) for _ in range(queries)]


def grades_of(table: F64, best: int) -> NDArray[np.int64]:
    """Two steps up along the first feature."""
    return np.where(table[:, 0] > 0.8, best, np.where(table[:, 0] > 0.5, 1, -1))


def letters(best: int = 2, seed: int = 0) -> str:
    return grow_forest("forester", tables(), [grades_of(t, best) for t in tables()], 5, seed, LEAVES)


TREES = letters()


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1))
def test_labels_are_dense_and_gain_the_grades(grades: list[int]) -> None:
    """Whatever the grades: there are no more labels than grades and 0, and the gain of a label is its grade."""
    labels, gains = labels_and_gains(np.array(grades))
    assert [gains[label] for label in labels.tolist()] == [max(grade, 0) for grade in grades]
    assert gains == sorted({0, *(max(grade, 0) for grade in grades)})


def test_golden_labels() -> None:
    """The case of the docstring."""
    labels, gains = labels_and_gains(np.array([1, 2_000_000_000, 0, -5]))
    assert (labels.tolist(), gains) == ([1, 2, 0, 0], [0, 1, 2_000_000_000])


def test_the_largest_grade_is_learned_from() -> None:
    """2^31 - 1, the largest of a qrels file, needs no list of that length; what has it comes first."""
    trees = letters(2**31 - 1)
    for table in tables():
        values = predict("forester", "letters", trees, table)
        assert values[table[:, 0] > 0.8].min() > values[table[:, 0] <= 0.5].max()


def test_gains_are_grades_and_no_powers_of_two() -> None:
    """The same trees as LightGBM's with the grades as gains, on labels that are the grades."""
    every = {"objective": "lambdarank", "label_gain": [0, 1, 2, 3, 4, 5], "deterministic": True, "verbosity": -1}
    every |= {"force_row_wise": True, "seed": 0, "num_threads": 1, **LEAVES}
    labels = np.concatenate([np.maximum(grades_of(t, 5), 0) for t in tables()])
    data = lightgbm.Dataset(np.concatenate(tables()), labels, group=[t.shape[0] for t in tables()], params=every)
    model = lightgbm.train(every, data, num_boost_round=5)
    for table in tables():
        assert predict("forester", "letters", letters(5), table).tolist() == model.predict(table).tolist()


@pytest.mark.parametrize("seed", [0, 2**32, 2**70])
def test_any_seed_will_do(seed: int) -> None:
    """The same trees each time."""
    assert letters(seed=seed) == letters(seed=seed)


@settings(deadline=None)
@given(st.text())
def test_a_text_comes_back(inside: str) -> None:
    """Any that has the ends of a model, from letters that are fit for a parameter."""
    text = f"tree\n{inside.encode(errors='replace').decode()}\nend of trees\n"
    found = pack_model("forester", text)
    assert set(found) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    assert unpack_model("forester", "letters", found) == text


@pytest.mark.parametrize(
    "damaged",
    [
        "no-model",
        "é",
        TREES[: len(TREES) // 2],
        TREES[:-3],
        pack_model("", "something else"),
        pack_model("", "tree\nversion=v4\n"),
        base64.urlsafe_b64encode(zlib.compress(b"\xff\xfe")).decode(),
    ],
)
def test_what_is_no_model_is_refused(damaged: str) -> None:
    """Cut, altered or something else: before LightGBM sees it."""
    with pytest.raises(UsageError, match=r'forester: letters is no model, it begins ".*; train it again'):
        predict("forester", "letters", damaged, tables()[0])


def test_what_lightgbm_does_not_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose trees they are and what is wrong; LightGBM's own message where the check has let something through."""
    odd = pack_model("", "tree\nversion=v4\n\nend of trees\n")
    with pytest.raises(UsageError, match=r"forester: letters is no forest, train it again: the head has no .*max_feat"):
        predict("forester", "letters", odd, tables()[0])
    monkeypatch.setattr(forest, "check_forest_text", lambda text: text)
    with pytest.raises(UsageError, match=r"forester: letters is no model that LightGBM [\d.]+ reads, train it again: "):
        predict("forester", "letters", odd, tables()[0])


def test_other_features_are_refused() -> None:
    """Trees ask for features by number."""
    with pytest.raises(UsageError, match="forester: letters was grown on 3 features, but there are 2; train it again"):
        predict("forester", "letters", TREES, tables()[0][:, :2])


def test_no_candidates_have_no_values() -> None:
    """LightGBM itself refuses an empty table."""
    assert predict("forester", "letters", TREES, np.zeros((0, 3))).size == 0


def test_large_texts_are_neither_written_nor_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few letters can stand for gigabytes."""
    text = "tree\n" + "0" * 1000 + "\nend of trees\n"
    found = pack_model("forester", text)
    monkeypatch.setattr(forest, "LARGEST_TEXT", len(text))
    assert unpack_model("forester", "letters", found) == text
    monkeypatch.setattr(forest, "LARGEST_TEXT", len(text) - 1)
    with pytest.raises(UsageError, match=r"forester: the trees take 1,019 bytes .* more than 1,018; ask for fewer"):
        pack_model("forester", text)
    with pytest.raises(UsageError, match="forester: letters is no model"):
        unpack_model("forester", "letters", found)


def test_what_lightgbm_cannot_grow_is_said() -> None:
    """A query of more candidates than it takes."""
    table = np.zeros((10_001, 1))
    with pytest.raises(UsageError, match="forester: LightGBM cannot grow trees on queries of up to 10,001 candidates"):
        grow_forest("forester", [table], [np.arange(10_001) % 2], 1, 0, {})


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of the extra, as a command."""

    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(UsageError, match=r"forester: needs the package lightgbm.*pip install 'fader\[lambdamart\]'"):
        letters()


def test_bounds() -> None:
    """Both ends are within."""
    check_sizes("forester", {"leaves": (2, forest.LEAVES), "more": (131_072, forest.LEAVES)})
    check_sizes("forester", {"trees": (1, forest.TREES), "more": (10_000, forest.TREES)})
    for value in (1, 131_073, 2.5):
        with pytest.raises(UsageError, match="forester: leaves must be a whole number from 2 to 131,072, not "):
            check_sizes("forester", {"leaves": (value, forest.LEAVES)})
    for rate in (0.0, 1.1, float("nan")):
        with pytest.raises(UsageError, match="forester: rate must be a number above 0 and at most 1, not "):
            check_rate("forester", rate)
