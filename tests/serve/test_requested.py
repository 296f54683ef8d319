"""Systems of requests: no model comes in by a parameter, and no parameter asks for more than its bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import httpx
import numpy as np
import pytest

from fader.errors import UsageError
from fader.registry import discover, find_part
from fader.serve import requested
from fader.serve.open_index import MODEL_CHARACTERS
from fader.serve.requested import BOUNDS, MOST, NUMBERS, WEIGHTS, check_requested
from fader.serve.settings import Settings
from fader.systems.base import parse_system
from fader.systems.shared.forest import check_forest, grow_forest, pack_model
from serve.live import build, running

pytest.importorskip("lightgbm")


def forest(features: int) -> str:
    """The letters of a tree without a split, which fit into a request."""
    whole = grow_forest("", [np.zeros((30, features))], [np.arange(30) % 2], 1, 0, {"min_data_in_leaf": 99})
    return pack_model("", check_forest("", "", whole))


LEARNED = [
    f"lambdamart(features=noprox,trees_text={forest(7)})",
    f"macdonald(learner=lambdamart,models=bm25,techniques=votes,cutoffs=0,forest={forest(1)})",
    "macdonald(models=bm25,techniques=votes,cutoffs=0,weights=2)",
    "fader(features=constant,weights=1)",
    "ranksvm(features=constant,weights=1)",
    "cummins(decay=1/1/1)",
]


LEARNED_FIELDS = {name for part in discover("fader.systems").values() for name in getattr(part, "learned", ())}


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = build(tmp_path_factory.mktemp("requested") / "index")
    with running(Settings(indexes={"small": folder}, time_ms=60_000)) as url:  # noqa: SIM117 - the url is needed
        with httpx.Client(base_url=url, timeout=120) as client:
            yield client


@pytest.mark.parametrize("text", LEARNED)
def test_no_request_carries_a_model(http: httpx.Client, text: str) -> None:
    """By GET, by POST and to compare; the message says what to do instead."""
    assert len(text) <= MODEL_CHARACTERS
    replies = [
        http.get("/v1/search", params={"q": "violin", "model": text}),
        http.post("/v1/search", json={"q": "violin", "model": text}),
        http.get("/v1/explain", params={"q": "violin", "entity": "E2", "model": text}),
        http.get("/v1/entity/E2", params={"q": "violin", "model": text}),
        http.get("/v1/compare", params={"q": "violin", "b": text}),
    ]
    for reply in replies:
        assert reply.status_code == 400, reply.text
        error = reply.json()["error"]
        assert error["code"] == "bad_request"
        assert "is what training fills in, and no request may give it" in error["message"]
        assert error["hint"] == "name a model that the server was started with, as /v1/systems lists them"
    assert [reply.json()["error"]["field"] for reply in replies] == ["model"] * 4 + ["b"]


def test_no_assistant_carries_a_model(http: httpx.Client) -> None:
    """The same error, as that of a tool."""
    call = {"name": "search", "arguments": {"query": "violin", "model": LEARNED[0]}}
    headers = {"Accept": "application/json, text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    result = http.post("/mcp", json=body, headers=headers).json()["result"]
    assert result["isError"]
    assert "no request may give it" in result["content"][0]["text"]


@dataclass(frozen=True)
class Outer:
    """A system with another one inside, as a plug-in may have it."""

    name: ClassVar[str] = "outer"
    inner: str = ""


@pytest.mark.parametrize("text", [
    "lambdamart( trees_text = x )", "lambdamart(features=noprox)+(,trees_text=x)",
    "lambdamart(features=a|b,trees_text=x)", "outer(inner=lambdamart(trees_text=x))",
    "outer(inner=count+lambdamart(trees_text=x))",
])  # fmt: skip
def test_odd_writing_hides_nothing(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """White space, brackets that do not match, a system inside of another."""

    def find(kind: str, name: str) -> type[Any] | None:
        return Outer if (kind, name) == ("fader.systems", "outer") else find_part(kind, name)

    monkeypatch.setattr(requested, "find_part", find)
    with pytest.raises(UsageError, match="lambdamart: trees_text is what training fills in"):
        check_requested(text)


@pytest.mark.parametrize(("text", "message"), [
    ("lambdamart(features=rectangle(64x64))", r"at most 1,024 weights, not 4,096; give smaller grids"),
    ("lambdamart(features=noprox+grid(25x24)+rectangle(25x24))", r"at most 1,024 weights, not 1,2"),
    ("fader(features=rectangle(32x32,signed=true))", r"at most 1,024 weights, not 2,048"),
    ("fader(features=noprox|idfupto(2000))", r"at most 1,024 weights"),
    ("proximity(width=100001)", r'proximity: width of a request must be at most 100,000, not "100001"; give a smaller'),
    ("proximity(width=1e308)", "width of a request must be at most"),
    ("proximity(width=nan)", "width of a request must be at most"),
    ("plm(mu=1000001)", "mu of a request must be at most 1,000,000"),
    ("balog2(window=1073741823)", "window of a request must be at most 100,000"),
    ("balog2(window=" + "/".join(map(str, range(65))) + ")", "window of a request has at most 64 numbers, not 65"),
    ("voting(cutoff=1000001)", "cutoff of a request must be at most 1,000,000"),
    ("lambdamart(trees=1001)", "trees of a request must be at most 1,000"),
    ("macdonald(leaves=1025)", "leaves of a request must be at most 1,024"),
    ("fader(top=1000001)", "top of a request must be at most 1,000,000"),
    ("plm(aggregator=softcutoff(decay=" + "/".join("1" * 65) + "))", "decay of a request has at most 64 numbers"),
    ("count(policy=" * 5 + "a" + ")" * 5, "at most 4 parts inside each other"),
])  # fmt: skip
def test_bounds(http: httpx.Client, text: str, message: str) -> None:
    """Refused before anything is computed; without HTTP the same text is a system, or refused for what it is."""
    with pytest.raises(UsageError, match=message):
        check_requested(text)
    reply = http.get("/v1/search", params={"q": "violin", "model": text})
    assert (reply.status_code, reply.json()["error"]["field"]) == (400, "model")


def test_the_bounds_are_within() -> None:
    """What is just at a bound passes, and so does every default."""
    rows = "/".join(map(str, range(NUMBERS)))
    for text in (
        f"lambdamart(features=rectangle(32x{WEIGHTS // 32}))", f"proximity(width={BOUNDS['width']})", f"plm(mu={MOST})",
        f"balog2(window={rows})", f"lambdamart(trees={BOUNDS['trees']})", *discover("fader.systems"),
    ):  # fmt: skip
        check_requested(text)


NUMERIC = [
    (kind, name, each.name)
    for kind in requested.KINDS
    for name, part in discover(kind).items()
    for each in fields(part)
    if each.init and any(word in str(each.type) for word in ("int", "float")) and each.name not in LEARNED_FIELDS
]
INSIDE = {
    "fader.systems": "{}", "fader.features": "fader(features={})", "fader.aggregate": "plm(aggregator={})",
    "fader.entityfeatures": "fader(features=entity(use={}))",
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "key"), NUMERIC)
def test_every_number_has_a_bound(kind: str, name: str, key: str) -> None:
    """Of every part that is found, inside of a system, in whatever way it is written."""
    for value in ("1000001", "1e7", "1_000_001", "+1000001", " 1000001 ", "\uff11" * 7, "inf", "nan", "-1e9", "1/1e7"):
        text = INSIDE[kind].format(f"{name}({key}={value})")
        with pytest.raises(UsageError, match=f"{key} of a request must be at most"):
            check_requested(text)


@pytest.mark.parametrize("name", discover("fader.features"))
def test_every_size_has_a_bound(name: str) -> None:
    """What stands first and without a name too: sizes of grids, widths, columns."""
    for size in ("1000001", "2000x2000", "1000x2", "99999999999999999999x2"):
        text = f"fader(features={name}({size}))"
        try:
            parse_system(text)
        except UsageError:
            continue
        with pytest.raises(UsageError, match="of a request"):
            check_requested(text)


def test_python_has_no_such_bounds() -> None:
    """Who starts a process may use it."""
    for text in ("proximity(width=1e6)", "lambdamart(features=rectangle(64x64),trees=10000)", LEARNED[0]):
        assert str(parse_system(text)).startswith(text.split("(")[0])


@pytest.mark.parametrize("text", ["", "(", "a(b(c", ")))", "+|+", "a" * 1000, "(" * 1000, "a(" * 400])
def test_what_is_no_system_passes(text: str) -> None:
    """It is refused where it is parsed."""
    check_requested(text)
    with pytest.raises(UsageError):
        parse_system(text)
