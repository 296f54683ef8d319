"""Whatever is sent, the service answers as its OpenAPI document says.

schemathesis makes requests from the document, right and wrong ones (examples, borders of every parameter, draws), sends
them to a real server, and compares every answer with the document: status, type of content, headers, shape of the JSON.
CI draws a few of each route; `FADER_DOSE=1` draws 100 times as many.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dose import dose
from fader.serve.settings import Settings
from serve.live import build, running

KEY = "k-3f9a2c71d5e84b06a1c2d3e4f5a6b7c8"
CONFIG = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 503, 504]  # a full queue and a time that is over are no faults

[checks.positive_data_acceptance]
# A query may have every form of a text and still not be one; a name may have every form and name nothing.
expected-statuses = ["2xx", 400, 404, 503, 504]

[checks.negative_data_rejection]
expected-statuses = ["4xx", 503, 504]  # schemathesis leaves out 413: a text beyond its limit may be beyond the body's
"""


def checked(url: str, folder: Path, phases: str, draws: int, *options: str) -> None:
    """Let schemathesis loose on a service; what it finds fails the test."""
    config = folder / "schemathesis.toml"
    config.write_text(CONFIG)
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run", f"{url}/openapi.json"]
    command += ["--checks", "all", "--phases", phases, "--max-examples", str(draws), "--workers", "2", *options]
    command += ["--generation-database", "none", "--suppress-health-check", "all", "--warnings", "off"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    if ended.returncode:
        found = "\n".join(line[:1000] for line in (ended.stdout + ended.stderr).splitlines())  # bodies are long
        pytest.fail(f"schemathesis:\n{found}", pytrace=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("schema") / "index")


def test_every_answer_is_declared(folder: Path, tmp_path: Path) -> None:
    """No fault of the server, no answer that the document does not have, nothing wrong taken for right."""
    with running(Settings(indexes={"small": folder, "again": folder})) as url:
        checked(url, tmp_path, "examples,coverage,fuzzing", dose(1_000, least=10))


def test_with_keys_every_answer_is_declared_and_none_is_given_without_one(folder: Path, tmp_path: Path) -> None:
    """The same where keys are asked for: no route that says so answers without, or to another key."""
    (tmp_path / "keys.txt").write_text(f"tests {KEY}\n")
    with running(Settings(indexes={"small": folder}, keys=tmp_path / "keys.txt")) as url:
        header = f"Authorization: Bearer {KEY}"
        checked(url, tmp_path, "examples,fuzzing", dose(100, least=3), "--header", header)
