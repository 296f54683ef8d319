"""A report in the page: means, two systems query by query, and from a query to its answer."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from browser.visits import Site, Visits, params_of, settled

PAIR = {"a": "proximity", "b": "count", "measure": "AP"}


def column(page: Page, table: str, at: int) -> list[str]:
    """The texts of a column, without what only screen readers get."""
    found: list[str] = page.locator(f"{table} tbody tr").evaluate_all(
        "(rows, at) => rows.map((row) => row.children[at].innerText.split('\\n')[0].trim())", at
    )
    return found


def number(text: str) -> float:
    return float(text.split(",")[0].split()[0].rstrip("↓").replace("−", "-"))


def test_the_list_leads_to_the_report(visit: Visits, site: Site) -> None:
    """Every report that is served, with its title and best system."""
    page = visit("/reports")
    (report,) = site.get("/v1/reports")["reports"]
    item = page.locator(".reports-item")
    expect(item).to_contain_text(f"{report['systems']} systems")
    expect(item).to_contain_text(f"{report['best']['mean']:.3f}")
    item.get_by_role("link").first.click()
    expect(page.locator("h1")).to_have_text(report["title"])
    assert page.evaluate("location.pathname") == "/reports/demo"


def test_means_are_those_of_the_report(visit: Visits, site: Site) -> None:
    """Each system's mean of each measure; the best is strong; a head sorts, and says so."""
    page = visit("/reports/demo")
    table = site.get("/v1/reports/demo")["table"]
    rows = page.locator(".report-means tbody tr")
    expect(rows).to_have_count(len(table["rows"]))
    for row, shown in zip(table["rows"], rows.all(), strict=True):
        cells = shown.locator("td .report-mean").all_inner_texts()
        wanted = [each["mean"] for each in row["cells"]]
        assert all(
            abs(number(text) - mean) < 0.51 * 10 ** -table["digits"] for text, mean in zip(cells, wanted, strict=True)
        )
    head = page.locator(".report-means th", has_text=table["columns"][0]["title"]).first
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    first = [number(text) for text in column(page, ".report-means", 1)]
    assert first == sorted(first, reverse=True)
    head.get_by_role("button").press("Enter")
    expect(head).to_have_attribute("aria-sort", "ascending")
    first = [number(text) for text in column(page, ".report-means", 1)]
    assert first == sorted(first)
    assert params_of(page)["by"] == table["columns"][0]["measure"]


def test_two_systems_query_by_query(visit: Visits, site: Site) -> None:
    """The chosen pair: counts, means and every query with both values and their difference."""
    page = visit("/reports/demo")
    expect(page.locator(".pair-table")).to_be_visible()
    page.get_by_label("System A", exact=True).select_option("proximity")
    expect(page.locator(".pair-table")).to_be_visible()
    page.get_by_label("System B", exact=True).select_option("count")
    page.wait_for_function("new URLSearchParams(location.search).get('b') === 'count'")
    settled(page)
    pair = site.get("/v1/reports/demo/pair", **PAIR)
    counts = page.locator(".pair-counts li")
    expect(counts).to_have_text([f"{pair['better']} A better", f"{pair['same']} the same", f"{pair['worse']} B better"])
    shown = zip(
        column(page, ".pair-table", 2), column(page, ".pair-table", 3), column(page, ".pair-table", 4), strict=True
    )
    for query, (a, b, difference) in zip(pair["queries"], shown, strict=False):
        assert abs(number(a) - query["a"]) < 6e-4
        assert abs(number(b) - query["b"]) < 6e-4
        assert abs(number(difference) - query["difference"]) < 6e-4
    chosen = params_of(page)
    assert (chosen["a"], chosen["b"]) == ("proximity", "count")


def test_sort_and_leaf(visit: Visits, site: Site) -> None:
    """The order is over all queries and not over those on a page; the next page goes on with it."""
    page = visit("/reports/demo", {**PAIR, "sort": "-difference"})
    pair = site.get("/v1/reports/demo/pair", **PAIR)
    wanted = sorted((q["difference"] for q in pair["queries"]), reverse=True)
    expect(page.locator(".pair-table tbody tr")).to_have_count(50)
    seen = [number(text) for text in column(page, ".pair-table", 4)]
    page.locator(".pair").get_by_role("button", name="Next").click()
    expect(page.locator(".pair .pager")).to_contain_text(f"51–{min(100, len(wanted))} of {len(wanted)}")
    seen += [number(text) for text in column(page, ".pair-table", 4)]
    assert all(abs(a - b) < 6e-4 for a, b in zip(seen, wanted, strict=False))
    assert params_of(page)["page"] == "2"


def test_filters(visit: Visits, site: Site) -> None:
    """Words of a query and who is better narrow the list, are counted, and are in the address."""
    page = visit("/reports/demo", PAIR)
    pair = site.get("/v1/reports/demo/pair", **PAIR)
    page.get_by_label("Find queries").fill("violin")
    wanted = [q for q in pair["queries"] if "violin" in f"{q['query']} {q['text']} {q['type']}".lower()]
    assert wanted
    rows = page.locator(".pair-table tbody tr")
    expect(rows).to_have_count(len(wanted))
    expect(page.locator(".pair-list [role=status]")).to_contain_text(f"of {len(pair['queries'])}")
    page.get_by_label("Find queries").fill("")
    page.get_by_label("Show", exact=True).select_option("worse")
    expect(rows).to_have_count(min(50, pair["worse"]))
    assert params_of(page)["show"] == "worse"


def test_from_a_query_to_its_answer(visit: Visits, site: Site) -> None:
    """A query leads to the search page with its text, type and system; back returns to the same list."""
    page = visit("/reports/demo", {**PAIR, "find": "violin"})
    query = page.locator(".pair-table tbody th a").first
    text = query.inner_text()
    query.click()
    expect(page.locator(".result").first).to_be_visible()
    asked = params_of(page)
    assert asked["q"] == text
    assert asked["model"] == "proximity"
    assert asked["type"]
    page.go_back()
    expect(page.get_by_label("Find queries")).to_have_value("violin")
    page.get_by_role("link", name="Compare the answers").first.click()
    expect(page.locator(".compare-name").first).to_contain_text("proximity")
    expect(page.locator(".compare-name").last).to_contain_text("count")


def test_files_and_figures(visit: Visits, site: Site) -> None:
    """Every file of the report can be had, and every figure is drawn."""
    page = visit("/reports/demo")
    report = site.get("/v1/reports/demo")
    files = page.locator(".report-file")
    expect(files).to_have_text([each["file"] for each in report["files"] if not each["file"].startswith("figures/")])
    for link in files.all():
        assert site.client.get(site.url + str(link.get_attribute("href"))).status_code == 200
    images = page.locator(".report-figure img:visible")
    expect(images).to_have_count(len(report["figures"]))
    for image in images.all():
        image.scroll_into_view_if_needed()
        page.wait_for_function("e => e.complete && e.naturalWidth > 0", arg=image.element_handle())
        assert image.get_attribute("alt")


def test_no_report_of_that_name(visit: Visits) -> None:
    """It is told, with the way to all reports."""
    page = visit("/reports/nothing", refused=[404])
    expect(page.locator(".state.is-error")).to_contain_text("nothing")
    page.get_by_role("link", name="All reports").click()
    expect(page.locator(".reports-item")).to_be_visible()
