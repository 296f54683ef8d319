"""Results in notebooks: escaped HTML, short reprs, length, iteration, indexing and frames."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import fader
from fader.notebook import Safe, highlight, table

EVIL = '<script>alert("x")</script>'
SHOWN = {"table", "caption", "thead", "tbody", "tr", "th", "td", "b", "mark", "small", "div", "br"}


class Tags(HTMLParser):
    """The elements and attributes of some HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names, self.attributes, self.text = set[str](), set[str](), ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _value in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> fader.Index:
    """An index in which every text is hostile."""
    text = f"Ada {EVIL} wrote a program."
    return fader.build(
        tmp_path_factory.mktemp("notebook") / "index",
        corpus=[{"id": f"d{EVIL}", "title": EVIL, "text": text, "mentions": [{"start": 0, "end": 3, "entity": "ada"}]}],
        entities=[{"id": "ada", "name": f"Ada {EVIL}", "types": ["person"]}],
        types=[{"id": "person", "name": f"person {EVIL}"}],
    )


def check(shown: str) -> Tags:
    """Only our elements, with styles alone."""
    tags = Tags(shown)
    assert tags.names <= SHOWN
    assert tags.attributes <= {"style"}
    assert "<script" not in shown
    return tags


def test_an_answer_is_shown_with_its_evidence(index: fader.Index) -> None:
    """The mention is bold and the matches are marked; what the corpus holds is text."""
    answer = index.search("wrote +program")
    tags = check(answer._repr_html_())
    assert {"b", "mark"} <= tags.names
    assert EVIL in tags.text
    assert repr(answer) == "Answer('wrote +program', type=None, results=1 of 1)"
    assert len(answer) == 1
    assert [r.entity for r in answer] == ["ada"]
    assert answer[0].rank == 1
    empty = index.search("nothing")
    assert len(empty) == 0
    assert empty
    check(empty._repr_html_())


def test_a_question_an_explanation_and_an_index_are_shown(index: fader.Index) -> None:
    """The grid is a table."""
    asked = index.ask(f"Which person wrote a program {EVIL}?")
    check(asked._repr_html_())
    assert len(repr(asked)) < 200
    assert [r.entity for r in asked] == ["ada"]
    why = index.why("wrote +program", "ada")
    tags = check(why._repr_html_())
    assert "rank 1 of 1" in tags.text
    assert why.grids
    assert why[0].doc == f"d{EVIL}"
    assert len(list(why)) == len(why)
    assert repr(why).startswith("Why('ada', rank=1 of 1")
    assert "documents" in check(index._repr_html_()).text


def test_contexts_are_shown_and_become_frames(index: fader.Index) -> None:
    """With a column per literal."""
    contexts = index.contexts(f'wrote +program "{EVIL}"')
    assert "wrote" in check(contexts._repr_html_()).text
    assert repr(contexts).startswith("Contexts(")
    assert contexts[0] == next(iter(contexts))
    assert contexts.to_pandas()["entity"].tolist() == ["ada"]


@pytest.mark.parametrize("what", ["answer", "ask", "why"])
def test_frames_have_the_same_rows(index: fader.Index, what: str) -> None:
    """Arrow, pandas, and Polars where it is installed."""
    calls = {
        "answer": lambda: index.search("wrote +program"),
        "ask": lambda: index.ask("who wrote a program?"),
        "why": lambda: index.why("wrote +program", "ada"),
    }
    found = calls[what]()
    assert found.to_arrow().num_rows == len(found) == len(found.to_pandas()) == 1
    pytest.importorskip("polars")
    assert found.to_polars().height == 1


def test_a_comparison_is_a_table_of_means() -> None:
    """Means are over queries that all systems have values for."""
    from fader.experiment.comparison import Comparison, SystemResult

    systems = [SystemResult("a", {"AP": [0.5, 1.0, None]}), SystemResult(EVIL, {"AP": [0.25, 0.25, 1.0]})]
    found = Comparison(EVIL, ["AP"], ["q1", "q2", "q3"], systems)
    assert re.findall(r"[\d.]+", check(found._repr_html_()).text.partition("MAP")[2]) == ["0.75", "0.25"]
    assert (len(found), found["a"], found[1].name) == (2, systems[0], EVIL)
    assert [s.name for s in found] == ["a", EVIL]
    assert found.to_arrow().num_rows == 6
    assert found.to_pandas()["AP"].isna().sum() == 1
    assert len(repr(found)) < 120


def test_overlapping_spans_and_numbers() -> None:
    """The first span counts; numbers are short."""
    assert highlight("abcd", [(1, 3, "b"), (2, 4, "mark")]) == "a<b>bc</b>d"
    assert "1,000" in table(["n"], [[1000]])
    assert "0.3333" in table(["n"], [[1 / 3]])
    assert isinstance(table([], []), Safe)


def test_notebooks_are_short_and_clean() -> None:
    """No output is stored: they are run by a test."""
    import nbformat

    for path in sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb")):
        book = nbformat.read(path, 4)
        assert all(not cell.outputs for cell in book.cells if cell.cell_type == "code"), path.name
