"""The page of one entity: names, types, and all its contexts, page by page."""

from __future__ import annotations

from playwright.sync_api import expect

from browser.visits import Site, Visits, params_of

ASKED = {"id": "Mars", "q": "landed mars"}


def test_names_and_types(visit: Visits, site: Site) -> None:
    """Name, other names, the way to each type, and how many documents mention it."""
    page = visit("/entity", {"id": "Albert_Einstein"})
    card = site.get("/v1/entity/Albert_Einstein")
    expect(page.locator("h1")).to_have_text(card["name"])
    facts = page.locator(".entity-facts")
    expect(facts).to_contain_text(f"{card['documents']} documents mention it")
    for alias in set(card["aliases"]) - {card["name"]}:
        expect(facts.locator(".chip", has_text=alias).first).to_be_visible()
    ways = [[step["name"] for step in each["path"]] for each in card["types"]]
    shown = [way.get_by_role("link").all_inner_texts() for way in page.locator(".entity-path").all()]
    assert shown == ways


def test_all_contexts_page_by_page(visit: Visits, site: Site) -> None:
    """All of them in the order of the API, each once; places count on; back returns to the first page."""
    page = visit("/entity", ASKED)
    total = site.get("/v1/entity/Mars", q=ASKED["q"])["evidence"]["contexts"]["total"]
    assert 20 < total <= 40
    everything = site.get("/v1/entity/Mars", q=ASKED["q"], limit=100)["evidence"]["contexts"]["items"]
    expect(page.locator(".snippet")).to_have_count(20)
    shown = page.locator(".snippet-text").all_inner_texts()
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".snippet")).to_have_count(total - 20)
    assert params_of(page)["offset"] == "20"
    expect(page.locator(".pager")).to_contain_text(f"21–{total} of {total}")
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    assert page.locator(".snippet").first.get_attribute("data-place") == "21"
    shown += page.locator(".snippet-text").all_inner_texts()
    assert [text.split() for text in shown] == [item["snippet"].split() for item in everything]
    page.go_back()
    expect(page.locator(".snippet")).to_have_count(20)
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()


def test_rank_and_the_way_back(visit: Visits, site: Site) -> None:
    """It says the rank for the query, explains it, also from an address, and leads back to the results."""
    page = visit("/entity", ASKED)
    evidence = site.get("/v1/entity/Mars", q=ASKED["q"])["evidence"]
    expect(page.locator(".entity-standing")).to_contain_text(f"Rank {evidence['rank']} of {evidence['candidates']}")
    title = f"Why rank {evidence['rank']} of {evidence['candidates']}"
    page.get_by_role("button", name="Why this rank").click()
    expect(page.locator(".why-title")).to_have_text(title)
    assert params_of(page) == {**ASKED, "why": "Mars"}
    page.reload()
    expect(page.locator(".why-title")).to_have_text(title)
    page.locator(".why-title").press("Escape")
    page.get_by_role("link", name="Results for").click()
    expect(page.locator(".result").first).to_be_visible()


def test_the_explanation_leads_to_contexts_of_other_pages(visit: Visits, site: Site) -> None:
    """A context that the explanation names is gone to, whichever page it is on."""
    page = visit("/entity", {**ASKED, "offset": 20, "why": "Mars"})
    page.locator(".why-context").first.click()
    expect(page.locator(".snippet[data-place='1']")).to_be_focused()
    assert params_of(page) == {**ASKED, "why": "Mars"}


def test_one_that_is_no_candidate(visit: Visits) -> None:
    """An entity of another type says so."""
    page = visit("/entity", {"id": "Mars", "q": "violin", "type": "physicist"})
    expect(page.locator(".entity-contexts")).to_contain_text("no candidate")


def test_a_query_from_its_page(visit: Visits) -> None:
    """Without a query it asks for one; an empty one is refused at the field."""
    page = visit("/entity", {"id": "Mars"})
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".field-fault[role=alert]")).to_contain_text("Give a word")
    page.get_by_label("What does the text say").fill("landed mars")
    page.keyboard.press("Enter")
    expect(page.locator(".snippet").first).to_be_visible()
    assert params_of(page) == ASKED


def test_look_for_an_entity(visit: Visits) -> None:
    """Without an id it finds one by name, by keyboard."""
    page = visit("/entity")
    page.get_by_label("Look for an entity").press_sequentially("einst")
    expect(page.locator("[role=option]").first).to_contain_text("Albert Einstein")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Albert Einstein")
    assert params_of(page) == {"id": "Albert_Einstein"}


def test_no_such_entity(visit: Visits) -> None:
    """An unknown id is told, with a way to look for another."""
    page = visit("/entity", {"id": "Nobody"}, refused=[404])
    expect(page.locator(".state.is-error")).to_contain_text("Nobody")
    page.get_by_role("link", name="Look for an entity").click()
    expect(page.get_by_role("combobox")).to_be_visible()
