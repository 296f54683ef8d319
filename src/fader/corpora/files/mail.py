"""Mail by the standard library: eml files, mbox files, and the files of a Maildir, which are like eml files.

A message is a document. Its text begins with From, To, Cc and Subject, as people see them; then comes the plain body,
or the text of the HTML one. Attachments are not read, and are named in a field. Spans mark the persons of the headers
(`person`, with name and address), what is quoted from other mails (`quote`: lines that begin with `>`, the line that
introduces them, and what follows `Original Message`), and what follows `-- ` (`signature`).
"""

from __future__ import annotations

import mailbox
import re
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

from fader.corpora.files.piece import DAMAGED, EMPTY, Piece, Span, UnreadableError
from fader.corpora.parsers.web import charset, html

PEOPLE = ("From", "To", "Cc")
PERSON, QUOTE, SIGNATURE = "person", "quote", "signature"
SHOWN = 50  # addresses of a header
_WROTE = re.compile(r"^(?:On|Am|Le|El) .{0,200}(?:wrote|schrieb|écrit|escribió)\s?:$")
_ORIGINAL = re.compile(r"^-{2,}\s*(?:Original|Forwarded|Weitergeleitete|Ursprüngliche).{0,40}-{2,}$", re.I)
_PARSER = BytesParser(policy=policy.default)


def read_mail(data: bytes, suffix: str = "") -> Piece:
    """The document of a message."""
    try:
        message = _PARSER.parsebytes(data)
        return _make(message, suffix)
    except UnreadableError:
        raise
    except (LookupError, ValueError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise UnreadableError(DAMAGED, f"is no mail that can be read ({type(error).__name__})") from None


def read_mailbox(path: str) -> Iterator[Piece | UnreadableError]:
    """The messages of an mbox file, numbered; in place of one that cannot be read the reason."""
    box = mailbox.mbox(path, create=False)
    try:
        for number, key in enumerate(box.iterkeys(), 1):
            try:
                yield read_mail(box.get_bytes(key), f"#{number}")
            except UnreadableError as error:
                yield UnreadableError(error.kind, f"message {number} {error}")
    finally:
        box.close()


def _make(message: EmailMessage, suffix: str) -> Piece:
    lines, spans, fields = list[str](), list[Span](), dict[str, Any]()
    at = 0
    for header in PEOPLE:
        people = _people(message, header)
        if not people:
            continue
        line, begin = f"{header}: ", len(header) + 2
        for name, address in people:
            start = at + len(line)
            spans.append(Span(start, start + len(name or address), PERSON, name, address))
            line += f"{name} <{address}>, " if name and address else f"{name or address}, "
        line = line[:-2]
        fields[header.lower()] = line[begin:]
        lines.append(line)
        at += len(line) + 1
    title = " ".join(str(message.get("Subject", "")).split())
    if title:
        lines.append(f"Subject: {title}")
    if message.get("Date"):
        fields["date"] = " ".join(str(message["Date"]).split())
    attached = [str(part.get_filename()) for part in message.iter_attachments() if part.get_filename()]
    if attached:
        fields["attachments"] = attached
    body = _body(message)
    if not body and not title:
        raise UnreadableError(EMPTY, "is a mail without text")
    head = "\n".join(lines)
    spans += _marks(body, len(head) + 2)
    text = f"{head}\n\n{body}" if body else head
    return Piece(_sound(text), _sound(title), suffix, spans, {k: v for k, v in fields.items() if v})


def _people(message: EmailMessage, header: str) -> list[tuple[str, str]]:
    """Names and addresses of a header."""
    found = list[tuple[str, str]]()
    for value in message.get_all(header, []):
        for each in getattr(value, "addresses", ())[:SHOWN]:
            name, address = _sound(" ".join(each.display_name.split())), _sound(each.addr_spec)
            if name or address not in ("", "<>"):
                found.append((name, address))
    return found


def _body(message: EmailMessage) -> str:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else str(part.get_payload()).encode("utf-8", "replace")
    given = part.get_content_charset() or ""
    text = charset.decode(data, given if charset.find_encoding(given) else "")[0]
    if part.get_content_subtype() == "html":
        text = html.read(text.encode("utf-8", "replace")).text
    return text.replace("\r\n", "\n").replace("\0", " ").strip("\n")


def _marks(body: str, offset: int) -> list[Span]:
    """Quotations and the signature of a body that begins at an offset, as few spans as there are blocks."""
    spans, kind_of_rest, at = list[Span](), "", offset
    lines = body.split("\n")
    for i, line in enumerate(lines):
        kind = kind_of_rest
        if line.rstrip("\r") in ("-- ", "--"):
            kind = kind_of_rest = SIGNATURE
        elif not kind and _ORIGINAL.match(line.strip()):
            kind = kind_of_rest = QUOTE
        elif not kind and (line.startswith(">") or _introduces(line, lines[i + 1 : i + 3])):
            kind = QUOTE
        if kind and spans and spans[-1].kind == kind and spans[-1].end >= at - 1:
            spans[-1] = Span(spans[-1].start, at + len(line), kind)
        elif kind and line:
            spans.append(Span(at, at + len(line), kind))
        at += len(line) + 1
    return spans


def _introduces(line: str, following: list[str]) -> bool:
    """Whether a line says who wrote what is quoted below."""
    return bool(_WROTE.match(line.strip())) and any(each.startswith(">") for each in following)


def _sound(text: str) -> str:
    """A text without halves of surrogate pairs, which headers may have."""
    return text.encode("utf-8", "replace").decode()
