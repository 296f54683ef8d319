"""One client with eight costly connections beside one with a single cheap one: what the second keeps of its speed.

A server of its own on loopback, two threads. The victim (127.0.0.2) asks one query after the other; the attacker
(127.0.0.3) has eight connections with the costliest ranking and page it may ask for. Phases with and without the
attacker alternate, so that a busy machine slows both alike. Reports answers of the victim per second in both, their
ratio (0.8 at least is wanted), and what became of the attacker's requests. One hour is the full dose.

python -m benchmarks.fairness --minutes 3
python -m benchmarks.fairness --index INDEX --costly "q=the+of+in&k=1000&snippets=100" --minutes 60
"""

from __future__ import annotations

import argparse
import http.client
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

VICTIM, ATTACKER, CONNECTIONS = "127.0.0.2", "127.0.0.3", 8
PHASE = 10.0  # seconds
WANTED = 0.8


def ask_until(port: int, source: str, query: str, over: threading.Event, statuses: Counter[int]) -> None:
    """Ask again and again over one connection, and count the answers by status; 0 is a connection that was lost."""
    connection = http.client.HTTPConnection("127.0.0.1", port, 60, (source, 0))
    while not over.is_set():
        try:
            connection.request("GET", f"/v1/search?{query}", headers={"Host": "localhost"})
            answer = connection.getresponse()
            answer.read()
            statuses[answer.status] += 1
        except (OSError, http.client.HTTPException):
            connection.close()
            statuses[0] += 1
            time.sleep(0.05)
    connection.close()


def run_phase(port: int, cheap: str, costly: str | None) -> tuple[Counter[int], Counter[int], float]:
    """The answers of the victim and of the attacker, where there is one, and the seconds of a phase."""
    over, victim, attacker = threading.Event(), Counter[int](), [Counter[int]() for _ in range(CONNECTIONS)]
    threads = [threading.Thread(target=ask_until, args=(port, VICTIM, cheap, over, victim))]
    for counts in attacker if costly else ():
        threads.append(threading.Thread(target=ask_until, args=(port, ATTACKER, costly, over, counts)))
    began = time.monotonic()
    for thread in reversed(threads):  # the attacker is there first
        thread.start()
    time.sleep(PHASE)
    over.set()
    for thread in threads:
        thread.join()
    return victim, sum(attacker, Counter()), time.monotonic() - began


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="What a client keeps of its speed beside a greedy one.")
    parser.add_argument("--index", type=Path, help="an index; the demo's without one")
    parser.add_argument("--cheap", default="q=landed+%2Bmars&k=3", help="what the victim asks")
    parser.add_argument(
        "--costly", default="q=the+of+in+a+and&k=1000&snippets=100&model=plm", help="what the attacker asks"
    )
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
        run_phase(port, args.cheap, costly)
    answered, seconds, others = [0, 0], [0.0, 0.0], [Counter[int](), Counter[int]()]
    until = time.monotonic() + 60 * args.minutes
    while time.monotonic() < until:
        for attacked, costly in enumerate((None, args.costly)):
            victim, attacker, took = run_phase(port, args.cheap, costly)
            answered[attacked] += victim.pop(200, 0)
            seconds[attacked] += took
            others[attacked] += victim
            if attacked:
                print(f"victim {answered[1] / seconds[1]:.1f}/s, attacker {dict(attacker)}", flush=True)
    alone, beside = (n / s for n, s in zip(answered, seconds, strict=True))
    print(f"victim alone {alone:.1f}/s, beside the attacker {beside:.1f}/s, ratio {beside / alone:.2f}")
    print(f"victim's other answers: alone {dict(others[0])}, beside the attacker {dict(others[1])}")
    if beside < WANTED * alone:
        sys.exit(f"the victim kept less than {WANTED:.0%} of its speed")


if __name__ == "__main__":
    main()
