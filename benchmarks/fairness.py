"""One client with eight costly connections beside one with a single cheap one: what the second keeps of its speed.

A server of its own on loopback, two threads. The victim (127.0.0.2) asks one query after the other; the attacker
(127.0.0.3) has eight connections with the costliest ranking and page it may ask for, and does not wait when it is
refused. Each is a process of its own. Phases with and without the attacker alternate, so that a busy machine slows both
alike.

A victim with one connection needs less than its half of two threads, so that a fair server can leave it nearly all the
speed that it has alone. Reports its answers per second, what it keeps of its solo throughput (0.8 at least is wanted),
and what became of the attacker's requests. One hour is the full dose.

python -m benchmarks.fairness --minutes 3
python -m benchmarks.fairness --minutes 3 --rate 20
python -m benchmarks.fairness --index INDEX --costly "q=the+of+in&k=1000&snippets=100" --minutes 60
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.load import Outcome, Plan, drive, get

VICTIM, ATTACKER, CONNECTIONS = "127.0.0.2", "127.0.0.3", 8
PHASE = 10.0  # seconds
WARMING = 1.0  # seconds that the attacker is there before the victim
WANTED = 0.8


def run_phase(port: int, cheap: str, costly: str | None, rate: float | None) -> tuple[Outcome, Outcome]:
    """The answers of the victim, and of the attacker where there is one."""
    paths = (f"/v1/search?{cheap}", f"/v1/search?{costly}")
    victim, attacker = ([get(path, port)] for path in paths)
    with ThreadPoolExecutor(1) as beside:
        greedy = None
        if costly:
            plan = Plan(port, attacker, CONNECTIONS, PHASE + 2 * WARMING, patient=False, source=ATTACKER)
            greedy = beside.submit(drive, plan)
            time.sleep(WARMING)
        found = drive(Plan(port, victim, 1, PHASE, rate=rate, source=VICTIM))
        return found, greedy.result() if greedy else Outcome()


def count_statuses(outcome: Outcome) -> Counter[int]:
    """How many answers had each status; 0 is a connection that was lost."""
    return Counter({status: len(times) for status, times in outcome.times.items()})


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="What a client keeps of its share beside a greedy one.")
    parser.add_argument("--index", type=Path, help="an index; the demo's without one")
    parser.add_argument("--cheap", default="q=landed+%2Bmars&k=3", help="what the victim asks")
    parser.add_argument(
        "--costly", default="q=the+of+in+a+and&k=1000&snippets=100&model=plm", help="what the attacker asks"
    )
    parser.add_argument("--rate", type=float, help="queries a second of the victim; as many as are answered without")
    parser.add_argument("--minutes", type=float, default=3.0)
    args = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as work:
        fader = [sys.executable, "-m", "fader"]
        if args.index is None:
            subprocess.run([*fader, "demo", f"{work}/demo"], check=True, capture_output=True)
        index = args.index or Path(work, "demo", "index")
        log = Path(work, "log")
        with log.open("w") as errors:
            server = subprocess.Popen([*fader, "serve", index, "--port", "0", "--workers", "2"], stderr=errors)
        try:
            while (found := re.search(r"http://127\.0\.0\.1:(\d+)/", log.read_text())) is None:
                if server.poll() is not None:
                    sys.exit(f"the server ended: {log.read_text()[-500:]}")
                time.sleep(0.1)
            measure(int(found[1]), args)
        finally:
            server.terminate()
            server.wait(60)


def measure(port: int, args: argparse.Namespace) -> None:
    """Alternate the phases and print what came of them; exit code 1 where the victim kept too little."""
    for costly in (None, args.costly):  # loads what both need
        run_phase(port, args.cheap, costly, args.rate)
    answered, seconds, others, late = [0, 0], [0.0, 0.0], [Counter[int](), Counter[int]()], [0.0, 0.0]
    until = time.monotonic() + 60 * args.minutes
    while time.monotonic() < until:
        for attacked, costly in enumerate((None, args.costly)):
            victim, attacker = run_phase(port, args.cheap, costly, args.rate)
            answered[attacked] += victim.count(200)
            seconds[attacked] += victim.seconds
            others[attacked] += count_statuses(victim)
            late[attacked] = max(late[attacked], victim.percentile(200, 99))
            if attacked:
                counts = dict(count_statuses(attacker))
                print(f"victim {answered[1] / seconds[1]:.1f}/s, attacker {counts}", flush=True)
    alone, beside = (n / s for n, s in zip(answered, seconds, strict=True))
    kept = beside / alone if alone else 0.0
    print(f"victim alone {alone:.1f}/s, beside the attacker {beside:.1f}/s: {kept:.2f} of its solo throughput")
    print(f"largest p99 of a phase: alone {late[0]:.0f} ms, beside the attacker {late[1]:.0f} ms")
    print(f"victim's answers: alone {dict(others[0])}, beside the attacker {dict(others[1])}")
    if kept < WANTED:
        sys.exit(f"the victim kept less than {WANTED:.0%} of its solo throughput")


if __name__ == "__main__":
    main()
