"""Files in, a corpus out: formats, faults, processes, interruption."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import zstandard

from fader.corpora.annotate import run as running
from fader.corpora.annotate import texts
from fader.corpora.annotate.options import Options
from fader.corpora.annotate.run import annotate_files
from fader.errors import CatalogError, CorpusError, InputError, UsageError
from fader.limits import Limits

ENTITIES = "curie\tMarie Curie\tphysicist\nwarsaw\tWarsaw\tcity\n"


@pytest.fixture
def catalog(tmp_path: Path) -> str:
    path = tmp_path / "entities.tsv"
    path.write_text(ENTITIES)
    return str(path)


def read(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    if path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    return [json.loads(line) for line in data.splitlines()]


def surfaces(row: dict[str, Any]) -> list[str]:
    return [row["text"][m["start"] : m["end"]] for m in row["mentions"]]


def write(path: Path, data: bytes) -> str:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def test_a_text_file_is_a_document(tmp_path: Path, catalog: str) -> None:
    one = write(tmp_path / "one.txt", "Marie Curie\r\nand Warsaw é Warsaw\r\n".encode())
    two = write(tmp_path / "two.txt.gz", b"\xef\xbb\xbfWarsaw\n")
    report = annotate_files([one, two], tmp_path / "out.jsonl", Options(catalog))
    rows = read(tmp_path / "out.jsonl")
    assert [r["id"] for r in rows] == [one, two]
    assert [surfaces(r) for r in rows] == [["Marie Curie", "Warsaw", "Warsaw"], ["Warsaw"]]
    assert [r["text"][-6:] for r in rows] == ["Warsaw", "Warsaw"]
    assert (report.documents, report.mentions, report.names) == (2, 4, 2)


def test_lines(tmp_path: Path, catalog: str) -> None:
    source = write(tmp_path / "in.txt", b"Warsaw\r\n\r\nnothing\nMarie Curie")
    annotate_files([source], tmp_path / "out.jsonl", Options(catalog, lines=True))
    rows = read(tmp_path / "out.jsonl")
    assert [r["id"] for r in rows] == [f"{source}:1", f"{source}:3", f"{source}:4"]
    assert [r["text"] for r in rows] == ["Warsaw", "nothing", "Marie Curie"]


def test_json_lines_keep_what_they_have(tmp_path: Path, catalog: str) -> None:
    """Ids become text, contents become text, old mentions go, further keys stay."""
    given = [
        {"id": 7, "text": "in Warsaw", "mentions": [{"start": 0, "end": 2, "entity": "x"}], "title": "T", "prior": 2},
        {"id": "b", "contents": "Marie \u2028Curie", "entities": [], "tags": ["é", {"deep": None}]},
    ]
    source = write(tmp_path / "in.jsonl.gz", "\n".join(json.dumps(g) for g in given).encode())
    annotate_files([source], tmp_path / "out.jsonl.zst", Options(catalog))
    confidence = {"warsaw": 0.8, "curie": 0.9}
    assert read(tmp_path / "out.jsonl.zst") == [
        {"id": "7", "text": "in Warsaw", "title": "T", "prior": 2,
         "mentions": [{"start": 3, "end": 9, "entity": "warsaw", "confidence": confidence["warsaw"]}]},
        {"id": "b", "text": "Marie \u2028Curie", "tags": ["é", {"deep": None}],
         "mentions": [{"start": 0, "end": 12, "entity": "curie", "confidence": confidence["curie"]}]},
    ]  # fmt: skip


BAD = [b"{", b"[]", b'{"text": "x"}', b'{"id": "x"}', b'{"id": "x", "text": 1}', b'{"id": "", "text": "x"}',
       b'{"id": "x", "text": "a", "title": 3}', b'{"id": "x", "text": "a", "prior": -1}',
       b'{"id": "x", "text": "a", "prior": true}', b'{"id": "x", "text": "a", "tag": 1e999}',
       b'{"id": "x", "text": "a\0"}', b'{"id": "x", "text": "\xff"}',
       b'{"id": true, "text": "a"}', b'{"id": "x", "text": "\\ud800"}']  # fmt: skip


@pytest.mark.parametrize("bad", BAD)
def test_bad_lines_are_told_with_their_place(tmp_path: Path, catalog: str, bad: bytes) -> None:
    source = write(tmp_path / "in.jsonl", b'{"id": "a", "text": "Warsaw"}\n' + bad + b"\n\n")
    report = annotate_files([source], tmp_path / "out.jsonl", Options(catalog))
    assert report.documents == 1
    assert report.faults.total == 1
    assert f"{source}:2" in report.faults.lines()[1]
    with pytest.raises(CorpusError, match=f"{source}:2"):
        annotate_files([source], tmp_path / "fail.jsonl", Options(catalog), on_error="fail")


def test_broken_utf8_names_the_byte(tmp_path: Path, catalog: str) -> None:
    source = write(tmp_path / "in.txt", b"Warsaw \xff")
    report = annotate_files([source], tmp_path / "out.jsonl", Options(catalog))
    assert f"{source}: not UTF-8 at byte 8" in report.faults.lines()[1]


def test_a_cut_file_is_an_error(tmp_path: Path, catalog: str) -> None:
    source = tmp_path / "in.jsonl.gz"
    source.write_bytes(gzip.compress(b'{"id": "a", "text": "Warsaw"}\n' * 100)[:-20])
    with pytest.raises(InputError, match="damaged or cut short"):
        annotate_files([str(source)], tmp_path / "out.jsonl", Options(catalog))


def test_limits(tmp_path: Path, catalog: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents over a limit, and those that would get too many mentions, are skipped and counted."""
    monkeypatch.setenv("FADER_LIMIT_DOCUMENT_CHARACTERS", "40")
    monkeypatch.setenv("FADER_LIMIT_DOCUMENT_MENTIONS", "2")
    lines = [b"Warsaw Warsaw", b"Warsaw " * 3, b"w" * 50]
    source = write(tmp_path / "in.txt", b"\n".join(lines))
    report = annotate_files([source], tmp_path / "out.jsonl", Options(catalog, lines=True))
    assert report.documents == 1
    assert report.faults.counts == {"documents over a limit": 2}
    assert all(f"{source}:" in line for line in report.faults.lines()[1:])


def many(tmp_path: Path, count: int = 300) -> str:
    rows = [{"id": f"d{i}", "text": f"Marie Curie {i} in Warsaw é" * (i % 5)} for i in range(count)]
    return write(tmp_path / "many.jsonl", b"\n".join(json.dumps(r).encode() for r in rows))


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pieces of a small file."""
    monkeypatch.setattr(texts, "PIECE_BYTES", 2_000)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.zst", "out.jsonl.gz"])
def test_an_interrupted_run_goes_on_and_gives_the_same_bytes(
    tmp_path: Path, catalog: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped after any number of pieces, the same command gives the bytes of a run that was not stopped."""
    source = many(tmp_path)
    whole = tmp_path / f"whole-{name}"
    annotate_files([source], whole, Options(catalog), part_bytes=3_000)
    pieces = len(list(texts.cut_pieces([source], None, Limits())))
    assert pieces > 5
    convert = running.convert
    for stop in range(0, pieces, 3):
        left = [stop]

        def failing(*given: Any, left: list[int] = left) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return convert(*given)

        out = tmp_path / f"{stop}-{name}"
        monkeypatch.setattr(running, "convert", failing)
        with pytest.raises(KeyboardInterrupt):
            annotate_files([source], out, Options(catalog), part_bytes=3_000)
        assert not out.exists()
        monkeypatch.setattr(running, "convert", convert)
        report = annotate_files([source], out, Options(catalog), part_bytes=3_000)
        assert out.read_bytes() == whole.read_bytes()
        assert report.documents == 300
        assert not out.with_name(out.name + ".unfinished").exists()


# The command line, in small pieces that take their time, so that there is something amid which to end.
PROGRAM = """
import time
import fader.corpora.annotate.texts as texts, fader.corpora.annotate.run as run
from fader.cli import main

def slowly(output, end_part=run._Output.end_part):
    time.sleep(0.02)
    end_part(output)

if __name__ == "__main__":
    texts.PIECE_BYTES, run.PART_BYTES, run._Output.end_part = 2000, 3000, slowly
    main()
"""


def test_a_killed_run_goes_on(tmp_path: Path, catalog: str) -> None:
    """kill -9 of the command alone, then Ctrl-C; no worker lives on, and the same command gives the same bytes."""
    source, whole, out = many(tmp_path, 1_000), tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    annotate_files([source], whole, Options(catalog))
    (tmp_path / "program.py").write_text(PROGRAM)
    words = ["annotate", source, "--entities", catalog, "-o", str(out), "--min-confidence", "0", "--processes", "2"]

    def parts() -> int:
        return len(list((tmp_path / "out.jsonl.unfinished").glob("0*.part")))

    def ended(sign: int | None) -> int:
        process = subprocess.Popen(
            [sys.executable, str(tmp_path / "program.py"), *words], stderr=subprocess.PIPE, start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )  # fmt: skip
        before = parts()
        while sign and process.poll() is None and parts() <= before:
            time.sleep(0.002)
        if sign == signal.SIGKILL:
            process.kill()
        elif sign:
            os.killpg(process.pid, sign)
        messages = process.communicate(timeout=300)[1]  # all processes have let go of it
        assert b"Traceback" not in messages
        return process.returncode

    assert ended(signal.SIGKILL) == -signal.SIGKILL
    assert ended(signal.SIGINT) == 130
    assert ended(None) == 0
    assert out.read_bytes() == whole.read_bytes()


def test_processes_do_not_matter(tmp_path: Path, catalog: str) -> None:
    source, other = many(tmp_path), write(tmp_path / "more.txt", b"Warsaw")
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    annotate_files([source, other], one, Options(catalog))
    report = annotate_files([source, other], two, Options(catalog), processes=2)
    assert one.read_bytes() == two.read_bytes()
    assert report.documents == 301


def test_other_work_in_the_same_place_is_refused(tmp_path: Path, catalog: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = many(tmp_path), tmp_path / "out.jsonl"

    def interrupted(*_given: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(running, "convert", interrupted)
        with pytest.raises(KeyboardInterrupt):
            annotate_files([source], out, Options(catalog))
    with pytest.raises(InputError, match=r"other options.*--restart"):
        annotate_files([source], out, Options(catalog, min_confidence=0.5))
    annotate_files([source], out, Options(catalog, min_confidence=0.5), restart=True)
    with pytest.raises(InputError, match=r"is there already.*--restart"):
        annotate_files([source], out, Options(catalog))
    assert not (tmp_path / "out.jsonl.unfinished").exists()
    assert annotate_files([source], out, Options(catalog), restart=True).documents == 300


@pytest.mark.parametrize(
    "options",
    [{"overlaps": "x"}, {"min_confidence": 2.0}, {"linker": "magic"}],
)
def test_bad_options(catalog: str, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Options(catalog, **options)


def test_nothing_to_read(tmp_path: Path, catalog: str) -> None:
    with pytest.raises(InputError, match="no such file"):
        annotate_files([str(tmp_path / "none.txt")], tmp_path / "out.jsonl", Options(catalog))
    with pytest.raises(UsageError, match="at least one"):
        annotate_files([], tmp_path / "out.jsonl", Options(catalog))
    with pytest.raises(UsageError, match="only once"):
        annotate_files(["-", "-"], tmp_path / "out.jsonl", Options(catalog))
    with pytest.raises(UsageError, match="given twice"):
        annotate_files([catalog, catalog], tmp_path / "out.jsonl", Options(catalog))


def test_what_is_read_is_never_written(tmp_path: Path, catalog: str) -> None:
    source = many(tmp_path)
    for out in (source, catalog):
        with pytest.raises(UsageError, match="is also read"):
            annotate_files([source], out, Options(catalog), restart=True)
    with pytest.raises(UsageError, match="is a file, not a folder"):
        annotate_files([source], f"{source}/sub/out.jsonl", Options(catalog))
    for folder in (str(tmp_path), "."):
        with pytest.raises(UsageError, match="is a folder"):
            annotate_files([source], folder, Options(catalog))


def test_a_bad_catalog_leaves_nothing_behind(tmp_path: Path) -> None:
    """It will be mended, and the same command given again."""
    source, catalog = many(tmp_path), write(tmp_path / "bad.tsv", b"one column\n")
    with pytest.raises(CatalogError):
        annotate_files([source], tmp_path / "out.jsonl", Options(catalog))
    assert not list(tmp_path.glob("*.unfinished"))


def test_changed_files_are_told(tmp_path: Path, catalog: str) -> None:
    source, out = write(tmp_path / "in.jsonl", b'{"id": "a", "text": "Warsaw"}\n{'), tmp_path / "out.jsonl"
    with pytest.raises(CorpusError):
        annotate_files([source], out, Options(catalog), on_error="fail")
    write(tmp_path / "in.jsonl", b'{"id": "a", "text": "Warsaw"}\n')
    with pytest.raises(InputError, match=r"other contents of the files.*--restart"):
        annotate_files([source], out, Options(catalog), on_error="fail")
    assert annotate_files([source], out, Options(catalog), on_error="fail", restart=True).documents == 1


def test_the_corpus_can_be_indexed_and_searched(tmp_path: Path, catalog: str) -> None:
    """What is written is a corpus without faults."""
    import fader

    source = write(tmp_path / "one.txt", b"Marie Curie studied radium. She was born in Warsaw.")
    annotate_files([source], tmp_path / "out.jsonl", Options(catalog))
    types = [{"id": "physicist"}, {"id": "city"}]
    entities = [{"id": "curie", "name": "Marie Curie", "types": ["physicist"]}, {"id": "warsaw", "types": ["city"]}]
    index = fader.build(tmp_path / "index", [str(tmp_path / "out.jsonl")], entities, types, on_error="fail")
    assert [r.entity for r in index.search("radium", type="physicist").results] == ["curie"]
