"""The views of the page that every test of looks visits."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from browser.visits import Visits

SEARCH = {"q": "company rotary engine", "type": "manufacturer"}
VIEWS = {
    "start": ("/", {}),
    "results": ("/", {**SEARCH, "k": "20"}),
    "why": ("/", {**SEARCH, "why": "Mazda"}),
    "why without a grid": ("/", {**SEARCH, "why": "Mazda", "model": "proximity"}),
    "written system": ("/", {**SEARCH, "model": "voting(technique=combmnz)"}),
    "nothing": ("/", {"q": "zzzz +yyyy", "type": "physicist"}),
    "bad query": ("/", {"q": 'an "open quote ' + "and many more words " * 20}),
    "unknown type": ("/", {"q": "violin", "type": "scientis"}),
    "question": ("/", {"q": "Which spacecraft landed on Mars?"}),
    "document": ("/document", {"id": "demo-00433", "q": "landed mars", "entity": "Opportunity_(rover)"}),
    "compare": ("/compare", {**SEARCH, "a": "count", "b": "voting"}),
    "compare start": ("/compare", {}),
    "types": ("/types", {}),
    "type": ("/types", {"type": "physicist"}),
    "entity": ("/entity", {"id": "Mars", "q": "landed mars"}),
    "entity alone": ("/entity", {"id": "Albert_Einstein"}),
    "finder": ("/entity", {}),
    "reports": ("/reports", {}),
    "report": ("/reports/demo", {}),
    "api": ("/api", {}),
}
ERRORS = ("bad query", "unknown type")


def seen(visit: Visits, name: str, **context: Any) -> Page:
    """A view, with all that belongs to it."""
    path, params = VIEWS[name]
    page = visit(path, params, refused=[400, 404] if name in ERRORS else [], **context)
    if "why" in params:
        expect(page.locator(".why svg[width]").first).to_be_visible()
    if name == "report":
        expect(page.locator(".pair-table")).to_be_visible()
    return page
