"""Catalogs: how many lines a second one core imports, beside the obvious library on the same files.

Files are drawn with the shapes of the real ones: facts of YAGO 3 in columns, of YAGO 4.5 in Turtle, types of DBpedia in
N-Triples, and items of Wikidata with labels in 40 languages and 30 statements (about 9 kB each). `convert` is the
importer's work on a piece without cutting and writing, `import` all of it, from the file to entities.tsv, in one
process. Peers only read: they give statements as objects (rdflib, pyoxigraph) or whole items (json, orjson), which is
where the work of an importer would begin. The second table is the peak memory (resident set) of whole imports of
Wikidata, by the number of items.

    python -m benchmarks.importing_catalogs
"""

from __future__ import annotations

import gc
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import common
from fader.corpora.frame.base import Importer
from fader.corpora.frame.records import encode
from fader.corpora.frame.run import importer, run
from fader.corpus.documents import Faults
from fader.progress import Silent

LANGUAGES, STATEMENTS = 40, 30
CATEGORIES, CLASSES = 20_000, 700  # of YAGO 3, of DBpedia's ontology and YAGO 4.5
PREFIXES = """@prefix yago: <http://yago-knowledge.org/resource/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix schema: <http://schema.org/> .
"""
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def _rank(draw: random.Random, types: int) -> int:
    """A type, few of them often."""
    return int(types * draw.random() ** 3)


def columns(lines: int, seed: int) -> Iterator[str]:
    """YAGO 3: an entity has several types, and facts of other relations stand between them."""
    draw = random.Random(seed)
    for i in range(lines):
        who = f"<Person_of_the_number_{i // 4}>"
        if i % 4 == 3:
            yield f'<id_{i:x}_88c_zcevt2>\t{who}\trdfs:label\t"Person {i // 4}"@eng\t\n'
        else:
            yield f"<id_{i:x}_88c_zcevt2>\t{who}\trdf:type\t<wikicat_People_of_kind_{_rank(draw, CATEGORIES)}>\t\n"


def turtle(lines: int, seed: int) -> Iterator[str]:
    """YAGO 4.5: half of the facts are of other relations."""
    draw = random.Random(seed)
    yield PREFIXES
    for i in range(lines):
        who = f"yago:Person_of_the_number_{i // 4}"
        if i % 4 == 0:
            yield f"{who}\trdf:type\tyago:Kind_{_rank(draw, CLASSES)}\t.\n"
        elif i % 4 == 1:
            yield f'{who}\trdfs:label\t"Person {i // 4}"@en\t.\n'
        else:
            yield f"{who}\tschema:knows\tyago:Person_of_the_number_{draw.randrange(lines)}\t.\n"


def triples(lines: int, seed: int) -> Iterator[str]:
    """DBpedia: instance types."""
    draw = random.Random(seed)
    for i in range(lines):
        who = f"<http://dbpedia.org/resource/Person_of_the_number_{i // 2}>"
        yield f"{who} <{RDF_TYPE}> <http://dbpedia.org/ontology/Kind{_rank(draw, CLASSES)}> .\n"


def items(lines: int, seed: int, languages: int = LANGUAGES, statements: int = STATEMENTS) -> Iterator[str]:
    """Wikidata: one item in 50 is a class."""
    draw = random.Random(seed)
    yield "[\n"
    for i in range(lines):
        relation = "P279" if i % 50 == 0 else "P31"
        claims: dict[str, Any] = {relation: [_claim(relation, 50 * draw.randrange(max(1, lines // 50)))]}
        for _ in range(statements):
            other = f"P{draw.randrange(300, 9000)}"
            claims.setdefault(other, []).append(_claim(other, draw.randrange(10**8)))
        names = {f"l{n}" if n else "en": {"language": "en", "value": f"Thing {i}"} for n in range(languages)}
        many = {"en": [{"language": "en", "value": f"T. {i}"}]}
        item = {
            "type": "item", "id": f"Q{i}", "labels": names, "descriptions": names, "aliases": many, "claims": claims,
            "sitelinks": {"enwiki": {"site": "enwiki", "title": f"Thing {i}", "badges": []}},
        }  # fmt: skip
        yield json.dumps(item, separators=(",", ":")) + (",\n" if i < lines - 1 else "\n")
    yield "]\n"


def _claim(relation: str, number: int) -> dict[str, Any]:
    value = {"value": {"entity-type": "item", "numeric-id": number, "id": f"Q{number}"}, "type": "wikibase-entityid"}
    snak = {"snaktype": "value", "property": relation, "hash": f"{number:040x}", "datavalue": value}
    return {"mainsnak": snak, "type": "statement", "id": f"Q1${number:032x}", "rank": "normal", "references": []}


def by_rdflib(path: Path) -> int:
    from rdflib import Graph

    return len(Graph().parse(path, format="nt" if path.suffix == ".nt" else "turtle"))


def by_pyoxigraph(path: Path) -> int:
    from pyoxigraph import RdfFormat, parse

    form = RdfFormat.N_TRIPLES if path.suffix == ".nt" else RdfFormat.TURTLE
    return sum(1 for statement in parse(path=str(path), format=form) if statement.predicate.value)


def by_json(path: Path) -> int:
    return _loaded(path, json.loads)


def by_orjson(path: Path) -> int:
    import orjson

    return _loaded(path, orjson.loads)


def _loaded(path: Path, loads: Callable[[bytes], Any]) -> int:
    """The way of the usual readers: every line whole, then what is wanted of it."""
    count = 0
    with open(path, "rb") as file:
        for line in file:
            if len(line) > 3:
                count += bool(loads(line.rstrip(b",\n")).get("claims", {}).get("P31"))
    return count


def converted(made: Importer, path: Path, work: Path) -> float:
    """Seconds of the workers' part: pieces to rows that can be written."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    state = made.open_state(made.prepare([str(path)], work, Faults(), Silent()), work)
    pieces = list(made.batches([str(path)], Faults()))
    gc.disable()  # as in the workers
    begin = time.process_time()
    for piece in pieces:
        faults = Faults()
        encode(made.convert(piece, state, faults), piece.source, faults)
    taken = time.process_time() - begin
    gc.enable()
    return taken


def imported(made: Importer, path: Path, work: Path) -> float:
    shutil.rmtree(work, ignore_errors=True)
    begin = time.process_time()
    run(made, [str(path)], work)
    return time.process_time() - begin


def peer(read: Callable[[Path], int], path: Path) -> float | None:
    begin = time.process_time()
    try:
        read(path)
    except ImportError:
        return None
    return time.process_time() - begin


CASES: tuple[tuple[str, str, Callable[[int, int], Iterator[str]], float, tuple[Callable[[Path], int], ...]], ...] = (
    ("yago", "yagoTypes.tsv", columns, 1.0, ()),  # is no RDF: the parsers refuse it
    ("yago", "yago-facts.ttl", turtle, 1.0, (by_pyoxigraph, by_rdflib)),
    ("dbpedia", "instance-types.nt", triples, 1.0, (by_pyoxigraph, by_rdflib)),
    ("wikidata", "items.json", items, 0.02, (by_json, by_orjson)),
)


def measure(work: Path, lines: int, seed: int) -> list[dict[str, Any]]:
    """CPU seconds by file and reader."""
    found: list[dict[str, Any]] = []
    for name, file, draw, share, peers in CASES:
        path, count = work / file, int(lines * share)
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(draw(count, seed))
        made, size = importer(name), path.stat().st_size
        seconds: dict[str, float | None] = {
            "convert": converted(made, path, work / "state"),
            "import": imported(made, path, work / "out"),
        }
        seconds |= {read.__name__.removeprefix("by_"): peer(read, path) for read in peers}
        if name == "wikidata":
            chosen = work / "only.txt"
            chosen.write_text("".join(f"Q{i}\n" for i in range(1, count, 100)))
            seconds["import, 1 % by --only"] = imported(importer(name, only=str(chosen)), path, work / "out")
        rows = [{"file": file, "reader": reader, "seconds": taken} for reader, taken in seconds.items()]
        found += [row | {"lines": count, "bytes": size} for row in rows]
    return found


def memory(work: Path, most: int, seed: int) -> list[dict[str, Any]]:
    """The peak memory of imports of Wikidata, for dumps of small items, the second four times as large."""
    found: list[dict[str, Any]] = []
    for count in (most // 4, most):
        path, chosen = work / "items.json", work / "only.txt"
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(items(count, seed, 2, 2))
        chosen.write_text("".join(f"Q{i}\n" for i in range(1, count, 2)))
        for options in ([], ["--only", str(chosen)], ["--unused"]):
            shown = " ".join("FILE" if each == str(chosen) else each for each in options)
            row = {"items": count, "bytes": path.stat().st_size, "options": shown}
            found.append(row | {"peak": _peak(path, work / "out", options)})
    return found


# A process begins with the peak of the one that started it: a small one stands between.
WATCH = """import os, sys
_pid, status, used = os.wait4(os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))"""


def _peak(path: Path, out: Path, options: list[str]) -> int:
    """Bytes that the process of an import had at most."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "fader", "import", "wikidata", str(path), "-o", str(out), "--quiet", *options]
    done = subprocess.run([sys.executable, "-c", WATCH, *command], check=True, stdout=subprocess.PIPE)
    return int(done.stdout) * 1024


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("Catalogs: lines a second on one core, beside libraries.")
    parser.add_argument("--lines", type=int, default=400_000, help="lines of a file of statements")
    parser.add_argument("--items", type=int, default=200_000, help="items of the largest dump whose memory is measured")
    args = parser.parse_args(argv)
    if args.quick:
        args.lines, args.items = 4_000, 400
    common.one_thread()
    work = args.work / "importing-catalogs"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    rows = measure(work, args.lines, args.seed)
    peaks = memory(work, args.items, args.seed)
    shutil.rmtree(work)
    shown = [
        (r["file"], r["reader"], f"{r['lines'] / s:,.0f}", f"{r['bytes'] / s / 1e6:.1f}") if (s := r["seconds"])
        else (r["file"], r["reader"], "not installed", "") for r in rows
    ]  # fmt: skip
    print(common.table(("file", "reader", "lines/s", "MB/s"), shown))
    sizes = [(f"{r['items']:,}", f"{r['bytes'] / 1e6:.0f}", r["options"], f"{r['peak'] / 1e6:.0f}") for r in peaks]
    print(common.table(("items", "MB", "options", "peak MB"), sizes))
    report = {"lines": args.lines, "rows": rows, "memory": peaks}
    common.write_report(args.json or args.work / "importing-catalogs.json", report)


if __name__ == "__main__":
    main()
