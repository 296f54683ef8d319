"""Figures: each is drawn from its data, says what it shows, and comes out the same every time."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fader.errors import UsageError
from fader.experiment.comparison import Comparison, ContextScores, Supports, SystemGrid, SystemResult
from fader.experiment.reporting import figures

matplotlib = pytest.importorskip("matplotlib")

HOSTILE = "<script>alert(1)</script> --> $\\frac{1 & \u202e中文\x00"
PNG = b"\x89PNG\r\n\x1a\n"


def comparison(**changed: Any) -> Comparison:
    values: dict[str, Any] = {
        "title": "Figures",
        "measures": ["AP", "pairswap"],
        "queries": ["q1", "q2", "q3"],
        "systems": [
            SystemResult("low", {"AP": [0.1, 0.2, 0.3], "pairswap": [0.5, 0.5, 0.5]}, label="Only |S_e|"),
            SystemResult("high", {"AP": [0.4, 0.8, 0.6], "pairswap": [0.1, 0.1, 0.1]}, label="NoProx + rectangle"),
        ],
        "candidates": [0, 40, 7000],
        "supports": Supports([3, 10, 100], [1, 1, 2, 30]),
        "context_scores": [
            ContextScores("q2", "Varicella vaccine", True, [3.0, 2.0, 1.0]),
            ContextScores("q2", "Aspirin", False, [2.5, 0.5]),
        ],
        "grids": [
            SystemGrid("high", "rectangle(2x3)", ["<0.5", ">0.5"], ["far", "10", "1"], [[0, 0.1, 0.2], [0.1, 0.4, 0.9]])
        ],
    }
    return Comparison(**{**values, **changed})


@cache
def standard() -> dict[str, figures.Drawing]:
    """All figures of the comparison above; drawing takes a while."""
    return {d.name: d for d in figures.draw(comparison())}


def drawn(**changed: Any) -> dict[str, figures.Drawing]:
    """The figures of these data alone, and the means."""
    bare = {"candidates": [], "supports": Supports(), "context_scores": [], "grids": []}
    return {d.name: d for d in figures.draw(comparison(**{**bare, **changed}))}


def texts(drawing: figures.Drawing) -> list[str]:
    """The texts in an SVG, from the top of the file."""
    found = (e for e in ElementTree.fromstring(drawing.svg).iter() if e.tag.endswith("}text"))
    return ["".join(e.itertext()).strip() for e in found]


def test_all_figures_in_both_forms() -> None:
    """One each, as well-formed SVG and as PNG."""
    found = standard()
    assert list(found) == ["means", "candidates", "supports", "contexts", "weights-1"]
    for drawing in found.values():
        assert ElementTree.fromstring(drawing.svg).tag.endswith("}svg")
        assert drawing.png.startswith(PNG)
        assert drawing.title
        assert drawing.caption.endswith(".")


def test_figures_without_data_are_left_out() -> None:
    """Only what there is data for is drawn."""
    assert list(drawn(supports=Supports([1], []))) == ["means"]


def test_means_name_systems_and_values_best_first() -> None:
    """Systems are ordered by their mean and labelled with it."""
    drawing = standard()["means"]
    found = texts(drawing)
    assert found.index("NoProx + rectangle") < found.index("Only |S_e|")
    assert {"0.600", "0.200"} <= set(found)
    assert any("MAP" in text and "95%" in text for text in found)
    assert "MAP of 2 systems over 3 queries" in drawing.caption
    assert "NoProx + rectangle with 0.600" in drawing.caption


def test_means_of_a_measure_that_is_better_when_small() -> None:
    """Then the smallest is on top, and the axis says so."""
    found = texts(drawn(measures=["pairswap"])["means"])
    assert found.index("NoProx + rectangle") < found.index("Only |S_e|")
    assert any("smaller is better" in text for text in found)


def test_candidates_have_bins_and_a_median() -> None:
    """Edges at 1, 2, 5, 10, ...; queries without candidates have a bar of their own, labelled 0."""
    drawing = standard()["candidates"]
    found = texts(drawing)
    assert {"0", "1", "2", "5", "10", "1k", "10k", "median 40", "queries"} <= set(found)
    assert "median 40" in drawing.caption
    assert "at most 7,000" in drawing.caption
    assert "1 query has no candidate" in drawing.caption


def test_supports_compare_good_and_bad() -> None:
    """Of the 12 pairs the good entity has more contexts in 10: 83%. Medians are 10 and 1.5."""
    drawing = standard()["supports"]
    assert {"good (3 entities)", "bad (4 entities)", "entities with |Sₑ| ≥ n"} <= set(texts(drawing))
    assert "10 for good and 1.5 for bad" in drawing.caption
    assert "83% of cases" in drawing.caption


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_share_of_pairs_is_that_of_all_pairs(good: list[int], bad: list[int]) -> None:
    """Counted pair by pair, a tie for half."""
    pairs = [(g > b) + (g == b) / 2 for g in good for b in bad]
    share = figures._share_larger(np.sort(np.array(good)), np.sort(np.array(bad)))
    assert share == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)


def test_context_scores_name_entities_and_their_kind() -> None:
    """Few entities of each kind, whatever is given; empty lists are left out."""
    many = [ContextScores("q", f"{'good' if g else 'bad'} one {i}", g, [1.0]) for g in (True, False) for i in range(9)]
    empty = ContextScores("q", "empty", True, [])
    found = texts(standard()["contexts"])
    assert {"good: Varicella vaccine", "bad: Aspirin", "context score"} <= set(found)
    crowded = texts(drawn(context_scores=[empty, *many])["contexts"])
    assert sum(text.startswith(("good: ", "bad: ")) for text in crowded) == 2 * figures.MOST_LINES
    assert "good: empty" not in crowded


def test_context_scores_name_the_system_that_gave_them() -> None:
    """By its title, in title and caption; without a system neither says anything of one."""
    one = ContextScores("q2", "Aspirin", False, [2.5, 0.5], system="high")
    two = ContextScores("q2", "Vaccine", True, [3.0], system="high")
    drawing = drawn(context_scores=[one, two])["contexts"]
    assert drawing.title == "Context scores within some Sₑ, NoProx + rectangle"
    assert drawing.caption.startswith(
        "Context scores given by NoProx + rectangle, by rank within Sₑ, for 1 good and 1 "
    )
    unknown = standard()["contexts"]
    assert unknown.title == "Context scores within some Sₑ"
    assert unknown.caption.startswith("Context scores, by rank within Sₑ, for 1 good and 1 bad entities")


def test_means_of_one_query_have_no_interval() -> None:
    """Nor is the reader sent to tests that cannot be made."""
    systems = [SystemResult(name, {"AP": [value]}) for name, value in (("a", 0.5), ("b", 0.25))]
    drawing = drawn(measures=["AP"], queries=["q1"], systems=systems)["means"]
    assert drawing.caption == "MAP of 2 systems over 1 query. Best is a with 0.500."
    assert not any("95%" in text for text in texts(drawing))


def test_weights_run_from_the_far_to_the_near_corner() -> None:
    """Axes bear the buckets; low IDF is below high IDF, far is left of near; cells of a small grid are written."""
    drawing = standard()["weights-1"]
    found = texts(drawing)
    assert {"<0.5", ">0.5", "far", "10", "1", "0.900", "0.400"} <= set(found)
    places = {"".join(e.itertext()): e for e in ElementTree.fromstring(drawing.svg).iter() if e.tag.endswith("}text")}
    assert float(places["<0.5"].get("y", "nan")) > float(places[">0.5"].get("y", "nan"))
    assert float(places["far"].get("x", "nan")) < float(places["10"].get("x", "nan"))
    assert "0 in the far, low-IDF corner" in drawing.caption
    assert "0.9 in the near, high-IDF corner" in drawing.caption
    assert drawing.title == "Learned weights of NoProx + rectangle"


@pytest.mark.parametrize("values", [[[0.0, 0.0]], [[-1.0, 2.0]], [[1e-9, 1e9]]])
def test_any_weights_can_be_drawn(values: list[list[float]]) -> None:
    """All 0, negative, of any size."""
    assert "weights-1" in drawn(grids=[SystemGrid("high", "f", ["r"], ["a", "b"], values)])


def test_large_data_stay_small() -> None:
    """A million contexts or cells by the thousand do not make a large SVG."""
    scores = [ContextScores("q", "e", True, [1 - i / 1e5 for i in range(100_000)])]
    grid = SystemGrid(
        "high", "f", [str(i) for i in range(60)], [str(j) for j in range(60)], [[float(i) for i in range(60)]] * 60
    )
    found = drawn(supports=Supports(list(range(1, 100_000)), [5]), context_scores=scores, grids=[grid])
    assert max(len(d.svg) for d in found.values()) < 200_000


def test_the_same_comparison_gives_the_same_bytes() -> None:
    """Twice, with other settings of matplotlib in between; those settings are left as they were."""
    first = list(standard().values())
    with matplotlib.rc_context({"font.size": 20, "axes.grid": True, "svg.fonttype": "path"}):
        second = figures.draw(comparison())
        assert matplotlib.rcParams["font.size"] == 20
    assert first == second
    assert "date" not in first[0].svg.lower()


def test_labels_are_text_whatever_is_in_them() -> None:
    """Neither markup nor mathematics nor a script that the font lacks stops a figure or changes its text."""
    system = SystemResult(HOSTILE, {"AP": [0.1, 0.2, 0.3], "pairswap": [0.1, 0.2, 0.3]})
    found = drawn(
        systems=[system],
        context_scores=[ContextScores(HOSTILE, HOSTILE, True, [1.0])],
        grids=[SystemGrid(HOSTILE, HOSTILE, [HOSTILE], [HOSTILE], [[1.0]])],
    )
    for drawing in found.values():
        tags = {e.tag.split("}")[1] for e in ElementTree.fromstring(drawing.svg).iter() if isinstance(e.tag, str)}
        assert "script" not in tags
    assert any(text.startswith("<script>alert(1)</script> --> $\\frac{1 &") for text in texts(found["means"]))


def test_without_matplotlib_drawing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert not figures.can_draw()
    with pytest.raises(UsageError, match=r"pip install 'fader\[plots\]'"):
        figures.draw(comparison())
