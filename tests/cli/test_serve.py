"""`fader serve`: what cannot be served is said in a line, with the right exit code and without a traceback."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from cli.running import passed, refused
from fader.serve import run as serving
from fader.serve.settings import Settings


@pytest.fixture
def served() -> Any:
    """What would be served: the settings that `run` was given."""
    with mock.patch.object(serving, "run") as run:
        yield lambda: run.call_args.args[0]


def test_names_and_defaults(index: Path, demo: Path, served: Any) -> None:
    """An index has the name of its folder, a model that of its file, unless one is given; loopback is the default."""
    passed("serve", index, f"again={index}", "--model", demo / "model.json", "--model", f"mine={demo}/model.json@again")
    settings: Settings = served()
    assert settings.indexes == {"index": index, "again": index}
    assert settings.models == {"model": (demo / "model.json", None), "mine": (demo / "model.json", "again")}
    assert (settings.host, settings.port, settings.cors, settings.keys) == ("127.0.0.1", 8080, (), None)
    assert (settings.queue, settings.time_ms, settings.k, settings.body_bytes) == (32, 3000, 1000, 65536)
    assert not settings.log_queries


def test_a_path_may_have_an_equals_sign(index: Path, tmp_path: Path, served: Any) -> None:
    """What is before it must look like a name."""
    odd = tmp_path / "a=b"
    odd.symlink_to(index)
    passed("serve", odd)
    assert served().indexes[next(iter(served().indexes))] == odd


def test_a_port_in_use(index: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = refused(1, "serve", index, "--port", str(taken.getsockname()[1]))
    assert "port is in use" in said
    assert "--port" in said


def test_what_is_no_index(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nothing"):
        assert str(folder) in refused(1, "serve", folder, "--port", "0")


def test_a_model_that_does_not_fit(index: Path, demo: Path, tmp_path: Path) -> None:
    """Of another index, or no model at all."""
    (tmp_path / "bad.json").write_text("{}")
    assert "bad.json" in refused(1, "serve", index, "--model", tmp_path / "bad.json", "--port", "0")
    assert "none.json" in refused(1, "serve", index, "--model", tmp_path / "none.json", "--port", "0")
    other = tmp_path / "other"
    (tmp_path / "c.jsonl").write_text('{"id": "d", "text": "a b"}\n')
    catalog = ["--entities", str(demo / "entities.tsv"), "--types", str(demo / "types.tsv")]
    passed("index", tmp_path / "c.jsonl", *catalog, "-o", other, "--quiet")
    said = refused(1, "serve", other, "--model", demo / "model.json", "--port", "0")
    assert "model.json" in said
    assert "another index" in said


def test_wrong_usage(index: Path, tmp_path: Path) -> None:
    """Two of one name, no folder, numbers out of range, a file of keys that is none."""
    assert "two have the name" in refused(2, "serve", index, index)
    refused(2, "serve")
    refused(2, "serve", index, "--port", "70000")
    refused(2, "serve", index, "--workers", "0")
    refused(2, "serve", index, "--log", "xml")
    assert "cannot be read" in refused(1, "serve", index, "--keys", tmp_path / "keys", "--port", "0")
    assert "cannot listen" in refused(1, "serve", index, "--host", "no.such.host.invalid", "--port", "0")
    assert "--serve" in refused(2, "demo", "--port", "0")


def test_the_demo_is_served_with_its_model(demo: Path, served: Any) -> None:
    passed("demo", demo, "--serve", "--port", "0", "--quiet")
    settings: Settings = served()
    assert settings.indexes == {"demo": demo / "index"}
    assert settings.models == {"trained": (demo / "model.json", "demo")}
    assert settings.port == 0
