"""Many queries on a cluster of three nodes while workers, actors, nodes, the driver and the head are killed.

Whatever dies, the files that are left have the bytes of one machine's. All twenty kills of each kind with FADER_DOSE=1,
one otherwise, and then not of nodes, the driver and the head.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cli.running import passed, refused
from cluster.comparisons import judged, told
from cluster.conftest import needs_ray
from cluster.killing import kill_head, kill_node, nodes_of, workers_of
from cluster.serving import ranged_index
from dose import dose
from fader.cluster.hosts.local_cluster import command_of, kill_pid
from fader.cluster.jobs import batch as many
from fader.cluster.jobs.compare import Spread, Unsent
from fader.cluster.jobs.index_handle import Held, open_index
from fader.cluster.jobs.job_shards import holding
from fader.cluster.jobs.scheduler import OnRay
from fader.corpus.queries import FaultCollector, QueryLine
from fader.experiment.compare import compare_judged
from fader.limits import Limits
from fader.progress import Silent
from fader.search.batch import Parsed, parse_all, write_contexts, write_run
from fader.search.index import Index
from fader.search.models import resolve_model

pytestmark = needs_ray
long = pytest.mark.skipif(dose(2, 1) < 2, reason="takes a minute or more; FADER_DOSE=1 runs it")
KILLS = 20
QUERIES = 100  # a run of fewer is over before anything can be killed


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return ranged_index(tmp_path_factory.mktemp("many") / "index")


@pytest.fixture(scope="module")
def held(index: Index, driver: Any) -> Iterator[Held]:
    """The index in four groups, held by the nodes."""
    with holding(driver, str(index.collection.folder), None, 4, Limits()) as found:
        yield found


def parsed(index: Index) -> list[Parsed]:
    lines = [QueryLine(f"q{n:03d}", f"{'abcde'[n % 5]} {'abcde'[n // 5 % 5]} x1", None, "", "") for n in range(QUERIES)]
    return parse_all(index, lines, FaultCollector())


def test_files(index: Index, held: Held, driver: Any, tmp_path: Path) -> None:
    """A run and a table, by tasks on the nodes."""
    ranker = resolve_model("default", index.collection, any_index=True)
    write_run(index, parsed(index), ranker, 10, str(tmp_path / "one"), Silent())
    many.run(OnRay(driver), held, parsed(index), ranker, 10, str(tmp_path / "other"), Silent())
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    write_contexts(index, parsed(index), None, str(tmp_path / "one"), Silent())
    many.contexts(OnRay(driver), held, parsed(index), None, str(tmp_path / "other"), Silent())
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_a_comparison(demo_files: Path, driver: Any) -> None:
    """Its report, by tasks on the nodes: what is not fitted, and folds that are given their dataset."""
    systems, index = ["count", "fader(features=noprox+rectangle,lam=1)"], Index.open(demo_files / "index")
    here = compare_judged(judged(index, demo_files, 6), systems, "2", measures=["AP"])
    with holding(driver, str(demo_files / "index"), None, 0, Limits()) as held:
        pool = Spread(driver, judged(open_index(held), demo_files, 6))
        there = compare_judged(pool.judged, systems, "2", measures=["AP"], workers=pool, progress=Unsent(Silent()))
    assert told(there) == told(here)


def until_killed(index: Index, held: Held, connection: Any, folder: Path, kill: Callable[[], bool], most: int) -> str:
    """Run again and again, and kill up to twice in each; what came of it.

    Runs go in another thread, as Ray starts nodes only in the main one.
    """
    rng, ranker = random.Random(most), resolve_model("proximity", index.collection)
    write_run(index, parsed(index), ranker, 10, str(folder / "one"), Silent())
    kills = lost = n = 0
    seconds: list[float] = []

    def timed(runner: OnRay, out: Path) -> None:
        began = time.monotonic()
        many.run(runner, held, parsed(index), ranker, 10, str(out), Silent())
        seconds.append(time.monotonic() - began)

    for name in ("first", "undisturbed"):  # the first run waits for processes that have to be started
        timed(OnRay(connection), folder / name)
    with ThreadPoolExecutor(1) as pool:
        while kills < most:
            runner, before, out = OnRay(connection), kills, folder / f"out-{n}"
            running = pool.submit(timed, runner, out)
            while not running.done():
                wait([running], rng.uniform(0.02, 0.15))
                if kills < min(most, before + 2) and not running.done():
                    kills += kill()
            running.result()
            assert out.read_bytes() == (folder / "one").read_bytes()
            lost, n = lost + runner.lost, n + 1
            assert n < 10 * most
    _first, alone, *disturbed = seconds
    took = f"longest of {n} runs {max(disturbed):.1f} s, undisturbed {alone:.1f} s"
    return f"{kills} killed, {lost} tasks lost, {took}"


def killer(cluster: Any, named: str, seed: int) -> Callable[[], bool]:
    """Kills one of the processes of a name, if there is any."""
    rng = random.Random(seed)

    def kill() -> bool:
        there = [pid for pid in workers_of(cluster) if named in command_of(pid)]
        if there:
            kill_pid(rng.choice(there))
        return bool(there)

    return kill


def test_killed_workers(index: Index, held: Held, ray_cluster: Any, driver: Any, tmp_path: Path) -> None:
    kill = killer(ray_cluster, "ChunkTask", 7)
    found = until_killed(index, held, driver, tmp_path, kill, dose(KILLS, 1))
    print(f"workers: {found}")


def test_killed_actors(index: Index, held: Held, ray_cluster: Any, driver: Any, tmp_path: Path) -> None:
    """The shards of a killed actor are open_index again, and the tasks that asked it ask again."""
    kill = killer(ray_cluster, "Holder", 8)
    found = until_killed(index, held, driver, tmp_path, kill, dose(KILLS, 1))
    print(f"actors: {found}")


@long
def test_killed_nodes(index: Index, held: Held, ray_cluster: Any, driver: Any, tmp_path: Path) -> None:
    """Tasks and shards go to other nodes; another node takes the place of each."""
    rng = random.Random(9)

    def kill() -> bool:
        kill_node(ray_cluster, rng.choice(nodes_of(ray_cluster)))
        ray_cluster.add_node()
        return True

    found = until_killed(index, held, driver, tmp_path, kill, dose(KILLS, 1))
    print(f"nodes: {found}")
    assert len(nodes_of(ray_cluster)) == 3


@long
def test_a_killed_driver_is_followed_by_another(demo_files: Path, ray_cluster: Any, tmp_path: Path) -> None:
    """The same command goes on; and the whole of the three commands, once each."""
    environment, out = {**os.environ, **ray_cluster.environment}, tmp_path / "out.run"
    given = [demo_files / "index", "--queries", demo_files / "queries.jsonl"]
    passed("batch", *given, "--run", tmp_path / "one.run", "--system", "proximity", "--quiet")
    command = [sys.executable, "-m", "fader", "cluster", "batch", *map(str, given), "--run", str(out)]
    command += ["--system", "proximity", "--json", "--quiet"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while len(kept_in(tmp_path)) < 5 and process.poll() is None:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["queries"] == 80
    assert out.read_bytes() == (tmp_path / "one.run").read_bytes()
    assert not (tmp_path / "out.run.unfinished").exists()


@long
@pytest.mark.timeout(400)
def test_a_killed_head(demo_files: Path, ray_cluster: Any, tmp_path: Path) -> None:
    """One line that says what to do, exit code 1, within two minutes; what was found is kept, and the same command on
    another cluster goes on."""
    from fader.cluster.hosts.local_cluster import LocalCluster

    given, out = [demo_files / "index", "--queries", demo_files / "queries.jsonl"], tmp_path / "out.run"
    passed("batch", *given, "--run", tmp_path / "one.run", "--system", "proximity", "--quiet")
    command = [sys.executable, "-m", "fader", "cluster", "batch", *map(str, given), "--run", str(out)]
    command += ["--system", "proximity", "--json", "--quiet"]
    with LocalCluster(1) as cluster:
        environment = {**os.environ, **cluster.environment}
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while len(kept_in(tmp_path)) < 5 and process.poll() is None:
            time.sleep(0.01)
        kill_head(cluster)
        began = time.monotonic()
        printed, said = process.communicate(timeout=120)
        print(f"killed head: error after {time.monotonic() - began:.1f} s")
    assert (process.returncode, printed) == (1, ""), said
    assert "the head of the cluster is gone" in said
    assert len(said.splitlines()) == 1, said
    before = kept_in(tmp_path)
    assert len(before) >= 5
    assert not out.exists()
    environment = {**os.environ, **ray_cluster.environment}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seen: dict[Path, int] = {}
    while process.poll() is None:
        seen |= kept_in(tmp_path)
        time.sleep(0.01)
    _printed, said = process.communicate()
    assert process.returncode == 0, said
    assert {path: seen[path] for path in before} == before, "what was found is found again"
    assert out.read_bytes() == (tmp_path / "one.run").read_bytes()


def kept_in(folder: Path) -> dict[Path, int]:
    """The parts of a batch, with the number of each one's file, which is another when it is written again."""
    found = {}
    for path in folder.glob("out.run.unfinished/*/*.part"):
        with suppress(FileNotFoundError):
            found[path] = path.stat().st_ino
    return found


def test_wrong_usage(demo_files: Path, tmp_path: Path) -> None:
    """One line, before Ray is started where that can be known."""
    queries = ["--queries", demo_files / "queries.jsonl"]
    for command in (["batch", *queries, "--run", tmp_path / "x"], ["contexts", *queries, "-o", tmp_path / "x"]):
        name, *rest = command
        assert "not a Fader index" in refused(1, "cluster", name, tmp_path, *rest)
        assert "HOST:PORT" in refused(2, "cluster", name, demo_files / "index", *rest, "--address", "ray://x")
        assert "--groups" in refused(2, "cluster", name, demo_files / "index", *rest, "--groups", "-1")
    report = ["compare", demo_files / "index", *queries, "--qrels", demo_files / "qrels.txt", "--systems", "count"]
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "mine.txt").write_text("x")
    assert "report" in refused(1, "cluster", *report, "-o", tmp_path / "report")
