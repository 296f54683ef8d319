"""Writers and readers at once, debris of killed writers, and checks of damaged files."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import fader
from fader.errors import StorageError
from fader.index.commit import read_commit
from fader.index.lock import lock_for_writing
from fader.index.verify.check import check

CORPUS: list[dict[str, Any]] = [
    {"id": f"d{i}", "text": f"word number{i} word", "mentions": [{"start": 0, "end": 4, "entity": "E"}]}
    for i in range(300)
]


def build(place: Path, documents: int = 300, **options: Any) -> fader.Index:
    return fader.build(place, corpus=CORPUS[:documents], entities=[{"id": "E"}], types=[], **options)


def test_a_second_writer_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    """One writer at a time; the one that comes second changes no file."""
    build(tmp_path / "index")
    before = sorted(p.name for p in (tmp_path / "index").iterdir())
    with lock_for_writing(tmp_path / "index"), pytest.raises(StorageError, match="another process is writing"):
        build(tmp_path / "index", overwrite=True)
    assert sorted(p.name for p in (tmp_path / "index").iterdir()) == before
    assert build(tmp_path / "index", 5, overwrite=True).collection.documents == 5


def test_debris_of_a_killed_writer_is_removed_by_the_next(tmp_path: Path) -> None:
    """Files of a commit that was never published do not stand in the way of the one that will be."""
    build(tmp_path / "index")
    for name in ("00000002.catalog", "00000002-0.terms", "pending-00000002"):
        (tmp_path / "index" / name).write_bytes(b"cut")
    assert build(tmp_path / "index", 7, overwrite=True).collection.documents == 7
    kept = {name for number in (1, 2) for name in read_commit(tmp_path / "index", number).file_names}
    assert {p.name for p in (tmp_path / "index").iterdir()} == kept | {"commit-00000001.json", "commit-00000002.json"}


def test_an_index_can_be_built_in_an_empty_folder_or_through_a_link(tmp_path: Path) -> None:
    """The folder may be there already, under any name."""
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    assert build(tmp_path / "link").collection.documents == 300
    assert fader.open(tmp_path / "there").collection.documents == 300


READER = """
    import select, sys
    import fader
    opened = 0
    while opened < 3 or not select.select([sys.stdin], [], [], 0)[0]:  # until it ends
        index = fader.open(sys.argv[1])
        assert index.collection.documents in (3, 300)
        opened += 1
        if opened == 1:
            print("ready", flush=True)
    print(opened)
"""


def test_readers_open_while_writers_replace(tmp_path: Path) -> None:
    """An index can be opened at any moment of a rebuild."""
    build(tmp_path / "index")
    source = str(Path(fader.__file__).parents[1])
    command = [sys.executable, "-c", textwrap.dedent(READER), str(tmp_path / "index")]
    environment, pipe = {**os.environ, "PYTHONPATH": source}, subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe) as reader:
        assert reader.stdout is not None
        reader.stdout.readline()  # it reads
        for i in range(12):
            build(tmp_path / "index", 3 if i % 2 else 300, overwrite=True)
        out, err = reader.communicate()
    assert reader.returncode == 0, err.decode()
    assert int(out) > 2


def test_check_survives_any_damage(tmp_path: Path) -> None:
    """Kernels trust their arrays, so what failed its checksum never reaches them; the file is named."""
    build(tmp_path / "index", segment_tokens=400)
    rng = random.Random(5)
    for path in sorted((tmp_path / "index").glob("0*")):
        whole = path.read_bytes()
        for _ in range(4):
            at = rng.randrange(len(whole) - 8)
            path.write_bytes(whole[:at] + b"\xff" * 8 + whole[at + 8 :])
            problems = check(tmp_path / "index")
            assert problems or path.read_bytes() == whole
            assert all(path.name in problem for problem in problems), problems
        path.write_bytes(whole)
    assert check(tmp_path / "index") == []


def test_memory_is_counted_for_words_and_mentions_too(tmp_path: Path) -> None:
    """A segment ends when its vocabulary or its mentions, not only its tokens, reach the budget."""
    many = [{"id": str(i), "text": " ".join(f"w{i}x{j}" for j in range(3000)), "mentions": []} for i in range(60)]
    index = fader.build(tmp_path / "index", corpus=many, entities=[], types=[], memory_mb=16)
    assert len(index.collection.manifest.segments) > 2
