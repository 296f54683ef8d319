"""The one place where errors and HTTP codes meet.

    400 bad_query      the query cannot be understood, or passes a limit; `position` where it is known
    400 bad_request    a parameter, a body or a header is wrong; `field` names it
    401 unauthorized   no key, or one that is not known
    403 forbidden      a page of another site, at /mcp; a key without the right
    404 not_found      no such entity, type, index, model, report or path
    405 not_allowed    another method
    408 bad_request    the request takes too long to come
    409 busy           a model is being trained
    413 too_large      the body
    415 unsupported    the body is no JSON
    429 rate_limited   more requests than a key may make; Retry-After
    431 bad_request    the head of the request, its address included, is too large
    500 internal       a fault of ours: its number in the log, nothing else
    501 unsupported    a transfer encoding other than chunked
    503 overloaded     the queue is full; Retry-After
    503 damaged        a file of the index was truncated while it was served
    503 incomplete     a part of the index does not answer, and a partial answer would be a wrong one; Retry-After
    504 out_of_time    the time of the request is over

Knows nothing of frameworks: a refusal is a status, headers and a body.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from fader.errors import BudgetError, CatalogError, FaderError, IncompleteError, LimitError, QueryError, StorageError

JSON = "application/json"
# Remedies of the command line, and what they are here.
REMEDIES = {
    "`fader types` lists the types": "/v1/suggest?kind=type finds types by their names",
    "`fader entities` looks ids up by name": "/v1/suggest?kind=entity finds ids by names",
}
_PLACE = re.compile(r" \(at character [0-9]+\)$")


class Refusal(Exception):  # noqa: N818 - the name says what it is to the client
    """An answer that is an error."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        hint: str = "",
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.hint = status, code, message, hint
        self.headers, self.more = dict(headers or {}), more

    def body(self) -> bytes:
        """The JSON of it."""
        return msgspec.json.encode(
            {"error": {"code": self.code, "message": self.message, "hint": self.hint, **self.more}}
        )


class NotFound(Refusal):
    """There is no such thing."""

    def __init__(self, message: str, hint: str = "", **more: Any) -> None:
        super().__init__(404, "not_found", message, hint, **more)


class BadRequest(Refusal):
    """A parameter, a body or a header is wrong."""

    def __init__(self, message: str, hint: str = "", field: str | None = None, **more: Any) -> None:
        super().__init__(400, "bad_request", message, hint, **more | ({} if field is None else {"field": field}))


class Overloaded(Refusal):
    """As many requests as may wait are waiting."""

    def __init__(self, seconds: int = 1) -> None:
        super().__init__(
            503,
            "overloaded",
            "the server has as many requests as it can take",
            f"try again in {seconds} s",
            {"Retry-After": str(seconds)},
        )


class OutOfTime(Refusal):
    """The time of a request is over; waiting counts."""

    def __init__(self, time_ms: float, hint: str = "") -> None:
        message = f"the request needs more than its {time_ms:,g} ms, waiting for its turn included"
        remedy = (
            "ask with fewer or rarer words, a narrower type or a smaller k, or try again when the server is less busy"
        )
        super().__init__(504, "out_of_time", message, hint or remedy)


class Incomplete(Refusal):
    """A part of the index does not answer; the message names no machine."""

    def __init__(self, seconds: int = 1) -> None:
        super().__init__(
            503,
            "incomplete",
            "a part of the index does not answer, and a partial answer would be a wrong one",
            f"try again in {seconds} s; /v1/search answers with partial=true from what is there",
            {"Retry-After": str(seconds)},
        )


class Damaged(Refusal):
    """A file of the index was truncated; the log names it."""

    def __init__(self) -> None:
        super().__init__(
            503,
            "damaged",
            "a file of the index is damaged",
            "the administrator must restore it",
        )


class TooLarge(Refusal):
    """A body beyond the limit; the rest of it is not read."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            413,
            "too_large",
            f"the body has more than {limit:,} bytes, the most that is taken",
            "send a smaller body",
            {"Connection": "close"},
        )


def internal(request_id: str) -> Refusal:
    """An internal error; the client gets only the number under which the log has it."""
    return Refusal(
        500,
        "internal",
        "something went wrong in the server",
        "tell the administrator the number of the request",
        request_id=request_id,
    )


def refusal_of(error: Exception, time_ms: float = 0.0) -> Refusal | None:
    """The response to an error; None if the error is internal."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, BudgetError):
        return OutOfTime(time_ms)
    if isinstance(error, IncompleteError):
        return Incomplete()
    if not isinstance(error, FaderError) or isinstance(error, StorageError):
        return None
    place = _PLACE.search(str(error))
    message, hint = split_remedy(_PLACE.sub("", str(error)))
    message, hint = message + (place[0] if place else ""), REMEDIES.get(hint, hint)
    if isinstance(error, QueryError):
        where: dict[str, Any] = {} if error.position is None else {"position": error.position}
        return Refusal(400, "bad_query", message, hint, **where)
    if isinstance(error, LimitError):
        return Refusal(400, "bad_query", message, hint)
    if isinstance(error, CatalogError):
        return NotFound(message, hint)
    return BadRequest(message, hint)


def split_remedy(text: str) -> tuple[str, str]:
    """The message and the remedy of an error: what is before and behind the first semicolon outside of quotes."""
    inside = False
    for i, c in enumerate(text):
        inside ^= c == '"'
        if c == ";" and not inside:
            return text[:i].strip(), text[i + 1 :].strip()
    return text, ""
