"""The page in a browser: requests until it is usable, and the time from Enter to the first answer that is painted.

`fader serve` runs as a process of its own on loopback with its default settings; Debian's chromium, driven by
Playwright, opens the page. Times are taken in the page itself, from the keydown of Enter to the frame that shows the
first entity, and to the frame that shows its first sentence. The first round of all questions warms the service and the
page; the second is measured.

    python -m benchmarks.page FOLDER --index DIR

FOLDER has a queries.jsonl with questions. What other processes do to a machine falls on these times, so the report
names the load, and the CPU time that the service spent per question. With `--quick`, the demo and a few questions.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Request, sync_playwright

from benchmarks import common
from benchmarks.load import HOST
from benchmarks.service import Server, serving
from fader.corpus.queries import FaultCollector, read_queries

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
VIEWPORT = {"width": 1280, "height": 860}
PATIENCE = 30_000  # ms
TARGETS = {"requests": 3, "first answer ms": 50.0}

# From Enter to the frame after an element of the new answer is there: what is shown before is taken away first.
STOPWATCH = """() => {
  const seen = {};
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    for (const key of Object.keys(seen)) delete seen[key];
    seen.from = performance.now();
  }, true);
  const painted = (key) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => (seen[key] ??= performance.now() - seen.from);
    channel.port2.postMessage(null);
  });
  const look = () => {
    if (seen.from === undefined) return;
    if (!seen.answering && document.querySelector(".result-name")) painted("answer"), (seen.answering = true);
    if (!seen.showing && document.querySelector(".snippet-text")) painted("sentence"), (seen.showing = true);
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  window.stopwatch = seen;
}"""
DONE = "() => window.stopwatch.answer !== undefined || document.querySelector('.output .state')"
SETTLED = "() => !document.querySelector('[aria-busy=true]')"
BOX = "input[name=q]"


def browser_path() -> str:
    """Where the browser is."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    return found or sys.exit("there is no chromium on the PATH; install Debian's package chromium")


def open_home(browser: Browser, url: str) -> tuple[Page, list[str]]:
    """The page in a fresh profile, and what it asked for until the box could be written into."""
    context = browser.new_context(viewport=VIEWPORT, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page, asked = context.new_page(), []

    def note(request: Request) -> None:
        if "/favicon" not in request.url:  # which browsers ask for beside everything else
            asked.append(request.url.removeprefix(url))

    page.on("request", note)
    page.goto(url + "/", wait_until="commit")
    page.locator(BOX).wait_for()
    until_usable = list(asked)
    page.wait_for_load_state("networkidle")
    return page, until_usable


def ask_all(page: Page, questions: Sequence[str]) -> list[dict[str, float]]:
    """Type each question into the box of the home page, and press Enter."""
    times = []
    for question in questions:
        page.locator(".brand").click()
        page.locator(".intro").wait_for()
        page.locator(BOX).fill(question)
        page.keyboard.press("Enter")
        page.wait_for_function(DONE)
        page.wait_for_function(SETTLED)
        seen = page.evaluate("() => new Promise((done) => setTimeout(() => done({...window.stopwatch}), 20))")
        times.append({key: seen[key] for key in ("answer", "sentence") if key in seen})
    return times


def measure(browser: Browser, server: Server, questions: Sequence[str]) -> dict[str, Any]:
    """Open the page once in a fresh profile, then ask all questions twice."""
    url = f"http://{HOST}:{server.port}"
    page, asked = open_home(browser, url)
    page.evaluate(STOPWATCH)
    ask_all(page, questions)
    before = server.cpu()
    times = ask_all(page, questions)
    cpu = 1000 * (server.cpu() - before) / len(questions)
    report: dict[str, Any] = {"requests": asked, "questions": len(questions), "server CPU ms": cpu}
    for key in ("answer", "sentence"):
        values = sorted(each[key] for each in times if key in each)
        report[key] = {"n": len(values), "p50": statistics.median(values), "p95": values[int(0.95 * (len(values) - 1))]}
    return report | {"load": os.getloadavg()[0]}


def draw_questions(folder: Path, count: int, seed: int) -> list[str]:
    """Some questions of a testbed."""
    lines = [line.question for line in read_queries(folder / "queries.jsonl", FaultCollector()) if line.question]
    if not lines:
        sys.exit(f"{folder / 'queries.jsonl'} has no questions")
    return random.Random(seed).sample(lines, min(count, len(lines)))


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("The page in a browser.")
    parser.add_argument("testbed", type=Path, nargs="?", help="a folder with queries.jsonl that has questions")
    parser.add_argument("--index", type=Path, help="its index; FOLDER/index without one")
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    args = parser.parse_args(argv)
    args.work.mkdir(parents=True, exist_ok=True)
    folder = args.testbed
    if args.quick:
        folder, args.questions = args.work / "page-demo", 3
        subprocess.run([sys.executable, "-m", "fader", "demo", str(folder), "--quiet"], check=True)
    elif folder is None:
        sys.exit("give a testbed's folder, or --quick")
    questions = draw_questions(folder, args.questions, args.seed)
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with serving(args.index or folder / "index", args.work) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=[*options, "--disable-dev-shm-usage"])
        report = measure(browser, server, questions)
        browser.close()
    answer, sentence = report["answer"], report["sentence"]
    print(f"{len(report['requests'])} requests until the page is usable: {', '.join(report['requests'])}")
    print(f"{answer['n']} of {report['questions']} questions answered; load {report['load']:.1f}")
    print(f"first answer painted: p50 {answer['p50']:.0f} ms, p95 {answer['p95']:.0f} ms after Enter")
    print(f"first sentence painted: p50 {sentence['p50']:.0f} ms, p95 {sentence['p95']:.0f} ms")
    print(f"the service's CPU time: {report['server CPU ms']:.0f} ms a question")
    common.write_report(args.json or args.work / "page.json", report)
    missed = {"requests": len(report["requests"]), "first answer ms": answer["p50"]}
    missed = {key: value for key, value in missed.items() if value > TARGETS[key]}
    if args.check and missed:
        sys.exit(f"above the target: {missed}")


if __name__ == "__main__":
    main()
