"""A container in a temporary folder, for tests that store something and read it back."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fader.index.format import Container, FileWriter, writing


@contextmanager
def stored(write: Callable[[FileWriter], object]) -> Iterator[Container]:
    """The container that `write` has filled, opened as a commit would open it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        with writing(path, "test") as writer:
            write(writer)
            described = writer.close()
        container = Container(path, "test", described)
        container.verify()
        yield container
