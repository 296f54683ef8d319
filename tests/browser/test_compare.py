"""Two systems side by side: ranks, moves and agreement against the API."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from browser.visits import PHONE, Site, Visits, params_of

ASKED = {"q": "invented engine", "type": "person", "a": "proximity", "b": "count"}


def moved(result: dict[str, Any], side: int, k: int = 10) -> str:
    """What a badge must say: how far from A to B, or where the other has it."""
    rank, other = result["rank"], result["other_rank"]
    there = "BA"[side]
    if other is None:
        return f"not in {there}"
    if other > k:
        return f"{other} in {there}"
    up = rank - other if side == 0 else other - rank
    return "=" if up == 0 else f"▲ {up}" if up > 0 else f"▼ {-up}"


def test_moves_agree_with_the_ranks(visit: Visits, site: Site) -> None:
    """Both columns are the two answers; every badge follows from the two ranks of its entity."""
    page = visit("/compare", ASKED)
    versus = site.get("/v1/compare", **ASKED)
    kinds = set()
    for side in (0, 1):
        results = versus["sides"][side]["results"]
        alone = site.get("/v1/search", q=ASKED["q"], type=ASKED["type"], model=ASKED["ab"[side]])["results"]
        assert [r["entity"] for r in results] == [r["entity"] for r in alone]
        entries = page.locator(".compare-side").nth(side).locator(".compare-entry")
        expect(entries).to_have_count(len(results))
        for result, entry in zip(results, entries.all(), strict=True):
            expect(entry.locator(".compare-entity")).to_have_text(result["name"])
            expect(entry.locator(".compare-rank")).to_contain_text(str(result["rank"]))
            expect(entry.locator(".compare-badge [aria-hidden]")).to_have_text(moved(result, side))
            kinds.add(moved(result, side)[0])
    assert {"▲", "▼"} <= kinds, "the query shows nothing that moved"


def test_ranks_in_the_other_system_are_true(site: Site) -> None:
    """The rank in the other system is the one that its whole answer has."""
    versus = site.get("/v1/compare", **ASKED)
    for side in (0, 1):
        whole = site.get("/v1/search", q=ASKED["q"], type=ASKED["type"], model=ASKED["ba"[side]], k=1000)["results"]
        ranks = {r["entity"]: r["rank"] for r in whole}
        for result in versus["sides"][side]["results"]:
            assert result["other_rank"] == ranks.get(result["entity"])


def test_lines_join_what_both_have(visit: Visits, site: Site) -> None:
    """One line for every entity that both columns show, and the number in both beside Kendall's tau."""
    page = visit("/compare", ASKED)
    versus = site.get("/v1/compare", **ASKED)
    shared = versus["agreement"]["shared"]
    expect(page.locator(".compare-link")).to_have_count(shared)
    facts = page.locator(".compare-agreement")
    expect(facts).to_contain_text(f"{shared} of 10")
    expect(facts).to_contain_text(f"{versus['agreement']['tau']:+.2f}".replace("-", "−"))


def test_swap(visit: Visits) -> None:
    """The button exchanges A and B, in the columns and in the address."""
    page = visit("/compare", ASKED)
    page.get_by_role("button", name="Swap A and B").click()
    expect(page.locator(".compare-name").first).to_contain_text("count")
    expect(page.locator(".compare-name").last).to_contain_text("proximity")
    assert params_of(page) == {**ASKED, "a": "count", "b": "proximity"}


def test_the_default_can_be_on_either_side(visit: Visits, site: Site) -> None:
    """What the service ranks with by default is named in the address like any other, so that it can be B as well."""
    default = next(each for each in site.get("/v1/systems")["models"] if each["default"])
    asked = {"q": ASKED["q"], "type": ASKED["type"], "a": "count"}
    page = visit("/compare", asked)
    page.get_by_label("B ranked by", exact=True).select_option(default["name"])
    names = page.locator(".compare-name")
    expect(names).to_contain_text(["count", default["title"]])
    assert params_of(page) == {**asked, "b": default["name"]}
    page.get_by_role("button", name="Swap A and B").click()
    expect(names).to_contain_text([default["title"], "count"])
    assert params_of(page) == {**asked, "a": default["name"], "b": "count"}


def test_evidence_opens_by_keyboard(visit: Visits, site: Site) -> None:
    """Evidence of an entry is there when asked for."""
    page = visit("/compare", ASKED)
    entry = page.locator(".compare-side").first.locator(".compare-entry").first
    entry.locator("summary").focus()
    page.keyboard.press("Enter")
    item = site.get("/v1/compare", **ASKED, snippets=2)["sides"][0]["results"][0]["evidence"][0]
    shown = entry.locator(".snippet-text").first
    expect(shown).to_be_visible()
    assert shown.inner_text().split() == item["snippet"].split()


def test_one_list_on_a_phone(visit: Visits, site: Site) -> None:
    """On a narrow screen there is one list, each entity once, with both ranks; the columns are not there."""
    page = visit("/compare", ASKED, viewport=PHONE)
    expect(page.locator(".compare-columns")).to_be_hidden()
    versus = site.get("/v1/compare", **ASKED)
    ranks: dict[str, list[Any]] = {}
    for side in (0, 1):
        for result in versus["sides"][side]["results"]:
            both = ranks.setdefault(result["name"], [None, None])
            both[side], both[1 - side] = result["rank"], result["other_rank"]
    entries = page.locator(".compare-merged .compare-entry")
    expect(entries).to_have_count(len(ranks))
    for entry in entries.all():
        shown = [text.split(":")[-1].strip() for text in entry.locator(".compare-ranks > span").all_text_contents()]
        wanted = ranks[entry.locator(".compare-entity").inner_text()]
        assert shown == ["–" if rank is None else str(rank) for rank in wanted]


@pytest.mark.parametrize("asked", [{"q": "engine"}, {"q": "engine", "a": "voting"}])
def test_two_different_systems_without_being_told(visit: Visits, asked: dict[str, str]) -> None:
    """Where the address names none or one, the two that are compared are not the same."""
    page = visit("/compare", asked)
    expect(page.locator(".compare-name")).to_have_count(2)
    names = page.locator(".compare-name").all_inner_texts()
    assert names[0].split()[1:] != names[1].split()[1:]


def test_a_query_that_cannot_be_read(visit: Visits) -> None:
    """The fault is shown at the field, as on the search page."""
    page = visit("/compare", {"q": 'engine "open'}, refused=[400])
    box = page.get_by_label("Keywords near it")
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".field-fault[role=alert]")).to_contain_text("quote")
