"""From judgments to a better ranking, in one sitting: judge, train, compare, adopt, roll back."""

from __future__ import annotations

import shutil
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from playwright.sync_api import expect

from browser.conftest import Serve
from browser.visits import Visits
from fader.corpus.queries import FaultCollector
from fader.judging.files import import_judgments
from fader.judging.learned import LearnedModels
from fader.judging.store import JudgmentStore, path_beside
from fader.serve.settings import Settings


def test_a_sitting(visit: Visits, serve: Serve, settings: Settings, demo: Path, tmp_path: Path) -> None:
    """What others judged is counted, a proposal is judged, training shows old against new, and what ranks follows."""
    folder = shutil.copytree(demo / "index", tmp_path / "index")
    judged = import_judgments(demo / "queries.jsonl", demo / "qrels.txt", "others", FaultCollector())[:150]
    JudgmentStore(path_beside(folder)).add(*judged)
    weak = {"weak": (files("fader") / "models" / "paper.json", None)}  # which judgments can improve
    site = serve(replace(settings, indexes={"demo": folder}, models=weak, judge=True))
    page = visit("/learn", site=site)
    expect(page.locator(".learn-count")).to_contain_text("150 judgments")
    with page.expect_response("**/v1/judge"):
        page.locator(".learn-proposal").first.get_by_role("button", name="Wrong").click()
    expect(page.locator(".learn-count")).to_contain_text("151 judgments")
    page.get_by_role("button", name="Train", exact=True).click()
    adopt = page.get_by_role("button", name="Adopt it")
    expect(adopt).to_be_visible()
    report = site.get("/v1/train")["report"]
    assert report["new_map"] > report["old_map"]
    figures = page.locator(".learn-figures dd")
    expect(figures.nth(2)).to_have_text(str(report["better"]))
    page.get_by_text("What changed, question by question").click()
    expect(page.locator(".learn-table tbody tr").first).to_be_visible()
    adopt.click()
    expect(page.locator(".learn-adopted")).to_have_text("learned-1 ranks now.")
    assert [m["name"] for m in site.get("/v1/systems")["models"] if m["default"]] == ["learned-1"]
    page.get_by_role("button", name="Roll back").click()
    expect(page.get_by_role("button", name="Adopt it")).to_be_visible()
    assert LearnedModels(folder).adopted() is None
