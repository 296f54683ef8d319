"""The demo files and their index, made once for each test process."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.running import passed


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `fader demo DIR` writes; tests must not change it."""
    place = tmp_path_factory.mktemp("cli") / "demo"
    passed("demo", place, "--quiet")
    return place


@pytest.fixture(scope="session")
def index(demo: Path) -> Path:
    return demo / "index"


@pytest.fixture(scope="session")
def catalog(demo: Path) -> list[str]:
    """The catalog as options of `fader index`."""
    return ["--entities", str(demo / "entities.tsv"), "--types", str(demo / "types.tsv")]
