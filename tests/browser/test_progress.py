"""An answer that takes long: entities first, evidence as it comes, and nothing that jumps."""

from __future__ import annotations

import re
from collections.abc import Collection

import pytest
from playwright.sync_api import Page, Route, expect

from browser.visits import Site, Visits, settled

QUESTION = "Which spacecraft landed on Mars?"
TYPED = {"q": "violin", "type": "scientist"}
WHOLE = re.compile(r"/v1/(ask|search)\?.*snippets=2")


class Held:
    """Whole answers, held back until they are let go."""

    def __init__(self, page: Page) -> None:
        self._routes: list[Route] = []
        page.route(WHOLE, lambda route: self._routes.append(route))

    def let_go(self, status: int = 0) -> None:
        """Let them go to the service, or answer them by an error."""
        for route in self._routes:
            if status:
                body = '{"error": {"code": "out_of_time", "message": "the time is over"}}'
                route.fulfill(status=status, content_type="application/json", body=body)
            else:
                route.continue_()
        self._routes.clear()


def visit_held(visit: Visits, asked: dict[str, str], refused: Collection[int] = ()) -> tuple[Page, Held]:
    """A page that asks something, and the answers that are held back from it."""
    held: list[Held] = []
    page = visit("/", asked, refused=refused, prepare=lambda page: held.append(Held(page)), wait=False)
    return page, held[0]


@pytest.mark.parametrize("asked", [{"q": QUESTION}, TYPED], ids=["question", "query"])
def test_entities_come_before_their_evidence(visit: Visits, site: Site, asked: dict[str, str]) -> None:
    """While the whole answer is awaited its entities are shown with room for evidence, and can be used; when it comes
    no entity is drawn anew, the focus stays, and the first has not moved.
    """
    path = "/v1/search" if "type" in asked else "/v1/ask"
    answer = site.get(path, **asked, snippets=2, passage="window:20")
    page, held = visit_held(visit, asked)
    names = page.locator(".result-name")
    expect(names).to_have_text([each["name"] for each in answer["results"]])
    expect(page.locator(".snippet-text")).to_have_count(0)
    expect(page.locator(".evidence[aria-busy=true]")).to_have_count(len(answer["results"]))
    first = page.locator(".result").first
    first.evaluate("element => (element.dataset.kept = 'yes')")
    names.first.locator("a").focus()
    place = first.bounding_box()
    held.let_go()
    expect(first.locator(".snippet-text")).to_have_count(len(answer["results"][0]["evidence"]))
    settled(page)
    expect(page.locator(".snippet-text")).to_have_count(sum(len(each["evidence"]) for each in answer["results"]))
    expect(names).to_have_text([each["name"] for each in answer["results"]])
    expect(names.first.locator("a")).to_be_focused()
    after = first.bounding_box()
    assert first.get_attribute("data-kept") == "yes"
    assert place is not None
    assert after is not None
    assert (place["x"], place["y"]) == (after["x"], after["y"])


def test_more_evidence_can_be_opened_when_it_has_come(visit: Visits) -> None:
    """The button for more evidence comes with the evidence, and the address opens what it says."""
    page, held = visit_held(visit, TYPED)
    expect(page.locator(".result").first).to_be_visible()
    expect(page.get_by_role("button", name="More evidence")).to_have_count(0)
    held.let_go()
    page.get_by_role("button", name="More evidence").first.click()
    expect(page.locator(".result").first.locator(".snippet-text").nth(2)).to_be_visible()


def test_evidence_that_does_not_come_is_said(visit: Visits) -> None:
    """Entities stay where the whole answer fails, and the page says why there is no evidence."""
    page, held = visit_held(visit, TYPED, refused=[504])
    expect(page.locator(".result").first).to_be_visible()
    count = page.locator(".result").count()
    held.let_go(504)
    expect(page.locator(".warning")).to_contain_text("Evidence could not be read. The time is over.")
    expect(page.locator(".result")).to_have_count(count)
    expect(page.locator(".snippet")).to_have_count(0)


def test_a_quick_answer_is_asked_for_once(visit: Visits) -> None:
    """An answer that is there at once comes whole."""
    page = visit("/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/v1/search" in request.url else None)
    page.route(WHOLE, lambda route: route.fulfill(json=ANSWER))
    page.get_by_label("Question or keywords").fill("+violin")
    page.keyboard.press("Enter")
    expect(page.locator(".snippet-text")).to_have_count(1)
    assert len(asked) == 1


ANSWER = {
    "query": {
        "text": "+violin",
        "literals": [{"text": "violin", "mode": "required", "entity": None, "df": 1, "idf": 1.0}],
    },
    "type": None, "took_ms": 1.0, "matched_documents": 1, "contexts": 1, "candidates": 1, "warnings": [],
    "model": "default",
    "results": [
        {
            "rank": 1, "entity": "e", "name": "Someone", "types": [], "score": 1.0, "support": 1,
            "evidence": [
                {
                    "doc": "d", "title": "A page", "url": "", "score": 1.0, "confidence": 1.0,
                    "snippet": "Someone plays the violin", "mention": [0, 7],
                    "matches": [{"literal": "violin", "at": [18, 24], "distance": 2}], "tokens": [0, 1],
                }
            ],
        }
    ],
}  # fmt: skip
