"""Texts of forests: LightGBM's own pass, and whatever LightGBM would crash or hang on is refused before it reads it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.errors import InputError, UsageError
from fader.learn.model import Model, parse_model
from fader.learn.modelfile import ModelScope, seal_file, write_text
from fader.systems.lambdamart import LambdaMART
from fader.systems.macdonald import Macdonald
from fader.systems.shared.forest import check_forest, grow_forest, pack_model, predict, unpack_model
from fader.systems.shared.treetext import LARGEST_VALUE, check_forest_text

pytest.importorskip("lightgbm")
DRAW = np.random.default_rng(3)
TABLE = DRAW.random((60, 3))
GRADES = (TABLE[:, 0] > 0.5).astype(int)
SETTINGS = {"num_leaves": 4, "min_data_in_leaf": 1}
TEXT = unpack_model("", "", grow_forest("", [TABLE], [GRADES], 2, 0, SETTINGS))
STUMP = unpack_model("", "", grow_forest("", [np.zeros((30, 2))], [np.arange(30) % 2], 2, 0, {"min_data_in_leaf": 99}))


def alter(key: str, change: str, text: str = TEXT) -> str:
    """The text with other values of a key in its first tree (or head), and with the sizes that it then has."""
    altered = re.sub(rf"(?m)^{key}=.*$", f"{key}={change}", text, count=1)
    head, gap, rest = altered.partition("\n\n")
    body, last, tail = rest.partition("end of trees\n")
    sizes = " ".join(str(len(tree)) for tree in re.findall(r"Tree=.*?\n\n\n", body, re.DOTALL))
    return re.sub("tree_sizes=.*", f"tree_sizes={sizes}", head) + gap + body + last + tail


def numbers(key: str) -> list[str]:
    found = re.search(rf"(?m)^{key}=(.*)$", TEXT)
    assert found is not None
    return found[1].split(" ")


CYCLE = alter("left_child", "1 0 -2"), "tree 0: left_child of node 1 must be a node from 2 to 2 or a leaf from -1 to -4"
FAR = alter("left_child", "99999999 -2 -3"), "tree 0: left_child of node 0 must be a node from 1 to 2 or a leaf"
BROKEN = [
    CYCLE,
    FAR,
    (alter("right_child", "-99999999 -2 -3"), "right_child of node 0 must be .*, not -99999999"),
    (alter("left_child", "-1 -1 -1"), "every leaf and every node but the first must be the child of one node"),
    (alter("split_feature", "0 3 0"), "split_feature must be 0 to 2, not 3"),
    (alter("split_feature", "0 -1 0"), "split_feature must be 0 to 2, not -1"),
    (alter("split_feature", "0 0"), "split_feature must have 3 numbers, not 2"),
    (alter("decision_type", "1 2 2"), "decision_type must be one of 0/2/4/6/8/10, not 1"),
    (alter("num_leaves", "400000"), "must have 1 to 131,072 leaves"),
    (alter("num_leaves", "0"), "must have 1 to 131,072 leaves"),
    (alter("num_leaves", "5"), "must have 4 numbers, not 3"),
    (alter("num_leaves", "9" * 400), "num_leaves must be numbers"),
    (alter("num_cat", "1"), "no categories"),
    (alter("is_linear", "1"), "no linear leaves"),
    (alter("threshold", "nan 0 0"), 'threshold must be numbers, and has "nan"'),
    (alter("threshold", f"{'9' * 400} 0 0"), "threshold must be finite numbers, and has inf"),
    (alter("leaf_value", "1e999 0 0 0"), "leaf_value must be finite numbers"),
    (alter("leaf_value", "1e308 0 0 0"), "the leaves may add up to 1e.300 at most"),
    (alter("max_feature_idx", "9"), "feature_names must name 10 features, not 3"),
    (alter("max_feature_idx", "-5"), "feature_names must name -4 features"),
    (alter("num_class", "3"), 'num_class must be 1, not "3"'),
    (alter("objective", "none"), "objective must be lambdarank"),
    (alter("shrinkage", "0.1\nshrinkage=0.2"), "each of .* once, and has the line"),
    (alter("is_linear", "0\nleaf_features=1"), "and has the line"),
    (re.sub("tree_sizes=.*", "tree_sizes=1 99999999", TEXT), "tree_sizes must be those of 1 to 10,000 trees"),
    (re.sub("tree_sizes=.*", "tree_sizes=", TEXT), "tree_sizes must be those of 1 to 10,000 trees"),
    (re.sub("Tree=1", "Tree=7", TEXT), "tree 1 must begin with"),
    (re.sub("feature_infos=.*\n", "", TEXT), "the head has no feature_infos"),
    ("tree\nversion=v4\n\nend of trees\n", "the head has no feature_infos"),
    ("tree\nend of trees\n", "the head must have each of"),
    (TEXT.replace("version=v4", "version=\xe9"), "ASCII"),
]


@pytest.mark.parametrize("text", [TEXT, STUMP])
def test_what_lightgbm_writes_passes(text: str) -> None:
    """All that trees are read from is kept, nothing else."""
    assert text.startswith(check_forest_text(text))
    assert check_forest_text(text).endswith("\nend of trees\n")


@pytest.mark.parametrize(("text", "message"), BROKEN)
def test_what_is_broken_is_refused(text: str, message: str) -> None:
    """With the tree, the constraint and the value."""
    with pytest.raises(InputError, match=message):
        check_forest_text(text)


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 40), st.integers(1, 6), st.integers(0, 1000))
def test_any_forest_that_is_grown_passes(leaves: int, trees: int, seed: int) -> None:
    """Of any shape."""
    grown = grow_forest("", [TABLE], [GRADES], trees, seed, {"num_leaves": leaves, "min_data_in_leaf": 1})
    text = unpack_model("", "", grown)
    assert text.startswith(check_forest_text(text))


def test_the_bound_of_leaves_is_within() -> None:
    """The largest value that leaves may have."""
    values = ["0"] * len(numbers("leaf_value"))
    check_forest_text(alter("leaf_value", " ".join([f"{LARGEST_VALUE / 2:g}", *values[1:]])))


@pytest.mark.parametrize("system", ["lambdamart", "macdonald"])
@pytest.mark.parametrize(("text", "message"), [CYCLE, FAR])
def test_a_broken_model_file_is_refused_when_it_is_read(system: str, text: str, message: str) -> None:
    """The file is named, and the process neither ends nor hangs."""
    letters, good = pack_model("", text), pack_model("", TEXT)
    made = LambdaMART(trees_text=good) if system == "lambdamart" else Macdonald(learner="lambdamart", forest=good)
    plain = Model(made, ModelScope()).to_text().replace(good, letters)
    with pytest.raises(InputError, match=rf"a\.json: {system}: \w+ is no forest, train it again: .*{message}"):
        parse_model(seal(plain), "a.json")


def seal(text: str) -> str:
    """With the checksum that an attacker would write."""
    kept = {k: v for k, v in json.loads(text).items() if k not in ("format", "version", "checksum")}
    return write_text(seal_file(kept))


@pytest.mark.parametrize(("text", "_message"), [CYCLE, FAR])
def test_predicting_ends(tmp_path: Path, text: str, _message: str) -> None:
    """In a process of its own: without the check LightGBM ends it, or never returns."""
    file = tmp_path / "letters"
    file.write_text(pack_model("", text))
    code = (
        "import sys, numpy as np\n"
        "from fader.errors import UsageError\n"
        "from fader.systems.shared.forest import predict\n"
        "try:\n"
        "    predict('owner', 'letters', open(sys.argv[1]).read(), np.random.default_rng(0).random((50, 3)))\n"
        "except UsageError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stdout.startswith("owner: letters is no forest, train it again: tree 0: left_child of node ")


def test_what_is_cut_off_changes_no_value() -> None:
    """Parameters and importances behind the trees are not given to LightGBM."""
    whole, checked = pack_model("", TEXT), pack_model("", check_forest_text(TEXT) + "\n")
    assert predict("", "", whole, TABLE).tolist() == predict("", "", checked, TABLE).tolist()
    with pytest.raises(UsageError, match="is no forest"):
        check_forest("owner", "letters", pack_model("", CYCLE[0]))
