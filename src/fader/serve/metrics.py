"""Counts for Prometheus: requests by route and status, their times, the lanes, the commits that are served.

Knows nothing of how requests are answered; lanes and indexes are looked at when the counts are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

from prometheus_client import CollectorRegistry, Counter, GCCollector, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from fader.serve.backing import Backing
from fader.serve.middleware.trace import Trace
from fader.serve.service import Service

FORM = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
COUNTED = {
    "calls": "Calls to all shard groups.",
    "hedges": "Replicas asked too, because another was slow.",
    "failovers": "Replicas asked in place of one that failed.",
    "incomplete": "Calls that some group did not answer.",
    "controller_restarts": "Times that the controller was started again.",
}
METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH"})


class Metrics:
    """The counts of one service; call `observe` for every request."""

    def __init__(self, service: Service) -> None:
        self.registry = CollectorRegistry()
        labels = ("route", "method", "status")
        requests = Counter("fader_requests", "Requests answered.", labels, registry=self.registry)
        seconds = Histogram(
            "fader_request_seconds",
            "Seconds from a request's arrival to the end of its answer.",
            ("route",),
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._requests_of: Callable[..., Counter] = lru_cache(1_000)(requests.labels)
        self._seconds_of: Callable[..., Histogram] = lru_cache(1_000)(seconds.labels)
        for collector in (GCCollector, PlatformCollector, ProcessCollector):
            collector(registry=self.registry)
        self.registry.register(_Looked(service))

    def observe(self, trace: Trace) -> None:
        """Count a request. Labels are few, whatever clients send."""
        method = trace.method if trace.method in METHODS else "other"
        route = trace.route or "none"
        self._requests_of(route, method, str(trace.status)).inc()
        self._seconds_of(route).observe(trace.seconds)

    def text(self) -> bytes:
        """All counts, as Prometheus reads them."""
        return generate_latest(self.registry)


class _Looked(Collector):
    """What is looked up when it is asked for."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        lanes = self._service.lanes
        yield _gauge("fader_lane_busy", "Threads that work.", "lane", {n: g.busy for n, g in lanes.items()})
        yield _gauge("fader_lane_waiting", "Requests that wait.", "lane", {n: g.waiting for n, g in lanes.items()})
        yield _gauge("fader_lane_threads", "Threads.", "lane", {n: g.workers for n, g in lanes.items()})
        yield _gauge("fader_lane_room", "Requests that may wait.", "lane", {n: g.queue for n, g in lanes.items()})
        overdue = self._service.find_overdue()
        yield _gauge(
            "fader_lane_overdue", "Threads that do not come back.", "lane", {n: overdue.get(n, 0) for n in lanes}
        )
        served = {s.name: s for s in self._service.library}
        commits = {name: s.index.commit for name, s in served.items()}
        yield _gauge("fader_index_commit", "The commit that is served.", "index", commits)
        documents = {name: s.collection.documents for name, s in served.items()}
        yield _gauge("fader_index_documents", "Documents of the commit that is served.", "index", documents)
        problems = {name: int(name in self._service.problems) for name in served}
        yield _gauge("fader_index_problem", "1 where a newer commit cannot be opened.", "index", problems)
        yield from _collect_backing(self._service.settings.backing)


def _collect_backing(backing: Backing) -> Iterator[Metric]:
    """Counts of a cluster, and how it is."""
    for name, value in backing.counts().items():
        yield CounterMetricFamily(f"fader_cluster_{name}", COUNTED[name], value)
    health = backing.health()
    if health is not None:
        lacking = health.lacking.values()
        for name, text, value in (
            ("groups", "Shard groups.", health.groups),
            ("nodes", "Nodes that hold shards.", health.nodes),
            ("lacking_replicas", "Replicas that shard groups lack.", sum(lacking)),
            ("lost_groups", "Shard groups without a replica.", sum(n == health.replicas for n in lacking)),
            ("controller_up", "1 while the controller runs.", int(health.controller == "up")),
        ):
            yield GaugeMetricFamily(f"fader_cluster_{name}", text, value)


def _gauge(name: str, text: str, label: str, values: dict[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family
