"""Reports over HTTP: what is told of them, what is read anew, and that nothing else of the disk can be reached."""

from __future__ import annotations

import asyncio
import csv
import gzip
import io
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("fastapi")

from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message

from fader.experiment.comparison import Comparison, SystemResult
from fader.experiment.reporting import figures
from fader.experiment.reporting.report import ReportExtras, StoredReport, write_report
from fader.experiment.significance import p_value
from fader.serve.errors import JSON, Refusal
from fader.serve.reports import files as reportfiles
from fader.serve.reports import shelf
from fader.serve.reports.pair import compare_pair
from fader.serve.reports.shelf import ServedReport
from fader.serve.routes import reports
from fader.serve.settings import Settings

HOSTILE = "<script>alert(1)</script>\u202e'\"=1+1"


def comparison(**changed: Any) -> Comparison:
    """Three systems on four queries; `fader` is the best, `other` the same as it."""
    best = {"AP": [0.9, 0.8, 0.7, 1.0], "pairswap": [0.1, 0.0, 0.2, None]}
    values: dict[str, Any] = {
        "title": "Mine", "measures": ["AP", "pairswap"], "queries": ["q1", "q2", "q3", "q4"],
        "texts": ["=1+1", "violin", 'a "b', ""], "types": ["T", None, "U", "T"], "candidates": [5, 6, 7, 8],
        "systems": [
            SystemResult("count", {"AP": [0.1, 0.9, 0.2, 0.3], "pairswap": [0.5, 0.4, 0.2, None]}),
            SystemResult("fader", best, hyperparameters=[{"model": "m", "lambda": 1.0}, {"model": "m", "lambda": 2.0}]),
            SystemResult("other", best, hyperparameters=[{"model": "voting(cutoff=10)", "queries": 4}]),
        ],
        "smaller_is_better": ["pairswap"], "provenance": {"index": "web", "documents": 3},
    }  # fmt: skip
    return Comparison(**{**values, **changed})


def client(folders: dict[str, Path]) -> TestClient:
    """The routes of reports alone, with errors as the service gives them."""
    app = FastAPI()
    app.include_router(reports.router(Settings(indexes={}, reports=folders)))

    async def refused(_request: Any, error: Exception) -> Response:
        assert isinstance(error, Refusal)
        return Response(error.body(), error.status, error.headers, JSON)

    app.add_exception_handler(Refusal, refused)
    return TestClient(app)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_report(comparison(), tmp_path / "report", figures=False)
    return tmp_path / "report"


@pytest.fixture
def ask(place: Path) -> Iterator[TestClient]:
    with client({"mine": place}) as found:
        yield found


def error_of(answer: Any, status: int = 404) -> dict[str, str]:
    assert answer.status_code == status
    error: dict[str, str] = answer.json()["error"]
    assert error["message"]
    return error


# What is told


def test_list(ask: TestClient) -> None:
    """Name, title, counts, measures, index, time and the best by the first measure."""
    (line,) = ask.get("/v1/reports").json()["reports"]
    assert line.pop("time").endswith("Z")
    assert line.pop("best")["system"] == "fader"
    assert line == {
        "name": "mine", "title": "Mine", "index": "web", "systems": 3, "queries": 4, "measures": ["AP", "pairswap"],
    }  # fmt: skip


def test_report_holds_its_json_and_the_table_as_numbers(ask: TestClient, place: Path) -> None:
    """All of report.json, and the table with best, worse and p of each mean."""
    told = ask.get("/v1/reports/mine").json()
    written = json.loads((place / "report.json").read_text())
    for key in ("title", "measures", "queries", "texts", "types", "candidates", "provenance", "significance"):
        assert told[key] == written[key]
    assert [s["values"] for s in told["systems"]] == [s["values"] for s in written["systems"]]
    assert [c["title"] for c in told["table"]["columns"]] == ["MAP", "Pairswap"]
    count, best, _ = told["table"]["rows"]
    assert best["cells"][0]["best"]
    assert best["cells"][0]["mean"] == pytest.approx(0.85)
    values = comparison().matrix("AP")
    assert count["cells"][0]["p"] == pytest.approx(p_value(values[0], values[1]))
    assert {f["file"] for f in told["files"]} >= {"table.csv", "report.json", "index.html"}
    assert {"index": "web", "queries": "4"}.items() <= told["made_by"].items()


def test_report_without_values_is_brief(ask: TestClient) -> None:
    """With values=false nothing is per query, but what was chosen and what can be asked stays."""
    told = ask.get("/v1/reports/mine", params={"values": "false"}).json()
    assert told["queries"] == 4
    assert all(not s["values"] and not s["hyperparameters"] for s in told["systems"])
    assert [s["runs"] for s in told["systems"]] == ["count", "m", "voting(cutoff=10)"]
    chosen = [("model=m, lambda=1", 1), ("model=m, lambda=2", 1)]
    assert [(c["settings"], c["folds"]) for c in told["systems"][1]["chosen"]] == chosen
    assert not {"supports", "texts"} & set(told)


def test_report_that_is_known_is_not_sent_again(ask: TestClient) -> None:
    """An ETag for each form; compressed where it is worth it and asked for."""
    first = ask.get("/v1/reports/mine")
    again = ask.get("/v1/reports/mine", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    brief = ask.get("/v1/reports/mine", params={"values": "false"})
    assert brief.headers["ETag"] != first.headers["ETag"]


def test_large_report_is_compressed(tmp_path: Path) -> None:
    """The same JSON, packed and not."""
    n = 400
    systems = [SystemResult(f"s{i}", {"AP": [i / 7 + q / 1000 for q in range(n)]}) for i in range(3)]
    large = comparison(
        measures=["AP"], queries=[f"q{i}" for i in range(n)], texts=[], types=[], candidates=[], systems=systems,
        smaller_is_better=[],
    )  # fmt: skip
    write_report(large, tmp_path / "large", figures=False)
    with client({"large": tmp_path / "large"}) as ask:
        packed = ask.get("/v1/reports/large", headers={"Accept-Encoding": "gzip"})
        assert packed.headers["Content-Encoding"] == "gzip"
        assert packed.json() == ask.get("/v1/reports/large", headers={"Accept-Encoding": "identity"}).json()
        assert gzip.decompress(gzip.compress(packed.content)) == packed.content


# Two systems


def test_pair_by_default_is_the_best_and_the_next_that_differs(ask: TestClient) -> None:
    """`other` equals `fader` on every query, so `count` is set against it."""
    pair = ask.get("/v1/reports/mine/pair").json()
    assert (pair["a"]["system"], pair["b"]["system"], pair["measure"]) == ("fader", "count", "AP")
    assert (pair["better"], pair["worse"], pair["same"], pair["undefined"]) == (3, 1, 0, 0)
    assert [q["query"] for q in pair["queries"]] == ["q1", "q4", "q3", "q2"]
    first = pair["queries"][0]
    assert first["difference"] == pytest.approx(0.8)
    assert (first["text"], first["type"], first["candidates"]) == ("=1+1", "T", 5)
    values = comparison().matrix("AP")
    assert pair["p"] == pytest.approx(p_value(values[1], values[0]))
    assert pair["difference"] == pytest.approx(float((values[1] - values[0]).mean()))


def test_pair_where_smaller_is_better_and_a_query_has_no_value(ask: TestClient) -> None:
    """Better counts the smaller values; a query that one of them has no value for is left out and counted."""
    pair = ask.get("/v1/reports/mine/pair", params={"measure": "pairswap", "a": "fader", "b": "count"}).json()
    assert (pair["better"], pair["worse"], pair["same"], pair["undefined"]) == (2, 0, 1, 1)
    assert len(pair["queries"]) == 3


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.floats(0, 1) | st.none(), st.floats(0, 1) | st.none()), min_size=1, max_size=8))
def test_pair_counts_as_plain_python_does(values: list[tuple[float | None, float | None]]) -> None:
    """Wins, losses, ties and order of any values."""
    systems = [SystemResult(name, {"AP": [pair[i] for pair in values]}) for i, name in enumerate("ab")]
    data = comparison(
        measures=["AP"], queries=[f"q{i}" for i in range(len(values))], texts=[], types=[], candidates=[],
        systems=systems, smaller_is_better=[],
    )  # fmt: skip
    stored = StoredReport(data, ReportExtras())
    pair = compare_pair(ServedReport("r", "", "", stored, stored.table(), []), "a", "b", "")
    known = [(a, b) for a, b in values if a is not None and b is not None]
    assert pair.better == sum(a > b for a, b in known)
    assert pair.worse == sum(a < b for a, b in known)
    assert pair.undefined == len(values) - len(known)
    sizes = [abs(q.difference) for q in pair.queries]
    assert sizes == sorted((abs(a - b) for a, b in known), reverse=True)


def test_pair_as_csv_runs_no_formula(ask: TestClient) -> None:
    """One line a query; a text that a spreadsheet would run begins with an apostrophe."""
    answer = ask.get("/v1/reports/mine/pair", params={"format": "csv"})
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["Content-Disposition"]
    lines = list(csv.reader(io.StringIO(answer.text)))
    assert lines[0] == ["query", "text", "type", "fader", "count", "difference", "candidates"]
    assert lines[1][:3] == ["q1", "'=1+1", "T"]
    assert float(lines[1][5]) == pytest.approx(0.8)


@pytest.mark.parametrize(("asked", "field"), [({"a": "foder"}, "a"), ({"b": "x"}, "b"), ({"measure": "ap"}, "measure")])
def test_pair_of_what_is_not_there(ask: TestClient, asked: dict[str, str], field: str) -> None:
    """The parameter at fault is named."""
    assert error_of(ask.get("/v1/reports/mine/pair", params=asked), 400)["field"] == field


def test_pair_needs_two_systems(tmp_path: Path) -> None:
    """A report of one system has none."""
    write_report(comparison(systems=comparison().systems[:1]), tmp_path / "one", figures=False)
    with client({"one": tmp_path / "one"}) as ask:
        assert "two" in error_of(ask.get("/v1/reports/one/pair"), 400)["message"]


# Reading


def test_report_written_anew_is_seen(ask: TestClient, place: Path) -> None:
    """Without a restart; and what did not change is not read again."""
    assert ask.get("/v1/reports/mine").json()["title"] == "Mine"
    write_report(comparison(title="New"), place, figures=False, overwrite=True)
    assert ask.get("/v1/reports/mine").json()["title"] == "New"


def test_report_is_read_once(ask: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as its report.json stays as it is."""
    read = []
    whole = shelf.parse_report
    monkeypatch.setattr(shelf, "parse_report", lambda *given: read.append(1) or whole(*given))
    for _ in range(3):
        ask.get("/v1/reports")
        ask.get("/v1/reports/mine/pair")
    assert len(read) == 1


def test_report_of_an_older_release(place: Path, ask: TestClient) -> None:
    """Without types, table and captions everything is still told, types as null."""
    path = place / "report.json"
    old = json.loads(path.read_text())
    for key in ("types", "table", "figures", "significance"):
        del old[key]
    path.write_text(json.dumps(old))
    assert ask.get("/v1/reports/mine").json()["table"]["rows"][1]["cells"][0]["best"]
    assert {q["type"] for q in ask.get("/v1/reports/mine/pair").json()["queries"]} == {None}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"format": "fader-comparison/1"}', b"\xff", b"[" * 100_000, b'{"format": "comparison/9"}'],
)  # fmt: skip
def test_damaged_report_says_so(place: Path, ask: TestClient, content: bytes) -> None:
    """An error with the reason, in the list and alone; never a traceback, never a folder of the server."""
    (place / "report.json").write_bytes(content)
    error = error_of(ask.get("/v1/reports/mine"))
    assert "report.json" in error["message"]
    assert str(place) not in error["message"]
    (line,) = ask.get("/v1/reports").json()["reports"]
    assert set(line) == {"name", "error"}


def test_table_that_does_not_fit_is_made_anew(place: Path, ask: TestClient) -> None:
    """A table in report.json that lacks a system or a cell is not believed."""
    path = place / "report.json"
    data = json.loads(path.read_text())
    data["table"]["rows"][0]["cells"] = []
    path.write_text(json.dumps(data))
    assert len(ask.get("/v1/reports/mine").json()["table"]["rows"][0]["cells"]) == 2


def test_unknown_report(ask: TestClient) -> None:
    """With the name that was meant."""
    assert error_of(ask.get("/v1/reports/mina"))["hint"] == 'did you mean "mine"?'


def test_hostile_texts_stay_data(tmp_path: Path) -> None:
    """Whatever is in names, titles and texts comes back as it was, as JSON."""
    data = comparison(title=HOSTILE, queries=[HOSTILE, "q2", "q3", "q4"], texts=[HOSTILE] * 4)
    data = replace(data, systems=[replace(s, name=HOSTILE + s.name) for s in data.systems])
    write_report(data, tmp_path / "bad", figures=False)
    with client({"bad": tmp_path / "bad"}) as ask:
        answer = ask.get("/v1/reports/bad")
        assert answer.headers["Content-Type"] == JSON
        assert answer.json()["title"] == HOSTILE
        assert ask.get("/v1/reports/bad/pair").json()["queries"][0]["text"] == HOSTILE


# Files


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("table.csv", "text/csv"), ("table.md", "text/markdown"), ("table.tex", "text/x-tex"), ("report.json", JSON),
        ("index.html", "text/html"),
    ],
)  # fmt: skip
def test_files(ask: TestClient, place: Path, file: str, kind: str) -> None:
    """As they are on disk, saved and never shown, under a policy that lets nothing run."""
    answer = ask.get(f"/v1/reports/mine/files/{file}")
    assert answer.content == (place / file).read_bytes()
    assert answer.headers["Content-Type"].partition(";")[0] == kind
    assert answer.headers["Content-Length"] == str(len(answer.content))
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    again = ask.get(f"/v1/reports/mine/files/{file}", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304


@pytest.mark.skipif(not figures.can_draw(), reason="matplotlib is not installed")
def test_figures(tmp_path: Path) -> None:
    """Drawings in light and dark with captions; those of an older report have their own titles."""
    write_report(comparison(), tmp_path / "report")
    with client({"mine": tmp_path / "report"}) as ask:
        told = ask.get("/v1/reports/mine").json()["figures"]
        assert [f["name"] for f in told] == ["means", "candidates"]
        assert all(f["caption"] for f in told)
        light, dark = (
            ask.get("/v1/reports/mine/files/figures/means.svg", params={"theme": t}) for t in ("light", "dark")
        )
        assert light.headers["Content-Type"] == "image/svg+xml"
        assert "Content-Disposition" not in light.headers
        assert light.headers["ETag"] != dark.headers["ETag"]
        assert figures.PAPER in light.text
        assert figures.PAPER not in dark.text
        data = json.loads((tmp_path / "report" / "report.json").read_text())
        del data["figures"]
        (tmp_path / "report" / "report.json").write_text(json.dumps(data))
        assert ask.get("/v1/reports/mine").json()["figures"][0] == {
            "name": "means", "title": "MAP by system", "caption": "", "file": "figures/means.svg",
        }  # fmt: skip


@pytest.mark.parametrize(
    "file",
    [
        "secret.csv", "../secret.csv", "%2e%2e/secret.csv", "..%2fsecret.csv", "figures/../report.jsonx", "/etc/passwd",
        "%2fetc%2fpasswd", "figures/%2e%2e/secret.csv", "figures", "figures/", "figures/x.svg", "table.csv%00", "",
        "table.csv/", ".", "Table.csv", "figures/weights-0.svg", "figures/means.svg.gz", "report.json~", "a" * 5000,
    ],
)  # fmt: skip
def test_nothing_else_is_served(ask: TestClient, place: Path, file: str) -> None:
    """Only names that a report is known to consist of, whatever else is in or beside its folder."""
    (place / "secret.csv").write_text("secret")
    (place.parent / "secret.csv").write_text("secret")
    answer = ask.get(f"/v1/reports/mine/files/{file}")
    assert answer.status_code in (404, 405)
    assert b"secret" not in answer.content.replace(b"secret.csv", b"")


def test_links_are_not_followed(ask: TestClient, place: Path) -> None:
    """Not of a file, not of its folder, not of report.json; a pipe or a folder of a known name is no file either."""
    secret = place.parent / "secret"
    secret.mkdir()
    (secret / "means.svg").write_text("secret")
    (place / "table.csv").unlink()
    (place / "table.csv").symlink_to(secret / "means.svg")
    (place / "figures").symlink_to(secret)
    (place / "table.md").unlink()
    os.mkfifo(place / "table.md")
    (place / "table.tex").unlink()
    (place / "table.tex").mkdir()
    for file in ("table.csv", "figures/means.svg", "table.md", "table.tex"):
        error_of(ask.get(f"/v1/reports/mine/files/{file}"))
    assert {f["file"] for f in ask.get("/v1/reports/mine").json()["files"]}.isdisjoint(
        {"table.csv", "table.md", "table.tex"}
    )
    (place / "report.json").rename(secret / "report.json")
    (place / "report.json").symlink_to(secret / "report.json")
    error_of(ask.get("/v1/reports/mine"))


def test_wrong_parameters(ask: TestClient) -> None:
    """A value that is none of those allowed is refused."""
    for path in ("mine?values=maybe", "mine/pair?format=xml", "mine/files/table.csv?theme=pink"):
        assert ask.get(f"/v1/reports/{path}").status_code == 422  # the service says 400


def test_a_file_is_closed_where_the_client_leaves_before_it_begins(tmp_path: Path) -> None:
    """Else it would stay open until somebody collects garbage."""
    (tmp_path / "table.csv").write_text("a,b\n")
    opened = reportfiles.open_file(tmp_path, "table.csv")
    answer = reportfiles.Streamed(opened, 4, {}, "text/csv")

    async def gone(_message: Message) -> None:
        raise OSError("the client is gone")

    async def silence() -> Message:
        await asyncio.sleep(60)
        raise AssertionError("nobody waits so long")

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "asgi": {"spec_version": "2.4"}}
    with pytest.raises((OSError, ClientDisconnect)):
        asyncio.run(answer(scope, silence, gone))
    assert opened.closed
