"""`fader serve` and `fader cluster serve` as processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(*arguments: str | Path, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address of a service that `fader ARGUMENTS` runs."""
    command = [sys.executable, "-m", "fader", *map(str, arguments), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}) as running:
        assert running.stderr is not None
        said = ""
        try:
            while " at http" not in said:
                line = running.stderr.readline()
                assert line, said
                said += line
            yield said.split(" at ")[-1].split()[0].rstrip("/")
        finally:
            running.stderr.close()
            running.terminate()
            running.wait(60)
