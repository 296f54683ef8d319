"""Connecting to Ray: closed to others, quick and clear when it cannot be done."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cluster.conftest import needs_ray
from fader.cluster.hosts import runtime
from fader.errors import ClusterError, UsageError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, with nothing in it and nothing of Ray in the environment."""
    for name in [name for name in os.environ if name.startswith("RAY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_a_new_token_is_its_owners_alone_and_stays(home: Path) -> None:
    """It is long, in Ray's own place, readable by nobody else, and the same at the next call."""
    assert runtime.find_token() is None
    token = runtime.ensure_token()
    file = home / ".ray" / "auth_token"
    assert len(token) == 64
    assert file.read_text() == token
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert runtime.ensure_token() == runtime.find_token() == token


def test_one_token_for_all_who_make_one_at_once(home: Path) -> None:
    """Whoever is quicker: the others take his. A file without a token in it is replaced; no other file is left."""
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _n: runtime.ensure_token(), range(32)))
    assert set(made) == {runtime.token_file().read_text()}
    runtime.token_file().write_text("\n")
    assert runtime.ensure_token() == runtime.token_file().read_text() != made[0]
    assert stat.S_IMODE(runtime.token_file().stat().st_mode) == 0o600
    assert [path.name for path in runtime.token_file().parent.iterdir()] == ["auth_token"]


def test_the_environments_token_comes_first(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime.ensure_token()
    monkeypatch.setenv("RAY_AUTH_TOKEN", "mine")
    assert runtime.ensure_token() == "mine"


def test_a_token_that_others_can_read_is_refused(home: Path) -> None:
    runtime.ensure_token()
    runtime.token_file().chmod(0o644)
    with pytest.raises(ClusterError, match="chmod 600"):
        runtime.find_token()


@pytest.mark.parametrize("address", ["ray://127.0.0.1:10001", "localhost", "127.0.0.1:0", "a b:1", "x:99999", ""])
def test_an_address_is_host_and_port(address: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        runtime.parse_address(address)
    assert runtime.parse_address("[::1]:6379") == ("::1", 6379)


def test_the_environment_is_as_it_was_afterwards(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Meanwhile usage statistics are off and a token is asked for; what the user has set himself stays."""
    period = "RAY_health_check_period_ms"
    monkeypatch.setenv(period, "7000")
    before = dict(os.environ)
    with runtime.prepare_environment("secret", loopback=True):
        assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
        assert os.environ["RAY_AUTH_MODE"] == "token"
        assert os.environ["RAY_AUTH_TOKEN"] == "secret"
        assert os.environ[period] == "7000"
    assert dict(os.environ) == before


def test_nothing_there_is_said_at_once(home: Path) -> None:
    """Ray itself would try for minutes."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but it does not listen
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ClusterError, match="no Ray cluster answers there"), runtime.connect(address):
            pass


def test_a_token_is_asked_for(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterError, match="RAY_AUTH_TOKEN"), runtime.connect(address):
            pass


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"fader\[cluster\]"), runtime.connect("local"):
        pass


def test_a_ray_that_knows_no_tokens_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take commands of everybody."""
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "__version__", "2.51.2")
    with pytest.raises(UsageError, match=r"Ray 2\.51\.2 does not check tokens; 2\.52 is needed"):
        runtime.import_ray()


def test_a_head_that_is_gone_is_an_error_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at once: it may be restarted, and a moment's silence is no death. While it answers it is left in peace."""
    now, looks, answer = 100.0, 0, None

    def unreachable(_address: str, _seconds: float) -> str | None:
        nonlocal looks
        looks += 1
        return answer

    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(runtime, "unreachable", unreachable)
    connection = runtime.Connection("127.0.0.1:1", patience=10.0)
    connection.check()
    connection.check()
    assert looks == 1
    for answer, passed in (("refused", 1.0), ("refused", 9.0), (None, 1.0), ("refused", 1.0), ("refused", 9.0)):
        now += passed
        connection.check()
        assert connection.is_silent == (answer is not None)
    now += 2.0
    with pytest.raises(ClusterError, match=r"gone \(refused\).*continues when its command is run again"):
        connection.check()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("rpc failed: Unauthenticated: InvalidAuthToken", "does not accept the token; set RAY_AUTH_TOKEN"),
        (
            "Version mismatch: The cluster was started with:\n    Ray: 2.52.0\nThis process was started with:\n"
            "    Ray: 2.60.0\n",
            "has another version here than on the cluster; install the same",
        ),
        ("something else\n  altogether", "cannot be joined; .*something else altogether"),
    ],
)
def test_what_ray_says_in_our_words(home: Path, said: str, told: str) -> None:
    """One line that names the remedy, out of what is raised and of what is written to the error output."""

    def fails() -> None:
        os.write(2, said[5:].encode())
        raise ConnectionError(said[:5] + said[5:])

    with pytest.raises(ClusterError, match=told) as error, runtime._explain_failure("head:6379"):
        fails()
    assert "\n" not in str(error.value)


def test_ray_starts_where_paths_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sockets could not be made in a deep folder."""
    monkeypatch.setattr(tempfile, "tempdir", "/deep/folder/of/some/user/for/temporary/files")
    assert runtime.short_folder() == "/tmp"
    monkeypatch.setattr(tempfile, "tempdir", "/scratch")
    assert runtime.short_folder() is None


@needs_ray
def test_a_wrong_token_is_said_in_words(ray_cluster: Any) -> None:
    """In a process of its own, as a user would meet it: one line, no traceback, nothing of Ray's own log."""
    code = (
        "import sys\nfrom fader.cluster.hosts.runtime import connect\nfrom fader.errors import FaderError\n"
        "try:\n    with connect(sys.argv[1]): pass\nexcept FaderError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, ray_cluster.address],
        env={**os.environ, **ray_cluster.environment, "RAY_AUTH_TOKEN": "wrong"},
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "does not accept the token" in done.stdout
    assert done.stderr == ""


@needs_ray
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_listens_but_on_the_loopback_address(ray_cluster: Any) -> None:
    """No process of the cluster can be reached from another machine, the head's among them; and none shows the token
    in its command line."""
    from fader.cluster.hosts.local_cluster import children, command_of

    own = set[int]()
    more = {pid for pid in children(os.getpid()) if "ray" in command_of(pid)}
    while more - own:
        own |= more
        more = {child for pid in own for child in children(pid)}
    commands = [command_of(pid) for pid in own]
    assert any("gcs_server" in command for command in commands)
    assert not any(ray_cluster.token in command for command in commands)
    inodes = set[str]()
    for pid in own:
        with suppress(OSError):  # a worker may end meanwhile
            inodes |= {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()}
    listening = []
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                listening.append(fields[1].partition(":")[0])
    assert listening
    assert set(listening) <= {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


@needs_ray
def test_a_driver_runs_tasks_on_all_nodes(driver: Any) -> None:
    """Two drivers in one process are refused."""
    import ray

    assert driver.cpus() == 3
    task = ray.remote(num_cpus=1)(lambda: os.getpid())
    assert os.getpid() not in ray.get([task.remote() for _ in range(3)])
    with pytest.raises(UsageError, match="only one"), runtime.connect(driver.address):
        pass
