"""Searching: by keyboard, what is shown against what the service answers, and every word in its place."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.visits import Site, Visits, params_of, settled

ASKED = {"q": "played +violin", "type": "scientist"}
PASSAGE = "window:20"


def test_type_keywords_enter(visit: Visits, site: Site) -> None:
    """A type and keywords are typed, Enter asks: the address holds both, and the entities are those of the API."""
    page = visit("/")
    page.get_by_label("Answer type").fill("scientist")
    page.get_by_label("Question or keywords").fill("played +violin")
    page.keyboard.press("Enter")
    names = page.locator(".result-name")
    expect(names).to_have_count(10)
    answer = site.get("/v1/search", **ASKED, snippets=2, passage=PASSAGE)
    assert names.all_inner_texts() == [each["name"] for each in answer["results"]]
    assert params_of(page) == ASKED
    heading = page.locator(".summary-title")
    expect(heading).to_have_text(f"{answer['candidates']} entities of type scientist")


def test_a_card_says_what_the_service_says(visit: Visits, site: Site) -> None:
    """Rank, types, score and number of contexts of every entity; the bar is the score's share of the best."""
    page = visit("/", ASKED)
    answer = site.get("/v1/search", **ASKED, snippets=2, passage=PASSAGE)
    best = answer["results"][0]["score"]
    for result, card in zip(answer["results"], page.locator(".result").all(), strict=True):
        assert card.get_attribute("data-entity") == result["entity"]
        expect(card.locator(".result-rank")).to_contain_text(str(result["rank"]))
        said = card.locator(".result-numbers > span")
        assert said.nth(0).get_attribute("title") == f"Score {_js(result['score'])}"
        contexts = "1 context" if result["support"] == 1 else f"{result['support']} contexts"
        expect(said.nth(1)).to_have_text(contexts)
        share = card.locator(".result-score .bar").evaluate("e => Number(e.style.getPropertyValue('--share'))")
        assert abs(share - result["score"] / best) < 1e-9
        assert card.locator(".chip").count() == len(result["types"])


def _js(number: float) -> str:
    """A number as JavaScript writes it."""
    return str(int(number)) if number == int(number) else repr(number)


def marked(card: Any, kind: str) -> list[str]:
    """The marked pieces of a snippet, as the page shows them."""
    found: list[str] = card.locator(f"mark.{kind}").all_inner_texts()
    return found


def test_marks_stand_where_the_offsets_say(visit: Visits, site: Site) -> None:
    """In every snippet the mention and the matched words are marked exactly at the offsets of the JSON."""
    page = visit("/", ASKED)
    answer = site.get("/v1/search", **ASKED, snippets=2, passage=PASSAGE)
    items = [item for result in answer["results"] for item in result["evidence"]]
    shown = page.locator(".snippet").all()
    assert len(shown) == len(items)
    for item, snippet in zip(items, shown, strict=True):
        text = item["snippet"]
        assert snippet.locator(".snippet-text").inner_text().split() == text.split()
        assert "".join(marked(snippet, "mention")) == text[slice(*item["mention"])]
        assert marked(snippet, "match") == [text[slice(*m["at"])] for m in sorted(item["matches"], key=_place)]
        said = snippet.locator(".snippet-distance").all_inner_texts()
        assert [int(line.split()[-3]) for line in said] == [m["distance"] for m in item["matches"]]


def _place(match: dict[str, Any]) -> int:
    return int(match["at"][0])


def test_slash_goes_to_the_keywords(visit: Visits) -> None:
    """`/` puts the cursor into the keyword box, and is not typed into it; in a field it is a letter."""
    page = visit("/", ASKED)
    page.locator(".brand").focus()
    page.keyboard.press("/")
    box = page.get_by_label("Question or keywords")
    expect(box).to_be_focused()
    expect(box).to_have_value(ASKED["q"])
    page.keyboard.press("End")
    page.keyboard.press("/")
    expect(box).to_have_value(ASKED["q"] + "/")


def test_more_evidence(visit: Visits, site: Site) -> None:
    """The button appends the rest of an entity's contexts in the order of the API, and goes to the first of them."""
    page = visit("/", ASKED)
    entity = site.get("/v1/search", **ASKED)["results"][0]
    card = page.locator(".result").first
    card.get_by_role("button", name=f"More evidence ({entity['support'] - 2})").click()
    expect(card.locator(".snippet")).to_have_count(entity["support"])
    expect(card.locator(".snippet").nth(2)).to_be_focused()
    expect(card.get_by_role("button", name="More evidence")).to_have_count(0)
    contexts = site.get(f"/v1/entity/{entity['entity']}", **ASKED, limit=20, passage=PASSAGE)["evidence"]["contexts"][
        "items"
    ]
    texts = [" ".join(each.split()) for each in card.locator(".snippet-text").all_inner_texts()]
    assert texts == [" ".join(item["snippet"].split()) for item in contexts]


def test_more_evidence_after_a_failure(visit: Visits, site: Site) -> None:
    """What could not be had is told below the evidence; once it can, all contexts are there, each once."""
    page = visit("/", ASKED)
    support = site.get("/v1/search", **ASKED)["results"][0]["support"]
    card = page.locator(".result").first
    page.context.set_offline(True)
    card.get_by_role("button", name="More evidence").click()
    expect(card.locator(".state.is-error")).to_be_visible()
    page.context.set_offline(False)
    card.get_by_role("button", name="Try again").click()
    expect(card.locator(".snippet")).to_have_count(support)
    expect(card.locator(".state.is-error")).to_have_count(0)
    places = card.locator(".snippet").evaluate_all("all => all.map((each) => Number(each.dataset.place))")
    assert places == list(range(1, support + 1))


def test_names_of_types_come_together(visit: Visits) -> None:
    """One request has the names of all types that the answer shows."""
    asked: list[str] = []
    counted = lambda request: asked.append(request.url) if "/v1/types" in request.url else None  # noqa: E731
    page = visit("/", {**ASKED, "k": "50"}, prepare=lambda page: page.on("request", counted))
    expect(page.locator(".result").first.get_by_role("link", name="physicist")).to_be_visible()
    assert sum("ids=" in url for url in asked) <= 2, asked  # one for the field, one for the answer
    assert len(asked) <= 2, asked


def test_another_system_ranks_anew(visit: Visits, site: Site) -> None:
    """The choice of what ranks asks again; the order is that system's, and the address says it."""
    page = visit("/", ASKED)
    page.locator(".advanced > summary").click()
    page.get_by_label("Ranked by", exact=True).select_option("count")
    expect(page.locator(".summary")).to_contain_text("ranked by count")
    wanted = [each["name"] for each in site.get("/v1/search", **ASKED, model="count")["results"]]
    expect(page.locator(".result-name")).to_have_text(wanted)
    assert params_of(page)["model"] == "count"


def test_a_system_with_parameters(visit: Visits, site: Site) -> None:
    """A system can be written out with its parameters, beside the list, which leads back."""
    page = visit("/", ASKED)
    page.locator(".advanced > summary").click()
    page.get_by_label("Ranked by", exact=True).select_option("voting")
    expect(page.locator(".summary")).to_contain_text("ranked by voting")
    page.get_by_label("Ranked by", exact=True).select_option(label="with parameters …")
    box = page.get_by_label("system with parameters")
    expect(box).to_be_focused()
    box.fill("voting(technique=combmnz)")
    box.press("Enter")
    expect(page.locator(".summary")).to_contain_text("voting(")
    asked = {**ASKED, "model": "voting(technique=combmnz)"}
    assert params_of(page) == asked
    wanted = [each["name"] for each in site.get("/v1/search", **asked)["results"]]
    expect(page.locator(".result-name")).to_have_text(wanted)
    page.get_by_label("Ranked by", exact=True).select_option("voting")
    expect(box).to_be_hidden()
    expect(page.locator(".summary")).to_contain_text("ranked by voting")


@pytest.mark.parametrize(
    ("model", "chosen"), [("trained", "trained: "), ("count", "count"), ("nope", "with parameters")]
)
def test_the_list_of_what_ranks_stays(visit: Visits, model: str, chosen: str) -> None:
    """Whatever an address names, the list is there with its entry chosen; what is no entry stands beside it as text."""
    page = visit("/", {**ASKED, "model": model}, refused=[404])
    listed = page.get_by_label("Ranked by", exact=True)
    assert chosen in listed.evaluate("select => select.selectedOptions[0].text")
    box = page.get_by_label("system with parameters")
    if model == "nope":
        expect(box).to_have_value("nope")
        listed.select_option("count")
        expect(page.locator(".result").first).to_be_visible()
    expect(box).to_be_hidden()


def test_a_type_without_words(visit: Visits, site: Site) -> None:
    """A type alone asks for words, and offers the entities of it that are mentioned most."""
    page = visit("/", {"type": "novelist"})
    expect(page.locator(".intro-title")).to_have_text("Which novelist?")
    expect(page.get_by_label("Question or keywords")).to_be_focused()
    hints = site.get("/v1/suggest", kind="entity", type="novelist", limit=1)["suggestions"]
    page.locator(".intro-entities .chip").first.click()
    expect(page.locator(".page-title")).to_have_text(hints[0]["name"])


def test_how_many(visit: Visits) -> None:
    """The number of results is a choice that asks again."""
    page = visit("/", ASKED)
    page.locator(".advanced > summary").click()
    page.get_by_label("Results").select_option("20")
    expect(page.locator(".result")).to_have_count(20)
    assert params_of(page)["k"] == "20"


def test_a_chip_asks_for_its_type(visit: Visits) -> None:
    """A type of an entity leads to the same keywords with that type."""
    page = visit("/", ASKED)
    page.locator(".result").first.get_by_role("link", name="physicist").click()
    expect(page.locator(".summary-title")).to_contain_text("of type physicist")
    assert params_of(page) == {**ASKED, "type": "physicist"}


def test_the_first_visit_has_examples_that_answer(visit: Visits) -> None:
    """Without a query there are examples from the index; the first leads to entities."""
    page = visit("/")
    page.locator(".intro-example").first.click()
    expect(page.locator(".result").first).to_be_visible()


def test_every_control_can_be_reached_by_tab(visit: Visits) -> None:
    """From the top, Tab reaches the form, the results and what can be opened of each, in the order they stand in."""
    page = visit("/", ASKED)
    page.locator(".advanced").evaluate("panel => (panel.open = true)")
    page.evaluate("document.activeElement.blur()")
    assert _tabbed(page, 60) >= {"skip", "brand", "input", "select", "button primary", "chip", "result-why"}


def _tabbed(page: Page, steps: int) -> set[str]:
    """Parts of the class names of what Tab reaches; none of it is hidden."""
    seen: set[str] = set()
    for _ in range(steps):
        page.keyboard.press("Tab")
        names, shown = page.evaluate(
            "() => { const e = document.activeElement; return [e.className, e.checkVisibility()]; }"
        )
        assert shown, names
        for part in ("skip", "brand", "input", "select", "button primary", "chip", "result-why"):
            if part in str(names):
                seen.add(part)
    return seen


def test_skip_link(visit: Visits) -> None:
    """The first Tab reaches a link over the head to the content."""
    page = visit("/types")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#view")).to_be_focused()


def test_the_answer_is_announced(visit: Visits) -> None:
    """Screen readers are told how many entities were found."""
    page = visit("/", ASKED)
    expect(page.locator("#announcer")).to_have_text("33 entities found, 10 shown")


def test_titles_and_current_page(visit: Visits) -> None:
    """Each view has a title of its own, and its link says that it is the current page."""
    page = visit("/", ASKED)
    assert page.title() == "played +violin · Fader"
    for name, path in (("Compare", "/compare"), ("Types", "/types"), ("Reports", "/reports"), ("API", "/api")):
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
        expect(page.locator(".nav a[aria-current=page]")).to_have_text(name)
        settled(page)
        assert page.evaluate("location.pathname") == path
        assert name in page.title()
        assert page.locator("h1").count() == 1
