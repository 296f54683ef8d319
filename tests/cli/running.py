"""Runs the command line inside the test's process, exactly as the `fader` script does."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from fader.cli import main


@dataclass(frozen=True)
class Outcome:
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def fader(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
    """Call `fader ARGUMENTS`; whatever happens, no traceback may be shown."""
    out, err = io.StringIO(), io.StringIO()
    given = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)))  # type: ignore[type-var]
    code: Any = 0
    with (
        mock.patch.object(sys, "argv", ["fader", *map(str, arguments)]),
        mock.patch.object(sys, "stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    assert "Traceback" not in out.getvalue() + err.getvalue()
    return Outcome(int(code), out.getvalue(), err.getvalue())


def passed(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
    """Call a command that must succeed."""
    outcome = fader(*arguments, stdin=stdin)
    assert outcome.code == 0, outcome.err
    return outcome


def refused(code: int, *arguments: str | Path, stdin: bytes = b"") -> str:
    """Call a command that must fail with an exit code; returns what it says, which stays off standard output."""
    outcome = fader(*arguments, stdin=stdin)
    assert outcome.code == code, (outcome.code, outcome.err)
    assert outcome.out == ""
    assert outcome.err.strip()
    return outcome.err
