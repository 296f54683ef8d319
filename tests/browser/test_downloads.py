"""JSON and CSV: what is taken away is what is shown."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.visits import Site, Visits

SEARCH = {"q": "company rotary engine", "type": "manufacturer", "model": "voting"}


def saved(page: Page, link: Locator) -> str:
    """The text of the file that a link or button gives."""
    with page.expect_download() as found:
        link.click()
    return Path(found.value.path()).read_bytes().decode("utf-8")


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def answered(site: Site, link: Locator) -> Any:
    """The JSON behind a link."""
    return json.loads(site.client.get(site.url + str(link.get_attribute("href"))).text)


def test_search(visit: Visits, site: Site) -> None:
    """The entities of the page, in its order, with its evidence."""
    page = visit("/", SEARCH)
    expect(page.locator(".result-name")).not_to_have_count(0)
    names = page.locator(".result-name").all_inner_texts()
    answer = answered(site, page.get_by_role("link", name="JSON"))
    assert [each["name"] for each in answer["results"]] == names
    assert answer["model"] in page.locator(".summary").inner_text()
    assert sum(len(each["evidence"]) for each in answer["results"]) == page.locator(".snippet").count()
    rows = rows_of(saved(page, page.get_by_role("link", name="CSV")))
    assert list(dict.fromkeys(row["name"] for row in rows)) == names


def test_compare(visit: Visits, site: Site) -> None:
    """Both columns."""
    page = visit("/compare", {"q": SEARCH["q"], "type": SEARCH["type"], "a": "voting", "b": "count"})
    answer = answered(site, page.get_by_role("link", name="JSON"))
    text = saved(page, page.get_by_role("link", name="CSV"))
    for i, side in enumerate(answer["sides"]):
        shown = page.locator(".compare-side").nth(i).locator(".compare-entity").all_inner_texts()
        assert [each["name"] for each in side["results"]] == shown
        assert all(name in text for name in shown)


@pytest.mark.parametrize(("offset", "count"), [("", 20), ("20", 5)])
def test_contexts_of_an_entity(visit: Visits, site: Site, offset: str, count: int) -> None:
    """The page of contexts that is shown."""
    page = visit("/entity", {"id": "Mars", "q": "landed mars"} | ({"offset": offset} if offset else {}))
    section = page.locator(".entity-contexts")
    answer = answered(site, section.get_by_role("link", name="JSON"))
    items = answer["evidence"]["contexts"]["items"]
    assert len(items) == count == page.locator(".snippet").count()
    rows = rows_of(saved(page, section.get_by_role("link", name="CSV")))
    assert [row["snippet"] for row in rows] == [item["snippet"] for item in items]
    assert [row["place"] for row in rows] == [str(item["place"]) for item in items]
    assert [float(row["contribution"]) for row in rows] == [item["score"] for item in items]


def test_types(visit: Visits, site: Site) -> None:
    """The types right below the one that is chosen."""
    page = visit("/types", {"type": "scientist"})
    card = page.locator(".types-card")
    answer = answered(site, card.get_by_role("link", name="JSON"))
    assert answer["parent"]["id"] == "scientist"
    rows = rows_of(saved(page, card.get_by_role("button", name="CSV")))
    assert [row["id"] for row in rows] == [each["id"] for each in answer["types"]]


def test_report(visit: Visits, site: Site) -> None:
    """The means, and the differences of the chosen pair."""
    page = visit("/reports/demo", {"a": "proximity", "b": "count"})
    report = site.get("/v1/reports/demo")
    means = page.locator(".report-section", has=page.locator("#means"))
    rows = rows_of(saved(page, means.get_by_role("button", name="CSV")))
    first = report["table"]["columns"][0]["title"]
    assert [float(row[first]) for row in rows] == [row["cells"][0]["mean"] for row in report["table"]["rows"]]
    pair = page.locator(".pair")
    expect(pair.locator(".pair-table")).to_be_visible()
    answer = answered(site, pair.get_by_role("link", name="JSON"))
    assert (answer["a"]["system"], answer["b"]["system"]) == ("proximity", "count")
    assert len(rows_of(saved(page, pair.get_by_role("link", name="CSV")))) == len(answer["queries"])
