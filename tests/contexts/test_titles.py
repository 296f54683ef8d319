"""Sentences, titles and what the catalog says of entities, against plain Python; the same however the index is cut."""

from __future__ import annotations

import re
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fader
from fader.corpus.analysis import spans
from fader.corpus.sentences import ABBREVIATIONS, find_sentences
from fader.corpus.tokenise import batch_bytes, scan_tokens

ENTITIES = [
    {"id": "E1", "name": "Red wine", "types": ["poet"]},
    {"id": "E2", "name": "white WINE", "types": ["person", "red thing"]},
    {"id": "E3", "name": "Other", "types": []},
    {"id": "d4", "name": "white wine", "types": ["person"]},
]
TYPES = [
    {"id": "person", "name": "person"},
    {"id": "poet", "name": "poet", "supertypes": ["person"]},
    {"id": "red thing", "name": "red thing"},
]
TEXTS = [
    "Wine is red. E said so.",
    "red E? Yes! no wine; E",
    "E and\nwine. e.g. E wine",
    "wine Dr. E red",
    "E wine red. E",
]
TITLES = ["Red Wine", "White wine", "", "about wine, wine", "white wine red"]


def plain_starts(text: str) -> list[int]:
    """The rule of `corpus.sentences`, by regular expressions."""
    found, tokens = [0], spans(text)
    for i in range(1, len(tokens)):
        (begin, before), (here, _end) = tokens[i - 1], tokens[i]
        gap, word = text[before:here], text[begin:before].lower()
        if "\n" in gap or (
            re.search("[.!?;][\"'\u201d\u2019)\\]]*[ \t\n\r\x0b\x0c]", gap)
            and not (
                (text[here].islower() and ord(text[here]) < 0x800)
                or (gap[0] == "." and (len(word) == 1 or word in ABBREVIATIONS))
            )
        ):
            found.append(i)
    return found


WORDS = ["a", "B", "Dr", "mrs", "é", "É", "ǆ", "word", "1", "日"]
BETWEEN = [" ", " ", ".", "! ", "?", "; ", '." ', "\u201d", "\u2019", ")", "\n", "—"]
pieces = st.sampled_from(WORDS + BETWEEN)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.lists(pieces, max_size=12).map("".join), min_size=1, max_size=4))
def test_sentences_are_those_of_the_rule(texts: list[str]) -> None:
    """For texts laid end to end, each by itself."""
    data, ends = batch_bytes([text.encode() for text in texts])
    begin, end, tokens_end = scan_tokens(data, ends)
    found = find_sentences(data, begin, end, tokens_end)
    at = np.cumsum([0, *found.count.tolist()])
    own = [[0, *np.cumsum(found.gap[a:b]).tolist()] for a, b in pairwise(at.tolist())]
    assert own == [plain_starts(text) for text in texts]


def build(folder: Path, **options: Any) -> fader.Index:
    documents = []
    for i, (text, title) in enumerate(zip(TEXTS, TITLES, strict=True)):
        places = [m.start() for m in re.finditer("E", text)]
        mentions = [{"start": p, "end": p + 1, "entity": f"E{(i + p) % 3 + 1}"} for p in places]
        documents.append({"id": f"d{i}", "title": title, "text": text, "mentions": mentions})
    return fader.build(folder, documents, ENTITIES, TYPES, **options)


def tell(index: fader.Index, query: str, type: str | None = None) -> dict[str, Any]:
    """Everything that is found of sentences, titles and entities, as lists."""
    contexts = index.contexts(query, type=type)
    source = contexts._source
    told: dict[str, Any] = {"documents": source.name_documents(contexts.matching.number.tolist())}
    told["entities"] = source.name_entities(contexts.groups.entity.tolist())
    for value in (contexts.sentences, contexts.titles, contexts.details):
        told |= {f"{value.__class__.__name__}.{f.name}": getattr(value, f.name).tolist() for f in fields(value)}
    return told


def test_what_is_told_of_documents(tmp_path: Path) -> None:
    """Sentences by the rule, subjects by id or else by name, terms of titles; worked out from the texts."""
    told = tell(build(tmp_path / "index"), "wine +red")
    assert told["documents"] == ["d0", "d1", "d3", "d4"]
    assert told["SentenceStarts.at"] == np.cumsum([0, *(len(plain_starts(TEXTS[i])) for i in (0, 1, 3, 4))]).tolist()
    assert told["SentenceStarts.start"] == [start for i in (0, 1, 3, 4) for start in plain_starts(TEXTS[i])]
    # The catalog's order is that of ids: E1, E2, E3, d4. Document d4 has an entity's id, d1 has the name of two.
    assert told["Titles.about"] == [0, 1, -1, 3]
    assert told["Titles.terms"] == [2, 2, 2, 3]
    assert told["Titles.hits"] == [2, 1, 1, 2]
    assert told["Titles.has"] == [[1, 1, 1, 1], [1, 0, 0, 1]]


def test_what_is_told_of_entities(tmp_path: Path) -> None:
    """Names, types and their depth below the answer type."""
    told = tell(build(tmp_path / "index"), "wine +red", "person")
    assert told["entities"] == ["E1", "E2"]
    assert told["EntityDetails.terms"] == [2, 2]
    assert told["EntityDetails.hits"] == [2, 1]
    assert told["EntityDetails.has"] == [[1, 1], [1, 0]]
    assert told["EntityDetails.types"] == [1, 2]
    assert told["EntityDetails.direct"] == [0, 1]
    assert told["EntityDetails.depth"] == [1, 0]
    assert told["EntityDetails.type_has"] == [[0, 0], [0, 1]]


@pytest.mark.parametrize("store_text", [True, False])
def test_nothing_depends_on_how_the_index_is_cut(tmp_path: Path, store_text: bool) -> None:
    """One segment, a segment per document, and these merged."""
    whole = build(tmp_path / "whole", store_text=store_text)
    cut = build(tmp_path / "cut", segment_tokens=1, store_text=store_text)
    queries = ["wine +red", "e wine", "absent", "said yes no"]
    expected = [tell(whole, query) for query in queries]
    assert [tell(cut, query) for query in queries] == expected
    fader.merge(tmp_path / "cut")
    assert [tell(fader.open(tmp_path / "cut"), query) for query in queries] == expected


def test_sentences_of_older_files_are_found_in_the_texts(tmp_path: Path) -> None:
    """Where none are stored they are the same; without texts as well, a text is one sentence."""
    index = build(tmp_path / "index", segment_tokens=1)
    expected = tell(index, "wine +red")
    for segment in index.collection.reader.segments:
        segment.text.sentences = None
    assert tell(index, "wine +red") == expected
    bare = build(tmp_path / "bare", store_text=False)
    assert tell(bare, "wine +red") == expected
    for segment in bare.collection.reader.segments:
        segment.text.sentences = None
    assert tell(bare, "wine +red")["SentenceStarts.start"] == [0, 0, 0, 0]
