"""From judgments to a better ranking, in one sitting: judge, train, compare, adopt, roll back."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

import fader
from browser.conftest import Serve
from browser.visits import Visits
from fader.corpus.queries import FaultCollector
from fader.judging.files import import_judgments
from fader.judging.learned import LearnedModels
from fader.judging.store import JudgmentStore, path_beside
from fader.learn.model import Model
from fader.search.models import shipped_model
from fader.serve import judging
from fader.serve.settings import Settings

Query = dict[str, Any]
Qrels = dict[str, dict[str, int]]


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


def read_judged(demo: Path) -> tuple[list[Query], Qrels]:
    """The demo's queries and what is right for them."""
    queries = [json.loads(line) for line in (demo / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    qrels: Qrels = {query["id"]: {} for query in queries}
    for line in (demo / "qrels.txt").read_text(encoding="utf-8").splitlines():
        query, _zero, entity, grade = line.split()
        qrels[query][entity] = int(grade)
    return queries, qrels


def mean_precision(index: fader.Index, queries: Sequence[Query], qrels: Qrels, model: Model) -> float:
    """MAP: of each query the mean, over its right entities, of the precision at their ranks."""
    found = []
    for query in queries:
        right = {entity for entity, grade in qrels[query["id"]].items() if grade > 0}
        ranked = index.rank(query["query"], query["type"], 1000, model).entities
        hits = [rank for rank, entity in enumerate(ranked, 1) if entity in right]
        found.append(sum((i / rank for i, rank in enumerate(hits, 1)), 0.0) / len(right))
    return sum(found) / len(found)


def judge_answers(page: Page, right: dict[str, int], most: int) -> int:
    """Press Right or Wrong for the first answers that are shown; how many were judged."""
    judged = page.locator(".result").all()[:most]
    for result in judged:
        grade = right.get(result.get_attribute("data-entity") or "", 0)
        button = result.get_by_role("button", name="Right" if grade > 0 else "Wrong")
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
    return len(judged)


def test_thirty_answers_teach(
    visit: Visits, serve: Serve, settings: Settings, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thirty answers are judged by hand, a model learns from them and is adopted: questions that nobody judged are
    answered better by it.
    """
    monkeypatch.setattr(judging, "RATE", 1_000.0)  # the hand of a test is quick
    folder = shutil.copytree(demo / "index", tmp_path / "index")
    paper = {"paper": (Path(str(files("fader") / "models" / "paper.json")), None)}
    site = serve(replace(settings, indexes={"demo": folder}, models=paper, judge=True))
    queries, qrels = read_judged(demo)
    asked, rest = queries[::8], [query for i, query in enumerate(queries) if i % 8]
    page = visit("/", site=site)
    left = 30
    for query in asked:
        page.goto(f"{site.url}/?{urlencode({'q': query['query'], 'type': query['type']})}")
        expect(page.locator(".result").first).to_be_visible()
        left -= judge_answers(page, qrels[query["id"]], min(3, left))
    assert left == 0
    page.get_by_role("link", name="Learn").click()
    expect(page.locator(".learn-count")).to_contain_text("30 judgments")
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_role("button", name="Adopt it").click()
    expect(page.locator(".learn-adopted")).to_have_text("learned-1 ranks now.")
    adopted = LearnedModels(folder).adopted()
    assert adopted is not None
    index = fader.open(folder)
    before, after = (mean_precision(index, rest, qrels, model) for model in (shipped_model("paper"), adopted[1]))
    assert after > before
