"""The journal of a job that writes one output file, beside that file until it is complete.

    OUT.unfinished/KEY/000012.part      the result of a chunk (`fader.jobs.journal`)

KEY is the digest of the job's key; results of a job with another key are removed. Only one job at a time can write an
output. Knows nothing of the contents of results.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from fader.errors import StorageError
from fader.jobs.journal import Journal, Key, digest_key
from fader.jobs.storage import LocalFolder, hold_folder


@contextmanager
def open_journal(output: str, key: Key) -> Iterator[Journal]:
    """Open the journal of the job that writes `output`; it is removed on success."""
    digest, final = digest_key(key), Path(output).resolve()
    if final.is_dir():
        raise StorageError(f"{output}: is a folder; give a file")
    if output == "-" or (final.exists() and not final.is_file()):  # no journal can lie beside it
        with tempfile.TemporaryDirectory(prefix="fader-") as place:
            yield Journal(LocalFolder(Path(place)), key=digest)
        return
    folder = final.with_name(f"{final.name}.unfinished")
    with ExitStack() as held, _explain_errors(folder):
        folder.mkdir(exist_ok=True)
        held.enter_context(hold_folder(folder, final))
        for other in folder.iterdir():
            if other.is_dir() and other.name != digest:
                shutil.rmtree(other)
        (folder / digest).mkdir(exist_ok=True)
        yield Journal(LocalFolder(folder), digest, digest)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _explain_errors(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"{error.filename or place}: cannot be written: {error.strerror or error}") from error
