"""A sitting in the browser: judge 30 answers, train on them, adopt what was learned, and MAP on unjudged questions.

    python -m runs.judged_session TESTBED --index DIR [--judgments 30] [--model FILE] [--seed 0] [--pictures FOLDER]

A testbed is a folder with queries.jsonl and qrels.txt; its index is copied, since judgments are kept beside it. Half of
the judged questions, drawn by a seed, are asked in the page of `fader serve --judge`, as typed queries; of each the
first answers are judged by pressing Right or Wrong as the testbed has it, five of each, or more up to the first right
one of the first ten. Then "Train" and "Adopt it" are pressed. The other half was asked nowhere: its MAP under the model
that ranked before, and under the one that was adopted, is printed, with what the page says. The shipped model has seen
questions of the public testbeds: `--model` begins with another, as in `learning_curve.py`.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.load import HOST
from benchmarks.page import browser_path
from benchmarks.service import serving
from playwright.sync_api import Page, expect, sync_playwright
from runs.learning_curve import EACH, measure

import fader
from fader.corpus.queries import FaultCollector, QueryLine, read_qrels, read_queries
from fader.judging.learned import LearnedModels
from fader.learn.model import read_model
from fader.search.models import default_model

MOST = 200  # questions of a testbed, in all
PATIENCE = 120_000  # ms
PAUSE = 1_000  # ms that a person takes for an answer at least; a service refuses those who judge faster than people can
TRAINING = 900_000  # ms
Qrels = dict[str, dict[str, int]]


def draw_halves(folder: Path, qrels: Qrels, seed: int) -> tuple[list[QueryLine], list[QueryLine]]:
    """The questions that are judged, and those that are not."""
    lines = [
        q for q in read_queries(folder / "queries.jsonl", FaultCollector()) if max(qrels.get(q.id, {0: 0}).values())
    ]
    drawn = random.Random(seed).sample(lines, min(len(lines), MOST))
    return drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]


def judge_question(page: Page, url: str, line: QueryLine, good: dict[str, int], left: int) -> int:
    """Ask a question, and judge its first answers; how many were judged."""
    page.goto(f"{url}/?{urlencode({'q': line.query, 'type': line.type})}")
    page.locator(".result, .state").first.wait_for()
    judged, found = 0, False
    for result in page.locator(".result").all():
        if judged >= left or (judged >= EACH and found):
            break
        right = good.get(result.get_attribute("data-entity") or "", 0) > 0
        button = result.get_by_role("button", name="Right" if right else "Wrong")
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        page.wait_for_timeout(PAUSE)
        judged, found = judged + 1, found or right
    return judged


def sit(page: Page, url: str, pool: Sequence[QueryLine], qrels: Qrels, judgments: int, pictures: Path | None) -> str:
    """Judge, train and adopt in the page; what it says of the two models."""
    left = judgments
    for line in pool:
        if left == 0:
            break
        left -= judge_question(page, url, line, qrels[line.id], left)
    if pictures:
        page.screenshot(path=pictures / "judging.png")
    page.goto(f"{url}/learn")
    expect(page.locator(".learn-count")).to_contain_text(f"{judgments - left} judgments")
    page.get_by_role("button", name="Train", exact=True).click()
    if pictures:
        page.screenshot(path=pictures / "training.png")
    page.get_by_role("button", name="Adopt it").wait_for(timeout=TRAINING)
    said = " ".join(page.locator(".learn-figures").inner_text().split())
    page.get_by_role("button", name="Adopt it").click()
    expect(page.locator(".learn-adopted")).to_be_visible()
    if pictures:
        page.screenshot(path=pictures / "adopted.png")
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("testbed", type=Path)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--judgments", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", type=Path, help="a portable model to begin with; without, the shipped one")
    parser.add_argument("--pictures", type=Path, help="a folder for screenshots")
    given = parser.parse_args()
    qrels = read_qrels(given.testbed / "qrels.txt", FaultCollector())
    pool, test = draw_halves(given.testbed, qrels, given.seed)
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    old = read_model(given.model) if given.model else default_model()
    how = ["--judge", "--timeout-ms", "60000", *(["--model", f"begin={given.model}"] if given.model else [])]
    with tempfile.TemporaryDirectory() as work:
        copy = Path(shutil.copytree(given.index, Path(work) / given.testbed.name))
        with serving(copy, Path(work), *how) as server, sync_playwright() as playwright:
            options = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=browser_path(), args=options)
            context = browser.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
            context.set_default_timeout(PATIENCE)
            url = f"http://{HOST}:{server.port}"
            said = sit(context.new_page(), url, pool, qrels, given.judgments, given.pictures)
            browser.close()
        index, adopted = fader.open(copy), LearnedModels(copy).adopted()
        if adopted is None:
            raise SystemExit("nothing was adopted")
        before, after = (measure(index, test, qrels, model) for model in (old, adopted[1]))
    print(f"{given.testbed.name}: {given.judgments} judgments. The page says: {said}")
    print(f"MAP of {len(test)} questions that nobody judged: before {before:.4f}, after {after:.4f}")


if __name__ == "__main__":
    main()
