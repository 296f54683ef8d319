"""Plain questions: read, shown as chips that can be edited, answered first, followed into documents, and judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page, expect

from browser.conftest import Serve
from browser.visits import PHONE, Site, Visits, params_of, settled
from fader.judging.store import JudgmentStore, path_beside
from fader.serve.settings import Settings

QUESTION = "Which spacecraft landed on Mars?"


def test_a_question_is_asked_by_keyboard_alone(visit: Visits, site: Site) -> None:
    """The box has the focus; Enter asks; the best answer comes first, and the reading is shown as chips."""
    page = visit("/")
    expect(page.get_by_label("Question or keywords")).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    answer = site.get("/v1/ask", q=QUESTION, snippets=2, passage="window:20")
    expect(page.locator(".result-name")).to_have_text([each["name"] for each in answer["results"]])
    reading = answer["readings"][0]
    expect(page.get_by_label("Answer type")).to_have_value(reading["name"])
    expect(page.locator(".literal-text")).to_have_text([each["text"] for each in reading["literals"]])
    assert params_of(page) == {"q": QUESTION}
    expect(
        page.locator(".result").first.locator(".result-facts")
    ).to_be_hidden()  # scores and ids are for those who ask


def test_the_reading_can_be_edited_by_keyboard(visit: Visits) -> None:
    """A chip turns from may to must, is left out, and a phrase is added; each asks anew, and is in the address."""
    page = visit("/", {"q": QUESTION})
    page.get_by_role("button", name="landed: This may occur").press("Enter")
    expect(page.get_by_role("button", name="landed: This must occur")).to_be_visible()
    assert params_of(page)["as"] == "spacecraft +landed +Mars"
    page.get_by_role("button", name="Leave out landed").press("Enter")
    expect(page.locator(".literal-text")).to_have_text(["spacecraft", "Mars"])
    page.get_by_role("button", name="Leave out spacecraft").press("Enter")
    expect(page.locator(".literal-text")).to_have_text(["Mars"])
    box = page.get_by_label("Add a word or phrase")
    box.fill("dust storm")
    box.press("Enter")
    expect(page.locator(".literal-text")).to_have_text(["Mars", "dust storm"])
    expect(page.locator(".result").first).to_contain_text("Opportunity")
    assert params_of(page) == {"q": QUESTION, "as": '+Mars "dust storm"', "type": "spacecraft"}
    page.get_by_role("link", name="all readings").click()
    expect(page.locator(".literal-text")).to_have_text(["spacecraft", "landed", "Mars"])


def test_a_type_is_chosen_by_keyboard_and_never_lost(visit: Visits) -> None:
    """Another type of the reading is taken from the list; Escape closes the list and keeps the type."""
    page = visit("/", {"q": QUESTION})
    field = page.get_by_label("Answer type")
    field.fill("lander")
    expect(page.get_by_role("option").first).to_be_visible()
    field.press("ArrowDown")
    field.press("Enter")
    expect(page.locator(".summary-title")).to_contain_text("of type lander")
    assert params_of(page)["type"] == "lander"
    expect(field).to_have_value("lander")


def test_spelling_is_helped(visit: Visits) -> None:
    """A word that occurs nowhere is read as one that it is like; the way back is one click. Queries are helped too."""
    page = visit("/", {"q": "Which scientists played the violn?"})
    expect(page.locator(".corrected")).to_contain_text("Showing answers for violin")
    expect(page.locator(".result").first).to_be_visible()
    page.locator(".corrected a").click()
    expect(page.locator(".literal-text").first).to_be_visible()
    assert params_of(page)["literally"] == "1"
    page = visit("/", {"q": "+violn", "type": "scientist"})
    page.locator(".corrected a").click()
    expect(page.locator(".result").first).to_be_visible()
    assert params_of(page)["q"] == "+violin"


def test_evidence_leads_to_its_place_in_the_document(visit: Visits, site: Site) -> None:
    """The title of a snippet opens the document at the mention, which is marked like the words; and leads back."""
    page = visit("/", {"q": QUESTION})
    name = page.locator(".result-name").first.inner_text()
    page.locator(".result").first.locator(".snippet-source a").first.click()
    passage = page.locator("#passage")
    expect(passage).to_have_text(name)
    expect(passage).to_be_in_viewport()
    expect(passage).to_be_focused()
    expect(page.locator("mark.match").first).to_be_visible()
    params = params_of(page)
    stored = site.get("/v1/document", id=params["id"], q=params["q"])
    assert " ".join(page.locator(".document-text").inner_text().split()) == " ".join(stored["text"].split())
    page.get_by_role("link", name="Back to the answers").click()
    expect(page.locator(".result-name").first).to_have_text(name)
    assert params_of(page) == {"q": QUESTION}


def judging(settings: Settings, serve: Serve, demo: Path) -> Site:
    """The demo with judging on; its judgments are thrown away before."""
    path_beside(demo / "index").unlink(missing_ok=True)
    return serve(replace(settings, judge=True))


def test_an_answer_is_judged_by_mouse_and_keyboard(visit: Visits, serve: Serve, settings: Settings, demo: Path) -> None:
    """A button or a key judges, the same again takes it back; a reload shows what was judged."""
    site = judging(settings, serve, demo)
    page = visit("/", {"q": QUESTION}, site=site)
    first = page.locator(".result").first
    with page.expect_response("**/v1/judge"):
        first.get_by_role("button", name="Right").click()
    with page.expect_response("**/v1/judge"):
        page.locator(".result").nth(1).locator(".result-name a").press("w")
    with page.expect_response("**/v1/judge"):
        page.locator(".result").nth(2).locator(".result-name a").press("p")
    kept = [(j.entity, j.grade) for j in JudgmentStore(path_beside(demo / "index")).current()]
    shown = [each.get_attribute("data-entity") for each in page.locator(".result").all()[:3]]
    assert kept == list(zip(shown, (2, 0, 1), strict=True))
    page.reload()
    settled(page)
    expect(first.get_by_role("button", name="Right")).to_have_attribute("aria-pressed", "true")
    with page.expect_response("**/v1/judge"):
        first.get_by_role("button", name="Right").click()
    expect(first.get_by_role("button", name="Right")).to_have_attribute("aria-pressed", "false")
    assert len(JudgmentStore(path_beside(demo / "index")).current()) == 2


def test_no_buttons_where_nobody_may_judge(visit: Visits) -> None:
    page = visit("/", {"q": QUESTION})
    expect(page.locator(".result").first).to_be_visible()
    expect(page.locator(".judge")).to_have_count(0)


def test_the_first_page_asks_three_times_at_most(visit: Visits) -> None:
    """The document, its style and its script; what a browser asks for beside, the icon, is not counted."""
    asked: list[str] = []

    def count(page: Page) -> None:
        page.on("request", lambda request: asked.append(request.url) if "favicon" not in request.url else None)

    page = visit("/", prepare=count)
    expect(page.locator(".intro-example").first).to_be_visible()
    assert len(asked) <= 3, asked


def test_a_question_on_a_phone_is_no_wider_than_the_screen(visit: Visits) -> None:
    page = visit("/", {"q": QUESTION}, viewport=PHONE, color_scheme="dark")
    expect(page.locator(".result").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
