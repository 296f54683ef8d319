"""Every limit: what is at it passes, what is beyond is refused with its name, and each can be set in every way."""

from __future__ import annotations

import dataclasses
import gzip
import json
import re
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fader
from cli.running import passed, refused
from docs.markdown import ROOT
from fader.contexts.query import parse_query
from fader.corpus.analysis import Analysis
from fader.corpus.catalog import HINTS, read_catalog
from fader.corpus.documents import Faults, read_corpus
from fader.corpus.queries import FaultCollector, read_qrels, read_queries
from fader.corpus.readers import CHUNK, LongLine, read_batches
from fader.errors import CatalogError, CorpusError, FaderError, InputError, LimitError, QueryError, UsageError
from fader.limits import Limits, variable

NAMES = [each.name for each in dataclasses.fields(Limits)]
OPTIONAL = ("contexts", "memory_mb", "time_ms")
ENTITIES = [{"id": "E", "types": ["T"]}, {"id": "F", "types": ["T"]}]
TYPES = [{"id": "T"}]
MENTION = {"start": 0, "end": 5, "entity": "E"}
LARGEST = {name: Limits.__dataclass_fields__[name].metadata["most"] for name in NAMES}


# ---------------------------------------------------------------------------------------- the values


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0, -1, 1.5, "7", True, [1], 2**60, pytest.param(10**5000, id="huge")])
def test_a_limit_is_a_whole_number_from_1_on(name: str, value: Any) -> None:
    """Anything else is refused with the name, the range and the value."""
    most = f"{LARGEST[name]:,}{', or none' if name in OPTIONAL else ''}"
    with pytest.raises(UsageError, match=rf"^{name} must be a whole number from 1 to {most}, not "):
        Limits(**{name: value})


@pytest.mark.parametrize("name", NAMES)
def test_only_some_may_be_left_out(name: str) -> None:
    """None is no limit, where a query is answered without one."""
    if name in OPTIONAL:
        assert getattr(Limits(**{name: None}), name) is None
    else:
        with pytest.raises(UsageError, match=f"{name} must be"):
            Limits(**{name: None})


@pytest.mark.parametrize("name", NAMES)
def test_every_limit_can_be_set_by_the_environment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable counts, what is given counts more, and an empty variable is none."""
    monkeypatch.setenv(f"FADER_LIMIT_{name.upper()}", " 7 ")
    assert Limits.from_environment() == Limits(**{name: 7})
    assert Limits.from_environment(**{name: 9}) == Limits(**{name: 9})
    assert Limits.from_environment(**{name: None}) == Limits(**{name: 7})
    monkeypatch.setenv(f"FADER_LIMIT_{name.upper()}", "")
    assert Limits.from_environment() == Limits()


@pytest.mark.parametrize("text", ["many", "0", "-3", "1e3", "1_000", "٣", "9" * 40])
def test_a_bad_variable_is_named(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With its value; at the command line it is wrong usage."""
    monkeypatch.setenv("FADER_LIMIT_K", text)
    message = f"FADER_LIMIT_K must be a whole number from 1 to {LARGEST['k']:,}, not "
    with pytest.raises(UsageError, match=f"^{message}"):
        Limits.from_environment()
    assert message in refused(2, "search", tmp_path, "query")


def test_a_variable_of_no_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slip must not leave a limit as it was."""
    monkeypatch.setenv("FADER_LIMIT_LITERAL", "7")
    with pytest.raises(UsageError, match=r'^there is no limit "FADER_LIMIT_LITERAL".*"FADER_LIMIT_LITERALS"'):
        Limits.from_environment()


def test_the_page_lists_every_limit() -> None:
    """Name, default, what it bounds and the option, as they are in the code, in its order."""
    lines = (ROOT / "docs" / "limits.md").read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| `")]
    expected = []
    for each in dataclasses.fields(Limits):
        default = "none" if each.default is None else f"{each.default:,}"
        option = each.metadata["option"]
        expected.append([f"`{each.name}`", default, each.metadata["bounds"], f"`{option}`" if option else ""])
    assert rows == expected


# ------------------------------------------------------------------------------------------ documents


def document(**fields: Any) -> dict[str, Any]:
    return {"id": "d", "text": "Euler", "mentions": [MENTION], **fields}


SIZES: dict[str, tuple[str, Callable[[int], dict[str, Any]], str]] = {
    "text": ("document_characters", lambda n: document(text="a" * n, mentions=[]), "a text of {} characters"),
    "contents": ("document_characters", lambda n: {"id": "d", "contents": "é" * n}, "a text of {} characters"),
    "mentions": ("document_mentions", lambda n: document(mentions=[MENTION] * n), "{} mentions"),
    "entities": ("document_mentions", lambda n: {"id": "d", "text": "Euler", "entities": [{}] * n}, "{} mentions"),
    "id": ("id_characters", lambda n: document(id="i" * n), "an id of {} characters"),
    "number": ("id_characters", lambda n: document(id=10 ** (n - 1)), "an id of {} characters"),
    "title": ("name_characters", lambda n: document(title="t" * n), "a title of {} characters"),
    "url": ("name_characters", lambda n: document(url="u" * n), "a url of {} characters"),
}


@pytest.mark.parametrize("as_line", [True, False])
@pytest.mark.parametrize(("name", "of_size", "says"), SIZES.values(), ids=SIZES.keys())
def test_a_document_over_a_limit_is_a_fault_of_its_line(
    tmp_path: Path, name: str, of_size: Callable[[int], dict[str, Any]], says: str, as_line: bool
) -> None:
    """Skipped with a count and an example that names the limit, or an error; at the limit it is fine."""

    def read(size: int, policy: str) -> tuple[int, Faults]:
        faults, path = Faults(policy), tmp_path / "corpus.jsonl"
        path.write_text(json.dumps(of_size(size)), "utf-8")
        sources: Any = [path] if as_line else [of_size(size)]
        return sum(len(b.documents) for b in read_corpus(sources, faults, Limits(**{name: 9}))), faults

    assert read(9, "fail")[0] == 1
    found, faults = read(10, "skip")
    assert found == 0
    assert faults.counts == {"documents over a limit": 1}
    assert f" has {says.format(10)}; at most 9, which " in faults.examples["documents over a limit"][0]
    with pytest.raises(CorpusError, match=rf"{variable(name)} raises; correct it, or pass --on-error skip$"):
        read(10, "fail")


def test_a_build_goes_on_past_documents_over_a_limit(tmp_path: Path) -> None:
    """The count is in the report and in the manifest."""
    corpus = [document(), document(id="e", text="a" * 100)]
    index = fader.build(tmp_path / "index", corpus, ENTITIES, TYPES, limits=Limits(document_characters=99))
    assert index.collection.documents == 1
    assert index.report is not None
    assert index.report.faults.counts == {"documents over a limit": 1}
    assert index.collection.manifest.skipped == {"documents over a limit": 1}


def test_a_line_that_is_all_mentions_is_not_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decoded mentions take many times the room of `{},`; braces in texts are no mentions."""
    path, limits = tmp_path / "corpus.jsonl", Limits(document_mentions=10)
    bomb = '{"id": "b", "text": "x", "mentions": [' + "{}," * 5000 + "{}]}"
    path.write_text(bomb + "\n" + json.dumps({"id": "t", "text": "{" * 5000}) + "\n")
    faults = Faults("skip")
    (batch,) = read_corpus([path], faults, limits)
    assert [d.id for d in batch.documents] == ["t"]
    (message,) = faults.examples["documents over a limit"]
    assert message.startswith(f"{path}:1: about 5,001 mentions; at most 10, which --max-mentions or FADER_LIMIT_")


# ---------------------------------------------------------------------------------------------- lines


@pytest.mark.parametrize("chunk", [1, 3, CHUNK])
@pytest.mark.parametrize("ended", [b"", b"\n"])
def test_a_line_over_the_limit_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, ended: bytes
) -> None:
    """Its size and its start are, wherever it stands and however the file is read; its neighbours are whole."""
    monkeypatch.setattr("fader.corpus.readers.CHUNK", chunk)
    lines = [b"a" * 10, b"b" * 11, b"", b"c" * 100, b"d", b"e" * 99]
    path = tmp_path / "lines"
    path.write_bytes(b"\n".join(lines) + ended)
    found = [line for _first, batch, _n in read_batches(path, Limits(line_bytes=10)) for line in batch]
    sizes = [line.size if isinstance(line, LongLine) else len(line) for line in found]
    assert sizes == [len(line) for line in lines]
    assert [isinstance(line, LongLine) for line in found] == [False, True, False, True, False, True]
    assert [line[:60] for line in found] == [line[:60] for line in lines]


def zstd_bomb(size: int) -> bytes:
    """A frame that repeats one byte, in blocks of four bytes that hold 128 KB each."""
    blocks = [131072 << 3 | 1 << 1 | (i == size // 131072 - 1) for i in range(size // 131072)]
    return b"\x28\xb5\x2f\xfd\x00\x38" + b"".join(struct.pack("<I", head)[:3] + b"a" for head in blocks)


def gzip_bomb(size: int) -> bytes:
    return gzip.compress(bytes(size), compresslevel=1)


@pytest.mark.parametrize(("pack", "size"), [(gzip_bomb, 1 << 26), (zstd_bomb, 1 << 28)], ids=["gzip", "zstandard"])
def test_a_file_that_expands_to_one_endless_line(tmp_path: Path, pack: Callable[[int], bytes], size: int) -> None:
    """Memory is bounded by the pieces in which the file is read, not by what it expands to."""
    path = tmp_path / "bomb"
    path.write_bytes(pack(size))
    tracemalloc.start()
    try:
        ((_first, (line,), _consumed),) = read_batches(path, Limits(line_bytes=1 << 20))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(line, LongLine)
    assert line.size == size
    assert peak < size // 3


@pytest.mark.parametrize("read", [read_queries, read_qrels])
def test_long_lines_of_queries_and_judgments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Any) -> None:
    """Skipped where faults are, else an error that names the limit."""
    monkeypatch.setenv("FADER_LIMIT_LINE_BYTES", "50")
    path = tmp_path / "lines"
    path.write_text("x" * 51 + "\n")
    fault = FaultCollector(skip=True)
    assert not read(path, fault)
    assert len(fault.messages) == 1
    with pytest.raises(InputError, match=rf"^{path}:1: a line of 51 bytes; at most 50, which FADER_LIMIT_LINE_BYTES"):
        read(path, FaultCollector())


def test_corpus_lines_over_the_limit(tmp_path: Path) -> None:
    """Counted among the documents over a limit, with file and line."""
    path = tmp_path / "corpus.jsonl"
    path.write_text(json.dumps(document()) + "\n" + json.dumps(document(id="e", x="y" * 500)) + "\n")
    index = fader.build(tmp_path / "index", path, ENTITIES, TYPES, limits=Limits(line_bytes=200))
    assert index.collection.documents == 1
    assert index.report is not None
    (message,) = index.report.faults.examples["documents over a limit"]
    assert message.startswith(f"{path}:2: a line of ")


# -------------------------------------------------------------------------------------------- catalog


@pytest.mark.parametrize("field", ["id", "name", "aliases"])
@pytest.mark.parametrize("kind", ["entities", "types"])
def test_a_catalog_row_over_a_limit(tmp_path: Path, kind: str, field: str) -> None:
    """A fault of the catalog: an error, or a note."""
    limits = Limits(id_characters=9, name_characters=9)

    def build(size: int, policy: str) -> fader.Index:
        row = {"id": "X", field: ["x" * size] if field == "aliases" else "x" * size}
        rows: dict[str, Any] = {"entities": [], "types": [], kind: [row]}
        return fader.build(tmp_path / "index", [], **rows, catalog_on_error=policy, limits=limits, overwrite=True)

    build(9, "fail")
    with pytest.raises(CatalogError, match=r"has an? (id|name) of 10 characters; at most 9, which FADER_LIMIT_"):
        build(10, "fail")
    report = build(10, "skip").report
    assert report is not None
    assert len(report.catalog_notes) == 1  # type: ignore[union-attr]


def test_a_hierarchy_with_too_many_pairs(tmp_path: Path) -> None:
    """A chain of n types has n (n + 1) / 2 pairs of a type and one above it, or itself."""
    chain = [{"id": f"t{i:02}", "supertypes": [f"t{i - 1:02}"] if i else []} for i in range(20)]
    fader.build(tmp_path / "index", [], [], chain, limits=Limits(hierarchy_pairs=210))
    with pytest.raises(CatalogError, match=r"too many pairs .*; at most 209, which FADER_LIMIT_HIERARCHY_PAIRS raises"):
        fader.build(tmp_path / "other", [], [], chain, limits=Limits(hierarchy_pairs=209))
    assert not (tmp_path / "other").exists()


def test_only_the_first_faults_are_helped(tmp_path: Path) -> None:
    """A look through all types for each of many faults would take hours; all are noted."""
    entities = [{"id": f"e{i:03}", "types": ["persn"]} for i in range(100)]
    notes = read_catalog(entities, [{"id": "person"}], "skip").notes
    assert len(notes) == 100
    assert [i for i, note in enumerate(notes) if 'did you mean "person"?' in note] == list(range(HINTS))


def test_a_long_cycle_is_not_named_whole() -> None:
    """Both its ends are."""
    cycle = [{"id": f"t{i:04}", "supertypes": [f"t{(i + 1) % 5000:04}"]} for i in range(5000)]
    with pytest.raises(CatalogError, match=r"has a cycle: t.* -> … -> .*; remove one of these edges") as caught:
        read_catalog([], cycle)
    assert len(str(caught.value)) < 400


# -------------------------------------------------------------------------------------------- queries


TEXTS: dict[str, tuple[str, str, str, str]] = {
    "characters": ("query_characters", "a" * 9, "a" * 10, "query of 10 characters"),
    "literals": ("literals", "a b c d e f g h i", "a b c d e f g h i -j", "10 literals"),
    "phrase": ("phrase_terms", '"a b c d e f g h i"', '"a b c d e f g h i j"', " has 10 words"),
    "word": ("phrase_terms", "a-b-c-d-e-f-g-h-i", "a-b-c-d-e-f-g-h-i-j", " has 10 words"),
}


@pytest.mark.parametrize(("name", "fine", "too_much", "says"), TEXTS.values(), ids=TEXTS.keys())
def test_a_query_over_a_limit(name: str, fine: str, too_much: str, says: str) -> None:
    """An error with the position, the size and the limit."""
    limits = Limits(**{name: 9})
    parse_query(fine, Analysis(), limits=limits)
    with pytest.raises(QueryError) as caught:
        parse_query(too_much, Analysis(), limits=limits)
    assert f"{says}; at most 9, which {variable(name)} raises (at character " in str(caught.value)


def test_an_answer_type_over_the_limit() -> None:
    """It is as long as a query at most."""
    with pytest.raises(QueryError, match="answer type of 10 characters; at most 9"):
        parse_query("a", Analysis(), "t" * 10, Limits(query_characters=9))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten documents with two mentions each, in several segments."""
    place = tmp_path_factory.mktemp("limits") / "index"
    mentions = [MENTION, {"start": 6, "end": 9, "entity": "F"}]
    corpus = [{"id": f"d{i}", "text": "Euler and the bridge", "mentions": mentions} for i in range(10)]
    fader.build(place, corpus, ENTITIES, TYPES, segment_tokens=12)
    return place


@pytest.mark.parametrize("plan", ["type", "document"])
@pytest.mark.parametrize("answer_type", [None, "T"])
def test_contexts_over_the_limit(folder: Path, plan: str, answer_type: str | None) -> None:
    """Counted through all segments; refused whichever way they are found."""
    fine, short = (fader.open(folder, limits=Limits(contexts=n)) for n in (20, 19))
    assert len(fine.contexts("bridge", answer_type, plan=plan)) == 20
    with pytest.raises(LimitError, match="has 20 contexts or more; at most 19, which FADER_LIMIT_CONTEXTS raises; ask"):
        short.contexts("bridge", answer_type, plan=plan)
    assert len(fader.open(folder, limits=Limits(contexts=None)).contexts("bridge", answer_type, plan=plan)) == 20


ESTIMATES = [("document", "CONTEXT_BYTES"), ("type", "CONTEXT_BYTES"), ("type", "MENTION_BYTES")]


@pytest.mark.parametrize(("plan", "what"), ESTIMATES)
def test_memory_over_the_limit(folder: Path, monkeypatch: pytest.MonkeyPatch, plan: str, what: str) -> None:
    """Refused by an estimate, before the columns of the contexts are made."""
    index = fader.open(folder, limits=Limits(memory_mb=1))
    assert len(index.contexts("bridge", plan=plan)) == 20
    monkeypatch.setattr(f"fader.contexts.quota.{what}", 1 << 20)
    made: list[int] = []
    monkeypatch.setattr("fader.index.segment.Mentions.take", lambda *_: made.append(1))
    if plan == "document" or what == "MENTION_BYTES":
        monkeypatch.setattr("fader.index.segment.Segment.decode_mentions", lambda *_: made.append(1))
    with pytest.raises(LimitError, match=r"needs about \d+ MB; at most 1, which FADER_LIMIT_MEMORY_MB raises; ask"):
        fader.open(folder, limits=Limits(memory_mb=1)).contexts("bridge", plan=plan)
    assert made == []


@pytest.mark.parametrize("name", ["k", "snippets"])
@pytest.mark.parametrize("value", [10, -1, 1.5, "2", None, True, 10**30])
def test_numbers_that_a_query_asks_for(folder: Path, name: str, value: Any) -> None:
    """Whole numbers up to the limit; anything else is wrong usage."""
    index = fader.open(folder, limits=Limits(**{name: 9}))
    assert index.search("bridge", **{name: 9}).results
    with pytest.raises(UsageError, match=rf"^{name} must be a whole number from \d to 9, not .*{variable(name)} sets"):
        index.search("bridge", **{name: value})


def test_every_error_of_a_limit_is_for_people() -> None:
    """None is a mere exception."""
    assert all(issubclass(error, FaderError) for error in (LimitError, UsageError, QueryError, CorpusError))


# --------------------------------------------------------------------------------------- command line


def test_the_options_of_index(tmp_path: Path) -> None:
    """They override the environment, and say what they are about."""
    for name, rows in (("entities", "E\tEuler\tT\n"), ("types", "T\tThing\n")):
        (tmp_path / name).write_text(rows)
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(json.dumps(document()) + "\n" + json.dumps(document(id="e", text="Euler " * 9)) + "\n")
    call = ("index", corpus, "--entities", tmp_path / "entities", "--types", tmp_path / "types")
    made = passed(*call, "-o", tmp_path / "a", "--max-document-chars", "20", "--json")
    assert made.json["skipped"]["lines"] == {"documents over a limit": 1}
    assert re.search(r"54 characters; at most 20, which --max-document-chars or FADER_LIMIT_", made.err)
    corpus.write_text(json.dumps(document(mentions=[MENTION, MENTION])) + "\n" + json.dumps(document(id="e")) + "\n")
    made = passed(*call, "-o", tmp_path / "b", "--max-mentions", "1", "--json")
    assert (made.json["documents"], made.json["mentions"]) == (1, 1)
    assert "document_mentions must be a whole number" in refused(2, *call, "-o", tmp_path / "c", "--max-mentions", "0")
    assert not (tmp_path / "c").exists()
