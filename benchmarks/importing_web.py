"""Importing pages: MB a second on one core, from HTML to text, from WARC to records, and whole importers.

    python -m benchmarks.importing_web [--quick] [--pages FOLDER]

Pages are drawn with the density of real ones (a tag every 30 bytes, an entity every 150, a tenth in scripts), or are
the HTML files below a folder. Peers give a text without offsets: selectolax, resiliparse, lxml and BeautifulSoup for
pages, warcio and fastwarc for records; those that are not installed are left out. CPU time of the process, the least of
several runs; MB are those of the pages, markup included. `import` is all of an importer in one process, from the files
to corpus.jsonl on disk.
"""

from __future__ import annotations

import gc
import gzip
import importlib
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import common
from fader.corpora.formats.facc1 import Facc1
from fader.corpora.formats.trec import Trec
from fader.corpora.formats.w3c import W3c
from fader.corpora.frame.base import Importer
from fader.corpora.frame.records import encode
from fader.corpora.frame.run import run
from fader.corpora.parsers.web import html, warc
from fader.corpus.documents import Faults
from fader.progress import Silent

MENTIONS = 15  # of a page on average, as FACC1 has
HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: x\r\n\r\n"


def main(given: Sequence[str] | None = None) -> None:
    parser = common.arguments(__doc__.splitlines()[0])
    parser.add_argument("--pages", metavar="FOLDER", help="use the .html files below this folder")
    parser.add_argument("--megabytes", type=float, default=16.0, help="pages to draw")
    parser.add_argument("--runs", type=int, default=3, help="runs of each")
    args = parser.parse_args(given)
    pages = real_pages(Path(args.pages)) if args.pages else drawn_pages(0.3 if args.quick else args.megabytes)
    size = sum(map(len, pages)) / 1e6
    print(f"{len(pages)} pages of {1000 * size / len(pages):.0f} KB on average\n")
    rows: list[dict[str, Any]] = []
    runs = 1 if args.quick else args.runs
    with tempfile.TemporaryDirectory() as name:
        for what, work in [*of_pages(pages), *of_records(pages, Path(name)), *of_importers(pages, Path(name))]:
            seconds = least(work, runs)
            rows.append({"what": what, "MB/s": size / seconds})
            print(f"{what:46s}{size / seconds:9.1f} MB/s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process: {peak:.0f} MB")
    report = {"rows": rows, "peak MB": peak, "MB": size}
    common.write_report(args.json or args.work / "importing-web.json", report)


def real_pages(folder: Path) -> list[bytes]:
    """The pages of a folder, as UTF-8."""
    return [path.read_bytes().decode("utf-8", "replace").encode() for path in sorted(folder.rglob("*.htm*"))]


def drawn_pages(megabytes: float, seed: int = 7) -> list[bytes]:
    """Pages of 5 to 60 KB."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("aeioulnrstdmc", k=draw.randint(2, 9))) for _ in range(5000)] + [
        "café",
        "naïve",
        "Ébène",
    ]
    pages, size = [], 0
    while size < megabytes * 1e6:
        pages.append(drawn_page(draw, words, draw.randint(5_000, 60_000)).encode())
        size += len(pages[-1])
    return pages


def drawn_page(draw: random.Random, words: list[str], size: int) -> str:
    """A page with a head, scripts, lists of links and paragraphs."""
    script = "<script type='text/javascript'>" + "if (a<b && c[i]) { f('</p>'); } " * (size // 400) + "</script>"
    parts = [f"<!DOCTYPE html><html><head><title>{' '.join(draw.choices(words, k=5))}</title>{script}</head><body>"]
    held = len(parts[0])
    while held < size:
        inside = " ".join(_piece(draw, words) for _ in range(draw.randint(5, 60)))
        kind = draw.choice(["p", 'div class="content main"', "li", "td"])
        parts.append(f"<{kind}>{inside}</{kind.split()[0]}>\n<!-- {kind} -->")
        held += len(parts[-1])
    return "".join([*parts, "</body></html>"])


def _piece(draw: random.Random, words: list[str]) -> str:
    chance, word = draw.random(), draw.choice(words)
    if chance < 0.08:
        return f'<a href="http://www.example.org/{word}.html" title="{word} &amp; more">{word}</a>'
    if chance < 0.12:
        return f"<b>{word}</b>"
    if chance < 0.16:
        return draw.choice(["&amp;", "&nbsp;", "&quot;", "&#8217;", "&eacute;"])
    return word


def of_pages(pages: list[bytes]) -> Iterator[tuple[str, Callable[[], object]]]:
    """HTML to text."""
    yield "HTML: Fader, with the place of every byte", lambda: [html.read(page) for page in pages]
    if parser := _module("selectolax.lexbor"):
        yield (
            "HTML: selectolax (lexbor), text alone",
            lambda: [
                (tree := parser.LexborHTMLParser(page)).strip_tags(["script", "style"]) or tree.body.text()
                for page in pages
            ],
        )
    if extract := _module("resiliparse.extract.html2text"):
        yield "HTML: resiliparse, text alone", lambda: [extract.extract_plain_text(page.decode()) for page in pages]
    if lxml := _module("lxml.html"):
        yield "HTML: lxml, text alone", lambda: [lxml.document_fromstring(page).text_content() for page in pages]
    if soup := _module("bs4"):
        few = pages[: max(1, len(pages) // 20)]
        share = sum(map(len, few)) / sum(map(len, pages))
        yield (
            "HTML: BeautifulSoup, text alone",
            _scaled(lambda: [soup.BeautifulSoup(page, "html.parser").get_text() for page in few], share),
        )


def of_records(pages: list[bytes], folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """WARC to records, plain and gzip members, in the style of ClueWeb12."""
    records = [_record(i, page) for i, page in enumerate(pages)]
    plain, zipped = folder / "x.warc", folder / "x.warc.gz"
    plain.write_bytes(b"".join(records))
    zipped.write_bytes(b"".join(gzip.compress(record, 6) for record in records))
    for path in (plain, zipped):
        kind = "gzip" if path == zipped else "plain"
        yield f"WARC {kind}: Fader, cut and read", lambda path=path: _count(path)  # type: ignore[misc]
        if warcio := _module("warcio.archiveiterator"):
            yield f"WARC {kind}: warcio", lambda path=path: _warcio(warcio, path)  # type: ignore[misc]
        if fastwarc := _module("fastwarc.warc"):
            yield f"WARC {kind}: fastwarc", lambda path=path: _fastwarc(fastwarc, path)  # type: ignore[misc]


def of_importers(pages: list[bytes], folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Whole importers."""
    source, annotations = folder / "x.warc", folder / "x.anns.tsv"
    annotations.write_text("".join(_annotations(i, page) for i, page in enumerate(pages)), "utf-8")
    yield from _steps("facc1", Facc1(), [str(source), str(annotations)], folder)
    documents = folder / "docs.txt"
    documents.write_bytes(b"".join(b"<DOC>\n<DOCNO>d%d</DOCNO>\n%s\n</DOC>\n" % pair for pair in enumerate(pages)))
    yield from _steps("trec", Trec(), [str(documents)], folder)
    candidates = folder / "candidates.txt"
    candidates.write_text("".join(f"candidate-{i:04} Ada{i} Quill{i} ada{i}@example.org\n" for i in range(1092)))
    yield from _steps("w3c, plain", W3c(candidates=str(candidates)), [str(documents)], folder)
    tagged = folder / "tagged.txt"
    tagged.write_bytes(
        documents.read_bytes().replace(b"<b>", b"<candidate-0001>").replace(b"</b>", b"</candidate-0001>")
    )
    yield from _steps("w3c, tagged", W3c(), [str(tagged)], folder)


def _steps(
    name: str, importer: Importer, sources: list[str], folder: Path
) -> Iterator[tuple[str, Callable[[], object]]]:
    """What a worker does with pieces that are there, and all of an import."""
    work = folder / "state"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    state = importer.open_state(importer.prepare(sources, work, Faults(), Silent()), work)
    batches = list(importer.batches(sources, Faults()))
    yield (
        f"{name}: a worker",
        lambda: [
            encode(importer.convert(batch, state, faults), batch.source, faults)
            for batch in batches
            for faults in [Faults()]
        ],
    )
    yield f"{name}: import", lambda: run(importer, sources, folder / "out", restart=True)


def _record(number: int, page: bytes) -> bytes:
    body = HEADERS + page
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-TREC-ID: d{number}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body + b"\r\n\r\n"


def _annotations(number: int, page: bytes) -> str:
    """Words in bold as mentions."""
    lines, at = [], 0
    while (at := page.find(b"<b>", at) + 3) > 2 and len(lines) < MENTIONS:
        end = page.index(b"<", at)
        cells = [page[at:end].decode(), at + len(HEADERS), end + len(HEADERS), 0.99, 0.01, f"/m/0{end % 1000}"]
        lines.append("\t".join(map(str, [f"d{number}", "UTF-8", *cells])) + "\n")
    return "".join(lines)


def _count(path: Path) -> int:
    found = 0
    for batch in warc.cut_warc([str(path)], Faults()):
        for record in warc.read_records(batch.payload):
            found += len(batch.payload[record.body : record.end]) + len(warc.read_fields(batch.payload, record))
    return found


def _warcio(warcio: Any, path: Path) -> int:
    with path.open("rb") as file:
        return sum(len(r.raw_stream.read()) for r in warcio.ArchiveIterator(file, no_record_parse=True))


def _fastwarc(fastwarc: Any, path: Path) -> int:
    with path.open("rb") as file:
        return sum(len(r.reader.read()) for r in fastwarc.ArchiveIterator(file, parse_http=False))


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class _scaled:  # noqa: N801 used like a function
    """Work on a share of the pages; its time counts for all of them."""

    def __init__(self, work: Callable[[], object], share: float) -> None:
        self.work, self.share = work, share

    def __call__(self) -> object:
        return self.work()


def least(work: Callable[[], object], runs: int) -> float:
    """The least CPU time of several runs, after one that compiles and warms up."""
    work()
    best = float("inf")
    gc.disable()
    try:
        for _ in range(runs):
            began = time.process_time()
            work()
            best = min(best, time.process_time() - began)
    finally:
        gc.enable()
    return best / getattr(work, "share", 1.0)


if __name__ == "__main__":
    main()
