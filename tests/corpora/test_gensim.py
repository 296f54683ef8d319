"""A small real dump end to end to a searched index: the one that gensim carries, or another named by an environment
variable, FADER_WIKIPEDIA_DUMP. Skipped without either; nothing of it is kept here."""

from __future__ import annotations

import json
import os
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import fader
from corpora.cases import documents
from fader.corpora.formats.wikipedia import Wikipedia
from fader.corpora.frame.run import ImportReport, run

NAME = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
GENSIM, OTHER = "gensim", "FADER_WIKIPEDIA_DUMP"


def dump() -> Path | None:
    """The dump, found without importing gensim."""
    if os.environ.get(OTHER):
        return Path(os.environ[OTHER])
    found = find_spec(GENSIM)
    path = Path(found.origin).parent / "test" / "test_data" / NAME if found and found.origin else None
    return path if path and path.exists() else None


pytestmark = pytest.mark.skipif(
    dump() is None, reason=f"no real dump here: pip install gensim, or name a pages-articles dump in {OTHER}"
)


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ImportReport]:
    out = tmp_path_factory.mktemp("dump") / "out"
    return out, run(Wikipedia(propagate=True, categories=False), [str(dump())], out)


def test_text_is_clean(imported: tuple[Path, ImportReport]) -> None:
    """No markup is left but for a handful of characters that articles are about, and no mention ends in a blank."""
    found = documents(imported[0])
    texts = "\n".join(document["text"] for document in found)
    for markup in ("{{", "}}", "[[", "]]", "<ref", "<!--", "==", "'''", "&nbsp;", "Category:"):
        assert markup not in texts
    assert len(re.findall(r"\||</?[a-z]+>", texts)) < 1e-5 * len(texts)
    for document in found:
        for mention in document["mentions"]:
            surface = document["text"][mention["start"] : mention["end"]]
            assert surface
            assert surface.strip() == surface


def test_counts_add_up(imported: tuple[Path, ImportReport]) -> None:
    """Every page is counted once; a mention is a link or propagated, or a fault."""
    out, report = imported
    counts = report.counts
    assert counts["mentions"] == counts["links"] + counts["mentions propagated"] - report.faults.total
    assert json.loads((out / "import.json").read_text())["counts"] == counts
    types = [line.split("\t")[2].split("|") for line in (out / "entities.tsv").read_text("utf-8").split("\n")[:-1]]
    assert max(map(len, types)) < 40


def test_searched(imported: tuple[Path, ImportReport], tmp_path: Path) -> None:
    """Types that a person would ask for find what they should."""
    out, _report = imported
    if os.environ.get(OTHER):
        pytest.skip("the answers are those of gensim's dump")
    files = (str(out / "entities.tsv"), str(out / "types.tsv"))
    index = fader.build(tmp_path / "index", [str(out / "corpus.jsonl")], *files, on_error="fail")
    for query, kind, expected in (
        ("relativity", "physicist", "Albert_Einstein"),
        ("pigs", "novel", "Animal_Farm"),
        ("president slavery", "politician", "Abraham_Lincoln"),
        ("Wimbledon", "tennis player", "Andre_Agassi"),
        ("western films silent", "film director", "Allan_Dwan"),
        ("oil luanda", "country", "Angola"),
    ):
        assert expected in [result.entity for result in index.search(query, type=kind, k=3).results]
