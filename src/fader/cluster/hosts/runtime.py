"""A closed Ray: its environment, the connection of a driver, and readable errors.

Every process of Fader that starts or joins a Ray cluster goes through `connect` (a driver) or `LocalCluster`
(`local_cluster.py`). Both set, before Ray is imported:

    RAY_USAGE_STATS_ENABLED=0      no usage reports to the makers of Ray
    RAY_AUTH_MODE=token            access needs a token; by default Ray lets everyone run code
    RAY_AUTH_TOKEN                 from the environment, RAY_AUTH_TOKEN_PATH or ~/.ray/auth_token
    RAY_health_check_*             a dead node is noticed after about 2 s, one that has vanished after 15 s
    loopback                       clusters of one machine listen on 127.0.0.1 only, without a dashboard

Variables that are set keep their values, but a Ray that Fader starts always has a token and the loopback address. Logs
of Ray's workers are not shown. Knows nothing of what is run.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fader.cluster.wire.tls import tls_environment
from fader.errors import ClusterError, UsageError, quote
from fader.registry import worker_environment

LEAST_RAY = (2, 52)  # the first with tokens
LOOPBACK = "127.0.0.1"
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "5000",  # a busy node may be late; a dead one refuses at once
    "RAY_health_check_failure_threshold": "3",
    "RAY_NUM_REDIS_GET_RETRIES": "3",  # attempts at a head that refuses, a second apart
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}
# Ray's switch for systems where a cluster is one machine: Ray then uses the loopback address, and does not replace
# 127.0.0.1 by the address of this machine on the network.
ONE_MACHINE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
TOKEN, TOKEN_PATH = "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"
SHORT = 20  # characters of the path for temporary files
REACH_SECONDS = 5.0
LOOK_SECONDS = 0.5  # between two checks of a head that answers
PATIENCE_SECONDS = 10.0  # Ray kills a driver 60 s after its head has gone, without a message: Fader must be earlier
_ADDRESS = re.compile(r"(?P<host>[^\s:/\[\]]+|\[[0-9A-Fa-f:]+\]):(?P<port>[0-9]{1,5})")


def import_ray() -> Any:
    """Import `ray`; the environment must be prepared."""
    try:
        import ray
    except ImportError:
        raise UsageError("a cluster needs more packages; pip install 'fader[cluster]'") from None
    if tuple(map(int, ray.__version__.split(".")[:2])) < LEAST_RAY:
        needed = f"{'.'.join(map(str, LEAST_RAY))} is needed at least; pip install -U 'fader[cluster]'"
        raise UsageError(f"Ray {ray.__version__} does not check tokens; {needed}")
    return ray


def token_file() -> Path:
    """The file of the token, where Ray looks for it."""
    given = os.environ.get(TOKEN_PATH)
    return Path(given) if given else Path.home() / ".ray" / "auth_token"


def find_token() -> str | None:
    """The token of the environment or of the token file; raises where others can read the file."""
    given = os.environ.get(TOKEN, "").strip()
    if given:
        return given
    file = token_file()
    try:
        if os.name == "posix" and file.stat().st_mode & 0o077:
            raise ClusterError(f"{file}: others can read this token; chmod 600 {file}, and use a new token")
        return file.read_text("utf-8").strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ClusterError(f"{file}: the token cannot be read: {getattr(error, 'strerror', error)}") from None


def ensure_token() -> str:
    """The token; where there is none, a new one in a token file that only its owner can read."""
    found = find_token()
    if found is not None:
        return found
    file, token = token_file(), secrets.token_hex(32)
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, pending = tempfile.mkstemp(prefix=file.name, dir=file.parent)  # a new file with mode 0600
        try:
            with open(handle, "w", encoding="utf-8") as out:
                out.write(token)
            return _publish_token(Path(pending), file) or token
        finally:
            Path(pending).unlink(missing_ok=True)
    except OSError as error:
        raise ClusterError(f"{file}: the token cannot be written: {error.strerror or error}; set {TOKEN}") from None


def _publish_token(pending: Path, file: Path) -> str | None:
    """Rename a new token file; returns the token of another process if that was quicker."""
    try:
        os.link(pending, file)
        return None
    except OSError:  # the file exists, or the file system has no hard links
        found = find_token()
        if found is None:
            os.replace(pending, file)
        return found


@contextmanager
def prepare_environment(token: str, loopback: bool, **more: str) -> Iterator[None]:
    """Set the environment for Ray in this process and those it starts; restored afterwards."""
    wanted = {name: os.environ.get(name, value) for name, value in SETTINGS.items()}
    wanted |= {TOKEN: token, **({ONE_MACHINE: "0"} if loopback else {}), **more}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    _refresh_ray()
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        _refresh_ray()


def _refresh_ray() -> None:
    """Apply the environment to a Ray that is imported already: it reads these variables only on import."""
    if "ray" not in sys.modules:
        return
    with suppress(ImportError, AttributeError):
        from ray._private import ray_constants
        from ray._raylet import AuthenticationTokenLoader, Config

        ray_constants.ENABLE_RAY_CLUSTER = os.environ.get(ONE_MACHINE, "1") != "0"
        ray_constants.NUM_REDIS_GET_RETRIES = int(os.environ.get("RAY_NUM_REDIS_GET_RETRIES", "20"))
        Config.initialize("")
        AuthenticationTokenLoader.instance().reset_cache()


@dataclass
class Connection:
    """The connection of a driver: the address of the head, and whether the head answers."""

    address: str
    patience: float = PATIENCE_SECONDS
    _silent_since: float | None = None
    _looked: float = -LOOK_SECONDS
    _nodes: list[dict[str, Any]] = field(default_factory=list)

    def check(self) -> None:
        """Raise if the head has not answered for `patience` seconds; cheap enough for every turn of a loop."""
        now = time.monotonic()
        if self._silent_since is None and now - self._looked < LOOK_SECONDS:
            return
        reason = unreachable(self.address, 1.0)
        self._looked = now = time.monotonic()
        if reason is None:
            self._silent_since = None
            return
        self._silent_since = self._silent_since or now
        if now - self._silent_since >= self.patience:
            raise ClusterError(
                f"{self.address}: the head of the cluster is gone ({reason}); start the cluster again; a job continues "
                "when its command is run again"
            )

    @property
    def is_silent(self) -> bool:
        """Whether the head did not answer the last check; calls to it would block."""
        return self._silent_since is not None

    def nodes(self) -> list[dict[str, Any]]:
        """The nodes that are alive, with their resources; the last known ones while the head is silent."""
        if unreachable(self.address, 1.0) is None:
            self._nodes = [node for node in import_ray().nodes() if node["Alive"]]
        return self._nodes

    def cpus(self) -> int:
        """The CPUs of all nodes that are alive."""
        return int(sum(node["Resources"].get("CPU", 0) for node in self.nodes()))


@contextmanager
def connect(
    address: str | None = None, *, cpus: int | None = None, patience: float = PATIENCE_SECONDS
) -> Iterator[Connection]:
    """Become the driver of a cluster: `HOST:PORT` of its head, or "local" for a Ray on this machine for this process.

    The default address is that of RAY_ADDRESS, else "local". `cpus` is for "local" only.
    """
    wanted = choose_address(address)
    with ExitStack() as stack:
        own: dict[str, Any] = {}
        if wanted == "local":  # with a token that no other process knows
            temporary = tempfile.TemporaryDirectory(prefix="fray-", dir=short_folder(), ignore_cleanup_errors=True)
            folder, token = stack.enter_context(temporary), secrets.token_hex(32)
            stack.enter_context(prepare_environment(token, True, RAY_TMPDIR=folder, RAY_AUTH_MODE="token"))
            own = {"num_cpus": cpus, "include_dashboard": False, "_node_ip_address": LOOPBACK}
        else:
            host, _port = parse_address(wanted)
            stack.enter_context(prepare_environment(_check_head(wanted), is_loopback(host)))
        ray, more = import_ray(), worker_environment() | tls_environment()
        if ray.is_initialized():
            raise UsageError("this process is connected to a Ray cluster already; it can be the driver of only one")
        with suppress(AttributeError):  # Ray would print to standard output that a node died; Fader watches tasks
            ray._private.worker.print_to_stdstream = lambda *_given, **_named: None
        with _explain_failure(wanted):
            ray.init(
                address=wanted,
                namespace="fader",
                log_to_driver=False,
                logging_level=logging.ERROR,
                configure_logging=False,
                runtime_env={"env_vars": more} if more else None,
                **own,
            )
        stack.callback(ray.shutdown)
        try:
            yield Connection(ray.get_runtime_context().gcs_address if wanted == "local" else wanted, patience)
        except ray.exceptions.RayError as error:  # an unexpected one
            raise ClusterError(
                f"{wanted}: Ray has failed ({line_of(error)}); look at `ray status`, then run it again"
            ) from error


def _check_head(address: str) -> str:
    """The token for a cluster whose head answers; raises where none does, or no token is known."""
    reason = unreachable(address, REACH_SECONDS)
    if reason is not None:
        raise ClusterError(
            f"{address}: no Ray cluster answers there ({reason}); check the address, or start one with "
            "`ray start --head` or `fader cluster up`"
        )
    token = find_token()
    if token is None and os.environ.get("RAY_AUTH_MODE", "token") == "token":
        raise ClusterError(f"{address}: the cluster's token is not known; set {TOKEN}, or put it into {token_file()}")
    return token or ""


def line_of(error: BaseException) -> str:
    """The first line of an error of Ray, which may have many, with a traceback."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)[:200]


def short_folder() -> str | None:
    """A folder for Ray's files: paths of sockets have at most 107 characters, of which Ray uses about 80."""
    return "/tmp" if len(tempfile.gettempdir()) > SHORT and os.access("/tmp", os.W_OK) else None


def choose_address(address: str | None) -> str:
    """The given address; else that of the environment, else "local"."""
    return (os.environ.get("RAY_ADDRESS") or "local" if address is None else address).strip()


def parse_address(address: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`."""
    match = _ADDRESS.fullmatch(address)
    if match is None or not 0 < int(match["port"]) < 65536:
        what = "Ray's client protocol is not used" if address.startswith("ray://") else "no port, or no host"
        raise UsageError(f'address must be HOST:PORT of the cluster\'s head, or "local", not {quote(address)}: {what}')
    return match["host"].strip("[]"), int(match["port"])


def is_loopback(host: str) -> bool:
    """Whether a host name is a loopback address."""
    return host in (LOOPBACK, "localhost", "::1")


def unreachable(address: str, seconds: float) -> str | None:
    """Why nothing answers at an address; None where something does."""
    try:
        socket.create_connection(parse_address(address), timeout=seconds).close()
    except OSError as error:
        return str(error.strerror or error or type(error).__name__).lower()
    return None


@contextmanager
def _explain_failure(address: str) -> Iterator[None]:
    """Turn what Ray prints while it connects, which its compiled part writes to descriptor 2, into one error."""
    with tempfile.TemporaryFile() as said:
        sys.stderr.flush()
        kept = os.dup(2)
        os.dup2(said.fileno(), 2)
        try:
            yield
        except Exception as error:
            said.seek(0)
            text = said.read().decode("utf-8", "replace") + f"\n{error}"
            raise ClusterError(f"{address}: {_reason(text)}") from error
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _reason(text: str) -> str:
    if "Unauthenticated" in text or "InvalidAuthToken" in text:
        if os.environ.get("RAY_AUTH_MODE", "token") != "token":
            return "the cluster needs a token, and RAY_AUTH_MODE is not token here; unset it"
        return f"the cluster does not accept the token; set {TOKEN} (or {token_file()}) to the one it was started with"
    mismatch = re.search(r"Version mismatch.*", text, re.DOTALL)
    if mismatch:
        said = " ".join(mismatch[0].split())[:400]
        return f"Ray or Python has another version here than on the cluster; install the same ({said})"
    said = " ".join(text.split())[-400:]
    return (
        f"the cluster cannot be joined; it may have another token ({TOKEN}) or be unhealthy: run `ray status` "
        f"there ({said})"
    )
