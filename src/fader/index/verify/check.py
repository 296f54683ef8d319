"""Verification of a whole index folder, and repair: every commit that is kept, every file that one of them names.

Problems are messages that name the damaged file. Files that no commit names are debris: of a write that did not end,
or of one that is going on. Repair never changes a file: it removes the commits that are not whole, so that the newest
one that is whole is the index. Knows nothing of what is checked in a file (`invariants.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from fader.errors import DamagedError, FaderError, NotAnIndexError, StorageError, VersionError
from fader.index.commit import commit_numbers, commit_path, read_commit, remove_unneeded
from fader.index.format import Container, FileEntry
from fader.index.lock import lock_for_writing
from fader.index.manifest import AnalysisEntry, CatalogEntry, Manifest, SegmentEntry
from fader.index.reader import IndexReader
from fader.index.verify.catalog import CatalogArrays, check_catalog
from fader.index.verify.invariants import SegmentFiles, check_deleted, check_segment
from fader.jobs.files import sync_folder

Report = Callable[[str], None]
TRIES = 5


@dataclass(frozen=True, slots=True)
class CheckedCommit:
    """A commit and what is wrong with it; `manifest` is None where it cannot be read."""

    number: int
    manifest: Manifest | None
    problems: tuple[str, ...]
    is_foreign: bool = False  # of a version that this release does not read: neither whole nor damaged

    @property
    def documents(self) -> int:
        """Documents that are not deleted."""
        return self.manifest.live.documents if self.manifest else 0

    @property
    def operation(self) -> str:
        """What made the commit, with its counts."""
        if self.manifest is None:
            return "unknown"
        made = self.manifest.operation
        counts = (
            (made.documents, "documents"),
            (made.replaced, "replaced"),
            (made.deleted, "deleted"),
            (made.merged, "segments"),
        )
        told = [f"{count:,} {what}" for count, what in counts if count]
        return f"{made.name} ({', '.join(told)})" if told else made.name


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found: commits from the oldest on, files that no commit names, and how many files were read.

    `fault` says why nothing could be examined.
    """

    commits: tuple[CheckedCommit, ...]
    debris: tuple[str, ...]
    files: int
    fault: str = ""

    @property
    def problems(self) -> list[str]:
        """Everything wrong, each thing once, that of the newest commit first."""
        if self.fault:
            return [self.fault]
        return list(dict.fromkeys(p for commit in reversed(self.commits) for p in commit.problems))


@dataclass(frozen=True, slots=True)
class Lost:
    """A commit that was not whole and is gone. `more` is how many documents it had more than what is left, None where
    nobody knows."""

    commit: int
    operation: str
    more: int | None
    problems: tuple[str, ...]

    def __str__(self) -> str:
        if self.more is None:
            return f"commit {self.commit} is lost; what it held is not known, because its manifest cannot be read"
        return f"commit {self.commit}, {self.operation}, is lost; it had {_compare_counts(self.more)} what is left"


def _compare_counts(more: int) -> str:
    if not more:
        return "as many documents as"
    documents = "1 document" if abs(more) == 1 else f"{abs(more):,} documents"
    return f"{documents} {'more' if more > 0 else 'fewer'} than"


@dataclass(frozen=True, slots=True)
class Repair:
    """What a repair did: the commit that is the index now, its documents, what was lost, and the files removed."""

    commit: int
    documents: int
    lost: tuple[Lost, ...]
    removed: tuple[str, ...]


def check(folder: Path, report: Report = lambda _name: None) -> list[str]:
    """All problems of an index; empty if it is whole. Calls `report` with each file as it is read."""
    return examine(folder, report).problems


def examine(folder: Path, report: Report = lambda _name: None) -> Examination:
    """Check every commit of a folder."""
    try:
        return _examine_commits(folder, report)
    except FaderError as error:
        return Examination((), (), 0, str(error))


def _examine_commits(folder: Path, report: Report) -> Examination:
    for _ in range(TRIES):
        numbers = commit_numbers(folder)
        if not numbers:
            raise NotAnIndexError(f"{folder}: not a Fader index (no commit in it); build one with `fader index`")
        checker = _Checker(folder, report)
        checked = [checker.commit(number) for number in reversed(numbers)]
        # A writer may have removed a commit while it was being read: its manifest goes first.
        there = tuple(c for c in reversed(checked) if not c.problems or commit_path(folder, c.number).exists())
        if there:
            return Examination(there, _debris(folder, there), checker.files)
    raise StorageError(f"{folder}: is replaced faster than it can be read; try again")


def _debris(folder: Path, commits: tuple[CheckedCommit, ...]) -> tuple[str, ...]:
    """What no commit names; nothing where a manifest cannot be read, because it could name anything."""
    needed = {commit_path(folder, number).name for number in commit_numbers(folder)}
    for commit in commits:
        if commit.manifest is None:
            return ()
        needed.update(commit.manifest.file_names)
    return tuple(sorted(set(os.listdir(folder)) - needed))


class _Checker:
    """Checks commits; what several of them share is read once."""

    def __init__(self, folder: Path, report: Report) -> None:
        self._folder, self._report = folder, report
        self._containers: dict[tuple[str, FileEntry], Container | str] = {}
        self._arrays: dict[CatalogEntry, CatalogArrays | str] = {}
        self._segments: dict[tuple[SegmentEntry, CatalogEntry, AnalysisEntry], str] = {}
        self.files = 0

    def commit(self, number: int) -> CheckedCommit:
        try:
            manifest = read_commit(self._folder, number)
        except FaderError as error:
            return CheckedCommit(number, None, (str(error),), isinstance(error, VersionError))
        problems = (
            self._find_damaged_files(manifest)
            or self._find_broken_invariants(manifest)
            or self._find_open_fault(number)
        )
        return CheckedCommit(number, manifest, tuple(problems))

    def _find_damaged_files(self, manifest: Manifest) -> list[str]:
        """What is wrong with files on their own: all of them are read, so that all that is damaged is named."""
        opened = [self._container(manifest.catalog.name, "catalog", manifest.catalog.file)]
        for segment in manifest.segments:
            opened += self._segment_containers(segment)
        return [found for found in opened if isinstance(found, str)]

    def _segment_containers(self, segment: SegmentEntry) -> list[Container | str]:
        return [self._container(name, name.rpartition(".")[2], entry) for name, entry in segment.file_entries]

    def _container(self, name: str, kind: str, entry: FileEntry) -> Container | str:
        """A file, opened and its checksum compared, or what is wrong with it."""
        key = name, entry
        if key not in self._containers:
            self._report(name)
            self.files += 1
            try:
                container = Container(self._folder / name, kind, entry)
                container.verify()
                self._containers[key] = container
            except FaderError as error:
                self._containers[key] = str(error)
        return self._containers[key]

    def _find_broken_invariants(self, manifest: Manifest) -> list[str]:
        """What is wrong in files whose checksums fit, and among them; the first thing of each segment."""
        arrays = self._catalog(manifest.catalog)
        if isinstance(arrays, str):
            return [arrays]
        found = [self._segment(segment, arrays, manifest) for segment in manifest.segments]
        return [problem for problem in found if problem]

    def _catalog(self, entry: CatalogEntry) -> CatalogArrays | str:
        if entry not in self._arrays:
            try:
                container = self._container(entry.name, "catalog", entry.file)
                assert isinstance(container, Container)  # files are checked first
                self._arrays[entry] = check_catalog(container, entry)
            except FaderError as error:
                self._arrays[entry] = str(error)
        return self._arrays[entry]

    def _segment(self, entry: SegmentEntry, arrays: CatalogArrays, manifest: Manifest) -> str:
        """What is wrong with a segment, empty for nothing."""
        files = SegmentFiles(entry, *(c for c in self._segment_containers(entry) if isinstance(c, Container)))
        key = structs.replace(entry, deleted=None), manifest.catalog, manifest.analysis
        if key not in self._segments:
            self._segments[key] = _fault(check_segment, files, arrays, manifest.analysis.load())
        if files.deleted is None or self._segments[key]:
            return self._segments[key]
        return _fault(check_deleted, files.deleted, files)

    def _find_open_fault(self, number: int) -> list[str]:
        """Why a commit whose files are sound cannot be opened as a whole."""
        try:
            IndexReader(self._folder, at=number).check_ids()
        except FaderError as error:
            return [str(error)]
        return []


def _fault(check: Callable[..., None], *arguments: Any) -> str:
    """What a check finds wrong, empty for nothing."""
    try:
        check(*arguments)
    except FaderError as error:
        return str(error)
    return ""


def repair(folder: Path, report: Report = lambda _name: None) -> Repair:
    """Make the newest commit that is whole the index, by removing those that are not.

    Manifests go first, and for good, before any file: a crash leaves the commits that were there, or fewer damaged
    ones. Where no commit is whole nothing is changed, and that is an error.
    """
    commit_numbers(folder)
    with lock_for_writing(folder):
        found = _examine_commits(folder, report)
        whole = [commit for commit in found.commits if not commit.problems]
        _refuse(folder, found, whole)
        before = set(os.listdir(folder))
        try:
            broken = [commit for commit in found.commits if commit.problems]
            for commit in reversed(broken):
                commit_path(folder, commit.number).unlink(missing_ok=True)
            if broken:
                sync_folder(folder)
            remove_unneeded(folder, len(whole))
            sync_folder(folder)
        except OSError as error:
            message = f"{folder}: cannot be repaired: {error.strerror or error}; allow writing to it and repair again"
            raise StorageError(message) from error
        removed = tuple(sorted(before - set(os.listdir(folder))))
    lost = tuple(_lost(commit, whole[-1]) for commit in reversed(broken))
    return Repair(whole[-1].number, whole[-1].documents, lost, removed)


def _refuse(folder: Path, found: Examination, whole: list[CheckedCommit]) -> None:
    """Errors for what repair must not touch."""
    foreign = [commit for commit in found.commits if commit.is_foreign]
    if foreign:
        raise VersionError(f"{foreign[-1].problems[0]}; nothing was changed")
    if not whole:
        remedy = "restore its folder from a copy, or rebuild it from its corpus with `fader index --overwrite`"
        raise DamagedError(f"{folder}: no commit of it is whole, so nothing was changed; {remedy}")


def _lost(commit: CheckedCommit, left: CheckedCommit) -> Lost:
    more = None if commit.manifest is None else commit.documents - left.documents
    return Lost(commit.number, commit.operation, more, commit.problems)
