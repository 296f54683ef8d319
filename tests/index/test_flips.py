"""A flipped bit is never answered from and never merged into a new file, also without verification.

Dose: 1,000 flips under search and 1,000 under merge with FADER_DOSE=1; a sample otherwise.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import fader
from dose import dose
from fader.errors import DamagedError
from fader.index.verify.check import check
from index.damage import ENTITIES, TYPES, build_living, put


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_living(tmp_path_factory.mktemp("flips") / "index")


@pytest.mark.timeout(4 * 3600)
@pytest.mark.parametrize("how", ["search", "merge"])
def test_no_flipped_bit_is_silent(living: Path, how: str) -> None:
    """Compiled kernels on an index that nobody verified: each flip is refused, or the answers are those of the whole
    index. No answer is silently another, no process dies, and no merge gives damage new checksums."""
    count = dose(1_000, least=25)
    command = [sys.executable, "-W", "ignore", "-m", "index.flips", str(living), how, "0", str(count)]
    done = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, timeout=600 + 3 * count)
    assert done.returncode == 0, done.stderr.decode()
    outcome = json.loads(done.stdout)
    print(f"\n{count:,} flips under {how}: {outcome}")
    assert outcome.pop("bad") == []
    assert sum(outcome.values()) == count
    assert outcome["refused"] > count // 2


def test_damage_is_not_laundered_by_a_merge(tmp_path: Path) -> None:
    """A flipped bit of a name in the terms: the merge names the file and leaves the index as it was."""
    folder = tmp_path / "index"
    texts = [{"id": str(i), "text": f"Morphine and codeine number {i}"} for i in range(8)]
    fader.build(folder, texts, ENTITIES, TYPES, segment_tokens=12)
    (path,) = folder.glob("*-0.terms")
    data = path.read_bytes()
    at = data.index(b"orphine") - 1
    put(path, data[:at] + bytes([data[at] ^ 0b11001]) + data[at + 1 :])
    before = sorted(p.name for p in folder.iterdir())
    with pytest.raises(DamagedError, match=rf"{path.name}: .*checksum does not match"):
        fader.merge(folder)
    assert sorted(p.name for p in folder.iterdir()) == before
    assert any(path.name in problem for problem in check(folder))
    with pytest.raises(DamagedError, match=path.name):
        fader.open(folder)
