"""The HTTP service over shards in one process: whole answers, refusals, and partial answers where they are asked for.

That answers are those of a local index is tested with Ray in test_serve.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from cluster.http import some_index
from cluster.serving import Serving, serving
from fader import Index
from fader.cluster.shards.collection import ShardedCollection
from fader.cluster.wire.client import ClientSettings
from fader.limits import Limits
from fader.search.health import ClusterHealth
from fader.serve.settings import Settings
from serve.live import running


@dataclass
class Backing:
    """Shards of this process, as the front of a cluster gives them."""

    folder: Path
    served: Serving
    lost: int = 0

    def open(self, folder: Path, limits: Limits) -> Index:
        return Index(ShardedCollection(self.folder, self.served.client), limits)

    def newest(self, index: Index) -> Index:
        return index

    def partial(self, index: Index) -> Index:
        return Index(ShardedCollection(self.folder, self.served.client, allow_partial=True), index.limits)

    def health(self) -> ClusterHealth:
        lacking = {str(g): 2 for g in range(self.lost)}
        return ClusterHealth("incomplete" if self.lost else "ok", 1, 3, 2, lacking, nodes=3, hosts=3, controller="up")

    def counts(self) -> dict[str, int]:
        return {name: self.served.client.counts[name] for name in ("calls", "hedges", "failovers", "incomplete")}


@contextmanager
def service(folder: Path) -> Iterator[tuple[httpx.Client, Backing]]:
    """A client of a service over three groups."""
    settings = ClientSettings(patience_ms=300)
    with serving(folder, 3, settings=settings) as served:
        backing = Backing(folder, served)
        given = Settings(indexes={"small": folder}, backing=backing, time_ms=20_000, watch_seconds=0)
        with running(given) as url, httpx.Client(base_url=url, timeout=60) as http:
            yield http, backing


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return some_index(tmp_path_factory.mktemp("http") / "index")


def test_a_missing_group_is_refused_and_told(folder: Path) -> None:
    """Before, an answer is whole and has no warning, whoever asks. With a group lost: 503, a code, when to ask again,
    and no address of a machine; with partial=true an answer that says what it lacks. /healthz and /metrics show it.
    """
    question = {"q": "violin physics", "k": "3"}
    with service(folder) as (http, backing):
        whole = http.get("/v1/search", params=question).json()
        assert http.get("/v1/search", params=question | {"partial": "true"}).json()["warnings"] == []
        assert http.get("/healthz").json()["cluster"]["lacking"] == {}
        backing.served.servers[1][0].close()
        backing.lost = 1
        refused = http.get("/v1/search", params=question)
        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "1"
        assert refused.json()["error"]["code"] == "incomplete"
        assert "127.0.0.1" not in refused.text
        partial = http.get("/v1/search", params=question | {"partial": "true"}).json()
        assert "1 of 3 shard groups did not answer" in partial["warnings"][-1]
        assert "documents were not looked at" in partial["warnings"][-1]
        assert partial["contexts"] < whole["contexts"]
        for path in ("/v1/explain?q=violin&entity=E2", "/v1/entity/E2?q=violin", "/v1/compare?q=violin"):
            assert http.get(path).json()["error"]["code"] == "incomplete"
        health = http.get("/healthz")
        assert health.status_code == 503
        assert health.json()["status"] == "incomplete"
        assert health.json()["cluster"]["lacking"] == {"0": 2}
        counts = http.get("/metrics").text
        assert "fader_cluster_lost_groups 1.0" in counts
        assert "fader_cluster_controller_up 1.0" in counts
        assert "fader_cluster_calls_total" in counts
        incomplete = next(line for line in counts.splitlines() if line.startswith("fader_cluster_incomplete_total"))
        assert float(incomplete.split()[1]) >= 4


def test_no_partial_answer_without_its_warning(folder: Path) -> None:
    """CSV has no place for warnings, and other routes give no partial answers: both are refused."""
    with service(folder) as (http, _backing):
        for path in (
            "/v1/search?q=violin&format=csv&partial=true", "/v1/explain?q=violin&entity=E2&partial=true",
            "/v1/search?q=violin&partial=maybe",
        ):  # fmt: skip
            refused = http.get(path)
            assert refused.status_code == 400
            assert refused.json()["error"]["field"] == "partial"


def test_a_local_index_is_never_partial(folder: Path) -> None:
    """It takes the parameter, and has no cluster to tell of."""
    with running(Settings(indexes={"small": folder}, time_ms=20_000)) as url:
        assert httpx.get(f"{url}/v1/search?q=violin&partial=true", timeout=60).json()["warnings"] == []
        assert "cluster" not in httpx.get(f"{url}/healthz", timeout=60).json()
        assert "fader_cluster" not in httpx.get(f"{url}/metrics", timeout=60).text
