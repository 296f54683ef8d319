"""`fader cluster`: what is refused is refused at once, before any cluster is started or joined."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.running import passed, refused


def test_the_commands_are_listed() -> None:
    assert "build" in passed("cluster", "--help").out
    assert 'did you mean "build"?' in refused(2, "cluster", "biuld")


def test_a_build_that_cannot_be_done(demo: Path, catalog: list[str], tmp_path: Path) -> None:
    """The input, the place and the address are looked at in this order; nothing is left behind."""
    corpus, shards = demo / "corpus.jsonl", ["--shards", "2"]
    out = ["-o", str(tmp_path / "out")]
    assert "no such file" in refused(1, "cluster", "build", tmp_path / "gone", *catalog, *out, *shards)
    assert "standard input" in refused(2, "cluster", "build", "-", *catalog, *out, *shards)
    assert "shards" in refused(2, "cluster", "build", corpus, *catalog, *out, "--shards", "0")
    there = ["-o", str(demo / "index")]
    assert "--overwrite" in refused(1, "cluster", "build", corpus, *catalog, *there, *shards)
    address = ["--address", "127.0.0.1:1"]
    assert "no Ray cluster answers" in refused(1, "cluster", "build", corpus, *catalog, *out, *shards, *address)
    assert "HOST:PORT" in refused(2, "cluster", "build", corpus, *catalog, *out, *shards, "--address", "ray://x:1")
    assert not (tmp_path / "out").exists()


def test_without_the_extra_it_is_named(
    demo: Path, catalog: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    said = refused(2, "cluster", "build", demo / "corpus.jsonl", *catalog, "-o", tmp_path / "out", "--shards", "2",
                   "--address", "local")  # fmt: skip
    assert "fader[cluster]" in said
