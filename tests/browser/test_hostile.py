"""A corpus full of harm: it is shown as text, and nothing of it happens.

Every page of these tests is watched as all others are: an error, a dialog, a request to another host, a violation of
the policy or a set `window.__pwned` fails them.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.hostile import ALL, LONG, QUERY, ROOT, SCRIPT, SHORT
from browser.looks import fits
from browser.visits import PHONE, Site, Visits
from dose import some

WIDTHS = (360, 1280)
PLAIN = [name for name in SHORT if name not in ("turned", "nothing", "control", "emoji")]  # shown as they are

FOREIGN = """() => document.querySelectorAll(
  "#view script, #view style, #view iframe, #view object, #view embed, #view base, #view meta, [onload], [onerror], " +
  "[onclick], [onmouseover], [onfocus], #view img:not([src^='/v1/reports/'])").length"""

# The scheme of every link, and whether any text could turn its surroundings.
SCHEMES = """() => [...document.querySelectorAll("[href], [src]")]
  .map((e) => new URL(e.href ?? e.src, location).protocol)"""
TURNING = r"() => /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/.test(document.body.innerText)"


def harmless(page: Page) -> None:
    """No element, no link and no direction of the corpus's making, and no scrolling sideways on any screen."""
    assert page.evaluate(FOREIGN) == 0
    assert set(page.evaluate(SCHEMES)) <= {"http:", "https:"}
    assert not page.evaluate(TURNING)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        fits(page)


def hovered(page: Page, selector: str, most: int = 8) -> None:
    """Point at things, as people do."""
    for each in page.locator(selector).all()[:most]:
        each.hover()


def see(visit: Visits, evil: Site, path: str = "/", params: dict[str, Any] | None = None, **more: Any) -> Page:
    return visit(path, params, site=evil, **more)


def test_results(visit: Visits, evil: Site) -> None:
    """All names, titles, ids and types as text; addresses are links only where they are of the web."""
    page = see(visit, evil, "/", {"q": QUERY, "k": "50"})
    expect(page.locator(".result")).to_have_count(len(ALL) + 1)
    names = page.locator(".result-name").all_inner_texts()
    for name in PLAIN:
        assert " ".join(SHORT[name].split()) in [" ".join(shown.split()) for shown in names], name
    assert any("⟨U+202E⟩" in shown for shown in names)
    assert any("⟨U+0007⟩" in shown for shown in names)
    links = page.locator("a.snippet-out").evaluate_all("all => all.map((a) => [a.protocol, a.rel, a.target])")
    assert links
    assert all(link == ["https:", "noopener noreferrer", "_blank"] for link in links)
    hovered(page, ".result-name a")
    harmless(page)


def test_a_document(visit: Visits, evil: Site) -> None:
    """Its title and its text as text, with the mention marked."""
    shown = evil.get("/v1/search", q=QUERY, k=1)["results"][0]
    params = {"id": shown["evidence"][0]["doc"], "entity": shown["entity"], "q": QUERY}
    page = see(visit, evil, "/document", params)
    expect(page.locator("#passage")).to_be_visible()
    harmless(page)


def test_no_text_is_drawn_at_full_length(visit: Visits, evil: Site) -> None:
    """Words of a hundred thousand letters are cut; the page stays small."""
    page = see(visit, evil, "/", {"q": QUERY, "k": "50"})
    longest = page.evaluate(
        "() => Math.max(...[...document.querySelectorAll('bdi, mark, p')].map((e) => e.textContent.length))"
    )
    assert longest < 3_000
    assert page.evaluate("document.body.scrollHeight") < 60_000


def test_explanations(visit: Visits, evil: Site) -> None:
    """Of every entity, one after the other."""
    page = see(visit, evil, "/", {"q": QUERY, "k": "50"})
    for button in page.get_by_role("button", name="Why this rank").all():
        button.click()
        expect(page.locator(".why:visible .why-title")).to_be_visible()
        expect(page.locator(".why:visible svg[width]").first).to_be_visible()
    first = page.get_by_role("button", name="Why this rank").first
    first.click()
    page.locator(".why:visible").get_by_role("button", name="Show as a table").first.click()
    expect(page.locator(".why:visible table").first).to_be_visible()
    harmless(page)


@pytest.mark.parametrize("name", some(["script", "path", "marks", "proto", "turned", "letters"], 3))
def test_entity(visit: Visits, evil: Site, name: str) -> None:
    """Its page by its id, whatever the id holds."""
    text = ALL[name]
    page = see(visit, evil, "/entity", {"id": text[:1_500], "q": QUERY})
    expect(page.locator(".snippet")).to_have_count(1)
    if name in PLAIN:
        expect(page.locator("h1")).to_have_text(text)
    harmless(page)


def test_entity_of_all_names(visit: Visits, evil: Site) -> None:
    """All aliases, all types, and the document of very long words."""
    page = see(visit, evil, "/entity", {"id": "all", "q": QUERY})
    expect(page.locator("h1")).to_have_text(f"All {SCRIPT}")
    expect(page.locator(".entity-types li")).to_have_count(len(ALL))
    expect(page.locator(".snippet").first).to_be_visible()
    hovered(page, ".entity-path a")
    harmless(page)


def test_types(visit: Visits, evil: Site) -> None:
    """The tree and the cards of its types, by click and by address."""
    page = see(visit, evil, "/types", {"type": ROOT})
    page.get_by_role("treeitem").first.press("ArrowRight")
    expect(page.get_by_role("treeitem")).to_have_count(len(ALL) + 1)
    for row in page.get_by_role("treeitem").all()[1:8]:
        row.click()
        expect(row).to_have_attribute("aria-selected", "true")
        expect(page.locator(".types-title")).to_contain_text(row.locator(".types-name").inner_text().rstrip("…"))
    harmless(page)
    for text in (SHORT["path"], LONG["letters"]):
        other = see(visit, evil, "/types", {"type": f"T {text[:1_500]}"})
        expect(other.locator(".types-title")).to_be_visible()
        harmless(other)


def test_completion(visit: Visits, evil: Site) -> None:
    """Suggestions as text, and what is taken is the id as it is."""
    page = see(visit, evil)
    box = page.get_by_label("Answer type")
    box.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("[role=option]")).to_have_count(10)
    harmless(page)
    box.fill("<script")
    option = page.locator("[role=option]", has_text=SCRIPT).first
    expect(option).to_be_visible()
    option.click()
    page.get_by_label("Question or keywords").fill(QUERY)
    page.keyboard.press("Enter")
    expect(page.locator(".result").first).to_be_visible()
    harmless(page)


def test_start(visit: Visits, evil: Site) -> None:
    """Examples and popular types."""
    page = see(visit, evil)
    expect(page.locator(".intro-types .chip").first).to_be_visible()
    harmless(page)


def test_compare(visit: Visits, evil: Site) -> None:
    """Two columns, and the one list of a phone."""
    page = see(visit, evil, "/compare", {"q": QUERY, "a": "count", "b": "proximity", "k": "50"})
    expect(page.locator(".compare-side").first.locator(".compare-entry")).to_have_count(len(ALL) + 1)
    page.locator(".compare-columns summary").first.click()
    hovered(page, ".compare-columns .compare-entity a", 3)
    harmless(page)


def test_report(visit: Visits, evil: Site) -> None:
    """Title, systems, parameters, provenance, queries and types; a query leads to the search page."""
    page = see(visit, evil, "/reports")
    expect(page.locator(".reports-title")).to_contain_text(SCRIPT)
    harmless(page)
    page.locator(".reports-title a").click()
    expect(page.locator(".pair-table tbody tr")).to_have_count(len(ALL))
    page.locator("summary", has_text="What made it").click()
    harmless(page)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator(".pair-table").get_by_role("link", name=SCRIPT).first.click()
    expect(page.get_by_label("Question or keywords")).to_have_value(SCRIPT)
    harmless(page)


@pytest.mark.parametrize("text", some(["x" * 1_900, '"' + SCRIPT, *SHORT.values(), "Z" + "\u0301" * 1_900], 4))
def test_as_a_query(visit: Visits, evil: Site, text: str) -> None:
    """Whatever is asked for is an answer or an error, and either is text; also in the title of the page."""
    page = see(visit, evil, "/", {"q": text}, refused=[400])
    expect(page.locator(".output")).not_to_be_empty()
    harmless(page)


@pytest.mark.parametrize("where", some(["type", "why", "model", "index", "k", "more"], 2))
def test_in_every_parameter(visit: Visits, evil: Site, where: str) -> None:
    """An address that someone was sent."""
    for text in (SHORT["image"], SHORT["closing"], "y" * 1_900):
        page = see(visit, evil, "/", {"q": QUERY, where: text}, refused=[400, 404])
        expect(page.locator(".result, .state").first).to_be_visible()
        harmless(page)


@pytest.mark.parametrize("path", [
    "/compare?q=quux&a=%3Cimg%20src=x%20onerror=window.__pwned=1%3E&b=%22%3E%3Csvg/onload=window.__pwned=1%3E",
    "/types?type=%3Cscript%3Ewindow.__pwned=1%3C/script%3E&index=javascript:window.__pwned=1",
    "/entity?id=javascript:window.__pwned=1&q=%22&offset=%3Cb%3E",
    "/entity?id=%2e%2e%2f%2e%2e%2fhealthz",
    "/reports/%3Cscript%3Ewindow.__pwned=1%3C%2Fscript%3E",
    "/reports/%E0%A4%A",
    "/reports/evil?a=%3Cimg%20src=x%3E&sort=__proto__&page=-1e9&show=constructor&by=%3C&find=%3Cscript%3E",
    "/api#<img src=x onerror=window.__pwned=1>",
])  # fmt: skip
def test_addresses_that_mean_harm(visit: Visits, evil: Site, path: str) -> None:
    """Every view, with what nobody should send."""
    page = see(visit, evil, path, refused=[400, 404], wait=False)
    expect(page.locator("body")).not_to_be_empty()
    if page.locator("#view").count():
        expect(page.locator("#view > *").first).to_be_visible()
        harmless(page)


def test_on_a_phone_in_the_dark(visit: Visits, evil: Site) -> None:
    """The same where there is little room."""
    page = see(visit, evil, "/", {"q": QUERY, "k": "50", "why": "all"}, viewport=PHONE, color_scheme="dark")
    expect(page.locator(".why-title")).to_be_visible()
    harmless(page)
