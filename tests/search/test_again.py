"""`annotate_again`: an index whose documents are annotated anew is the one that is built from them with its catalog."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fader
from cli.running import passed, refused
from fader.corpora.annotate.options import Options
from fader.corpora.annotate.run import annotate_files
from fader.errors import UsageError
from fader.search.again import annotate_again
from fader.testing.collections import expect_equal_contexts

TYPES = [{"id": "person"}, {"id": "place"}]
ENTITIES = [
    {"id": "ada", "name": "Ada Lovelace", "types": ["person"], "aliases": ["Ada"]},
    {"id": "zoë", "name": "Zoë Zürich", "types": ["person"]},
]
MORE = [
    {"id": "byron", "name": "Byron", "types": ["person"]},
    {"id": "zurich", "name": "Zürich", "types": ["place"], "aliases": ["Turicum"]},
]
TEXTS = [
    "Ada Lovelace was a child of Byron. ÄÖÜ: Ada wrote to Zoë Zürich from Turicum.",
    "Nobody is here, nor anywhere else.",
    "Zoë Zürich has never seen Zürich; ﬁne, 日本 Byron.",
    "Ada, Ada and Ada.",
]


def tsv(path: Path, entities: list[dict[str, Any]]) -> str:
    rows = (f"{e['id']}\t{e['name']}\t{'|'.join(e['types'])}\t{'|'.join(e.get('aliases', []))}\n" for e in entities)
    path.write_text("".join(rows), encoding="utf-8")
    return str(path)


def annotated(folder: Path, entities: list[dict[str, Any]]) -> Path:
    """The texts with the mentions of a catalog, as `fader annotate` writes them."""
    lines = [{"id": f"d{i}", "text": t, "title": f"T{i}", "prior": 0.5} for i, t in enumerate(TEXTS)]
    folder.mkdir()
    (folder / "texts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ordered = sorted(entities, key=lambda e: str(e["id"]).encode())
    annotate_files([str(folder / "texts.jsonl")], folder / "corpus.jsonl", Options(tsv(folder / "e", ordered)))
    return folder / "corpus.jsonl"


@pytest.fixture
def living(tmp_path: Path) -> Path:
    """An index with the first entities, and the others in its catalog."""
    corpus = annotated(tmp_path / "first", ENTITIES)
    fader.build(tmp_path / "index", [corpus], ENTITIES, TYPES, segment_tokens=12)
    fader.add(tmp_path / "index", entities=MORE)
    return tmp_path / "index"


def test_it_is_the_index_of_annotating_anew(living: Path, tmp_path: Path) -> None:
    """Only documents with new names are replaced; a second time nothing is left to do."""
    report = annotate_again(living, Options())
    assert (report.documents, report.change.replaced) == (4, 2)
    changed = fader.open(living, verify=True)
    fresh = fader.build(tmp_path / "fresh", [annotated(tmp_path / "anew", ENTITIES + MORE)], ENTITIES + MORE, TYPES)
    assert changed.collection.mentions == fresh.collection.mentions == report.mentions
    np.testing.assert_array_equal(changed.collection.entity_documents, fresh.collection.entity_documents)
    for query, kind in (("wrote from", None), ("never seen", "place"), ("child", "person"), ("fine", None)):
        expect_equal_contexts(changed.contexts(query, kind), fresh.contexts(query, kind), query)
    assert changed.document("d0").title == "T0"
    again = annotate_again(living, Options())
    assert again.change.manifest.commit == report.change.manifest.commit


def test_the_command(living: Path) -> None:
    said = passed("annotate", "--again", living).err
    assert "mentions of 6 names in 4 documents" in said
    assert "2 added (2 in place of older ones)" in said
    assert "no document was changed" in passed("annotate", "--again", living).err
    passed("check", living)


def test_wrong_calls(living: Path, tmp_path: Path) -> None:
    """Files and an index do not go together; an index without texts has nothing to annotate."""
    assert "give no TEXT, -o or --restart" in refused(2, "annotate", "--again", living, "-o", tmp_path / "out")
    assert "leave entities out" in refused(2, "annotate", "--again", living, "--entities", tmp_path / "e")
    assert "no such folder" in refused(1, "annotate", "--again", tmp_path / "nothing")
    assert "Missing option '-o'" in refused(2, "annotate", tmp_path / "e")
    with pytest.raises(UsageError, match="leave lines out"):
        annotate_again(living, Options(lines=True))
    fader.build(tmp_path / "bare", [{"id": "1", "text": "Ada", "mentions": []}], ENTITIES, TYPES, store_text=False)
    assert "its texts were not stored" in refused(1, "annotate", "--again", tmp_path / "bare")
