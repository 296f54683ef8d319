"""Dockerfile, compose file, unit and try-out agree: one installation, one command, one user, one port."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from fader.cli import cli
from fader.cli.serve import command as serve

ROOT = Path(__file__).resolve().parents[2]
INSTALL, TRY = ROOT / "deploy" / "install.sh", ROOT / "deploy" / "try.sh"


def read_unit() -> dict[str, str]:
    lines = (ROOT / "deploy" / "fader.service").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def read_dockerfile() -> dict[str, str]:
    """The last instruction of each kind."""
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    return dict(line.split(" ", 1) for line in lines if re.match(r"[A-Z]+ ", line))


def read_commands() -> dict[str, list[str]]:
    """What each of them runs, without the program."""
    docker = read_dockerfile()
    program, *unit = shlex.split(read_unit()["ExecStart"])
    assert json.loads(docker["ENTRYPOINT"]) == [program]
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
    return {"unit": unit, "docker": json.loads(docker["CMD"]), "compose": compose["services"]["fader"]["command"]}


def test_all_install_by_the_same_script() -> None:
    """The Dockerfile and the try-out run it; what they start is where it installs."""
    docker, script, trying = read_dockerfile(), INSTALL.read_text("utf-8"), TRY.read_text("utf-8")
    assert "sh /src/deploy/install.sh /src" in docker["RUN"]
    assert "sh /src/deploy/install.sh /src" in trying
    program = json.loads(docker["ENTRYPOINT"])[0]
    assert f"python3 -m venv {program.removesuffix('/bin/fader')}\n" in script
    assert f"{program} demo {read_commands()['docker'][1].removesuffix('/index')} " in script
    user = read_unit()["User"]
    assert docker["USER"] == user
    assert re.search(rf"useradd .*{user}$", script, re.MULTILINE)
    assert f"--reuid={user}" in trying
    assert docker["WORKDIR"] == read_unit()["WorkingDirectory"]


def test_the_try_out_takes_suite_and_command_from_the_files() -> None:
    """It names neither itself."""
    script = TRY.read_text("utf-8")
    suite = re.match(r"debian:(\w+)", read_dockerfile()["FROM"])
    assert suite is not None
    assert suite[1] not in script
    assert read_unit()["ExecStart"] not in script
    assert "s/^ExecStart=//p" in script


@pytest.mark.parametrize("which", ["unit", "docker", "compose"])
def test_what_is_started_is_a_command(which: str) -> None:
    """Its options exist; all serve on the same port."""
    name, *given = read_commands()[which]
    assert name == "serve"
    context = serve.make_context("serve", list(given), parent=cli.make_context("fader", ["serve"]))
    assert context.params["port"] == 8080 == int(read_dockerfile()["EXPOSE"])
    assert context.params["host"] == ("127.0.0.1" if which == "unit" else "0.0.0.0")


@pytest.mark.parametrize("script", [INSTALL, TRY], ids=lambda path: path.name)
def test_the_scripts_parse(script: Path) -> None:
    """And can be run."""
    subprocess.run(["bash", "-n", script], check=True)
    assert os.access(script, os.X_OK)
    assert "://" not in script.read_text("utf-8").replace("http://127.0.0.1", "")
