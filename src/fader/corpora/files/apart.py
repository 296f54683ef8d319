"""Reading in a process of its own, which a file that takes too long or too much memory ends, not the caller's.

The process reads a request per line, `{"kind": ..., "path": ..., "limits": {...}}`, and answers by a line: the pieces,
or the reason why there are none. It is started for the first file and again after it was ended. It may take MEMORY
bytes, where the system has such bounds, and `file_seconds` per file. Knows nothing of formats.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import asdict

import msgspec

from fader.corpora.files.piece import DAMAGED, OVER, Piece, UnreadableError
from fader.limits import Limits

MEMORY = 3 << 30


class Request(msgspec.Struct):
    """A file to be read."""

    kind: str
    path: str
    limits: dict[str, int | None]


class Reply(msgspec.Struct):
    """What it gave, or the kind of fault and the reason."""

    pieces: list[Piece] = []
    fault: str = ""
    reason: str = ""


class Apart:
    """A process that reads files, one at a time; `close` ends it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, kind: str, path: str) -> list[Piece]:
        """The pieces of a file."""
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._limits.file_seconds, end)
        timer.start()
        try:
            process.stdin.write(msgspec.json.encode(Request(kind, path, asdict(self._limits))) + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = b""
        finally:
            timer.cancel()
        if not line:
            self.close()
            if late.is_set():
                raise UnreadableError(OVER, f"takes longer to read than {self._limits.at_most('file_seconds')} seconds")
            raise UnreadableError(DAMAGED, "ended the process that read it; it needs more memory than is allowed")
        reply = msgspec.json.decode(line, type=Reply)
        if reply.fault:
            raise UnreadableError(reply.fault, reply.reason)
        return reply.pieces

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            command = [sys.executable, "-m", "fader.corpora.files.apart"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        return self._process


def main() -> None:
    """Answer requests until there are no more."""
    _bound_memory()
    from fader.corpora.files.docx import read_docx
    from fader.corpora.files.pdf import read_pdf

    readers = {"PDF": read_pdf, "DOCX": read_docx}
    for line in sys.stdin.buffer:
        asked = msgspec.json.decode(line, type=Request)
        try:
            reply = Reply(list(readers[asked.kind](asked.path, Limits(**asked.limits))))  # type: ignore[arg-type]
        except UnreadableError as error:
            reply = Reply(fault=error.kind, reason=str(error))
        except MemoryError:
            reply = Reply(fault=OVER, reason=f"needs more than {MEMORY >> 20:,} MB to be read")
        except RecursionError:
            reply = Reply(fault=DAMAGED, reason="is nested too deeply")
        except Exception as error:  # a library's own fault ends the file, not the run
            reply = Reply(fault=DAMAGED, reason=f"cannot be read ({type(error).__name__}: {str(error)[:100]})")
        sys.stdout.buffer.write(msgspec.json.encode(reply) + b"\n")
        sys.stdout.buffer.flush()


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # not on this system
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    bound = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (bound, hard))


if __name__ == "__main__":
    main()
