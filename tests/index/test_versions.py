"""An index of every format version that was ever written still opens, is whole, and answers as it did then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fader.index.commit import commit_numbers, read_commit
from fader.index.format import OLDEST, VERSION
from fader.index.verify.check import examine
from index.formats.make import told

FORMATS = Path(__file__).parent / "formats"
VERSIONS = sorted(int(path.name[1:]) for path in FORMATS.glob("v*") if path.is_dir())


def test_every_version_has_a_sample() -> None:
    """Who releases a VERSION runs tests/index/formats/make.py; who drops an old version removes its sample.

    The present version may lack its sample until it is released, as arrays may still be added to it.
    """
    assert set(VERSIONS) | {VERSION} == set(range(OLDEST, VERSION + 1))
    kept = {path.name for path in FORMATS.glob("v*")}
    assert kept == {name for v in VERSIONS for name in (f"v{v}", f"v{v}.json")}
    for version in VERSIONS:
        assert read_commit(FORMATS / f"v{version}").format == version


@pytest.mark.parametrize("version", VERSIONS)
def test_an_old_index_is_whole(version: int) -> None:
    """All its commits, with the checks of today."""
    found = examine(FORMATS / f"v{version}")
    assert found.problems == []
    assert found.debris == ()


@pytest.mark.parametrize("version", VERSIONS)
def test_an_old_index_answers_as_it_did(version: int) -> None:
    """Every commit: counts, stored documents, contexts, answers and evidence are those written down at the time."""
    folder = FORMATS / f"v{version}"
    expected = json.loads(folder.with_suffix(".json").read_text(encoding="utf-8"))
    assert told(folder) == expected
    assert list(expected) == [str(number) for number in commit_numbers(folder)]
    assert all(len(query["contexts"]) > 0 for query in expected["1"]["queries"][:-1])
