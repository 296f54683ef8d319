"""Corpus lines and dictionaries become documents; what cannot be used is counted, or stops the reading."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fader.corpus.documents import (
    Document,
    Faults,
    RawMention,
    mention_columns,
    mention_fields,
    read_corpus,
)
from fader.errors import CorpusError, InputError, UsageError

GOOD = '{"id": "good", "text": "fine"}'


def read(source: Path | list[Mapping[str, Any]], policy: str = "skip") -> tuple[list[Document], Faults]:
    faults = Faults(policy)
    sources: Any = [source] if isinstance(source, Path) else source
    return [d for batch in read_corpus(sources, faults) for d in batch.documents], faults


def corpus_of(folder: Path, *lines: str | bytes) -> Path:
    path = folder / "corpus.jsonl"
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))
    return path


def test_all_fields_are_read(tmp_path: Path) -> None:
    """id, text, mentions, title, url and prior; keys that are not known are passed over."""
    mention = {"start": 0, "end": 2, "entity": "E", "confidence": 0.5, "score": [1]}
    line = {"id": "d", "text": "ab", "mentions": [mention], "title": "T", "url": "u", "prior": 2, "x": {"y": 1}}
    ((document,), faults) = read(corpus_of(tmp_path, json.dumps(line)))
    assert (document.id, document.text, document.title, document.url) == ("d", "ab", "T", "u")
    assert document.prior == 2.0
    assert [mention_fields(m) for m in document.mentions] == [(0, 2, "E", 0.5)]
    assert document.place == f"{tmp_path / 'corpus.jsonl'}:1"
    assert faults.total == 0


@pytest.mark.parametrize("line", [{"id": "d", "text": ""}, {"id": "d", "text": "", "mentions": None, "title": None}])
def test_only_id_and_text_are_required(line: dict[str, Any]) -> None:
    """What is missing, or null, has its default."""
    ((document,), _faults) = read([line])
    assert (document.title, document.url, document.prior, document.mentions) == ("", "", 1.0, [])


def test_the_fields_that_pyserini_writes_mean_the_same(tmp_path: Path) -> None:
    """`contents`, `entities`, `start_pos`, `end_pos`, and `wikidata_id` before `wikipedia_id`; ids may be numbers."""
    mentions = [
        {"start_pos": 0, "end_pos": 2, "wikidata_id": "Q1", "wikipedia_id": 7},
        {"start_pos": 1, "end_pos": 2, "wikipedia_id": 7, "confidence": 0.25},
    ]
    lines = [json.dumps({"id": 3, "contents": "ab", "entities": mentions})]
    ((document,), faults) = read(corpus_of(tmp_path, *lines))
    assert (document.id, document.text) == ("3", "ab")
    assert [mention_fields(m) for m in document.mentions] == [(0, 2, "Q1", 1.0), (1, 2, "7", 0.25)]
    assert faults.total == 0


offsets = st.one_of(st.none(), st.integers(-5, 50), st.sampled_from([2**62, 2**70, -(2**70)]))
names = st.one_of(st.none(), st.sampled_from(["E", "é", ""]), st.integers(0, 9))
mentions = st.builds(
    RawMention,
    start=offsets,
    end=offsets,
    entity=names,
    confidence=st.one_of(st.none(), st.floats(0, 1)),
    start_pos=offsets,
    end_pos=offsets,
    wikidata_id=names,
    wikipedia_id=names,
)


@given(st.lists(mentions, max_size=6))
def test_columns_agree_with_single_mentions(given: list[RawMention]) -> None:
    """The columns of many mentions hold the fields of each; what is missing, or huge, lies outside any text."""
    starts, ends, entities, confidences = mention_columns(given)
    for i, (start, end, entity, confidence) in enumerate(map(mention_fields, given)):
        for column, value in ((starts, start), (ends, end)):
            if value is not None and 0 <= value < 2**28:
                assert column[i] == value
            else:
                assert not 0 <= column[i] < 2**28
        assert entities[i] == (entity or "")
        assert confidences[i] == confidence


FAULTY: dict[str, tuple[str | bytes, str]] = {
    "not JSON": ("nonsense", 'not JSON (JSON is malformed: invalid character (byte 4)): "nonsense"'),
    "cut": ('{"id": "d", "te', "not JSON (Input data was truncated)"),
    "trailing": ('{"id": "d", "text": "a"} b', "not JSON"),
    "not UTF-8": (b'{"id": "d", "text": "\xff"}', "not JSON ('utf-8' codec can't decode byte 0xff"),
    "not an object": ("[1]", "Expected `object`, got `array`"),
    "no id": ('{"text": "a"}', 'a document needs an "id"'),
    "empty id": ('{"id": "", "text": "a"}', 'a document needs an "id"'),
    "no text": ('{"id": "d"}', 'document "d" needs a "text" (or "contents")'),
    "id of a wrong type": ('{"id": 1.5, "text": "a"}', "got `float` - at `$.id`"),
    "text of a wrong type": ('{"id": "d", "text": 3}', "got `int` - at `$.text`"),
    "title of a wrong type": ('{"id": "d", "text": "a", "title": []}', "got `array` - at `$.title`"),
    "mentions of a wrong type": ('{"id": "d", "text": "a", "mentions": {}}', "got `object` - at `$.mentions`"),
    "mention of a wrong type": ('{"id": "d", "text": "a", "mentions": [7]}', "got `int` - at `$.mentions[0]`"),
    "start of a wrong type": (
        '{"id": "d", "text": "a", "mentions": [{"start": "0"}]}',
        "got `str` - at `$.mentions[0].start`",
    ),
    "high surrogate": (r'{"id": "d", "text": "\ud800 x"}', "not JSON"),
    "low surrogate": (r'{"id": "d", "text": "\udc00 x"}', "not JSON"),
    "surrogate at the end": (r'{"id": "d", "text": "\ud800"}', "not JSON"),
    "negative prior": ('{"id": "d", "text": "a", "prior": -1}', '"prior" must be a number >= 0, not -1.0'),
    "prior of a wrong type": ('{"id": "d", "text": "a", "prior": "1"}', "got `str` - at `$.prior`"),
    "huge prior": ('{"id": "d", "text": "a", "prior": 1e999}', "out of range - at `$.prior`"),
}
faulty = pytest.mark.parametrize(("line", "reason"), FAULTY.values(), ids=FAULTY.keys())


@faulty
def test_a_faulty_line_is_skipped_with_its_place_and_reason(tmp_path: Path, line: str | bytes, reason: str) -> None:
    """Policy skip: the line is counted and named with file, number and reason; its neighbours are read."""
    path = corpus_of(tmp_path, GOOD, "", line, GOOD)
    documents, faults = read(path)
    assert [d.place for d in documents] == [f"{path}:1", f"{path}:4"]
    assert faults.counts == {"lines": 1}
    (message,) = faults.examples["lines"]
    assert message.startswith(f"{path}:3: ")
    assert reason in message


@faulty
def test_a_faulty_line_stops_the_reading(tmp_path: Path, line: str | bytes, reason: str) -> None:
    """Policy fail: the same place and reason as an error, with the way out."""
    path = corpus_of(tmp_path, GOOD, line)
    with pytest.raises(CorpusError) as caught:
        read(path, "fail")
    message = str(caught.value)
    assert message.startswith(f"{path}:2: ")
    assert reason in message
    assert message.endswith("; correct it, or pass --on-error skip")


def test_json_nested_too_deeply_is_a_faulty_line(tmp_path: Path) -> None:
    """A line that no reader can hold is one more faulty line."""
    deep = '{"id": "d", "text": "a", "x": ' + "[" * 100_000 + "]" * 100_000 + "}"
    documents, faults = read(corpus_of(tmp_path, deep, GOOD))
    assert [d.id for d in documents] == ["good"]
    assert faults.counts == {"lines": 1}


def test_only_the_first_examples_are_kept(tmp_path: Path) -> None:
    """All faults are counted, five are shown, and `lines` puts both for people."""
    path = corpus_of(tmp_path, *["x"] * 1200)
    _documents, faults = read(path)
    assert faults.counts == {"lines": 1200}
    assert faults.total == 1200
    assert [m.split(": ")[0] for m in faults.examples["lines"]] == [f"{path}:{i}" for i in range(1, 6)]
    assert faults.lines()[0] == "skipped 1,200 lines"
    assert len(faults.lines()) == 7
    assert faults.lines()[-1] == "  and 1,195 more"


def test_a_byte_order_mark_and_line_ends_of_windows_are_no_faults(tmp_path: Path) -> None:
    """Files that come from elsewhere are read as they are."""
    documents, faults = read(corpus_of(tmp_path, b"\xef\xbb\xbf" + GOOD.encode() + b"\r", b"\r", GOOD))
    assert [d.id for d in documents] == ["good", "good"]
    assert faults.total == 0


def test_a_truncated_file_stops_the_reading_whatever_the_policy(tmp_path: Path) -> None:
    """Skipping is for lines: the rest of a cut file is not there to be skipped."""
    path = tmp_path / "corpus.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join([GOOD] * 50).encode())[:-9])
    with pytest.raises(InputError, match="damaged or cut short"):
        read(path)


@pytest.mark.parametrize("prior", [-1.0, math.nan, math.inf, "1"])
def test_a_dictionary_with_a_bad_prior_is_skipped(prior: Any) -> None:
    """A prior is a finite number from 0 on."""
    documents, faults = read([{"id": "a", "text": "x", "prior": prior}, {"id": "b", "text": "y"}])
    assert [d.id for d in documents] == ["b"]
    assert faults.counts == {"documents": 1}
    assert faults.examples["documents"][0].startswith('document 1 ("a"): ')


@pytest.mark.parametrize("row", [{"text": "x"}, {"id": "a"}, {"id": "a", "text": 3}, {"id": ["a"], "text": "x"}])
def test_a_faulty_dictionary_is_refused(row: dict[str, Any]) -> None:
    """Policy fail: dictionaries obey the rules of lines, and are named by their number and id."""
    with pytest.raises(CorpusError, match=r"^document 2 \(.*; correct it, or pass --on-error skip$"):
        read([{"id": "good", "text": ""}, row], "fail")


def test_dictionaries_are_numbered_throughout() -> None:
    """The number in a message is the place in what was given."""
    rows: list[Mapping[str, Any]] = [{"id": i, "text": ""} for i in range(5000)]
    _documents, faults = read([*rows, {"id": "bad"}])
    assert faults.examples["documents"][0].startswith('document 5001 ("bad")')


def test_an_unknown_policy_is_wrong_usage() -> None:
    """Only skip and fail are known."""
    with pytest.raises(UsageError, match='on_error must be "skip" or "fail", not "ignore"'):
        Faults("ignore")
