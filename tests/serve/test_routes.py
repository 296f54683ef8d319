"""Every route over a real server: its answers are those of the Python interface, its errors have the right codes."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from pydantic import TypeAdapter

import fader
from fader import __version__
from fader.registry import discover
from fader.search.answer import Answer
from fader.search.ask import AskedAnswer
from fader.search.info import describe_index
from fader.search.system_info import describe_system
from fader.search.versus import Versus
from fader.search.why import Why
from fader.serve.api import answers
from fader.serve.api.openapi import read_examples
from fader.serve.app import create_app
from fader.serve.errors import JSON
from fader.serve.settings import Settings
from serve.live import ENTITIES, build, documents, running

QUERIES = ["played +violin", 'physics "old harbour"', "violin -coast", "nobody village chemist"]
SYSTEMS = ["default", "count", "proximity(width=20)", "balog2", "voting(technique=combmnz)", "petkova", "entityrank"]
K = 1000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("routes") / "index")


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    """A model trained on a few judgments."""
    queries = [{"id": str(i), "query": q} for i, q in enumerate(QUERIES)]
    qrels = {str(i): {str(ENTITIES[i]["id"]): 1, str(ENTITIES[i - 1]["id"]): 0} for i in range(len(QUERIES))}
    path = folder.parent / "model.json"
    fader.Ranker(features="noprox", lam=1.0).fit(folder, queries, qrels).save(path)
    return path


@pytest.fixture(scope="module")
def settings(folder: Path, model: Path) -> Settings:
    other = build(folder.parent / "other")
    fader.add(other, documents()[:3])
    return Settings(indexes={"small": folder, "other": other}, models={"trained": (model, "small")}, time_ms=30_000)


@pytest.fixture(scope="module")
def http(settings: Settings) -> Iterator[httpx.Client]:
    with running(settings) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


@pytest.fixture(scope="module")
def index(folder: Path) -> fader.Index:
    return fader.open(folder)


def plain(value: Any) -> Any:
    """As it is after JSON; the time that it took aside."""
    found = json.loads(msgspec.json.encode(value))
    for part in (found, *found.get("sides", ())):
        part.pop("took_ms", None)
    return found


def error_of(reply: httpx.Response, status: int) -> dict[str, Any]:
    """An error's body, of the one form that all have."""
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/json"
    error: dict[str, Any] = reply.json()["error"]
    assert reply.json().keys() == {"error"}
    assert error.keys() >= {"code", "message", "hint"}
    assert error["message"]
    assert all(isinstance(error[key], str) for key in ("code", "message", "hint"))
    return error


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("query", QUERIES)
def test_search_is_search(http: httpx.Client, index: fader.Index, query: str, system: str) -> None:
    """GET and POST give what `search --json` prints, for every kind of ranker."""
    expected = plain(index.search(query, "thing", 3, system, snippets=2, explain=True).to_dict())
    asked = {"q": query, "type": "thing", "k": 3, "model": system, "snippets": 2, "explain": True}
    got = http.get("/v1/search", params={**asked, "explain": "true"})
    assert plain(got.json()) == expected
    posted = http.post("/v1/search", json=asked)
    assert plain(posted.json()) == expected
    assert list(got.json()) == list(index.search(query).to_dict())
    for reply in (got, posted):
        assert (reply.headers["fader-index"], reply.headers["fader-commit"]) == ("small", "1")
        assert reply.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("passage", ["sentence", "window:2", "document"])
def test_passages_are_those_of_the_python_interface(http: httpx.Client, index: fader.Index, passage: str) -> None:
    """Of search and of an entity's contexts; another width is the client's fault."""
    asked = {"q": "violin", "model": "count", "passage": passage}
    expected = plain(index.search("violin", model="count", passage=passage).to_dict())
    assert plain(http.get("/v1/search", params=asked).json()) == expected
    evidence = http.get("/v1/entity/E2", params=asked).json()["evidence"]
    assert evidence == plain(index.evidence("violin", "E2", model="count", passage=passage).to_dict())
    assert "window:N" in error_of(http.get("/v1/search", params={**asked, "passage": "page"}), 400)["message"]


def test_a_document_is_the_document(http: httpx.Client, index: fader.Index) -> None:
    """By path and by parameter, with the occurrences of a query; one that is not there is not found."""
    expected = plain(index.document("d1", "violin +played").to_dict())
    assert http.get("/v1/document/d1", params={"q": "violin +played"}).json() == expected
    assert http.get("/v1/document", params={"q": "violin +played", "id": "d1"}).json() == expected
    assert expected["matches"]
    assert error_of(http.get("/v1/document/none"), 404)["code"] == "not_found"
    assert error_of(http.get("/v1/document/"), 404)["code"] == "not_found"
    assert error_of(http.get("/v1/document/d1", params={"q": '"'}), 400)["code"] == "bad_query"


def test_what_is_left_out_has_its_default(http: httpx.Client, index: fader.Index, model: Path) -> None:
    """The first index, its first model, 10 entities, one snippet, no explanation."""
    expected = plain(index.search("violin", k=10, model=str(model), snippets=1).to_dict())
    assert plain(http.get("/v1/search?q=violin&type=&model=").json()) == expected
    assert plain(http.post("/v1/search", json={"q": "violin", "type": None}).json()) == expected
    assert "explain" not in expected["results"][0]


def test_the_second_index_has_the_default_model(http: httpx.Client, settings: Settings) -> None:
    """A model given for one index does not rank another."""
    reply = http.get("/v1/search", params={"q": "violin", "index": "other"})
    other = fader.open(settings.indexes["other"])
    assert plain(reply.json()) == plain(other.search("violin").to_dict())
    assert (reply.headers["fader-index"], reply.headers["fader-commit"]) == ("other", "2")
    error_of(http.get("/v1/search", params={"q": "violin", "index": "other", "model": "trained"}), 404)


def test_csv_has_the_same_entities(http: httpx.Client) -> None:
    """As a file to be saved, for search and compare."""
    for path in ("/v1/search", "/v1/compare"):
        reply = http.get(path, params={"q": "violin", "format": "csv"})
        assert reply.headers["content-type"] == "text/csv; charset=utf-8"
        assert reply.headers["content-disposition"].startswith("attachment")
        rows = list(csv.DictReader(io.StringIO(reply.text)))
        found = http.get(path, params={"q": "violin"}).json()
        results = found["results"] if "results" in found else [r for side in found["sides"] for r in side["results"]]
        assert [row["entity"] for row in rows] == [r["entity"] for r in results]


@pytest.mark.parametrize("entity", [str(e["id"]) for e in ENTITIES])
def test_entity_is_entity(http: httpx.Client, index: fader.Index, entity: str) -> None:
    """With all its contexts for a query where there is one; an id may have a slash."""
    card = plain(index.entity(entity))
    assert http.get(f"/v1/entity/{entity}").json() == card | {"evidence": None}
    evidence = plain(index.evidence("violin", entity, "person", "count", offset=1, limit=2))
    asked = {"q": "violin", "type": "person", "model": "count", "offset": 1, "limit": 2}
    assert http.get(f"/v1/entity/{entity}", params=asked).json() == card | {"evidence": evidence}
    assert http.get(f"/v1/entity/{entity.replace('/', '%2F')}").json()["id"] == entity


@pytest.mark.parametrize("system", SYSTEMS)
def test_explain_is_why(http: httpx.Client, index: fader.Index, system: str) -> None:
    """By GET and POST."""
    expected = plain(index.why("played violin", "E2", "scientist", system))
    asked = {"q": "played violin", "entity": "E2", "type": "scientist", "model": system}
    assert http.get("/v1/explain", params=asked).json() == expected
    assert http.post("/v1/explain", json=asked).json() == expected


def test_compare_is_versus(http: httpx.Client, index: fader.Index, model: Path) -> None:
    """Two systems that are named; else the default and proximity."""
    expected = plain(index.versus("violin physics", "count", "balog2", "person", 2, snippets=0))
    asked = {"q": "violin physics", "a": "count", "b": "balog2", "type": "person", "k": 2, "snippets": 0}
    assert plain(http.get("/v1/compare", params=asked).json()) == expected
    expected = plain(index.versus("violin", str(model), "proximity"))
    assert plain(http.get("/v1/compare", params={"q": "violin"}).json()) == expected


def test_suggest_types_analyze(http: httpx.Client, index: fader.Index) -> None:
    """What looks up gives what the interface below gives."""
    from fader.search.suggest import Suggester
    from fader.search.typetree import TypeTree

    suggester, tree = Suggester(index.collection), TypeTree(index.collection)
    reply = http.get("/v1/suggest", params={"prefix": "p"}).json()
    assert reply == {"kind": "type", "prefix": "p", "suggestions": plain_list(suggester.types("p", 10))}
    asked = {"kind": "entity", "prefix": "d", "limit": 1, "type": "painter"}
    reply = http.get("/v1/suggest", params=asked).json()
    assert reply["suggestions"] == plain_list(suggester.entities("d", 1, "painter"))
    assert reply["suggestions"][0]["id"] == "E3"
    total, roots = tree.children(None, 0, 100)
    assert http.get("/v1/types").json() == {
        "parent": None, "path": [], "total": total, "types": plain_list(roots)
    }  # fmt: skip
    below = http.get("/v1/types", params={"parent": "person", "offset": 1, "limit": 1}).json()
    assert below["parent"]["id"] == "person"
    assert [node["id"] for node in below["path"]] == ["thing", "person"]
    assert (below["total"], len(below["types"])) == (2, 1)
    text = "Straße, naïve, COVID-19"
    tokens = [{"term": t, "start": a, "end": b} for t, a, b in index.analyze(text)]
    for reply in (http.get("/v1/analyze", params={"text": text}), http.post("/v1/analyze", json={"text": text})):
        assert reply.json() == {"text": text, "tokens": tokens}


def plain_list(values: list[Any]) -> list[Any]:
    return [json.loads(json.dumps(asdict(value))) for value in values]


def test_an_empty_choice_is_refused(http: httpx.Client) -> None:
    """A choice that is left empty is none of those there are; the default is for what is left out."""
    for path in ("/v1/suggest?prefix=a&kind=", "/v1/search?q=violin&format="):
        refused = http.get(path)
        assert refused.status_code == 400
        assert refused.json()["error"]["field"] in ("kind", "format")


def test_stats_and_systems(http: httpx.Client, index: fader.Index) -> None:
    """As `info --json` and `systems --json`, without a folder of the server."""
    stats = http.get("/v1/stats").json()
    assert stats["version"] == __version__
    assert (stats["limits"]["k"], stats["limits"]["body_bytes"]) == (K, 65536)
    expected = describe_index(index.collection).to_dict()
    del expected["index"]
    assert stats["indexes"][0] == {"name": "small", **plain(expected)}
    assert [each["name"] for each in stats["indexes"]] == ["small", "other"]
    assert str(index.collection.folder) not in json.dumps(stats)
    systems = http.get("/v1/systems").json()
    assert [(m["name"], m["default"]) for m in systems["models"]] == [
        ("trained", True),
        ("default", False),
        ("paper", False),
        ("joint", False),
    ]
    assert systems["systems"] == [asdict(describe_system(part)) for part in discover("fader.systems").values()]
    other = http.get("/v1/systems", params={"index": "other"}).json()
    assert [(m["name"], m["default"]) for m in other["models"]] == [
        ("default", True),
        ("paper", False),
        ("joint", False),
    ]


def test_health_and_metrics(http: httpx.Client) -> None:
    """Health has the commits; metrics have the requests by route, and never what was asked."""
    health = http.get("/healthz")
    assert health.json() == {
        "status": "ok", "version": __version__, "indexes": {"small": 1, "other": 2}, "problems": {}
    }  # fmt: skip
    http.get("/v1/search", params={"q": "zanzibar"})
    http.get("/v1/entity/zanzibar")
    http.get("/zanzibar")
    text = http.get("/metrics").text
    assert 'fader_requests_total{method="GET",route="/v1/search",status="200"}' in text
    assert 'fader_requests_total{method="GET",route="none",status="404"}' in text
    assert 'fader_index_commit{index="other"} 2.0' in text
    assert 'fader_lane_waiting{lane="engine"} 0.0' in text
    assert "zanzibar" not in text


@pytest.mark.parametrize("path", ["/", "/compare", "/types", "/entity", "/reports", "/reports/x", "/api"])
def test_paths_of_the_page_give_the_page(http: httpx.Client, path: str) -> None:
    reply = http.get(path)
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert reply.text.startswith("<!doctype html>")


def test_files_are_sent_once(http: httpx.Client) -> None:
    """With their types, and a tag by which a browser asks whether they have changed."""
    files = {"js/main.js": "text/javascript", "css/base.css": "text/css", "favicon.svg": "image/svg+xml"}
    for name, kind in files.items():
        reply = http.get(f"/static/{name}")
        assert (reply.status_code, reply.headers["cache-control"]) == (200, "no-cache")
        assert reply.headers["content-type"].startswith(kind)
        again = http.get(f"/static/{name}", headers={"If-None-Match": reply.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_the_page_comes_in_three_files_and_needs_no_more(http: httpx.Client) -> None:
    """Its script and its style are kept for good under their addresses; what it would ask for first stands in it."""
    page = http.get("/")
    for address, kind in re.findall(r'(?:href|src)="(/static/page\.(css|js)\?v=\w+)"', page.text):
        reply = http.get(address)
        assert "immutable" in reply.headers["cache-control"]
        assert reply.headers["content-encoding"] == "gzip"
        plain = http.get(address, headers={"Accept-Encoding": "identity"})
        assert (plain.content, "content-encoding" in plain.headers) == (reply.content, False)
        assert http.get(f"/static/page.{kind}?v=old").headers["cache-control"] == "no-cache"
    opening = re.search(r'<script type="application/json" id="opening">(.*?)</script>', page.text)
    assert opening is not None
    found = json.loads(opening[1])
    assert found == {name: http.get(f"/v1/{name}").json() for name in ("stats", "systems", "examples")}


GETS = [
    "/", "/static/js/main.js", "/healthz", "/metrics", "/openapi.json", "/v1/stats", "/v1/systems", "/v1/reports",
    "/v1/search?q=violin", "/v1/search?q=%22", "/v1/entity/E2", "/nothing",
]  # fmt: skip


@pytest.mark.parametrize("path", GETS)
def test_head_is_get_without_the_body(http: httpx.Client, path: str) -> None:
    got, head = http.get(path), http.head(path)
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert head.headers["content-type"] == got.headers["content-type"]
    if "took_ms" not in got.text and path != "/metrics":
        assert head.headers["content-length"] == str(len(got.content))


@pytest.mark.parametrize(("path", "allowed"), [
    ("/v1/search", "GET, HEAD, POST"), ("/v1/entity/E2", "GET, HEAD"), ("/v1/explain", "GET, HEAD, POST"),
    ("/", "GET, HEAD"), ("/static/js/main.js", "GET, HEAD"), ("/healthz", "GET, HEAD"), ("/mcp", "POST"),
    ("/v1/reports/x", "GET, HEAD"),
])  # fmt: skip
@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FROB"])
def test_other_methods_are_not_allowed(http: httpx.Client, path: str, allowed: str, method: str) -> None:
    """Without CORS, OPTIONS is one of them."""
    reply = http.request(method, path)
    if method == "FROB":  # no method that HTTP's parser knows
        assert reply.status_code == 400
        return
    error = error_of(reply, 405)
    assert (error["code"], reply.headers["allow"]) == ("not_allowed", allowed)


@pytest.mark.parametrize(("path", "status", "code", "more"), [
    ("/v1/search", 400, "bad_request", {"field": "q"}),
    ("/v1/search?q=", 400, "bad_request", {"field": "q"}),
    ("/v1/search?q=%22a", 400, "bad_query", {"position": 0}),
    ("/v1/search?q=-a", 400, "bad_query", {}),
    ("/v1/search?q=a&type=vacine", 400, "bad_query", {}),
    ("/v1/search?q=" + "+".join(map(str, range(100))), 400, "bad_query", {}),
    ("/v1/search?q=a&k=0", 400, "bad_request", {"field": "k"}),
    ("/v1/search?q=a&k=1001", 400, "bad_request", {"field": "k"}),
    ("/v1/search?q=a&k=ten", 400, "bad_request", {"field": "k"}),
    ("/v1/search?q=a&k=" + "9" * 5000, 400, "bad_request", {"field": "k"}),
    ("/v1/search?q=a&k=1e3", 400, "bad_request", {"field": "k"}),
    ("/v1/search?q=a&k=%D9%A1", 400, "bad_request", {"field": "k"}),
    ("/v1/search?q=a&snippets=-1", 400, "bad_request", {"field": "snippets"}),
    ("/v1/search?q=a&snippets=101", 400, "bad_request", {"field": "snippets"}),
    ("/v1/search?q=a&explain=1", 400, "bad_request", {"field": "explain"}),
    ("/v1/search?q=a&timeout_ms=0", 400, "bad_request", {"field": "timeout_ms"}),
    ("/v1/search?q=a&timeout_ms=30001", 400, "bad_request", {"field": "timeout_ms"}),
    ("/v1/search?q=a&format=xml", 400, "bad_request", {"field": "format"}),
    ("/v1/search?q=a&q=b", 400, "bad_request", {"field": "q"}),
    ("/v1/search?q=a&modle=count", 400, "bad_request", {"field": "modle", "hint": 'did you mean "model"?'}),
    ("/v1/search?q=a&model=proximty", 404, "not_found", {"hint": 'did you mean "proximity"?'}),
    ("/v1/search?q=a&model=proximity(width=x)", 400, "bad_request", {"field": "model"}),
    ("/v1/search?q=a&model=fader", 400, "bad_request", {"field": "model"}),
    ("/v1/search?q=a&model=cummins", 400, "bad_request", {"field": "model"}),
    ("/v1/search?q=a&index=smal", 404, "not_found", {"hint": 'did you mean "small"?'}),
    ("/v1/search?q=" + "a" * 2001, 400, "bad_request", {"field": "q"}),
    ("/v1/entity/E9", 404, "not_found", {}), ("/v1/entity/", 404, "not_found", {}),
    ("/v1/entity/E2?limit=0", 400, "bad_request", {"field": "limit"}),
    ("/v1/entity/E2?q=a&offset=-1", 400, "bad_request", {"field": "offset"}),
    ("/v1/explain?q=violin", 400, "bad_request", {"field": "entity"}),
    ("/v1/explain?q=violin&entity=E9", 404, "not_found", {}),
    ("/v1/compare?q=violin&a=nobody", 404, "not_found", {}),
    ("/v1/suggest?kind=word", 400, "bad_request", {"field": "kind"}),
    ("/v1/suggest?limit=101", 400, "bad_request", {"field": "limit"}),
    ("/v1/types?parent=nothing", 404, "not_found", {}),
    ("/v1/analyze", 400, "bad_request", {"field": "text"}),
    ("/v1/stats?x=1", 400, "bad_request", {"field": "x"}),
    ("/v1/search/", 404, "not_found", {}), ("/v1", 404, "not_found", {}), ("/v2/search?q=a", 404, "not_found", {}),
    ("/v1/reports/none", 404, "not_found", {}), ("/docs", 404, "not_found", {}), ("/redoc", 404, "not_found", {}),
])  # fmt: skip
def test_errors_of_get(http: httpx.Client, path: str, status: int, code: str, more: dict[str, Any]) -> None:
    """Each with its code, and what is wrong."""
    error = error_of(http.get(path), status)
    assert {"code": code, **more}.items() <= error.items(), error


@pytest.mark.parametrize(("body", "status", "field"), [
    (b"", 400, "body"), (b"{", 400, "body"), (b"[]", 400, "body"), (b'"q"', 400, "body"), (b"null", 400, "body"),
    (b'{"q": "a", "k": "5"}', 400, "k"), (b'{"q": "a", "k": 5.5}', 400, "k"), (b'{"q": "a", "k": true}', 400, "k"),
    (b'{"q": 5}', 400, "q"), (b'{"q": ["a"]}', 400, "q"), (b'{"q": {"a": "b"}}', 400, "q"), (b"{}", 400, "q"),
    (b'{"q": "a", "kk": 5}', 400, "kk"), (b'{"q": "\xff"}', 400, None), (b'{"q": "\\ud800"}', 400, None),
    (b'{"q": "a"} {"q": "b"}', 400, "body"), (b'{"q": "a", "k": 99999}', 400, "k"),
    (b'{"q": "a", "k": ' + b"9" * 400 + b"}", 400, None), (b"[" * 60_000, 400, "body"),
    (b'{"q": ' + b"[" * 60_000, 400, "body"), (b'{"x": ' + b'{"x": ' * 9_000, 400, None),
    (b'{"q": "' + b"a" * 66_000 + b'"}', 413, None), (b"\xef\xbb\xbf{}", 400, None),
])  # fmt: skip
def test_errors_of_post(http: httpx.Client, body: bytes, status: int, field: str | None) -> None:
    """Bodies that are no JSON, not UTF-8, of another shape, too deep or too large."""
    reply = http.post("/v1/search", content=body, headers={"Content-Type": "application/json"})
    error = error_of(reply, status)
    if field:
        assert error["field"] == field


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx", "é"])
def test_a_body_must_say_that_it_is_json(http: httpx.Client, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind.encode()}
    error = error_of(http.post("/v1/search", content=b'{"q": "violin"}', headers=headers), 415)
    assert error["code"] == "unsupported"


def test_a_charset_beside_json_is_no_fault(http: httpx.Client) -> None:
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert http.post("/v1/search", content=b'{"q": "violin"}', headers=headers).status_code == 200


def test_with_a_body_parameters_are_in_it(http: httpx.Client) -> None:
    """What stands in the address beside a body would be overlooked, so it is refused."""
    error_of(http.post("/v1/search?k=5", json={"q": "violin"}), 400)


def test_every_route_is_described_with_examples(settings: Settings) -> None:
    """Every operation has a summary, examples of parameters, bodies and answers; every example has its shape."""
    described = create_app(settings).openapi()
    for path, operations in described["paths"].items():
        for operation in operations.values():
            assert operation["summary"], path
            assert operation["description"], path
            for parameter in operation.get("parameters", ()):
                assert parameter["description"], (path, parameter)
            for status, answer in operation["responses"].items():
                for kind, content in answer.get("content", {}).items():
                    assert kind != JSON or "example" in content or "examples" in content, (path, status)
    shapes = {"Answer": Answer, "AskedAnswer": AskedAnswer, "Why": Why, "Versus": Versus} | vars(answers)
    for name, example in read_examples().items():
        if name in shapes:
            shown = json.loads(msgspec.json.encode(TypeAdapter(shapes[name]).validate_python(example)))
            for result in shown["results"] if name == "Answer" else ():
                del result["explain"]
            if name == "Health":
                del shown["cluster"]
            assert shown == example, name


def test_a_question_is_asked_as_in_python(http: httpx.Client, folder: Path) -> None:
    """GET and POST give what `index.ask` gives; a reading that is sent back counts alone, as a typed search has it."""
    question, index = "Which scientist played the violin?", fader.open(folder)
    expected = json.loads(json.dumps(index.ask(question, model="default").to_dict()))
    for reply in (
        http.get("/v1/ask", params={"q": question, "model": "default"}),
        http.post("/v1/ask", json={"q": question, "model": "default"}),
    ):
        found = reply.json()
        assert found | {"took_ms": 0} == expected | {"took_ms": 0}
    reading = found["readings"][1]
    back = {"q": question, "query": "+physics", "model": "default"}
    back |= {"any_type": True} if reading["type"] is None else {"type": reading["type"]}
    again = http.post("/v1/ask", json=back).json()
    assert again["chosen"]["type"] == reading["type"]
    assert again["chosen"]["query"] == "+physics"
    typed = index.rank("+physics", reading["type"]).entities
    assert [result["entity"] for result in again["results"]] == typed
    assert http.post("/v1/ask", json={"q": question, "any_type": True}).json()["chosen"]["type"] is None


@pytest.mark.parametrize("question", [
    "", " ", "?", "Who is?", "and or the", "кто написал это?", "誰がバイオリンを弾いた？", "من عزف الكمان؟",
    "\u0000\u202e", "SELECT * FROM t; DROP TABLE t --", "<script>alert(1)</script>", "{{7*7}} ${jndi:ldap://x}", '"""',
    "+ - = entity: type:", "def f(x):\n    return [y for y in x]", "a" * 4_000, "violin " * 2_000, "who " * 3_000,
    "not " * 3_000, '"a ' * 3_000,
])  # fmt: skip
def test_any_question_is_answered_or_refused(http: httpx.Client, question: str) -> None:
    """Nothing to look for is an error with a remedy; other scripts, code and long texts are answered."""
    reply = http.post("/v1/ask", json={"q": question})
    if reply.status_code != 200:
        assert error_of(reply, 400)["message"]


@pytest.mark.parametrize(("asked", "message"), [
    ({"type": "nosuch"}, "unknown type"), ({"type": ""}, "empty"), ({"query": "-violin"}, "forbidden"),
    ({"query": ""}, "empty"), ({"query": '"a'}, "quote"), ({"type": "city", "any_type": True}, "any_type"),
    ({"query": "violin type:city", "type": "painter"}, "two types"), ({"model": "nosuch"}, "no model"),
    ({"query": "entity:nosuch"}, "nosuch"), ({"interpreter": "x.json"}, "no parameter"),
])  # fmt: skip
def test_a_reading_that_cannot_be_asked(http: httpx.Client, asked: dict[str, Any], message: str) -> None:
    """What is wrong with a reading that was sent back is said as a typed search says it."""
    reply = http.post("/v1/ask", json={"q": "Who played the violin?"} | asked)
    assert message in error_of(reply, reply.status_code)["message"]
    assert reply.status_code in (400, 404)


def test_an_entity_by_a_parameter(http: httpx.Client) -> None:
    """As by its path, which not every id can be."""
    asked = {"q": "violin", "limit": 3}
    by_path = http.get("/v1/entity/E2", params=asked).json()
    assert http.get("/v1/entity", params=asked | {"id": "E2"}).json() == by_path
    assert http.get("/v1/entity", params={"id": ".."}).status_code == 404
    assert http.get("/v1/entity").json()["error"]["field"] == "id"


def test_contexts_of_an_entity_as_csv(http: httpx.Client) -> None:
    """A line each, as in the JSON; without a query there are none."""
    asked = {"id": "E2", "q": "violin", "limit": 5}
    items = http.get("/v1/entity", params=asked).json()["evidence"]["contexts"]["items"]
    rows = list(csv.DictReader(io.StringIO(http.get("/v1/entity", params=asked | {"format": "csv"}).text)))
    assert [row["doc"] for row in rows] == [item["doc"] for item in items]
    assert http.get("/v1/entity", params={"id": "E2", "format": "csv"}).status_code == 400


def test_contexts_of_an_entity_have_the_limit_of_snippets(http: httpx.Client, settings: Settings) -> None:
    """What the description says is what is taken."""
    described = http.get("/openapi.json").json()["paths"]["/v1/entity/{id}"]["get"]["parameters"]
    limit = next(p for p in described if p["name"] == "limit")["schema"]["maximum"]
    assert limit == settings.snippets
    asked = {"q": "violin", "limit": limit}
    assert http.get("/v1/entity/E2", params=asked).status_code == 200
    refused = http.get("/v1/entity/E2", params=asked | {"limit": limit + 1})
    assert refused.json()["error"]["field"] == "limit"


def test_types_by_their_ids(http: httpx.Client) -> None:
    """In the order of the ids, each once, without those that are none."""
    found = http.get("/v1/types", params={"ids": "city|nope|person|city"}).json()
    assert [t["id"] for t in found["types"]] == ["city", "person"]
    assert found["total"] == 2


def test_the_parameter_to_blame_is_named(http: httpx.Client) -> None:
    """In a comparison it is the one that holds the wrong text."""
    for field in ("a", "b"):
        refused = http.get("/v1/compare", params={"q": "violin", field: "nope"})
        assert (refused.status_code, refused.json()["error"]["field"]) == (404, field)


@pytest.mark.parametrize(("asked", "message", "hint"), [
    ({"q": ""}, "q must not be empty", "give q"),
    ({"q": "a" * 2001}, "q must have 2,000 characters at most", "shorten it"),
    ({"q": "a", "k": 0}, "k must be 1 at least", "give a larger number"),
    ({"q": "a", "format": "xml"}, "format must not be xml", "give json or csv"),
    ({"q": "a", "type": "persn"}, 'unknown type "persn"', 'did you mean "person"?'),
    ({"q": "type:city a", "type": "person"}, "", "give one"),
])  # fmt: skip
def test_faults_are_told_in_words(http: httpx.Client, asked: dict[str, Any], message: str, hint: str) -> None:
    """What is wrong, and what to do."""
    error = http.get("/v1/search", params=asked).json()["error"]
    assert message in error["message"]
    assert error["hint"] == hint


def test_a_person_who_is_lost_gets_the_page(http: httpx.Client) -> None:
    """With the status of what is not there; programs get JSON."""
    lost = http.get("/entity/nope", headers={"Accept": "text/html"})
    assert (lost.status_code, lost.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert http.get("/v1/nope", headers={"Accept": "text/html"}).headers["content-type"] == JSON
    assert http.get("/entity/nope").headers["content-type"] == JSON
