"""The HTTP service under load: latency and throughput, overload, memory, restart.

`fader serve` runs as a process of its own on a free port of loopback; a client in a third process sends it the queries
of a testbed (a folder with queries.jsonl, and corpus, entities and types unless `--index` names an index of it).

    python -m benchmarks.service FOLDER [--index DIR] [--parts latency,overload,memory,restart]

latency   p50, p99 and throughput at 1, 8 and 32 clients, beside `index.search` called in one thread and in as many
          as there are cores, in a process without a server; wrk's own figures where it is installed. *First*: a
          query was never asked before, though its words and its type may have been, by the 150 queries that each
          process begins with. *Again*: these 150, in turn
overload  ten times what the server can do, as an open loop (requests fall due at ten times its throughput) and as a
          closed one (ten times the clients, which come back when they are told to): p99 of accepted requests and of
          refusals. Greedy clients, which come back at once, are shown too; with so many of them a refusal takes as
          long as all the others, and the targets are not for them
memory    resident memory over many requests, a quarter of them searches, the rest cheap or faulty
restart   kill -9, start again: seconds until /healthz is well, and until the first answer

With `--quick`, the demo and a few requests: does it run? Needs Linux for resident memory (/proc).
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks import common
from benchmarks.load import HOST, Outcome, Plan, drive, get

CLIENTS = (1, 8, 32)
KNOWN = 150  # queries that a process begins with, and that are asked again
FIRST, AGAIN = "first", "again"
OVERLOAD = 10
CONNECTIONS = 256  # of an open loop: more than a server holds at a time
OK, REFUSED = 200, 503
GREEDY = "closed, greedy"
PARTS = ("latency", "overload", "memory", "restart")
READY = 60.0  # seconds that a start may take at most
TARGETS = {"overload p99 ratio": 2.0, "refusal p99 ms": 50.0, "restart s": 3.0, "memory growth": 1.1}


# --- the server --------------------------------------------------------------------------------------------


class Server:
    """`fader serve` as a process."""

    def __init__(self, index: Path, log: Path, *options: str) -> None:
        self.port = _free_port()
        command = [sys.executable, "-m", "fader", "serve", str(index), "--port", str(self.port), *options]
        with log.open("ab") as file:
            self.process = subprocess.Popen(command, stdout=file, stderr=file)

    def fetch(self, path: str, timeout: float = 5.0) -> tuple[int, bytes]:
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self.port}{path}", timeout=timeout) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def wait(self, path: str = "/healthz") -> None:
        """Until the path is answered with 200."""
        end = time.monotonic() + READY
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if self.fetch(path)[0] == OK:
                    return
            except OSError:
                time.sleep(0.005)
        self.stop()
        sys.exit(f"fader serve answered nothing at {path} within {READY:g} s; see its log")

    def memory(self) -> float:
        """Resident megabytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmRSS:\s+(\d+) kB", status)[0]) / 1024

    def cpu(self) -> float:
        """CPU seconds so far, of all threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        return int(free.getsockname()[1])


@contextmanager
def serving(index: Path, work: Path, *options: str) -> Iterator[Server]:
    server = Server(index, work / "service.log", *options)
    try:
        server.wait()
        yield server
    finally:
        server.stop(signal.SIGTERM)


# --- what is asked -----------------------------------------------------------------------------------------


def read_queries(path: Path, seed: int) -> list[dict[str, str]]:
    """The queries of a testbed in a random order; those without a literal that can be asked for stay in."""
    queries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    random.Random(seed).shuffle(queries)
    return queries


def search_path(query: dict[str, str]) -> str:
    asked = {"q": query["query"], "type": query.get("type")}
    return "/v1/search?" + urlencode({name: value for name, value in asked.items() if value})


def searches(queries: Sequence[dict[str, str]], port: int) -> list[bytes]:
    return [get(search_path(query), port) for query in queries]


def mixed(queries: Sequence[dict[str, str]], port: int, seed: int) -> list[bytes]:
    """A quarter searches; the rest completion, types, analysis, statistics, pages and faults."""
    cheap = ["/healthz", "/v1/stats", "/v1/types?limit=20", "/v1/systems", "/", "/v1/nothing", "/v1/search", "/metrics"]
    paths = []
    for n, query in enumerate(queries):
        word = query["query"].strip('+-"').split(" ")[0]
        paths += [
            search_path(query), "/v1/suggest?" + urlencode({"kind": "entity", "prefix": word[:3]}),
            "/v1/analyze?" + urlencode({"text": query.get("question", word)}), cheap[n % len(cheap)],
        ]  # fmt: skip
    random.Random(seed).shuffle(paths)
    return [get(path, port) for path in paths]


# --- the parts ---------------------------------------------------------------------------------------------


def raw_times(index: Path, queries: Path, seed: int, threads: int, seconds: float) -> dict[str, dict[str, float]]:
    """`index.search` without a server, in a process of its own: queries that are new, and those asked before."""
    plan = json.dumps([str(index), str(queries), seed, threads, seconds])
    command = [sys.executable, "-c", "from benchmarks import service; service.raw_main()", plan]
    figures: dict[str, dict[str, float]] = json.loads(
        subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    )
    return figures


def raw_main() -> None:
    """The other side of `raw_times`."""
    import fader

    folder, path, seed, threads, seconds = json.loads(sys.argv[1])
    index, queries = fader.open(folder), read_queries(Path(path), seed)
    known, new = queries[:KNOWN], queries[KNOWN:]

    def ask(queries: Sequence[dict[str, str]], share: int, end: float, is_repeated: bool) -> list[float]:
        times: list[float] = []
        at = share
        while (began := time.perf_counter()) < end and (is_repeated or at < len(queries)):
            query = queries[at % len(queries)]
            index.search(query["query"], query.get("type"))
            times.append(1000 * (time.perf_counter() - began))
            at += threads
        return times

    def load(queries: Sequence[dict[str, str]], is_repeated: bool) -> dict[str, float]:
        cpu, began = time.process_time(), time.perf_counter()
        shares = pool.map(lambda n: ask(queries, n, began + seconds, is_repeated), range(threads))
        times = sorted(ms for part in shares for ms in part)
        figures = {"p50": _rank(times, 50), "p99": _rank(times, 99)}
        figures["throughput"] = len(times) / (time.perf_counter() - began)
        return figures | {"cpu": 1000 * (time.process_time() - cpu) / len(times)}

    with ThreadPoolExecutor(threads) as pool:
        load(known, True)  # loads kernels and lists, and keeps plans and the buffers of threads
        print(json.dumps({AGAIN: load(known, True), FIRST: load(new or known, False)}))


def _rank(ordered: Sequence[float], percent: float) -> float:
    return ordered[min(len(ordered) - 1, int(percent / 100 * len(ordered)))]


def figures_of(outcome: Outcome) -> dict[str, float]:
    return {
        "p50": outcome.percentile(OK, 50), "p99": outcome.percentile(OK, 99), "throughput": outcome.throughput(OK),
        "answers": outcome.count(OK), "others": outcome.count() - outcome.count(OK),
    }  # fmt: skip


def timed(server: Server, plan: Plan) -> dict[str, float]:
    """The figures of a load, with the CPU time that the server took for a request."""
    began = server.cpu()
    outcome = drive(plan)
    return figures_of(outcome) | {"cpu": 1000 * (server.cpu() - began) / max(1, outcome.count())}


def latency(index: Path, args: Any, queries: Sequence[dict[str, str]]) -> dict[str, Any]:
    """Loads of queries asked before, and of new ones, each by a server that knows the same queries."""
    report: dict[str, Any] = {}
    for n in CLIENTS:
        with serving(index, args.work) as server:
            requests = searches(queries, server.port)
            known, new = requests[:KNOWN], requests[KNOWN:]
            drive(Plan(server.port, known, 2, args.seconds))  # loads kernels and lists, and keeps plans
            report[f"{n} clients, {AGAIN}"] = timed(server, Plan(server.port, known, n, args.seconds))
            if shutil.which("wrk"):
                report[f"{n} clients, {AGAIN}, wrk"] = wrk(server.port, known, n, args)
            count = len(new or known)
            report[f"{n} clients, {FIRST}"] = timed(server, Plan(server.port, new or known, n, args.seconds, count))
    return report


def wrk(port: int, requests: Sequence[bytes], clients: int, args: Any) -> dict[str, float]:
    """The same by wrk."""
    paths = [request.split(b" ", 2)[1].decode() for request in requests]
    script = args.work / "wrk.lua"
    listed = ",\n".join(f"[==[{path}]==]" for path in paths)
    script.write_text(
        f"local paths = {{{listed}}}\nlocal n = 0\n"
        'function request() n = n % #paths + 1; return wrk.format("GET", paths[n]) end\n'
        'function done(s, l, r) io.write(string.format("%g %g %g\\n", l:percentile(50) / 1000, '
        "l:percentile(99) / 1000, 1e6 * s.requests / s.duration)) end\n"
    )
    command = ["wrk", "-t1", f"-c{clients}", f"-d{max(1, round(args.seconds))}s", "-s", str(script)]
    command += [f"http://{HOST}:{port}"]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    p50, p99, throughput = map(float, printed.strip().splitlines()[-1].split())
    return {"p50": p50, "p99": p99, "throughput": throughput}


def overload(server: Server, args: Any, queries: Sequence[dict[str, str]]) -> dict[str, Any]:
    requests, most = searches(queries, server.port), CLIENTS[-1]
    drive(Plan(server.port, requests, most, args.seconds / 2))
    full = drive(Plan(server.port, requests, most, args.seconds))
    rate = OVERLOAD * full.throughput(OK)
    loads = {
        f"open, {rate:,.0f} requests/s": Plan(server.port, requests, CONNECTIONS, args.seconds, rate=rate),
        f"closed, {OVERLOAD * most} clients": Plan(server.port, requests, OVERLOAD * most, args.seconds, ramp=1),
        GREEDY: Plan(server.port, requests, OVERLOAD * most, args.seconds, patient=False, ramp=1),
    }
    report: dict[str, Any] = {"saturated": refused_of(full, full)}
    for name, plan in loads.items():
        report[name] = refused_of(drive(plan), full)
    server.wait()  # it has lived through it
    return report


def refused_of(outcome: Outcome, full: Outcome) -> dict[str, float]:
    return figures_of(outcome) | {
        "p99 ratio": outcome.percentile(OK, 99) / full.percentile(OK, 99), "refused": outcome.count(REFUSED),
        "refusal p50": outcome.percentile(REFUSED, 50), "refusal p99": outcome.percentile(REFUSED, 99),
        "neither": outcome.count() - outcome.count(OK, REFUSED), "unsent": outcome.unsent,
    }  # fmt: skip


def memory(server: Server, args: Any, queries: Sequence[dict[str, str]]) -> dict[str, Any]:
    """Megabytes after each tenth of the requests."""
    requests, tenth = mixed(queries, server.port, args.seed), args.requests // 10
    report: dict[str, Any] = {"megabytes": [server.memory()], "statuses": {}}
    for part in range(10):
        turned = requests[part * len(requests) // 10 :] + requests[: part * len(requests) // 10]
        outcome = drive(Plan(server.port, turned, 8, args.longest / 10, tenth))
        for status, times in outcome.times.items():
            report["statuses"][status] = report["statuses"].get(status, 0) + len(times)
        report["megabytes"].append(server.memory())
    report["requests"] = sum(report["statuses"].values())
    report["growth"] = report["megabytes"][10] / report["megabytes"][1]
    return report


def restart(index: Path, args: Any, queries: Sequence[dict[str, str]]) -> dict[str, Any]:
    """Seconds until a server is well after its predecessor was killed, and until it has answered a query."""
    report: dict[str, list[float]] = {"healthy s": [], "first answer s": []}
    server = Server(index, args.work / "service.log")
    server.wait()
    for _ in range(args.restarts):
        server.stop(signal.SIGKILL)
        began = time.perf_counter()
        server = Server(index, args.work / "service.log")
        server.wait()
        report["healthy s"].append(time.perf_counter() - began)
        server.wait(search_path(queries[0]))
        report["first answer s"].append(time.perf_counter() - began)
    server.stop(signal.SIGTERM)
    return report


# --- the run -----------------------------------------------------------------------------------------------


def index_of(args: Any) -> tuple[Path, Path]:
    """The index and the file of queries: those given, those of the testbed, or the demo."""
    import fader

    if args.quick:
        demo = args.work / "demo"
        subprocess.run([sys.executable, "-m", "fader", "demo", str(demo)], check=True, stdout=subprocess.DEVNULL)
        return demo / "index", demo / "queries.jsonl"
    if args.folder is None:
        sys.exit("which testbed? Give its FOLDER, or --quick for the demo")
    index: Path = args.index or args.work / f"service-{args.folder.name}"
    if not index.exists():
        corpus = sorted(args.folder.glob("corpus.jsonl*"))
        fader.build(index, corpus, args.folder / "entities.tsv", args.folder / "types.tsv")
    return index, args.folder / "queries.jsonl"


def measure(args: Any) -> dict[str, Any]:
    index, path = index_of(args)
    queries = read_queries(path, args.seed)
    report: dict[str, Any] = {"index": index.name}
    parts: dict[str, Callable[[Server, Any, Sequence[dict[str, str]]], dict[str, Any]]] = {
        "overload": overload, "memory": memory,
    }  # fmt: skip
    if "latency" in args.parts:
        for threads in (1, os.cpu_count() or 1):
            found = raw_times(index, path, args.seed, threads, args.seconds)
            report |= {f"raw, {threads} threads, {how}": figures for how, figures in found.items()}
    for name in args.parts:
        if name == "restart":
            report[name] = restart(index, args, queries)
            continue
        if name == "latency":
            report[name] = latency(index, args, queries)
            continue
        with serving(index, args.work) as server:
            report[name] = parts[name](server, args, queries)
    return report


def show(report: dict[str, Any]) -> None:
    """The report as tables."""
    rows = {name: figures for name, figures in report.items() if name.startswith("raw")}
    rows |= {f"HTTP, {name}": figures for name, figures in report.get("latency", {}).items()}
    if rows:
        columns = {"p50": "p50 ms", "p99": "p99 ms", "throughput": "a second", "cpu": "CPU ms", "others": "others"}
        cells = [(name, *(f"{f[c]:,.1f}" if c in f else "" for c in columns)) for name, f in rows.items()]
        print("\n" + common.table(("search", *columns.values()), cells))
    if "overload" in report:
        names = ["throughput", "p50", "p99", "p99 ratio", "refused", "refusal p50", "refusal p99", "neither", "unsent"]
        cells = [(name, *(f"{f[c]:,.4g}" for c in names)) for name, f in report["overload"].items()]
        print("\n" + common.table(("overload", *names), cells))
    if "memory" in report:
        found = report["memory"]
        at = "  ".join(f"{10 * n} %: {mb:,.0f}" for n, mb in enumerate(found["megabytes"]))
        print(f"\nmemory (MB) over {found['requests']:,} requests: {at}\nstatuses: {found['statuses']}")
    for name, seconds in report.get("restart", {}).items():
        print(f"{name:15}", "  ".join(f"{s:.2f}" for s in seconds))


def missed(report: dict[str, Any]) -> list[str]:
    """Targets that the report misses."""
    loads = [f for name, f in report.get("overload", {}).items() if name not in ("saturated", GREEDY)]
    found = {
        "overload p99 ratio": max((f["p99 ratio"] for f in loads), default=0.0),
        "refusal p99 ms": max((f["refusal p99"] for f in loads), default=0.0),
        "restart s": max(report.get("restart", {}).get("healthy s", [0.0])),
        "memory growth": report.get("memory", {}).get("growth", 0.0),
    }
    return [f"{name} {value:.3g}, at most {TARGETS[name]:g}" for name, value in found.items() if value > TARGETS[name]]


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("The HTTP service under load, on loopback.")
    parser.add_argument("folder", nargs="?", type=Path, help="a testbed; see benchmarks.testbeds")
    parser.add_argument("--index", type=Path, help="its index (default: built in the work folder)")
    parser.add_argument("--parts", default=",".join(PARTS), help="which parts (default: all)")
    parser.add_argument("--seconds", type=float, default=15.0, help="of each load")
    parser.add_argument("--requests", type=int, default=200_000, help="of the memory part")
    parser.add_argument("--longest", type=float, default=3600.0, help="seconds that the memory part may take")
    parser.add_argument("--restarts", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    args = parser.parse_args(argv)
    if args.quick:
        args.seconds, args.requests, args.restarts = 0.5, 500, 1
    args.parts = [name for name in PARTS if name in args.parts.split(",")]
    args.work.mkdir(parents=True, exist_ok=True)
    report = measure(args)
    show(report)
    common.write_report(args.json or args.work / "service.json", report)
    if args.check and (misses := missed(report)):
        sys.exit("missed: " + "; ".join(misses))


if __name__ == "__main__":
    main()
