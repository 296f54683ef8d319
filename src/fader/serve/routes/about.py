"""Routes about the service itself: stats, systems, health, metrics. Health and metrics never wait."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from starlette.responses import Response

from fader import __version__
from fader.search.models import DEFAULT, default_model
from fader.serve import schemas
from fader.serve.answering import answered, asked, encoded, served_for, service_of
from fader.serve.errors import JSON
from fader.serve.metrics import FORM
from fader.serve.open_index import Served
from fader.serve.parameters import Nothing, OfIndex
from fader.serve.service import Service
from fader.serve.settings import Settings
from fader.serve.shapes import Health, NamedModel, Stats

PROBLEM = "a newer commit cannot be opened; the log says why"  # with folders, which are not for everyone


def router(settings: Settings) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["about"])
    told = schemas.Described(settings)

    @routes.get("/v1/stats", **told.get("What is served", Nothing, "Stats"))
    async def stats(request: Request) -> Response:
        """The indexes with their counts and commits, and the limits of requests."""
        await asked(request, Nothing)
        service = service_of(request)
        return await answered(request, "light", lambda: encoded(stats_of(service)))

    @routes.get("/v1/systems", **told.get("What ranks", OfIndex, "Systems"))
    async def systems(request: Request) -> Response:
        """The models of an index by name, and every system with its parameters."""
        served = served_for(request, (await asked(request, OfIndex)).index)
        return await answered(request, "light", lambda: encoded(systems_of(served)))

    @routes.get("/healthz", **told.plain("Whether the service answers", "Health", 503))
    async def healthz(request: Request) -> Response:
        """`ok` once indexes are open and a first query has been answered, while no part of an index is missing."""
        health = health_of(service_of(request))
        return Response(encoded(health), 200 if health.status == "ok" else 503, media_type=JSON)

    @routes.get("/metrics", **told.text("Counts for Prometheus"))
    async def metrics(request: Request) -> Response:
        """Requests, times, lanes and commits."""
        return Response(request.app.state.metrics.text(), headers={"Content-Type": FORM})

    return routes


def stats_of(service: Service) -> Stats:
    """What is told of a service."""
    s = service.settings
    limits = {
        "body_bytes": s.body_bytes, "k": s.k, "snippets": s.snippets, "time_ms": s.time_ms, "queue": s.queue,
        "workers": s.workers, "rate": s.rate or None,
    }  # fmt: skip
    return Stats(__version__, limits, [{"name": each.name, **each.described} for each in service.library])


def systems_of(served: Served) -> dict[str, object]:
    """What ranks an index."""
    from fader.registry import discover  # slow to import: see `Served`
    from fader.search.system_info import described

    models = {**served.models, DEFAULT: default_model()}
    named = [NamedModel(name, str(model), name == served.default) for name, model in models.items()]
    return {"models": named, "systems": [described(part) for part in discover("fader.systems").values()]}


def health_of(service: Service) -> Health:
    """How the service is."""
    commits = {each.name: each.index.commit for each in service.library}
    problems = dict.fromkeys(service.problems, PROBLEM)
    cluster = service.settings.backing.health()
    whole = cluster is None or cluster["status"] == "ok"
    told = None if cluster is None else {k: v for k, v in cluster.items() if k != "status"}
    status: Literal["ok", "incomplete"] = "ok" if whole else "incomplete"
    return Health(status if service.ready else "starting", __version__, commits, problems, told)
