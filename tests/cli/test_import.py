"""`fader import`: formats listed, options of a format, exit codes, what is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fader.cli import cli
from fader.errors import InputError, UsageError

SAMPLE = Path(__file__).parent.parent / "corpora" / "fixtures" / "wikipedia" / "sample.xml"


def invoke(*arguments: str) -> str:
    """Standard output of a command that must succeed."""
    result = CliRunner().invoke(cli, ["import", *arguments], catch_exceptions=False, standalone_mode=False)
    return result.stdout


def test_list() -> None:
    """A line for each format, or JSON."""
    assert any(line.startswith("wikipedia ") for line in invoke("--list").split("\n"))
    assert "wikipedia" in json.loads(invoke("--list", "--json"))


def test_help_has_the_options_of_the_format() -> None:
    """With their defaults, and an example."""
    text = CliRunner().invoke(cli, ["import", "wikipedia", "--help"]).output
    for word in ("--propagate", "--support", "default: 0", "Example: fader import wikipedia", "--restart"):
        assert word in text


def test_import(tmp_path: Path) -> None:
    """Options in either spelling; --json gives counts and faults."""
    common = [str(SAMPLE), "--processes", "1", "--quiet", "--json"]
    found = json.loads(invoke("wikipedia", *common, "-o", str(tmp_path / "a"), "--support", "1", "--propagate"))
    assert found["counts"]["documents"] == 5
    assert found["faults"] == {"pages without title or text": 1}
    again = invoke(
        "wikipedia", *common, "-o", str(tmp_path / "b"), "--option", "support=1", "--option", "propagate=true"
    )
    assert json.loads(again)["counts"] == found["counts"]
    assert (tmp_path / "a" / "corpus.jsonl").read_bytes() == (tmp_path / "b" / "corpus.jsonl").read_bytes()


def test_compress(tmp_path: Path) -> None:
    """The corpus as .zst, which the readers take."""
    from fader.corpus.readers import read_lines

    invoke("wikipedia", str(SAMPLE), "-o", str(tmp_path / "a"), "--processes", "1", "--quiet", "--compress")
    assert len(list(read_lines(tmp_path / "a" / "corpus.jsonl.zst"))) == 5


def test_refused(tmp_path: Path) -> None:
    """An unknown format or option, a missing source, a bad value: said plainly, with what would be right."""
    runner = CliRunner()
    assert 'did you mean "wikipedia"' in runner.invoke(cli, ["import", "wikipdia", "x", "-o", "y"]).output
    assert runner.invoke(cli, ["import"]).exit_code == 2
    assert runner.invoke(cli, ["import", "wikipedia", "x"]).exit_code == 2
    with pytest.raises(InputError, match="no such file"):
        invoke("wikipedia", str(tmp_path / "none.xml"), "-o", str(tmp_path / "a"))
    with pytest.raises(UsageError, match="a number like 0"):
        invoke("wikipedia", str(SAMPLE), "-o", str(tmp_path / "a"), "--support", "many")
    with pytest.raises(UsageError, match="0 or more, not -1"):
        invoke("wikipedia", str(SAMPLE), "-o", str(tmp_path / "a"), "--support", "-1")
    (tmp_path / "other.txt").write_text("not a dump")
    for _again in range(2):  # what found nothing is in nobody's way
        with pytest.raises(InputError, match="nothing was found; are the sources a Wikipedia dump"):
            invoke("wikipedia", str(tmp_path / "other.txt"), "-o", str(tmp_path / "b"), "--processes", "1")
    with pytest.raises(UsageError, match="no parameter"):
        invoke("wikipedia", str(SAMPLE), "-o", str(tmp_path / "a"), "--option", "suport=1")
    with pytest.raises(UsageError, match="2 times"):
        invoke("wikipedia", "-", "-o", str(tmp_path / "a"))
