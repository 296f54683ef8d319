"""Routes of training on judgments: begin, look, adopt, roll back, and what to judge next.

They are there where the service is started with `--judge`. Where keys are used, looking and proposals need one with the
right `judge`, all else one with the right `train`. Knows nothing of how models are trained.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from fader.judging.learned import LearnedModels
from fader.judging.propose import Proposals
from fader.serve.api.answers import TrainingAnswer, encode
from fader.serve.api.parameters import AdoptParameters, IndexBody, IndexParameters, ProposeParameters
from fader.serve.open_index import Served
from fader.serve.routes.answering import find_index, send_json, service_of
from fader.serve.routes.declare import add_route, create_router
from fader.serve.routes.judging import check_right
from fader.serve.service import Service
from fader.serve.settings import Settings


def router(settings: Settings) -> APIRouter:
    """The routes; none where nobody may judge."""
    routes = create_router("judging")
    if settings.judge:
        for method, path, handler, summary, name, errors in (
            ("POST", "/v1/train", train, "Train on judgments", "startTraining", (403, 409)),
            ("GET", "/v1/train", look, "How training stands", "getTraining", (403,)),
            ("POST", "/v1/train/adopt", adopt, "Adopt a model", "adoptModel", (403,)),
            ("POST", "/v1/train/rollback", roll_back, "Roll back", "rollBack", (403,)),
        ):
            add_route(routes, settings, method, path, handler, summary, TrainingAnswer, name=name, errors=errors)
        add_route(routes, settings, "GET", "/v1/propose", propose, "What to judge next", Proposals, errors=(403,))
    return routes


async def train(request: Request, asked: IndexBody) -> Response:
    """Begin to learn from the judgments of an index, in the background."""
    check_right(request, "train")
    service, served = service_of(request), find_index(request, asked.index)

    def work() -> bytes:
        store = service.judging.store(served.name)
        store.refresh()
        kept = _models_of(service, served)
        service.training.start(served.name, served.index, store.current(), served.ranker(None), kept)
        return encode(_answer(service, served))

    return await send_json(request, "light", work)


async def look(request: Request, asked: IndexParameters) -> Response:
    """The progress of training, and the last model with its comparison."""
    check_right(request, "judge")
    service, served = service_of(request), find_index(request, asked.index)
    return await send_json(request, "light", lambda: encode(_answer(service, served)))


async def adopt(request: Request, asked: AdoptParameters) -> Response:
    """Let a learned model rank where none is named."""
    check_right(request, "train")
    service, served = service_of(request), find_index(request, asked.index)

    def work() -> bytes:
        _models_of(service, served).adopt(asked.name)
        service.reread_models()
        return encode(_answer(service, service.index(served.name)))

    return await send_json(request, "light", work)


async def roll_back(request: Request, asked: IndexBody) -> Response:
    """Let the model that ranked before the last one was adopted rank again."""
    check_right(request, "train")
    service, served = service_of(request), find_index(request, asked.index)

    def work() -> bytes:
        _models_of(service, served).roll_back()
        service.reread_models()
        return encode(_answer(service, service.index(served.name)))

    return await send_json(request, "light", work)


async def propose(request: Request, asked: ProposeParameters) -> Response:
    """The answers to questions that were judged before on which models disagree most."""
    check_right(request, "judge")
    service, served = service_of(request), find_index(request, asked.index)

    def work() -> bytes:
        store = service.judging.store(served.name)
        store.refresh()
        ranker = served.ranker(None)
        return encode(service.training.propose(served.name, served.index, store.current(), ranker, asked.limit))

    return await send_json(request, "engine", work, asked.timeout_ms)


def _models_of(service: Service, served: Served) -> LearnedModels:
    return LearnedModels(service.settings.indexes[served.name])


def _answer(service: Service, served: Served) -> TrainingAnswer:
    kept, run = _models_of(service, served), service.training.run_of(served.name)
    names = kept.names()
    latest = run.name or (names[-1] if names else None)
    history = kept.history()
    return TrainingAnswer(
        run.state,
        run.share,
        run.note,
        run.error,
        latest,
        kept.report(latest) if latest else None,
        history[-1] if history else None,
        served.default,
        names,
    )
