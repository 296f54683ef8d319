"""Routes of judging: one judgment, what was judged, and undoing a person's judgments.

They are there where the service is started with `--judge`. Where keys are used, judging needs one with the right
`judge`, and undoing one with the right `train`. Knows nothing of the file that judgments are in.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from fader.judging.judge import judge_answer
from fader.judging.record import GRADES, Judgment, now
from fader.serve.api.answers import Judged, JudgedAnswer, JudgedOverview, Undone, encode
from fader.serve.api.parameters import JudgeParameters, JudgmentsParameters, UndoParameters
from fader.serve.errors import Refusal
from fader.serve.middleware.trace import trace_of
from fader.serve.routes.answering import find_index, send_json, service_of
from fader.serve.routes.declare import add_route, create_router
from fader.serve.settings import Settings

WORDS = {grade: word for word, grade in GRADES.items()}


def router(settings: Settings) -> APIRouter:
    """The routes; none where nobody may judge."""
    routes = create_router("judging")
    if settings.judge:
        add_route(routes, settings, "POST", "/v1/judge", judge, "Judge an answer", Judged, errors=(403,))
        summary = "What was judged"
        add_route(routes, settings, "GET", "/v1/judgments", judgments, summary, JudgedOverview, errors=(403,))
        summary = "Undo a person's judgments"
        add_route(routes, settings, "POST", "/v1/judgments/undo", undo, summary, Undone, errors=(403,))
    return routes


async def judge(request: Request, asked: JudgeParameters) -> Response:
    """Say that an entity is right, partly right or wrong for a question; it is on disk when the answer comes."""
    who = check_right(request, "judge")
    served = find_index(request, asked.index, asked.q)
    desk = service_of(request).judging
    desk.meter(who)

    def work() -> bytes:
        grade = None if asked.grade == "none" else asked.grade
        made = judge_answer(served.index, who, asked.q, asked.entity, grade, asked.query, asked.type)
        store = desk.store(served.name)
        records = store.add(made)
        return encode(Judged(records, _show(made)))

    return await send_json(request, "light", work)


async def judgments(request: Request, asked: JudgmentsParameters) -> Response:
    """How much was judged on an index, and the asker's own judgments of a question."""
    who = check_right(request, "judge")
    served = find_index(request, asked.index)
    desk = service_of(request).judging

    def work() -> bytes:
        store = desk.store(served.name)
        store.refresh()
        current = store.current()
        mine = [_show(j) for j in current if j.who == who and asked.q in (None, j.reading.question)]
        people, questions = {j.who for j in current}, {j.reading for j in current}
        return encode(JudgedOverview(who, len(current), len(questions), len(people), mine[-MOST_SHOWN:]))

    return await send_json(request, "light", work)


async def undo(request: Request, asked: UndoParameters) -> Response:
    """Let none of a person's judgments so far count; the records stay."""
    by = check_right(request, "train")
    served = find_index(request, asked.index)
    desk = service_of(request).judging
    return await send_json(
        request, "light", lambda: encode(Undone(asked.who, desk.store(served.name).undo(asked.who, by, now())))
    )


MOST_SHOWN = 1_000


def check_right(request: Request, right: str) -> str:
    """Who asks; refuses a key without a right. Without keys everyone has all rights."""
    trace = trace_of(request.scope)
    if trace.key and right not in trace.rights:
        raise Refusal(
            403, "forbidden", f"the key {trace.key} may not {right}", f"write {right} behind it in the file of keys"
        )
    return trace.key or trace.client or "someone"


def _show(judgment: Judgment) -> JudgedAnswer:
    question, query, answer_type = judgment.reading
    grade = "none" if judgment.grade is None else WORDS[judgment.grade]
    return JudgedAnswer(question, query, answer_type, judgment.entity, grade, judgment.when)
