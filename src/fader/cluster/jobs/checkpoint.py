"""What a long job has found already, kept beside its output until that is whole: a killed job goes on where it was.

    OUT.unfinished/KEY/000012.part := xxh3 of the rest, 16 hexadecimal digits, newline, the rest

KEY is a checksum of all that the result hangs on, so that parts of another job are never taken for ours: they are
removed. A part is written beside its place, synced and renamed; one that cannot be believed is none. One job at a time
writes an output. Knows nothing of what is kept.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import xxhash

from fader.errors import DamagedError, StorageError
from fader.jobs.storage import LocalFolder, hold_folder

DIGITS = 16


class Parts:
    """The parts of one job, by number."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:06d}.part"

    def put(self, number: int, data: bytes) -> None:
        """Keep a part."""
        with _in_words(self._path(number)):
            LocalFolder(self._folder).write(
                self._path(number).name, xxhash.xxh3_64_hexdigest(data).encode() + b"\n" + data
            )

    def find(self, number: int) -> bytes | None:
        """A part, None where it is not there whole."""
        try:
            kept = self._path(number).read_bytes()
        except FileNotFoundError:
            return None
        digest, data = kept[:DIGITS], kept[DIGITS + 1 :]
        return data if digest == xxhash.xxh3_64_hexdigest(data).encode() else None

    def get(self, number: int) -> bytes:
        """A part that was kept."""
        found = self.find(number)
        if found is None:
            raise DamagedError(f"{self._path(number)}: was removed or altered; run the same command again")
        return found


@contextmanager
def parts_of(output: str, about: Mapping[str, Any]) -> Iterator[Parts]:
    """The parts of the job that writes `output`; `about` is all that its result hangs on. Gone when all went well."""
    key = xxhash.xxh3_64_hexdigest(json.dumps(about, sort_keys=True, default=str).encode())
    final = Path(output).resolve()
    if final.is_dir():
        raise StorageError(f"{output}: is a folder; give a file")
    if output == "-" or (final.exists() and not final.is_file()):  # nothing can be kept beside it
        with tempfile.TemporaryDirectory(prefix="fader-") as place:
            yield Parts(Path(place))
        return
    folder = final.with_name(f"{final.name}.unfinished")
    with ExitStack() as held:
        with _in_words(folder):
            folder.mkdir(exist_ok=True)
            held.enter_context(hold_folder(folder, final))
            _clear(folder, key)
        yield Parts(folder / key)
        shutil.rmtree(folder, ignore_errors=True)


def _clear(folder: Path, key: str) -> None:
    """The folder of a job's parts; those of other jobs with the same output are of no use any more."""
    for other in folder.iterdir():
        if other.is_dir() and other.name != key:
            shutil.rmtree(other)
    (folder / key).mkdir(exist_ok=True)


@contextmanager
def _in_words(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"{place}: cannot be written: {error.strerror or error}") from error
