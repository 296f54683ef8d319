"""REL's tuples, and texts by their ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.corpora.formats.rel import _read_tuple
from fader.corpora.frame.textstore import Texts, build
from fader.corpus.documents import Faults
from fader.progress import Silent


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ([0, 8, "Belgrade", "Belgrade", 0.9, 0.8, "LOC"], ("Belgrade", "Belgrade", "LOC", 0.9)),
        ([0, 8, "Belgrade", "LOC", 0.8, 0.9], ("", "Belgrade", "LOC", 0.9)),
        ([0, 8, "Belgrade", "Beograd City", 0.9, 0.8], ("Belgrade", "Beograd_City", "", 0.9)),
        ([0, 8, "Belgrade", "Beograd", 0.9, "LOC"], ("Belgrade", "Beograd", "LOC", 0.9)),
        (["0", "8", "Belgrade", "1984", "0.9", "0.8", "MISC"], ("Belgrade", "1984", "MISC", 0.9)),
    ],
)
def test_orders(link: list[Any], expected: tuple[str, str, str, float]) -> None:
    """Either order of a tuple, numbers as strings, and titles that look like numbers."""
    found = _read_tuple(link, "Belgrade it is.")
    assert (found.start, found.end) == (0, 8)
    assert found[2:] == expected


@settings(deadline=None, max_examples=30)
@given(texts=st.dictionaries(st.text("abé", min_size=1, max_size=3), st.text("xy é𝒳", min_size=1, max_size=9)))
def test_texts_are_found(texts: dict[str, str], tmp_path_factory: Any) -> None:
    """Every text is found by its id, and no other."""
    folder: Path = tmp_path_factory.mktemp("texts")
    (folder / "a.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in texts.items()), "utf-8")
    build(str(folder / "a.tsv"), folder, Faults("fail"), Silent())
    found = Texts(folder)
    assert {name: (found.get(name) or {}).get("text") for name in texts} == texts
    assert found.get("z") is None
