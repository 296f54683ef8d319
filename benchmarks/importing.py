"""Importing: articles a second on one core, against the obvious library, and memory.

    python -m benchmarks.importing --wikipedia enwiki-latest-pages-articles.xml.bz2 [--articles 200]

The obvious route for Wikipedia is mwparserfromhell: parse, take the links, strip the code; it gives a text without
offsets, and neither redirects nor types. gensim's wheel has a small real dump (gensim/test/test_data/enwiki-latest-*).
Fader is measured in three steps, each with those before it: `parse` (text and links), `convert` (redirects, mentions,
types), `encode` (checked, as JSON). CPU time of the process, the least of several runs over each batch, garbage
collection off; articles that are redirects or lists of meanings are not counted. Rows of libraries that are not
installed are left out. Without a dump, one is made of repeated synthetic pages: does it run?
"""

from __future__ import annotations

import gc
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import common
from fader.corpora.formats.wikipedia import Wikipedia
from fader.corpora.frame.records import encode
from fader.corpora.frame.run import run
from fader.corpora.parsers.wiki import dump
from fader.corpora.parsers.wiki.markup import parse
from fader.corpora.parsers.wiki.titles import ARTICLE
from fader.corpus.documents import Faults
from fader.progress import Silent

TARGET = 300  # long articles a second on one core


def main(given: Sequence[str] | None = None) -> None:
    parser = common.arguments(__doc__.splitlines()[0])
    parser.add_argument("--wikipedia", metavar="DUMP", help="a pages-articles dump, compressed or not")
    parser.add_argument("--articles", type=int, default=100, help="articles to measure with")
    parser.add_argument("--runs", type=int, default=5, help="runs over each batch")
    args = parser.parse_args(given)
    if args.quick:
        args.articles, args.runs = 10, 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = args.wikipedia or _synthetic(folder / "dump.xml")
        rows = wikipedia(source, folder, args.articles, args.runs)
    for row in rows:
        print(f"{row['what']:34s}{row['articles/s']:10.0f} articles/s{row['MB/s']:9.1f} MB/s of wikitext")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process: {peak:.0f} MB")
    report = {"rows": rows, "peak MB": peak, "target": TARGET}
    common.write_report(args.json or args.work / "importing.json", report)


def wikipedia(source: str, folder: Path, articles: int, runs: int) -> list[dict[str, Any]]:
    """The rows of the table."""
    importer = Wikipedia()
    (folder / "state").mkdir()
    state = importer.open_state(importer.prepare([source], folder / "state", Faults(), Silent()), folder / "state")
    batches, bodies = [], []
    for batch in importer.batches([source], Faults()):
        batches.append(batch)
        for page in dump.read_pages(batch.payload, batch.place, batch.source, Faults()):
            if page.space == ARTICLE and not dump.find_redirect(page):
                bodies.append(page.body)
        if len(bodies) >= articles:
            break
    size = sum(map(len, bodies)) / 1e6
    print(f"{len(bodies)} articles of {1000 * size / len(bodies):.0f} KB on average\n")
    rows = []

    def row(what: str, seconds: float, count: int = len(bodies), megabytes: float = size) -> None:
        rows.append({"what": what, "articles/s": count / seconds, "MB/s": megabytes / seconds})

    row("parse: text and links", _least(lambda body: parse(body, state.targets), bodies, runs))
    row("convert: mentions, types", _least(lambda batch: importer.convert(batch, state, Faults()), batches, runs))
    whole = _least(lambda batch: encode(importer.convert(batch, state, Faults()), "", Faults()), batches, runs)
    row("encode: all of the importer", whole)
    spread = Wikipedia(propagate=True)
    row(
        "all, with --propagate",
        _least(lambda b: encode(spread.convert(b, state, Faults()), "", Faults()), batches, runs),
    )
    began = time.process_time()
    run(importer, [source], folder / "out", processes=1)
    seconds = time.process_time() - began
    total = sum(len(batch.payload) for batch in importer.batches([source], Faults())) / 1e6
    count = (folder / "out" / "corpus.jsonl").read_bytes().count(b"\n")
    row("fader import, from disk to disk", seconds, count, total)
    texts = [dump.unescape(body.decode("utf-8", "replace")) for body in bodies]
    for name, peer in _peers().items():
        row(name, _least(peer, texts, 1))
    return rows


def _least(function: Callable[[Any], object], items: Sequence[Any], runs: int) -> float:
    """Seconds for all items, of each the least of several runs."""
    function(items[0])  # compiled
    total = 0.0
    gc.disable()
    for item in items:
        best = float("inf")
        for _ in range(runs):
            began = time.process_time()
            function(item)
            best = min(best, time.process_time() - began)
        total += best
    gc.enable()
    return total


def _peers() -> dict[str, Callable[[str], object]]:
    """The libraries that are installed."""
    found: dict[str, Callable[[str], object]] = {}
    try:
        import mwparserfromhell

        def from_hell(text: str) -> object:
            code = mwparserfromhell.parse(text)
            return code.filter_wikilinks(), code.strip_code()

        found["mwparserfromhell: links, text"] = from_hell
    except ImportError:
        pass
    return found


def _synthetic(path: Path) -> str:
    """A small dump."""
    paragraph = (
        "'''Subject {n}''' is a [[town]] in [[Region {m}|the region]].&lt;ref name=\"r{n}\"&gt;{{{{cite web|title=T|url=http://x.y}}}}"
        "&lt;/ref&gt; It has [[river]]s and &lt;!-- not shown --&gt; [[hill|hills]], and words that fill the line.\n\n"
    )  # fmt: skip
    page = "<page><title>Subject {n}</title><ns>0</ns><id>{n}</id><revision><text>{text}</text></revision></page>\n"
    pages = (
        page.format(n=n, text="".join(paragraph.format(n=n, m=m) for m in range(150)) + "[[Category:Towns]]")
        for n in range(40)
    )
    path.write_text('<mediawiki xml:lang="en">\n' + "".join(pages) + "</mediawiki>\n")
    return str(path)


if __name__ == "__main__":
    main()
