"""Indexing: the same JSON lines to a committed index, Fader against tantivy, one thread each.

Each build runs in a process of its own, for its peak memory; the clock runs from the first line read to the
finished commit, without imports and, for Fader, after a tiny build that loads the compiled kernels.
Fader indexes text, mentions, entities and types; tantivy is given ids and text only.

    python -m benchmarks.indexing --scale 1.0
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.common import Clock, Dataset

HEAP = 512_000_000
TARGET_SPEED, TARGET_SIZE = 3.0, 1.0
STORED = {"fader": (".text",), "tantivy": (".store",)}  # files of stored text, by suffix


def build_fader(folder: Path, path: Path, stored: bool) -> Clock:
    from benchmarks.peers.fader_peer import build

    warm = common.dataset(folder.parent, 0.0005)
    build(warm.folder, path.with_name("warm"), stored)
    shutil.rmtree(path.with_name("warm"))
    with Clock() as clock:
        build(folder, path, stored)
    return clock


def build_tantivy(folder: Path, path: Path, stored: bool) -> Clock:
    import orjson
    import tantivy

    path.mkdir()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", stored=stored, tokenizer_name="default", index_option="position")
    index = tantivy.Index(builder.build(), path=str(path))
    with Clock() as clock, open(folder / "corpus.jsonl", "rb") as lines:
        writer = index.writer(HEAP, 1)
        for line in lines:
            row = orjson.loads(line)
            document = tantivy.Document()
            document.add_text("id", row["id"])
            document.add_text("text", row["text"])
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
    return clock


BUILDERS = {"fader": build_fader, "tantivy": build_tantivy}


def peak_memory() -> int:
    """Most bytes this process has held. Linux's getrusage would count the parent's too."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def one(engine: str, folder: Path, stored: bool) -> None:
    """One build, in this process: prints its figures as JSON."""
    path = folder / f"built-{engine}"
    shutil.rmtree(path, ignore_errors=True)
    clock = BUILDERS[engine](folder, path, stored)
    sizes: dict[str, int] = {}
    for file in path.rglob("*"):
        if file.is_file():
            sizes[file.suffix] = sizes.get(file.suffix, 0) + file.stat().st_size
    shutil.rmtree(path)
    print(json.dumps({"cpu": clock.cpu, "wall": clock.wall, "peak": peak_memory(), "files": sizes}))


def run(engine: str, folder: Path, stored: bool) -> dict[str, Any]:
    """One build, in a new process."""
    command = [sys.executable, "-m", "benchmarks.indexing", "--one", engine, "--folder", str(folder)]
    command += [] if stored else ["--unstored"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def text_bytes(data: Dataset) -> int:
    """Bytes of text in the corpus, counted once."""
    path = data.folder / "text-bytes"
    if not path.exists():
        with open(data.folder / "corpus.jsonl", "rb") as lines:
            path.write_text(str(sum(len(json.loads(line)["text"].encode()) for line in lines)))
    return int(path.read_text())


def figures(data: Dataset, engine: str, stored: bool, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The better of the runs, with speeds and sizes."""
    best = min(runs, key=lambda r: r["cpu"])
    total = sum(best["files"].values())
    text = sum(size for suffix, size in best["files"].items() if suffix in STORED[engine])
    lines, tokens = (data.folder / "corpus.jsonl").stat().st_size, len(data.tokens)
    return {
        "engine": engine,
        "stored_text": stored,
        "cpu_s": best["cpu"],
        "wall_s": min(r["wall"] for r in runs),
        "jsonl_mb_per_cpu_s": lines / best["cpu"] / 1e6,
        "text_mb_per_cpu_s": text_bytes(data) / best["cpu"] / 1e6,
        "tokens_per_cpu_s": tokens / best["cpu"],
        "peak_mb": best["peak"] / 1e6,
        "bytes": total,
        "bytes_without_text": total - text,
        "bytes_per_token": total / tokens,
        "bytes_per_token_without_text": (total - text) / tokens,
        "files": best["files"],
    }


def compare(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Ratios of tantivy to Fader, per way of storing, and whether the targets are met."""
    found = {}
    for stored in (True, False):
        pair = {r["engine"]: r for r in rows if r["stored_text"] is stored}
        if len(pair) == 2:
            ours, theirs = pair["fader"], pair["tantivy"]
            found["stored" if stored else "unstored"] = {
                "cpu": theirs["cpu_s"] / ours["cpu_s"],
                "wall": theirs["wall_s"] / ours["wall_s"],
                "size_without_text": ours["bytes_without_text"] / theirs["bytes_without_text"],
            }
    met = all(r["cpu"] >= TARGET_SPEED and r["size_without_text"] <= TARGET_SIZE for r in found.values())
    return {"ratios": found, "met": met}


def show(data: Dataset, rows: list[dict[str, Any]], result: dict[str, Any]) -> None:
    lines = (data.folder / "corpus.jsonl").stat().st_size
    print(
        f"{data.documents:,} documents, {len(data.tokens):,} tokens, {lines / 1e6:,.0f} MB of JSON lines,"
        f" {text_bytes(data) / 1e6:,.0f} MB of text\n"
    )
    header = ("engine", "text", "CPU s", "wall s", "JSON MB/s", "text MB/s", "peak MB", "index MB", "B/token")
    header += ("without text",)
    cells = [
        (
            row["engine"],
            "stored" if row["stored_text"] else "not stored",
            f"{row['cpu_s']:.2f}",
            f"{row['wall_s']:.2f}",
            f"{row['jsonl_mb_per_cpu_s']:.1f}",
            f"{row['text_mb_per_cpu_s']:.1f}",
            f"{row['peak_mb']:.0f}",
            f"{row['bytes'] / 1e6:.1f}",
            f"{row['bytes_per_token']:.3f}",
            f"{row['bytes_per_token_without_text']:.3f}",
        )
        for row in rows
    ]
    print(common.table(header, cells))
    for name, ratio in result["ratios"].items():
        print(
            f"{name}: Fader {ratio['cpu']:.2f}x as fast (target {TARGET_SPEED}x, wall {ratio['wall']:.2f}x);"
            f" index without text {ratio['size_without_text']:.2f} of tantivy's (target {TARGET_SIZE:g})"
        )


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("Indexing time and index size of Fader and tantivy.")
    parser.add_argument("--rounds", type=int, default=2, help="builds of each kind; the fastest counts")
    parser.add_argument("--engines", default="fader,tantivy")
    parser.add_argument("--stored-only", action="store_true", help="leave out the builds without stored text")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    parser.add_argument("--one", help="internal: build with one engine and print its figures")
    parser.add_argument("--folder", type=Path, help="internal: corpus of --one")
    parser.add_argument("--unstored", action="store_true", help="internal: --one without stored text")
    args = parser.parse_args(argv)
    common.one_thread()
    if args.one:
        one(args.one, args.folder, not args.unstored)
        return
    if args.quick:
        args.scale, args.rounds = 0.01, 1
    data = common.dataset(args.work, args.scale, seed=args.seed)
    common.dataset(args.work, 0.0005)  # the warm-up corpus
    kinds = [(e, stored) for stored in (True, False) for e in args.engines.split(",")]
    kinds = [kind for kind in kinds if kind[1] or not args.stored_only]
    runs: dict[tuple[str, bool], list[dict[str, Any]]] = {kind: [] for kind in kinds}
    for _ in range(args.rounds):
        for kind in kinds:
            runs[kind].append(run(kind[0], data.folder, kind[1]))
    rows = [figures(data, engine, stored, found) for (engine, stored), found in runs.items()]
    result = compare(rows)
    show(data, rows, result)
    path = args.json or args.work / f"indexing-{args.scale:g}.json"
    common.write_report(path, {"scale": args.scale, "builds": rows, **result})
    print(f"\n{path}")
    if args.check and not result["met"]:
        sys.exit("targets missed")


if __name__ == "__main__":
    main()
