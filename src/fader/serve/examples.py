"""Examples of the OpenAPI description, of the demo: `examples.json` has an answer of each shape.

Knows nothing of the shapes, which a test holds the examples to.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

ASKED: dict[str, Any] = {
    "Search": {"q": "landed +mars", "type": "spacecraft", "k": 1},
    "Explain": {"q": "landed +mars", "entity": "Opportunity_(rover)", "type": "spacecraft"},
    "Analyze": {"text": "Straße, naïve"},
}
ERRORS: dict[int, tuple[str, str, str, dict[str, Any]]] = {
    400: ("bad_query", "a quote is opened and not closed (at character 8)", "", {"position": 7}),
    401: ("unauthorized", "this server answers only with a key that it knows", "send Authorization: Bearer KEY", {}),
    404: ("not_found", 'no index "dmeo"', 'did you mean "demo"?', {"field": "index"}),
    405: ("not_allowed", "PUT is not allowed here", "use GET or HEAD or POST", {}),
    413: ("too_large", "the body has more than 65,536 bytes, the most that is taken", "send less", {}),
    415: ("unsupported", 'the body must be JSON, not "text/plain"', "send Content-Type: application/json", {}),
    429: ("rate_limited", "more than 10 requests a second", "try again in 1 s", {}),
    431: ("bad_request", "the head of a request has at most 65,536 bytes", "send less", {}),
    500: ("internal", "something went wrong in the server", "tell its keeper", {"request_id": "5d770696-1"}),
    503: ("overloaded", "the server has as many requests as it can take", "try again in 1 s", {}),
    504: ("out_of_time", "the request needs more than its 1,000 ms", "ask with fewer or rarer words", {}),
}  # fmt: skip


@cache
def answers() -> dict[str, Any]:
    """An answer of each shape, by the shape's name; `csv` and `text` are texts."""
    found: dict[str, Any] = msgspec.json.decode(Path(__file__).with_suffix(".json").read_bytes())
    return found


def error(status: int) -> dict[str, Any]:
    """The body of an error."""
    code, message, hint, more = ERRORS[status]
    return {"error": {"code": code, "message": message, "hint": hint, **more}}
