"""Build an index: read, cut into segments, freeze, commit. The folder appears whole or not at all.

A new index is built in a folder beside its destination and renamed into place; in a folder that is there already,
empty or an index, it is a new commit, so that an old one answers until the very last step. Knows nothing of queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fader.corpus.analysis import Analysis
from fader.corpus.catalog import Catalog, Given, read_catalog
from fader.corpus.documents import Faults
from fader.corpus.readers import check_readable
from fader.corpus.rows import ID
from fader.corpus.tables import COLUMNS_HELP
from fader.errors import StorageError, UsageError, quote
from fader.index.catalog import type_ancestors, write_catalog
from fader.index.commit import commit_numbers, is_debris, remove_debris, remove_unneeded, write_commit
from fader.index.lock import lock_for_writing
from fader.index.manifest import KEEP, Manifest, build_manifest
from fader.index.write.builder import CatalogView, Numbers
from fader.index.write.freeze import Closure
from fader.index.write.ingest import Intake
from fader.index.write.staging import remove_abandoned, stage_folder
from fader.limits import Limits
from fader.memory import keep_freed_memory
from fader.options import option
from fader.progress import Progress, Silent

LARGEST_COUNT = 1 << 31
KEEP_HELP = f"Keep the newest N commits from now on; {KEEP} if never given."
Corpus = str | Path | Iterable[str | Path] | Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class BuildOptions:
    """How to build. `memory_mb` bounds what a segment may need before it is written out."""

    analysis: Analysis = field(default_factory=Analysis)
    on_error: str = "skip"
    catalog_on_error: str = "fail"
    memory_mb: int = option(2048, help="Memory a segment may take.", flags=("--memory",), metavar="MB")
    segment_tokens: int | None = None
    threads: int | None = option(None, help="Threads, one a core unless given; the index is the same with any.")
    keep_text: bool = option(True, help="Do not store texts: smaller, but without snippets.", flags=("--no-text",))
    overwrite: bool = option(False, help="Replace the index in DIR once the new one is whole.")
    keep: int = option(KEEP, help=KEEP_HELP, least=1, metavar="N", show_default=False)
    limits: Limits | None = None
    columns: str | None = option(None, help=COLUMNS_HELP, metavar="ROLE=COLUMN,...")

    def __post_init__(self) -> None:
        check_choice(self.catalog_on_error)
        check_counts(self, memory_mb=16, threads=1, segment_tokens=1, keep=1)


def check_choice(on_error: str) -> None:
    """Refuse another word than skip and fail for faults of a catalog."""
    if on_error not in ("skip", "fail"):
        raise UsageError(f'catalog_on_error must be "skip" or "fail", not {quote(on_error)}')


def check_counts(options: Any, **least: int) -> None:
    """Refuse options that are no whole numbers, too small, or too large for a manifest."""
    for name, smallest in least.items():
        value = getattr(options, name)
        if value is None:
            continue
        if type(value) is not int or value > LARGEST_COUNT:
            raise UsageError(f"{name} must be a whole number from {smallest} to {LARGEST_COUNT:,}, not {quote(value)}")
        if value < smallest:
            raise UsageError(f"{name} must be at least {smallest}, not {value}")


@dataclass(slots=True)
class BuildReport:
    """What was built, and what could not be used."""

    manifest: Manifest
    faults: Faults
    catalog_notes: list[str]
    tables: list[str] = field(default_factory=list)  # how a catalog that is a table was read, in words


def build(
    folder: Path,
    corpus: Corpus,
    entities: Given,
    types: Given | None,
    options: BuildOptions,
    progress: Progress | None = None,
) -> BuildReport:
    """Build an index of the corpus in `folder`."""
    keep_freed_memory()
    sources = check_sources(corpus)
    folder = folder.resolve()
    with storage_errors(folder):
        is_new = _existing_commit(folder, options.overwrite) is None
    catalog = read_catalog(entities, types, options.catalog_on_error, options.limits, options.columns)
    with storage_errors(folder):
        remove_abandoned(folder)
        if is_new:
            with stage_folder(folder) as work:
                return _build_in(work, 1, sources, catalog, options, progress or Silent())
        with lock_for_writing(folder):
            existing = _existing_commit(folder, options.overwrite) or 0  # again: another may have written meanwhile
            remove_debris(folder, existing)
            report = _build_in(folder, existing + 1, sources, catalog, options, progress or Silent())
            remove_unneeded(folder, options.keep)
    return report


def _build_in(
    folder: Path, number: int, sources: Iterable[Any], catalog: Catalog, options: BuildOptions, progress: Progress
) -> BuildReport:
    """Build as a commit of a folder: what was there answers until the last step, and stays if that fails."""
    faults = Faults(options.on_error)
    try:
        stored = write_catalog(folder / f"{number:08d}.catalog", catalog)
        segments = _intake(folder, number, catalog, options, faults).read_segments(sources, progress)
        manifest = build_manifest(number, options.keep, stored, segments, options.analysis, faults.counts)
        write_commit(folder, manifest)
    except BaseException:
        with suppress(OSError):
            remove_debris(folder, number - 1)
        raise
    return BuildReport(manifest, faults, catalog.notes, catalog.tables)


def _intake(folder: Path, number: int, catalog: Catalog, options: BuildOptions, faults: Faults) -> Intake:
    numbers = Numbers(*catalog.entities.column(ID))
    view = CatalogView(numbers, Closure(*catalog.above_entities, *type_ancestors(catalog)))
    o = options
    return Intake(
        folder, number, view, o.analysis, faults, o.memory_mb, o.segment_tokens, o.threads, o.keep_text, o.limits
    )


@contextmanager
def storage_errors(folder: Path) -> Iterator[None]:
    """System errors while writing, in the project's words."""
    try:
        yield
    except OSError as error:
        message = f"{folder}: cannot be written: {error.strerror or error}; nothing was left behind"
        raise StorageError(message) from error


def check_sources(corpus: Corpus) -> Iterable[Any]:
    """The corpus as an iterable of paths or dictionaries; paths that cannot be read are refused at once."""
    if isinstance(corpus, Mapping):
        raise UsageError("corpus must be files or an iterable of dictionaries, not one dictionary")
    sources: Iterable[Any] = [corpus] if isinstance(corpus, str | Path) else corpus
    if isinstance(sources, list | tuple):
        for source in sources:
            check_readable(source)
    return sources


def _existing_commit(folder: Path, overwrite: bool) -> int | None:
    """The number of the commit that is there already, 0 for none, None where there is no folder."""
    if not folder.exists():
        return None
    if not folder.is_dir():
        raise StorageError(f"{folder}: is a file; give the name of a folder")
    numbers = commit_numbers(folder)
    if numbers and not overwrite:
        raise StorageError(f"{folder}: holds an index already; pass --overwrite to replace it")
    if not numbers and not is_debris(folder):
        raise StorageError(f"{folder}: is a folder with other things in it; give a new or empty one")
    return numbers[-1] if numbers else 0
