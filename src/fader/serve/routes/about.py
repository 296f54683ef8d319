"""Routes about the service itself: stats, systems, health, metrics. Health and metrics never wait."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Literal

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from fader import __version__
from fader.errors import FaderError
from fader.registry import discover
from fader.search.models import SHIPPED, shipped_model
from fader.search.system_info import describe_system
from fader.serve.api.answers import (
    Examples,
    Health,
    ModelName,
    Opening,
    ServedLimits,
    Stats,
    Systems,
    encode,
    encode_health,
)
from fader.serve.api.openapi import MEANINGS, describe_errors, read_examples
from fader.serve.api.parameters import IndexParameters, NoParameters
from fader.serve.errors import JSON, Refusal
from fader.serve.metrics import FORM
from fader.serve.open_index import Served
from fader.serve.routes.answering import find_index, send_json, service_of
from fader.serve.routes.declare import add_route, create_router
from fader.serve.service import Service
from fader.serve.settings import Settings

PROBLEM = "a newer commit cannot be opened; the log says why"  # with folders, which are not for everyone
DAMAGED = "a file was truncated, and the index is not asked any more; the log names it"
STUCK = "have not come back long after the time of their requests; restart the service"


def router(settings: Settings) -> APIRouter:
    """The routes with parameters."""
    routes = create_router("about")
    add_route(routes, settings, "GET", "/v1/stats", stats, "What is served", Stats)
    add_route(routes, settings, "GET", "/v1/systems", systems, "What ranks", Systems)
    return routes


def monitoring_router() -> APIRouter:
    """The routes that never wait, for load balancers and Prometheus."""
    routes = APIRouter(tags=["about"])
    example = {JSON: {"example": read_examples()["Health"]}}
    not_ready = {"description": MEANINGS[503], "model": Health, "content": example}
    routes.add_api_route(
        "/healthz",
        healthz,
        summary="Whether the service answers",
        operation_id="getHealth",
        response_model=Health,
        responses={200: {"content": example}, 503: not_ready},
    )
    text = {"schema": {"type": "string"}, "example": read_examples()["text"]}
    routes.add_api_route(
        "/metrics",
        metrics,
        summary="Counts for Prometheus",
        operation_id="getMetrics",
        response_class=PlainTextResponse,
        responses={200: {"content": {FORM.partition(";")[0]: text}}, **describe_errors(401)},
    )
    return routes


async def stats(request: Request, asked: NoParameters) -> Response:
    """The indexes with their counts and commits, and the limits of requests."""
    service = service_of(request)
    return await send_json(request, "light", lambda: encode(stats_of(service)))


async def systems(request: Request, asked: IndexParameters) -> Response:
    """The models of an index by name, and every system with its parameters."""
    served = find_index(request, asked.index)
    return await send_json(request, "light", lambda: encode(systems_of(served)))


async def healthz(request: Request) -> Response:
    """`ok` once a first query has been answered, while no part of an index is missing and all threads come back."""
    health = health_of(service_of(request))
    return Response(encode_health(health), 200 if health.status == "ok" else 503, media_type=JSON)


async def metrics(request: Request) -> Response:
    """Requests, times, lanes and commits."""
    return Response(request.app.state.metrics.text(), headers={"Content-Type": FORM})


def stats_of(service: Service) -> Stats:
    """What a service serves."""
    s = service.settings
    limits = ServedLimits(s.body_bytes, s.k, s.snippets, s.time_ms, s.queue, s.workers, s.rate or None)
    return Stats(__version__, s.judge, limits, [{"name": each.name, **each.described} for each in service.library])


def systems_of(served: Served) -> Systems:
    """What ranks an index."""
    models = {name: shipped_model(name) for name in SHIPPED if name not in served.models}
    models = {**served.models, **models}
    named = [ModelName(name, str(model), name == served.default) for name, model in models.items()]
    return Systems(named, [describe_system(part) for part in discover("fader.systems").values()])


def write_opening(request: Request) -> bytes:
    """What the page asks for first, of the first index; nothing where a key is needed, or the index is damaged."""
    service = service_of(request)
    if service.ready and service.settings.keys is None:
        with suppress(FaderError, Refusal):
            served = service.index()
            examples = Examples(service.examples or served.examples, served.popular_types)
            return encode(Opening(stats_of(service), systems_of(served), examples))
    return b""


def health_of(service: Service) -> Health:
    """How the service is."""
    commits = {each.name: each.index.commit for each in service.library}
    overdue = service.find_overdue()
    problems = dict.fromkeys(service.problems, PROBLEM) | {
        f"lane {name}": f"{count} of {service.lanes[name].workers} threads {STUCK}" for name, count in overdue.items()
    }
    cluster = service.settings.backing.health()
    whole = cluster is None or cluster.status == "ok"
    told = None if cluster is None else {k: v for k, v in asdict(cluster).items() if k != "status"}
    problems |= dict.fromkeys((f"index {name}" for name in service.damaged), DAMAGED)
    status: Literal["ok", "incomplete", "damaged", "stuck"] = (
        "stuck" if overdue else "damaged" if service.damaged else "ok" if whole else "incomplete"
    )
    return Health(status if service.ready else "starting", __version__, commits, problems, told)
