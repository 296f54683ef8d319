"""Why this rank: the figure, its table and the contributions against the numbers of /v1/explain."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from browser.visits import Site, Visits, params_of

ASKED = {"q": "company rotary engine", "type": "manufacturer"}


def opened(visit: Visits, site: Site, **more: str) -> tuple[Page, Locator, dict[str, Any]]:
    """A page with the explanation of the first entity open, its panel, and what the service says."""
    page = visit("/", {**ASKED, **more})
    page.locator(".result").first.get_by_role("button", name="Why this rank").click()
    panel = page.locator(".why:visible")
    expect(panel.locator(".why-title")).to_be_visible()
    entity = site.get("/v1/search", **ASKED, **more)["results"][0]["entity"]
    return page, panel, site.get("/v1/explain", **ASKED, **more, entity=entity)


def number(text: str) -> float:
    """A number as the page writes it."""
    return float(text.replace("−", "-").replace(",", "").replace("–", "nan"))


def near(shown: float, exact: float) -> bool:
    """Whether a number shown in a few digits is this one."""
    return abs(shown - exact) <= 6e-3 * abs(exact) + 1e-12


def test_cells_and_circles(visit: Visits, site: Site) -> None:
    """Every cell says the weight of its place in the grid, is shaded by it, and has a circle for each word there."""
    _, panel, why = opened(visit, site)
    (grid,) = why["grids"]
    largest = max(abs(value) for row in grid["values"] for value in row)
    drawing = panel.get_by_role("grid")
    rows, columns = len(grid["rows"]), len(grid["columns"])
    cells = drawing.get_by_role("gridcell")
    expect(cells).to_have_count(rows * columns)
    told = cells.evaluate_all(
        "all => all.map(e => [e.getAttribute('aria-label'), e.querySelectorAll('circle').length,"
        " Number(e.querySelector('.plane-cell').style.getPropertyValue('--weight'))])"
    )
    for i, (label, circles, shade) in enumerate(told):
        r, c = rows - 1 - i // columns, i % columns  # rare words are above
        points = [p for p in grid["points"] if (p["row"], p["column"]) == (r, c)]
        weight = grid["values"][r][c]
        assert label.startswith(f"IDF share {grid['rows'][r]}, distance {grid['columns'][c]}: weight ")
        assert near(number(re.findall(r"weight (\S+)\. ", label)[0]), weight)
        assert circles == min(len(points), 9)
        assert abs(shade - abs(weight) / largest) < 1e-9
        for point in points:
            assert why["literals"][point["literal"]]["text"] in label
        assert ("No match." in label) == (not points)


def test_the_table_has_the_same_numbers(visit: Visits, site: Site) -> None:
    """The alternative to the figure is a table of all its points, which a button shows and hides."""
    _, panel, why = opened(visit, site)
    (grid,) = why["grids"]
    toggle = panel.get_by_role("button", name="Show as a table")
    expect(toggle).to_have_attribute("aria-expanded", "false")
    toggle.focus()
    toggle.press("Enter")
    expect(panel.get_by_role("button", name="Hide the table")).to_have_attribute("aria-expanded", "true")
    rows = [[cell.inner_text() for cell in row.locator("td").all()] for row in panel.locator("tbody tr").all()]
    points = sorted(grid["points"], key=lambda p: -p["contribution"])
    assert len(rows) == len(points)
    for row, point in zip(rows, points, strict=True):
        assert number(row[4]) == point["contexts"]
        assert near(number(row[5]), point["contribution"])
    assert sorted((row[0], row[1], row[2]) for row in rows) == sorted(
        (why["literals"][p["literal"]]["text"], grid["rows"][p["row"]], grid["columns"][p["column"]]) for p in points
    )


def test_the_grid_by_keyboard(visit: Visits, site: Site) -> None:
    """One cell is in the order of Tab; arrows, Home and End move; the line below says the cell's numbers."""
    page, panel, why = opened(visit, site)
    (grid,) = why["grids"]
    columns = len(grid["columns"])
    inside = panel.locator("[role=gridcell][tabindex='0']")
    expect(inside).to_have_count(1)
    inside.focus()
    for key in ("Home", "ArrowRight", "ArrowLeft", "End", "ArrowLeft", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
        expect(inside).to_have_count(1)
        expect(inside).to_be_focused()
        expect(panel.locator(".plane-readout")).to_have_text(str(inside.get_attribute("aria-label")))
    page.keyboard.press("End")
    place = panel.locator("[role=gridcell]").evaluate_all("all => all.indexOf(document.activeElement)")
    assert place % columns == columns - 1


def test_words_and_contexts(visit: Visits, site: Site) -> None:
    """Each word with its part of the score, each context with its own, which together are the score."""
    _, panel, why = opened(visit, site)
    words = panel.locator(".why-word")
    expect(words).to_have_count(len(why["literals"]))
    for literal, word in zip(why["literals"], words.all(), strict=True):
        expect(word).to_contain_text(literal["text"])
        shown = word.locator(".why-line .nowrap").inner_text().split()[0]
        assert near(number(shown), why["explain"]["literals"][literal["text"]])
    more = panel.get_by_role("button", name="Show all")
    if more.count():
        more.click()
    contexts = why["explain"]["contexts"]
    rows = panel.locator(".why-context")
    expect(rows).to_have_count(len(contexts))
    for context, value in zip(contexts, panel.locator(".why-context-value").all_inner_texts(), strict=True):
        assert near(number(value), context["contribution"])
    rest = why["explain"]["others"]["contribution"]
    assert abs(sum(c["contribution"] for c in contexts) + rest - why["score"]) < 1e-6 * abs(why["score"])


def test_a_context_is_shown_where_it_stands(visit: Visits, site: Site) -> None:
    """A context of the explanation leads to its snippet, which gets the focus."""
    page, panel, why = opened(visit, site)
    panel.locator(".why-context").nth(3).click()
    snippet = page.locator(".result").first.locator(".snippet").nth(3)
    expect(snippet).to_be_focused()
    assert snippet.locator(".snippet-text").inner_text().split() == why["evidence"][3]["snippet"].split()


def test_open_and_close(visit: Visits, site: Site) -> None:
    """The button says whether it is open; Escape closes and gives the focus back; one is open at a time."""
    page, panel, _ = opened(visit, site)
    button = page.locator(".result").first.get_by_role("button", name="Why this rank")
    expect(button).to_have_attribute("aria-expanded", "true")
    page.locator(".result").nth(1).get_by_role("button", name="Why this rank").click()
    expect(page.locator(".result").nth(1).locator(".why-title")).to_be_visible()
    expect(panel).to_have_count(1)
    expect(button).to_have_attribute("aria-expanded", "false")
    second = page.locator(".result").nth(1).get_by_role("button", name="Why this rank")
    page.locator(".why:visible .icon-button").focus()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(second).to_be_focused()
    assert "why" not in params_of(page)


def test_a_system_without_a_grid(visit: Visits, site: Site) -> None:
    """Matches are points of distance and share, with a table of all of them."""
    _, panel, why = opened(visit, site, model="proximity")
    assert why["grids"] == []
    figure = panel.locator("figure")
    expect(figure.get_by_role("img")).to_be_visible()
    apart = {(match["literal"], match["distance"]) for match in why["matches"]}
    expect(figure.locator("svg circle")).to_have_count(len(apart))
    figure.get_by_role("button", name="Show as a table").click()
    expect(figure.locator("tbody tr")).to_have_count(len(why["matches"]))


def test_a_rank_below_those_shown(visit: Visits, site: Site) -> None:
    """An entity that is explained but not among the results stands above them, with its rank; one without says why."""
    asked = {"q": "played +violin", "type": "scientist"}
    ranked = site.get("/v1/search", **asked, k=100)["results"]
    last = ranked[-1]
    assert last["rank"] > 10
    page = visit("/", {**asked, "why": last["entity"]})
    card = page.locator(".beyond .result")
    expect(card.locator(".result-name")).to_have_text(last["name"])
    expect(card.locator(".why-title")).to_contain_text(f"Why rank {last['rank']} of ")
    expect(page.locator(".output > .results .result")).to_have_count(10)
    page = visit("/", {**asked, "why": "Paris"})
    expect(page.locator(".output > .warning")).to_contain_text("not of the type")
    page = visit("/", {**asked, "why": "Nobody_Of_This_Name"}, refused=[404])
    expect(page.locator(".output > .warning")).to_contain_text("No rank to explain")
