"""Lines straight to columns: what the reader of documents makes of the same lines, to the last fault."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fader.corpus.columns import ColumnBatch, read_columns
from fader.corpus.documents import Document, Faults, mention_columns, read_corpus
from fader.corpus.json_lines import parse_lines
from fader.corpus.tokenise import pad
from fader.errors import FaderError
from fader.limits import DEFAULTS, Limits

# Pieces of lines: valid and broken ones, joined at random.
names = st.sampled_from(["Q1", "Q2", "a b", "é", "Q" * 20, "{", "\\u0041", "\U0001d518"])
numbers = st.sampled_from(["0", "7", "12", "-1", "007", "1.0", "1e2", "999999999", "1234567890", "9" * 30, "null"])
reals = st.sampled_from(
    [
        "0",
        "1",
        "0.5",
        "0.1",
        "123.456",
        "1.",
        ".5",
        "-0.0",
        "1e400",
        "1E-3",
        "0.123456789012345",
        "0.12345678901234567",
        "00.5",
        "null",
        "true",
        "9007199254740993",
        "NaN",
        '"1"',
    ],
)
texts = st.one_of(
    st.sampled_from(
        [
            "",
            "plain text",
            "a\\nb",
            '\\"quoted\\"',
            "\\u00e9\\u4e2d",
            "\\ud835\\udd18",
            "\\ud835",
            "\\udd18x",
            "\\u12",
            "\\x",
            "tab\there",
            "\\u0000",
            "é中𝔘",
            "a" * 70 + "é" + "b" * 70,
            "\\/\\b\\f\\r\\t",
            "\x00",
            "\x7f\x80",
        ],
    ),
    st.text(max_size=30).map(lambda text: json.dumps(text, ensure_ascii=False)[1:-1]),
    st.text(max_size=30).map(lambda text: json.dumps(text)[1:-1]),
)
strings = st.one_of(texts, names).map(lambda text: f'"{text}"')
others = st.sampled_from(["null", "true", "[]", "{}", "3", '{"a":[1,{"b":2}]}', '"x"', "[1,2", "-3.5e1"])
mention_fields = st.one_of(
    st.tuples(st.sampled_from(["start", "end", "start_pos", "end_pos"]), numbers),
    st.tuples(st.sampled_from(["entity", "wikidata_id", "wikipedia_id"]), st.one_of(strings, numbers)),
    st.tuples(st.just("confidence"), reals),
    st.tuples(
        st.sampled_from(["surface", "start_po", "confidences", "wikidata_ix", "\\u0073tart"]),
        st.one_of(strings, others),
    ),
)
blanks = st.sampled_from(["", " ", "\t", "  ", "\r"])


def join(fields: list[tuple[str, str]], blank: str) -> str:
    inside = f"{blank},{blank}".join(f'"{key}"{blank}:{blank}{value}' for key, value in fields)
    return f"{{{blank}{inside}{blank}}}"


whole_mentions = st.builds(
    lambda start, size, name, more: [("start", str(start)), ("end", str(start + size)), ("entity", f'"{name}"'), *more],
    st.integers(0, 12),
    st.integers(1, 6),
    names,
    st.lists(mention_fields, max_size=1),
)
mentions = st.one_of(
    st.lists(st.builds(join, st.one_of(whole_mentions, st.lists(mention_fields, max_size=4)), blanks), max_size=3).map(
        lambda each: f"[{','.join(each)}]"
    ),
    st.sampled_from(["[]", "null", "[{}]", "[1]", "[,]", "{"]),
)
fields = st.one_of(
    st.tuples(st.just("id"), st.one_of(strings, numbers)),
    st.tuples(st.sampled_from(["text", "contents", "title", "url"]), st.one_of(strings, others)),
    st.tuples(st.sampled_from(["mentions", "entities"]), mentions),
    st.tuples(st.just("prior"), reals),
    st.tuples(st.sampled_from(["other", "titles", "ur", "i", "", "contentz"]), st.one_of(strings, others)),
)


def shuffle(fields: list[tuple[str, str]], order: int) -> list[tuple[str, str]]:
    return random.Random(order).sample(fields, len(fields))


documents = st.builds(
    lambda name, text, found, more, order, blank: join(
        shuffle([("id", name), ("text", text), ("mentions", found), *more], order), blank
    ),
    strings,
    strings,
    mentions,
    st.lists(fields, max_size=2),
    st.integers(0, 99),
    blanks,
)
lines = st.one_of(
    documents.map(str.encode),
    st.builds(join, st.lists(fields, max_size=5), blanks).map(str.encode),
    st.binary(max_size=20),
    st.sampled_from([b"", b"  ", b"\x0b", b"{}", b"[]", b'{"id":"x","text":"\xff"}']),
    st.just(b'\xef\xbb\xbf{"id":"m","text":"t"}'),
    st.builds(
        lambda line, at, byte: line[:at] + bytes([byte]) + line[at + 1 :],
        documents.map(str.encode),
        st.integers(0, 120),
        st.integers(0, 255),
    ),
)


def show(document: Document) -> tuple[Any, ...]:
    """All that the columns have of a document."""
    start, end, names, confidence = mention_columns(document.mentions)
    rows = list(zip(start.tolist(), end.tolist(), names, [repr(c) for c in confidence], strict=True))
    return (
        document.id,
        document.text,
        len(document.text),
        document.title,
        document.url,
        repr(document.prior),
        document.place,
        rows,
    )


def show_batches(batches: list[ColumnBatch]) -> list[tuple[Any, ...]]:
    names: list[str] = []
    found = []
    for batch in batches:
        assert batch.first_name == len(names)
        names += batch.names
        c = batch.columns
        texts = c.texts()
        for d, head in enumerate(c.heads):
            rows = slice(int(c.at[d]), int(c.at[d + 1]))
            named = ["" if n < 0 else names[n] for n in c.name[rows].tolist()]
            confidence = [repr(float(x)) for x in c.confidence[rows].tolist()]
            own = list(zip(c.start[rows].tolist(), c.end[rows].tolist(), named, confidence, strict=True))
            text = texts[d].decode()
            assert text == c.text_of(d)
            found.append((head.id, text, int(c.characters[d]), head.title, head.url, repr(head.prior), c.place(d), own))
    return found


def compare(path: Path, limits: Limits, policy: str) -> None:
    """Documents and faults of both readers are the same, or the error is."""
    results: list[Any] = []
    for read in ("documents", "columns"):
        faults = Faults(policy)
        try:
            if read == "documents":
                found = [show(d) for batch in read_corpus([path], faults, limits) for d in batch.documents]
            else:
                found = show_batches(list(read_columns([path], faults, limits)))
        except FaderError as error:
            results.append((type(error), str(error)))
        else:
            results.append((found, list(faults.counts.items()), faults.examples))
    assert results[0] == results[1]


@settings(deadline=None, max_examples=400)
@given(st.lists(lines, max_size=8), st.booleans(), st.sampled_from(["skip", "fail"]), st.booleans())
@example(
    [
        b'{"id":"a","text":"","mentions":[{}]}',
        b'{"id":"b","text":"","mentions":[{"start":0,"end":1,"entity":"Q","start":999999999}]}',
    ],
    True,
    "skip",
    False,
)
@example([b'{"id":"a","text":"t","id":"b"}', b'{"text":"x","contents":"y","id":1}'], True, "skip", False)
def test_lines_are_read_as_documents_are(
    tmp_path_factory: pytest.TempPathFactory, given: list[bytes], ended: bool, policy: str, tight: bool
) -> None:
    path = tmp_path_factory.mktemp("lines") / "corpus.jsonl"
    path.write_bytes(b"\n".join(given) + (b"\n" if ended else b""))
    small = Limits(line_bytes=90, document_characters=12, document_mentions=1, id_characters=4, name_characters=5)
    compare(path, small if tight else DEFAULTS, policy)


def test_lines_across_chunks_are_read_as_documents_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of any size, lines longer than several chunks, and lines over the limit at a chunk's start and within."""
    rows = [{"id": f"d{i}", "text": "word " * (i % 40), "mentions": []} for i in range(60)]
    rows[17]["title"] = "no \x01 plain title"
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    for chunk in (7, 64, 200, 1000, 1 << 22):
        monkeypatch.setattr("fader.corpus.readers.CHUNK", chunk)
        monkeypatch.setattr("fader.corpus.readers._Decompressed._input", lambda self, size=chunk: _read(self, size))
        for limit in (50, 120, 10_000):
            compare(path, Limits(line_bytes=limit), "skip")


def _read(stream: Any, size: int) -> bytes:
    data: bytes = stream._raw.read(size)
    stream._read_bytes += len(data)
    return data


def test_usual_lines_take_the_short_way() -> None:
    """What corpora are made of must not be left to the slow reader."""
    usual = [
        {
            "id": "d1",
            "text": 'Ada met \n "Bob" é\U0001d518',
            "mentions": [{"start": 0, "end": 3, "entity": "Q7", "confidence": 0.25}],
        },
        {
            "title": "T",
            "url": "u",
            "prior": 0.5,
            "contents": "x",
            "id": 12,
            "entities": [{"start_pos": 0, "end_pos": 1, "wikipedia_id": "a", "wikidata_id": "Q1", "surface": "x"}],
        },
        {"id": "d3", "text": "", "mentions": []},
    ]
    for escape in (True, False):
        block = "".join(json.dumps(row, ensure_ascii=escape) + "\n" for row in usual).encode()
        parsed = parse_lines(block, pad(np.frombuffer(block, dtype=np.uint8)), DEFAULTS, 1 << 40)
        assert len(parsed.odd) == 0
        assert len(parsed.head) == 3
        assert len(parsed.mention) == 2
