"""`runs/annotation.py`: what its measures are, and that it runs on a folder."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpora.annotate.annotator import Mention

SCRIPT = Path(__file__).resolve().parent.parent.parent / "runs" / "annotation.py"


def loaded() -> ModuleType:
    """The script as a module; `runs/` is no package."""
    found = importlib.util.spec_from_file_location("annotation", SCRIPT)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["annotation"] = module
    found.loader.exec_module(module)
    return module


annotation = loaded()


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1000), st.booleans()), max_size=30))
def test_calibration_error(rows: list[tuple[int, bool]]) -> None:
    """Ten bins of confidence; of each the distance between its mean and the share of right ones, by its size."""
    expected = 0.0
    for low in range(10):
        held = [
            (c / 1000, right) for c, right in rows if low * 100 <= c < low * 100 + 100 or c == 1000 == low * 100 + 100
        ]
        if held:
            mean, share = sum(c for c, _r in held) / len(held), sum(r for _c, r in held) / len(held)
            expected += len(held) / len(rows) * abs(mean - share)
    confidence = np.array([c for c, _r in rows]) / 1000
    assert annotation.calibration_error(confidence, np.array([r for _c, r in rows], dtype=float)) == pytest.approx(
        expected
    )


def test_measures() -> None:
    """Two gold mentions; found: one right, one of the wrong entity, one across gold, one elsewhere."""
    tally = annotation.Tally()
    found = [Mention(0, 4, "a", 0.9), Mention(5, 9, "x", 0.8), Mention(8, 12, "y", 0.7), Mention(20, 25, "z", 0.2)]
    tally.add({(0, 4): {"a"}, (5, 9): {"b"}}, found)
    figures = tally.figures()
    assert [figures[k] for k in ("predicted", "precision", "recall", "annotated", "entity")] == [
        4,
        1 / 4,
        1 / 2,
        1 / 3,
        1 / 2,
    ]
    assert tally.figures(0.5)["precision"] == pytest.approx(1 / 3)


def test_one_command(tmp_path: Path) -> None:
    mention = {"start": 0, "end": 5, "entity": "paris"}
    rows = [{"id": f"d{i}", "text": "Paris lies on the Seine", "mentions": [mention]} for i in range(20)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "entities.tsv").write_text("paris\tParis\tcity\t\n")
    (tmp_path / "types.tsv").write_text("city\tcity\t\n")
    done = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, text=True, check=True)
    assert "| catalog | 0.5 |" in done.stdout
    assert "| 1.000 | 1.000 | 1.000 | 1.000 | 1.000 |" in done.stdout
