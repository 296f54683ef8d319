"""No index can corrupt memory: files made to harm, with checksums that fit, used without verification.

Dose: 10,000 crafted indexes with FADER_DOSE=1; a sample otherwise. The full dose runs once more over kernels that look
at their bounds, which finds what is read outside of an array and happens not to crash.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fader
from dose import dose
from fader.errors import DamagedError
from fader.index.encoding.list_writer import encode_lists, write_lists
from fader.index.encoding.lists import Lists
from fader.search.typetree import TypeTree
from index import crafted
from index.crafted import Workbench
from index.damage import ENTITIES, TYPES, Sealed, answers, build_living

FULL = 10_000
SAMPLE = 25  # without a dose: an index takes a quarter of a second


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_living(tmp_path_factory.mktemp("crafted") / "index")


def craft(living: Path, seed: int, count: int, **environment: str) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "index.crafted", str(living), str(seed), str(count)]
    done = subprocess.run(
        command,
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        timeout=600 + 10 * count,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr.decode()
    outcome = json.loads(done.stdout)
    print(f"\n{count:,} crafted indexes: {outcome}")
    assert outcome.pop("bad") == [], done.stderr.decode()
    assert sum(outcome.values()) == count
    assert outcome["refused"] > count // 4


@pytest.mark.timeout(24 * 3600)
def test_no_crafted_index_crashes_the_process(living: Path) -> None:
    """Compiled kernels on indexes that nobody verified: each use is refused by an error of Fader or gives an answer. No
    process dies, none is left spinning, none takes all memory, and no error is of another kind."""
    craft(living, 0, dose(FULL, least=1) if "FADER_DOSE" in os.environ else SAMPLE)


@pytest.mark.timeout(24 * 3600)
@pytest.mark.skipif(
    dose(FULL, least=1) < 1_000, reason="compiling all kernels with bounds takes a minute: FADER_DOSE=1"
)
def test_no_kernel_leaves_its_arrays(living: Path, tmp_path: Path) -> None:
    """The same with kernels that look at their bounds: none reads or writes outside of an array."""
    craft(living, FULL, FULL // 5, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path / "numba"))


def test_a_position_behind_the_last_document_is_not_merged(tmp_path: Path) -> None:
    """It lies inside of the segment's positions, but no token is there: a merge would write behind its tokens."""
    folder = tmp_path / "index"
    texts = [{"id": str(i), "text": "the engine of numbers"} for i in range(6)]
    fader.build(folder, texts, ENTITIES, TYPES, segment_tokens=12)
    (path,) = folder.glob("*-0.terms")
    bench = Workbench(path)
    values, at = Lists(bench, "postings").all()
    (documents,) = folder.glob("*-0.documents")
    gap = int(Sealed(documents).arrays["base"][-1]) - 1
    longer = np.append(values, gap).astype(np.int32)
    df = np.diff(at).astype(np.int32)
    at[-1] += 1
    write_lists(bench, "postings", encode_lists(longer, at, df))  # type: ignore[arg-type]
    bench.seal()
    before = sorted(p.name for p in folder.iterdir())
    with pytest.raises(DamagedError, match="is not that of a token"):
        fader.merge(folder)
    assert sorted(p.name for p in folder.iterdir()) == before


def test_names_that_belong_to_others_are_refused(tmp_path: Path) -> None:
    """Each owner is there, but one has the names of all: children of types would be written behind their array."""
    folder = tmp_path / "index"
    fader.build(folder, [{"id": "d", "text": "the engine"}], ENTITIES, TYPES)
    (path,) = folder.glob("*.catalog")
    sealed = Sealed(path)
    sealed.arrays["type_folded_of"][:] = sealed.arrays["type_folded_of"][0]
    sealed.seal()
    with pytest.raises(DamagedError, match="names of type belong to others"):
        TypeTree(fader.open(folder).collection).children(None)


@pytest.mark.parametrize("seed", [41540, 41621])
def test_what_was_an_error_of_another_kind_is_refused(living: Path, tmp_path: Path, seed: int) -> None:
    """Types with the names of others; ids that do not ascend, so that places of some documents stayed unset."""
    copy = Path(shutil.copytree(living, tmp_path / "copy"))
    crafted.craft(copy, random.Random(seed))
    with pytest.raises(DamagedError):
        answers(fader.open(copy))
