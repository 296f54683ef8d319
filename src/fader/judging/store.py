"""Judgments on disk: a file beside the index to which records are appended, each for good before it is acknowledged.

    file   := line*
    line   := xxh3 of the JSON in 16 hexadecimal digits, blank, JSON in ASCII, newline
    JSON   := {"judgments": 1}                                                                     the first line
            | {"who", "when", "question", "query", "type", "entity", "grade"}                      a judgment
            | {"undo": who, "when", "by"}                                                          see `Undo`

A record is written in one piece and synced while the file is locked, so several processes may judge at once. What a
crash leaves of a record at the end is cut off by the next writer, and not read by anyone. A line that is damaged before
whole ones is an error: nothing is dropped in silence. Knows nothing of questions or entities but their texts.
"""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

import xxhash

from fader.errors import DamagedError, InputError, LimitError, StorageError
from fader.judging.record import CurrentJudgments, JudgedReading, Judgment, Record, Undo

try:
    import fcntl

    HAS_LOCKS = True
except ImportError:  # a system without such locks; one process may judge at a time
    HAS_LOCKS = False

VERSION = 1
DIGITS = 16
SUFFIX = ".judgments"
LONGEST = {"who": 200, "question": 20_000, "query": 2_000, "type": 2_000, "entity": 2_000}  # characters
MOST_RECORDS = 1_000_000
MOST_OF_ONE = 10_000  # judgments of a person that count


def path_beside(folder: str | Path) -> Path:
    """Where the judgments of an index are: a file of its name beside it."""
    whole = Path(folder).resolve()
    return whole.with_name(whole.name + SUFFIX)


@final
class JudgmentStore:
    """The judgments of an index. Safe to share among threads."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._forget()
        self.refresh()

    def _forget(self) -> None:
        self._records: list[Record] = []
        self._current = CurrentJudgments()
        self._end = 0  # of the last whole line

    def _take(self, records: Sequence[Record]) -> None:
        self._records += records
        for record in records:
            self._current.take(record)

    def __len__(self) -> int:
        return len(self._records)

    def refresh(self) -> None:
        """Read what others have appended."""
        with self._lock:
            try:
                with self.path.open("rb") as file:
                    self._read_on(file.fileno())
            except FileNotFoundError:
                self._forget()
            except OSError as error:
                raise StorageError(f"{self.path}: cannot be read: {error.strerror or error}") from None

    @property
    def records(self) -> Sequence[Record]:
        """All records that this store has read or written, in order."""
        return tuple(self._records)

    def current(self) -> list[Judgment]:
        """The judgments that count."""
        with self._lock:
            return list(self._current)

    def add(self, *judgments: Judgment) -> int:
        """Append judgments; they are on disk for good when this returns. Returns how many records there are then."""
        for judgment in judgments:
            _check(judgment)
        return self._append(list(judgments))

    def undo(self, who: str, by: str, when: str) -> int:
        """Let no judgment of a person so far count; returns how many did."""
        self.refresh()
        counted = sum(judgment.who == who for judgment in self.current())
        if counted:
            self._append([Undo(who, when, by)])
        return counted

    def _append(self, records: list[Record]) -> int:
        with self._lock, self._open_locked() as handle:
            self._read_on(handle)
            self._check_room(records)
            if os.fstat(handle).st_size > self._end:  # what a crash has left
                os.ftruncate(handle, self._end)
            data = b"".join(map(_write_line, records))
            if self._end == 0:
                data = _seal({"judgments": VERSION}) + data
            try:
                _write_all(handle, data)
                os.fsync(handle)
            except OSError as error:
                os.ftruncate(handle, self._end)
                message = f"{self.path}: the judgment cannot be kept: {error.strerror or error}"
                raise StorageError(message) from None
            self._end += len(data)
            self._take(records)
            return len(self._records)

    def _check_room(self, records: list[Record]) -> None:
        if len(self._records) + len(records) > MOST_RECORDS:
            raise LimitError(f"{self.path}: has {MOST_RECORDS:,} records, the most it may; export them and begin anew")
        more = Counter(r.who for r in records if isinstance(r, Judgment) and self._current.adds(r))
        for who, added in more.items():
            if self._current.count[who] + added > MOST_OF_ONE:
                raise LimitError(f"{who} has judged {MOST_OF_ONE:,} answers, the most one may; take some back")

    @contextmanager
    def _open_locked(self) -> Iterator[int]:
        try:
            is_new = not self.path.exists()
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be written: {error.strerror or error}") from None
        try:
            if HAS_LOCKS:
                fcntl.flock(handle, fcntl.LOCK_EX)
            if is_new:
                _sync_folder(self.path.parent)
            yield handle
        finally:
            os.close(handle)  # which drops the lock

    def _read_on(self, handle: int) -> None:
        """Read the lines behind those that are known; all of them where the file is another one now."""
        size = os.fstat(handle).st_size
        if size < self._end:
            self._forget()
        data = os.pread(handle, size - self._end, self._end) if size > self._end else b""
        found, read = _parse_lines(data, self.path, self._end == 0)
        self._take(found)
        self._end += read


def _check(judgment: Judgment) -> None:
    reading = judgment.reading
    texts = {
        "who": judgment.who,
        "question": reading.question,
        "query": reading.query,
        "type": reading.type or "",
        "entity": judgment.entity,
    }
    for name, text in texts.items():
        if len(text) > LONGEST[name]:
            raise InputError(f"{name} of a judgment has at most {LONGEST[name]:,} characters, not {len(text):,}")
    if not (judgment.who and judgment.entity and (reading.question or reading.query)):
        raise InputError("a judgment needs who judged, a question or a query, and an entity; give all of them")
    if judgment.grade not in (None, 0, 1, 2):
        raise InputError(f"a grade is 0, 1, 2, or none to take a judgment back, not {judgment.grade}")


def _seal(plain: dict[str, Any]) -> bytes:
    data = json.dumps(plain).encode("ascii")
    return xxhash.xxh3_64_hexdigest(data).encode() + b" " + data + b"\n"


def _write_line(record: Record) -> bytes:
    if isinstance(record, Undo):
        return _seal({"undo": record.who, "when": record.when, "by": record.by})
    question, query, answer_type = record.reading
    reading = {"question": question, "query": query, "type": answer_type}
    return _seal({"who": record.who, "when": record.when, **reading, "entity": record.entity, "grade": record.grade})


def _parse_lines(data: bytes, path: Path, from_start: bool) -> tuple[list[Record], int]:
    """The records of whole lines, and how many bytes these have; what a crash has left behind them is not read."""
    records: list[Record] = []
    end, damaged = 0, 0
    while (stop := data.find(b"\n", end + damaged)) >= 0:
        line = data[end + damaged : stop]
        if line[DIGITS : DIGITS + 1] == b" " and line[:DIGITS] == xxhash.xxh3_64_hexdigest(line[17:]).encode():
            if damaged:
                raise DamagedError(f"{path}: a record at byte {end:,} is damaged; restore the file from a copy")
            record = _parse_record(json.loads(line[DIGITS + 1 :]), path, from_start and end == 0)
            records += [] if record is None else [record]
            end = stop + 1
        else:
            damaged = stop + 1 - end
    return records, end


def _parse_record(plain: Any, path: Path, is_first: bool) -> Record | None:
    try:
        if is_first:
            if plain["judgments"] != VERSION:
                raise InputError(f"{path}: judgments of version {plain['judgments']}, this release reads {VERSION}")
            return None
        if "undo" in plain:
            return Undo(plain["undo"], plain["when"], plain["by"])
        reading = JudgedReading(plain["question"], plain["query"], plain["type"])
        return Judgment(plain["who"], plain["when"], reading, plain["entity"], plain["grade"])
    except (KeyError, TypeError):
        raise DamagedError(f"{path}: is no file of judgments; give another name") from None


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
