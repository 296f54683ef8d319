"""The broadest queries over HTTP, by default settings, while another client searches: are they answered in time?

`fader serve` runs as a process of its own on loopback. The commonest English words are asked for alone and together,
without a type and with the two types that have most entities: up to every mention of an encyclopedia is a context. Each
is asked when nothing of it was decoded yet ("first"), and again; meanwhile another client searches for the words of the
testbed's queries without a pause.

    python -m benchmarks.broad FOLDER --index DIR
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import fader
from benchmarks import common
from benchmarks.service import OK, Server, serving
from fader.corpus.queries import FaultCollector, read_queries
from fader.search.suggest import Suggester

TEXTS = ("the", "the of", "the of in and a", "+the of first", "the of in first war city")
TYPES, LISTED = 2, 1_000
LEAST = 1_000_000  # contexts that a query must be answered with
PATIENCE = 60.0  # seconds


def list_queries(index: fader.Index) -> list[tuple[str, str | None, int]]:
    """Text, type and how many contexts they have."""
    hints = sorted(Suggester(index.collection).types("", LISTED), key=lambda hint: -hint.entities)
    types = [None, *(hint.id for hint in hints[:TYPES])]
    return [(text, type_, len(index.contexts(text, type_))) for text, type_ in itertools.product(TEXTS, types)]


def search(server: Server, text: str, type_: str | None) -> tuple[int, float]:
    """Status and milliseconds of a search as the page asks."""
    asked = {"q": text, "snippets": "2", "passage": "window:20"} | ({"type": type_} if type_ else {})
    began = time.perf_counter()
    status, _body = server.fetch(f"/v1/search?{urlencode(asked)}", PATIENCE)
    return status, 1000 * (time.perf_counter() - began)


@contextmanager
def busy(server: Server, texts: Sequence[str]) -> Iterator[None]:
    """Another client searches without a pause."""
    stop = threading.Event()

    def work() -> None:
        for text in itertools.cycle(texts):
            if stop.is_set():
                return
            search(server, text, None)

    client = threading.Thread(target=work)
    client.start()
    try:
        yield
    finally:
        stop.set()
        client.join()


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("The broadest queries over HTTP.")
    parser.add_argument("testbed", type=Path, help="a folder with queries.jsonl")
    parser.add_argument("--index", type=Path, help="its index; FOLDER/index without one")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a query is not answered")
    args = parser.parse_args(argv)
    args.work.mkdir(parents=True, exist_ok=True)
    folder = args.index or args.testbed / "index"
    queries = list_queries(fader.open(folder))
    texts = [line.query for line in read_queries(args.testbed / "queries.jsonl", FaultCollector()) if line.query]
    rows = []
    with serving(folder, args.work) as server, busy(server, texts):
        for text, type_, contexts in queries:
            first, again = search(server, text, type_), search(server, text, type_)
            rows.append((text, type_ or "", f"{contexts:,}", *first, *again))
    head = ("query", "type", "contexts", "status", "first ms", "status", "again ms")
    print(common.table(head, [tuple(f"{c:.0f}" if isinstance(c, float) else c for c in row) for row in rows]))
    answered = [row for row in rows if row[3] == row[5] == OK]
    broad = sum(int(row[2].replace(",", "")) >= LEAST for row in answered)
    print(f"{len(answered)} of {len(rows)} answered both times, {broad} of them with {LEAST:,} contexts or more")
    refused = [row[:2] for row in rows if row not in answered]
    common.write_report(args.json or args.work / "broad.json", {"rows": rows, "refused": refused})
    if args.check and refused:
        sys.exit(f"not answered: {refused}")


if __name__ == "__main__":
    main()
