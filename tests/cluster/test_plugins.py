"""Parts of plug-ins on a cluster: tasks and shard hosts know them, however a command was given them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

import plugins
from cluster.conftest import needs_ray
from cluster.http import same
from fader.registry import VARIABLE
from serve.processes import serving

pytestmark = needs_ray
PARTS = Path(plugins.__file__).parent / "my_parts.py"
FADER = ("-m", "fader")
# A module that registers its class when it is imported, and a program that imports it.
OWN = """
from dataclasses import dataclass
from typing import ClassVar
import fader
from fader.features.column import OneColumn

@fader.register
@dataclass(frozen=True)
class Sure(OneColumn):
    name: ClassVar[str] = "sure"
    label: ClassVar[str] = "confidence"

    def column(self, contexts):
        return contexts.confidence
"""
PROGRAM = "import own_parts\nfrom fader.cli import main\n\nif __name__ == '__main__':\n    main()\n"


def run(folder: Path, *arguments: str | Path, program: tuple[str, ...] = FADER, **env: str) -> None:
    """Run `fader ARGUMENTS` as a process in a folder."""
    command = [sys.executable, *program, *map(str, arguments), "--quiet"]
    done = subprocess.run(command, cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def place(demo_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few judged queries, a plug-in, and a model of its parts."""
    folder = tmp_path_factory.mktemp("plugins")
    lines = (demo_files / "queries.jsonl").read_text("utf-8").splitlines(keepends=True)
    (folder / "queries.jsonl").write_text("".join(lines[:6]), "utf-8")
    shutil.copy(PARTS, folder / "my_parts.py")
    judged = ("--queries", demo_files / "queries.jsonl", "--qrels", demo_files / "qrels.txt")
    parts = ("--features", "noprox+nearby(width=8)", "--aggregator", "topsum(n=50)", "--lambda", "1")
    run(folder, "train", demo_files / "index", *judged, *parts, "--plugin", "my_parts.py", "-o", "model.json")
    return folder


def test_batch_with_a_plugin(ray_cluster: Any, demo_files: Path, place: Path) -> None:
    """A feature is computed by shard hosts and an aggregator by tasks, and the run is that of one machine."""
    asked = (demo_files / "index", "--queries", "queries.jsonl", "--model", "model.json", "--plugin", "my_parts.py")
    run(place, "batch", *asked, "--run", "one.run")
    run(place, "cluster", "batch", *asked, "--run", "many.run", **ray_cluster.environment)
    assert (place / "many.run").read_bytes() == (place / "one.run").read_bytes() != b""


def test_contexts_with_the_variable(ray_cluster: Any, demo_files: Path, place: Path) -> None:
    """A path that is relative to the folder of the command is found by nodes that work in another one."""
    asked = (demo_files / "index", "--queries", "queries.jsonl", "--format", "letor", "--features", "nearby")
    own = {VARIABLE: "my_parts.py"}
    run(place, "contexts", *asked, "-o", "one.letor", **own)
    run(place, "cluster", "contexts", *asked, "-o", "many.letor", **ray_cluster.environment, **own)
    assert (place / "many.letor").read_bytes() == (place / "one.letor").read_bytes() != b""


def test_compare_with_a_registered_class(ray_cluster: Any, demo_files: Path, place: Path) -> None:
    """A class that a module registers, beside a system of a plug-in file."""
    (place / "own_parts.py").write_text(OWN, "utf-8")
    (place / "program.py").write_text(PROGRAM, "utf-8")
    judged = ("--queries", "queries.jsonl", "--qrels", demo_files / "qrels.txt", "--measures", "AP", "--cv", "2")
    asked = (demo_files / "index", *judged, "--systems", "crowd,fader(features=sure+nearby,lam=1)")
    given = ("--plugin", "my_parts.py")
    run(place, "compare", *asked, *given, "-o", "one", program=("program.py",))
    env = ray_cluster.environment
    run(place, "cluster", "compare", *asked, *given, "-o", "many", program=("program.py",), **env)
    one, many = (json.loads((place / name / "report.json").read_text("utf-8")) for name in ("one", "many"))
    for system in (*one["systems"], *many["systems"]):
        system.pop("seconds")
    assert many["systems"] == one["systems"]


def test_build_with_the_variable(ray_cluster: Any, demo_files: Path, place: Path) -> None:
    """A build uses no parts, and those that are given do not disturb it."""
    corpus = (
        demo_files / "corpus.jsonl",
        "--entities",
        demo_files / "entities.tsv",
        "--types",
        demo_files / "types.tsv",
    )
    env = {**ray_cluster.environment, VARIABLE: "my_parts.py"}
    run(place, "cluster", "build", *corpus, "-o", "built", "--shards", "2", **env)
    run(place, "search", "built", "landed +mars", "--model", "crowd", "--plugin", "my_parts.py", "--json")


def test_serve_with_a_plugin(ray_cluster: Any, demo_files: Path, place: Path) -> None:
    """Systems are listed, and a model of the plug-in's parts gives the answers of one machine."""
    given = (demo_files / "index", "--model", f"mine={place / 'model.json'}", "--plugin", place / "my_parts.py")
    patient = ("--timeout-ms", "40000")
    paths = [f"/v1/search?q=landed+%2Bmars&model={model}&k=5&snippets=1" for model in ("mine", "crowd")]
    with (
        serving("cluster", "serve", *given, *patient, "--replicas", "1", env=ray_cluster.environment) as many,
        serving("serve", *given, *patient) as one,
    ):
        assert "crowd" in [system["name"] for system in httpx.get(f"{many}/v1/systems", timeout=60).json()["systems"]]
        for path in paths:
            here, there = (httpx.get(url + path, timeout=60) for url in (one, many))
            assert there.status_code == 200
            assert same(there.content) == same(here.content)
            assert there.json()["results"]
