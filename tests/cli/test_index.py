"""`fader index`: sources, options, and folders that appear whole or not at all."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from cli.running import passed, refused

LINES = 120


@pytest.fixture(scope="session")
def lines(demo: Path) -> list[str]:
    """The first documents of the demo: enough to index, quick to index."""
    with open(demo / "corpus.jsonl", encoding="utf-8") as file:
        return [next(file) for _ in range(LINES)]


@pytest.fixture
def corpus(tmp_path: Path, lines: list[str]) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def build(place: Path, catalog: list[str], *arguments: str | Path, stdin: bytes = b"") -> dict[str, Any]:
    """Build an index and return what `--json` reports."""
    return passed("index", *arguments, *catalog, "-o", place, "--json", stdin=stdin).json


def answers(index: Path, *more: str) -> list[tuple[str, float, int]]:
    """The ranking of one query."""
    found = passed("search", index, "played made the", "--type", "person", "-k", "50", "--json", *more).json
    return [(r["entity"], r["score"], r["support"]) for r in found["results"]]


def test_a_build_reports_what_it_indexed(tmp_path: Path, catalog: list[str], corpus: Path) -> None:
    report = build(tmp_path / "index", catalog, corpus)
    assert report["index"] == str(tmp_path / "index")
    assert report["documents"] == LINES
    assert report["mentions"] > LINES
    assert report["skipped"] == {"lines": {}, "catalog": 0}


def test_plain_output_is_one_remark(tmp_path: Path, catalog: list[str], corpus: Path) -> None:
    outcome = passed("index", corpus, *catalog, "-o", tmp_path / "index")
    assert outcome.out == ""
    assert f"{LINES} documents" in outcome.err
    assert passed("index", corpus, *catalog, "-o", tmp_path / "quiet", "--quiet").err == ""


def test_every_kind_of_source_gives_the_same_index(
    tmp_path: Path, catalog: list[str], corpus: Path, lines: list[str]
) -> None:
    """Plain, gzip, zstandard, standard input, and the corpus cut into several files of several kinds."""
    text = "".join(lines).encode()
    (tmp_path / "c.gz").write_bytes(gzip.compress(text))
    (tmp_path / "c.zst").write_bytes(zstandard.ZstdCompressor().compress(text))
    (tmp_path / "a.jsonl").write_text("".join(lines[:50]), encoding="utf-8")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress("".join(lines[50:]).encode()))
    build(tmp_path / "plain", catalog, corpus)
    build(tmp_path / "gzip", catalog, tmp_path / "c.gz")
    build(tmp_path / "zstd", catalog, tmp_path / "c.zst")
    build(tmp_path / "stdin", catalog, "-", stdin=text)
    build(tmp_path / "stdin-gzip", catalog, "-", stdin=gzip.compress(text))
    build(tmp_path / "several", catalog, tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz")
    expected = answers(tmp_path / "plain")
    assert expected
    for name in ("gzip", "zstd", "stdin", "stdin-gzip", "several"):
        assert answers(tmp_path / name) == expected, name


def test_threads_and_memory_change_nothing(tmp_path: Path, catalog: list[str], corpus: Path) -> None:
    build(tmp_path / "one", catalog, corpus)
    build(tmp_path / "two", catalog, corpus, "--threads", "2", "--memory", "16")
    assert answers(tmp_path / "two") == answers(tmp_path / "one")


def test_a_stemmer_is_recorded_and_used(tmp_path: Path, catalog: list[str], corpus: Path) -> None:
    index = tmp_path / "index"
    build(index, catalog, corpus, "--stemmer", "english")
    assert passed("info", index, "--json").json["stemmer"] == "english"
    played, plays = (passed("search", index, w, "--json").json["contexts"] for w in ("played", "plays"))
    assert played == plays > 0


def test_an_unknown_stemmer_is_a_usage_error(tmp_path: Path, catalog: list[str], corpus: Path) -> None:
    message = refused(2, "index", corpus, *catalog, "-o", tmp_path / "index", "--stemmer", "engish")
    assert 'unknown stemmer "engish"; did you mean "english"?' in message
    assert not (tmp_path / "index").exists()


def test_stop_words_are_recorded_and_match_nothing(tmp_path: Path, catalog: list[str], corpus: Path) -> None:
    index, words = tmp_path / "index", tmp_path / "stop.txt"
    words.write_text("the  # an article\nof\n\n# nothing\nThe\n", encoding="utf-8")
    build(index, catalog, corpus, "--stopwords", words)
    assert passed("info", index, "--json").json["stop_words"] == 2
    message = refused(1, "search", index, "the")
    assert "only stop words" in message
    tokens = passed("analyze", "end of the line", "--index", index, "--json").json
    assert [t["term"] for t in tokens] == ["end", None, None, "line"]


def test_without_texts_the_answers_stay(tmp_path: Path, catalog: list[str], corpus: Path) -> None:
    """`--no-text` saves the texts' bytes, not the titles; answers are the same, with empty snippets."""
    build(tmp_path / "with", catalog, corpus)
    build(tmp_path / "without", catalog, corpus, "--no-text")
    assert answers(tmp_path / "without") == answers(tmp_path / "with")
    sizes = [passed("info", tmp_path / name, "--json").json["bytes_by_part"]["text"] for name in ("with", "without")]
    assert sizes[1] < sizes[0]
    found = passed("search", tmp_path / "without", "played", "--json").json["results"][0]["evidence"][0]
    assert found["snippet"] == ""
    assert found["doc"]
    passed("search", tmp_path / "without", "played", "--explain")


def test_an_existing_index_is_refused_unless_overwritten(
    tmp_path: Path, catalog: list[str], corpus: Path, lines: list[str]
) -> None:
    index, more = tmp_path / "index", tmp_path / "half.jsonl"
    more.write_text("".join(lines[:60]), encoding="utf-8")
    build(index, catalog, corpus)
    before = answers(index)
    assert "holds an index already; pass --overwrite" in refused(1, "index", more, *catalog, "-o", index)
    assert answers(index) == before
    assert build(index, catalog, more, "--overwrite")["documents"] == 60
    info = passed("info", index, "--json").json
    assert (info["documents"], info["commit"]) == (60, 2)
    assert answers(index, "--at", "1") == before
    build(index, catalog, more, "--overwrite", "--keep", "1")
    assert [c["commit"] for c in passed("info", index, "--json").json["commits"]] == [3]
    passed("check", index)


def test_a_folder_with_other_things_is_refused(tmp_path: Path, catalog: list[str], corpus: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear", encoding="utf-8")
    for more in ([], ["--overwrite"]):
        message = refused(1, "index", corpus, *catalog, "-o", tmp_path / "mine", *more)
        assert "is a folder with other things in it" in message
    assert [p.name for p in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def test_a_failed_build_leaves_nothing(tmp_path: Path, catalog: list[str], corpus: Path) -> None:
    corpus.write_text(corpus.read_text("utf-8") + "{not json\n", encoding="utf-8")
    before = sorted(p.name for p in tmp_path.iterdir())
    message = refused(1, "index", corpus, *catalog, "-o", tmp_path / "index", "--on-error", "fail")
    assert f"{corpus}:{LINES + 1}: not JSON" in message
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_faulty_lines_are_skipped_and_told(tmp_path: Path, catalog: list[str], corpus: Path) -> None:
    """By default a corpus line that cannot be used is counted, with file, line number and reason."""
    bad = ['{"id": "x"}\n', '{"id": "y", "text": "a b", "mentions": [{"start": 0, "end": 1, "entity": "Nobody"}]}\n']
    corpus.write_text(corpus.read_text("utf-8") + "".join(bad), encoding="utf-8")
    outcome = passed("index", corpus, *catalog, "-o", tmp_path / "index", "--json")
    assert outcome.json["documents"] == LINES + 1
    assert outcome.json["skipped"]["lines"]["lines"] == 1
    assert f'{corpus}:{LINES + 1}: document "x" needs a "text"' in outcome.err
    assert "Nobody" in outcome.err
    assert passed("info", tmp_path / "index", "--json").json["skipped"] == outcome.json["skipped"]["lines"]


def test_a_fault_in_the_catalog_stops_the_build(tmp_path: Path, demo: Path, corpus: Path) -> None:
    entities = tmp_path / "entities.tsv"
    entities.write_text("A\ta\tscientisst\n", encoding="utf-8")
    options = ["--entities", str(entities), "--types", str(demo / "types.tsv"), "-o", tmp_path / "index"]
    message = refused(1, "index", corpus, *options)
    assert f'{entities}:1: unknown type "scientisst"; did you mean "scientist"' in message
    report = passed("index", corpus, *options, "--on-error", "skip", "--json").json
    assert report["skipped"]["catalog"] == 1


def test_a_missing_source_is_named(tmp_path: Path, catalog: list[str], corpus: Path) -> None:
    """The message names the file that is missing, whichever it is."""
    index = tmp_path / "index"
    assert "nothere.jsonl: no such file" in refused(1, "index", tmp_path / "nothere.jsonl", *catalog, "-o", index)
    message = refused(1, "index", corpus, "--entities", tmp_path / "no.tsv", *catalog[2:], "-o", index)
    assert "no.tsv: no such file" in message
    (tmp_path / "none").mkdir()
    assert "none: has no files" in refused(1, "index", tmp_path / "none", *catalog, "-o", index)


def test_a_cut_archive_is_told_from_a_whole_one(tmp_path: Path, catalog: list[str], lines: list[str]) -> None:
    whole = gzip.compress("".join(lines).encode())
    (tmp_path / "cut.gz").write_bytes(whole[: len(whole) // 2])
    message = refused(1, "index", tmp_path / "cut.gz", *catalog, "-o", tmp_path / "index")
    assert "cut.gz: damaged or cut short after line" in message
    assert not (tmp_path / "index").exists()


def test_pyserini_fields_are_understood(tmp_path: Path) -> None:
    """`contents` for text, `entities` with start_pos, end_pos and wikidata_id."""
    (tmp_path / "types.tsv").write_text("person\tperson\t\n", encoding="utf-8")
    (tmp_path / "entities.tsv").write_text("Q937\tAlbert Einstein\tperson\n", encoding="utf-8")
    mention = {"start_pos": 0, "end_pos": 8, "wikidata_id": "Q937"}
    line = json.dumps({"id": 7, "contents": "Einstein played the violin", "entities": [mention]})
    (tmp_path / "c.jsonl").write_text(line + "\n", encoding="utf-8")
    catalog = ["--entities", str(tmp_path / "entities.tsv"), "--types", str(tmp_path / "types.tsv")]
    build(tmp_path / "index", catalog, tmp_path / "c.jsonl")
    (result,) = passed("search", tmp_path / "index", "violin", "--type", "person", "--json").json["results"]
    assert (result["entity"], result["evidence"][0]["doc"]) == ("Q937", "7")
    assert result["evidence"][0]["matches"] == [{"literal": "violin", "at": [20, 26], "distance": 3}]


@pytest.mark.parametrize("missing", ["corpus", "--entities", "-o"])
def test_a_missing_argument_is_a_usage_error(tmp_path: Path, missing: str) -> None:
    given = {"corpus": ["c.jsonl"], "--entities": ["--entities", "e"], "-o": ["-o", "x"]}
    arguments = [word for name, words in given.items() if name != missing for word in words]
    assert "Missing" in refused(2, "index", *arguments)


def test_a_table_is_a_catalog_and_how_it_was_read_is_said(tmp_path: Path) -> None:
    """No file of types; an answer type is a value of the column."""
    (tmp_path / "p.csv").write_text("Name,Job\nAda Lovelace,mathematician\nGrace Hopper,naval officer\n")
    (tmp_path / "t.txt").write_text("Grace Hopper wrote a compiler. Ada Lovelace wrote a program.\n")
    corpus, index = tmp_path / "c.jsonl", tmp_path / "index"
    assert "types=Job" in passed("annotate", tmp_path / "t.txt", "--catalog", tmp_path / "p.csv", "-o", corpus).err
    built = passed("index", corpus, "--catalog", tmp_path / "p.csv", "--columns", "name=name,types=job", "-o", index)
    assert f"{tmp_path / 'p.csv'}: CSV, name=Name, types=Job, ids from names" in built.err
    found = passed("search", index, "wrote +compiler", "--type", "naval officer", "--json").json
    assert [r["name"] for r in found["results"]] == ["Grace Hopper"]
    assert len(passed("search", index, "wrote", "--json").json["results"]) == 2


def test_a_list_of_names_is_a_catalog(tmp_path: Path) -> None:
    """It has no types, and is asked without one."""
    (tmp_path / "names").write_text("Ada Lovelace\nGrace Hopper\n")
    (tmp_path / "t.txt").write_text("Grace Hopper wrote a compiler. Ada Lovelace wrote a program.\n")
    passed("annotate", tmp_path / "t.txt", "--catalog", tmp_path / "names", "-o", tmp_path / "c.jsonl")
    passed("index", tmp_path / "c.jsonl", "--catalog", tmp_path / "names", "-o", tmp_path / "index")
    passed("check", tmp_path / "index")
    found = passed("search", tmp_path / "index", "+compiler", "--json").json
    assert {r["name"] for r in found["results"]} == {"Ada Lovelace", "Grace Hopper"}
