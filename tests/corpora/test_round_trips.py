"""Documents written in a format and imported have their texts, mentions, entities and types again."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.writers import ONE_LINE, WRITERS, Document, Mention
from fader.corpora.frame import inputs
from fader.corpora.frame.base import Records
from fader.corpora.frame.run import importer
from fader.corpus.documents import Faults
from fader.progress import Silent

DATA = Path(__file__).resolve().parent.parent.parent.parent / "shared" / "data" / "pubtator-bio" / "corpus.jsonl.gz"
TOKENS = ("Ada", "naïve", "😀", "x.y", "#tag", "#", "O", "B-LOC", '"q"', "\\n", "<b>", "&amp;", "%20", "1984", "it's",
          "日本", "a\u00a0b", "ﬁ", "İ", "|", "e\u0301", ".", "-", "a=b", "{x}", "'''")  # fmt: skip
ENTITIES = ("MESH:D000001", "MESH:D000002", "OMIM:100100")
KINDS = ("Disease", "PER", "Chemical")


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    made = []
    for i in range(draw(st.integers(1, 4))):
        sentences = draw(st.lists(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=6), min_size=1, max_size=3))
        mentions, position, start = list[Mention](), 0, 0
        for tokens in sentences:
            cuts = sorted(draw(st.sets(st.integers(0, len(tokens)), max_size=4)))
            for first, last in zip(cuts[::2], cuts[1::2], strict=False):
                begin = start + sum(len(token) + 1 for token in tokens[:first])
                end = begin + len(" ".join(tokens[first:last]))
                which = len(mentions) % len(ENTITIES)  # neighbours differ: QLever cannot part them otherwise
                mentions.append(Mention(begin, end, position + first, position + last, ENTITIES[which], KINDS[which]))
            position, start = position + len(tokens), start + len(" ".join(tokens)) + 1
        made.append(Document(str(i + 1), sentences, mentions))
    return made


def converted(format_: str, files: dict[str, bytes], options: dict[str, Any], piece: int) -> list[Records]:
    """What an importer makes of files; any fault is an error."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "PIECE", piece)
        folder = Path(name)
        for path, data in files.items():
            (folder / path).write_bytes(data)
        (folder / "state").mkdir()
        named = {key: str(folder / value) if value in files else value for key, value in options.items()}
        sources = [str(folder / path) for path in files if path not in options.values()]
        made, faults = importer(format_, **named), Faults("fail")
        state = made.prepare(sources, folder / "state", faults, Silent())
        state = made.open_state(state, folder / "state")
        return [made.convert(batch, state, faults) for batch in made.batches(sources, faults)]


def same(key: str, wanted: Sequence[Document], piece: int = 1 << 20) -> None:
    """Import what a writer writes and compare all of it."""
    format_, writer = WRITERS[key]
    records = converted(format_, *writer(wanted), piece)
    found = {d["id"].partition("_")[0]: d for each in records for d in each.documents}
    local = format_ == "nif"
    assert sorted(name.removeprefix("http://ex/") for name in found) == sorted(d.id for d in wanted)
    for document in wanted:
        mine = found[f"http://ex/{document.id}" if local else document.id]
        text = document.text.replace("\n", " ") if format_ in ONE_LINE else document.text
        assert mine["text"] == text
        spans = sorted((m["start"], m["end"], m["entity"]) for m in mine["mentions"])
        assert spans == [(m.start, m.end, m.entity) for m in document.mentions]
    types = {(row.id, kind) for each in records for row in each.entities for kind in row.types}
    said = {(m.entity, m.kind) for document in wanted for m in document.mentions}
    if format_ == "nif":  # where mentions of the same words are one resource
        assert types >= said
    elif format_ not in ("aida", "qlever"):  # which have none
        assert types == said


@pytest.mark.parametrize("key", WRITERS)
@settings(deadline=None, max_examples=25)
@given(wanted=documents(), piece=st.sampled_from([1, 100, 1 << 20]))
def test_round_trip(key: str, wanted: list[Document], piece: int) -> None:
    """Whatever the tokens, and however the source is cut, texts and mentions come back."""
    same(key, wanted, piece)


def real(step: int) -> list[Document]:
    """Documents of the testbed, which was made from PubTator: each a sentence of one token; one in `step`."""
    made = []
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            if number % step == 0:
                said = json.loads(line)
                mentions = [
                    Mention(m["start"], m["end"], 0, 0, m["entity"], m["kind"])
                    for m in sorted(said["mentions"], key=lambda m: (m["start"], m["end"], m["entity"]))
                ]
                made.append(Document(said["id"], [[said["text"].rstrip()]], mentions))
    return made


@pytest.mark.skipif(not DATA.exists(), reason="the pubtator-bio testbed is not in shared/data beside the repository")
@pytest.mark.parametrize("key", ["pubtator", "bioc xml", "bioc json", "nif", "rel", "mmead", "brat", "pubannotation"])
def test_real_mentions_come_back(key: str) -> None:
    """Every mention of real abstracts, written as formats have them, is imported with its words, entity and type."""
    wanted = real(20)
    assert sum(len(document.mentions) for document in wanted) > 2000
    same(key, wanted)
