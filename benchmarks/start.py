"""From an empty folder to a right answer in the page, by one command; and again when files have changed.

40 files of ten kinds hold the demo's 2,221 documents, and two facts that are nowhere else: Max Planck tamed a walrus,
in a PDF, and Niels Bohr did, in a mail. Timed, by the clock and by CPU, from the start of the process:

    first     `fader start FILES --catalog people.csv`: until the server's answer to the question has both, nobody else
              before them, and the page is there
    again     one file changed (it is Marie Curie now), one deleted (the mail): `fader start ... --no-serve` beside the
              server, until the server's answer has followed

With `--cold` kernels are compiled first, as on a new machine. With `--discover` no catalog is given, and people are
found in the texts themselves. Needs fader[serve,documents].

    python -m benchmarks.start [--cold] [--discover]
"""

from __future__ import annotations

import csv
import io
import json
import mailbox
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from benchmarks import common
from fader.demo.generate import generate

QUESTION = "Which scientist tamed a walrus?"
FIRST = ("Max Planck", "Niels Bohr")
FACTS = ("Max Planck tamed a walrus in Kiel.", "Niels Bohr tamed a walrus in Copenhagen.")
CHANGED = "Marie Curie tamed a walrus in Warsaw."
FILES = 4  # of each kind
PATIENCE = 300.0  # seconds that an answer may take
Row = dict[str, str]


def write_pdf(path: Path, rows: Sequence[Row]) -> None:
    """A page of lines for each document."""
    parts = [b"<</Type/Catalog/Pages 2 0 R>>", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    for row in rows:
        lines = re.findall(r".{1,90}(?:\s|$)", " ".join(row["text"].split()))
        plain = [re.sub(r"([()\\])", r"\\\1", line).encode("cp1252", "replace") for line in lines]
        content = b"BT /F1 10 Tf 12 TL 40 780 Td " + b" T* ".join(b"(%b) Tj" % line for line in plain) + b" ET"
        parts.append(b"<</Length %d>>stream\n%b\nendstream" % (len(content), content))
        parts.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F1 3 0 R>>>>>>"
            % len(parts)
        )
    pages = range(5, len(parts) + 1, 2)
    parts[1] = b"<</Type/Pages/Count %d/Kids[%b]>>" % (len(pages), b" ".join(b"%d 0 R" % page for page in pages))
    out, at = bytearray(b"%PDF-1.4\n"), list[int]()
    for number, part in enumerate(parts, 1):
        at.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, part)
    rows_at = b"".join(b"%010d 00000 n \n" % place for place in at)
    size, start = len(parts) + 1, len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, rows_at)
    out += b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (size, start)
    path.write_bytes(out)


def write_word(path: Path, rows: Sequence[Row]) -> None:
    import docx

    document = docx.Document()
    for row in rows:
        document.add_heading(row["title"])
        document.add_paragraph(row["text"])
    document.save(str(path))


def make_mail(rows: Sequence[Row]) -> EmailMessage:
    """A mail whose paragraphs are documents."""
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "ada@example.org", "bob@example.org", rows[0]["title"]
    made.set_content("\n\n".join(row["text"] for row in rows))
    return made


def write_mailbox(path: Path, rows: Sequence[Row]) -> None:
    with_box = mailbox.mbox(str(path))
    for row in rows:
        with_box.add(make_mail([row]))
    with_box.close()


def write_table(path: Path, rows: Sequence[Row]) -> None:
    held = io.StringIO()
    writer = csv.DictWriter(held, ["title", "text"])
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(held.getvalue(), encoding="utf-8")


def write_parquet(path: Path, rows: Sequence[Row]) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)


def write_paragraphs(begin: str, end: str) -> Callable[[Path, Sequence[Row]], None]:
    """A writer of documents as paragraphs, each between two texts."""

    def write(path: Path, rows: Sequence[Row]) -> None:
        path.write_text("\n\n".join(f"{begin}{row['text']}{end}" for row in rows), encoding="utf-8")

    return write


KINDS: dict[str, Callable[[Path, Sequence[Row]], None]] = {
    "notes.txt": write_paragraphs("", ""),
    "report.md": write_paragraphs("## A report\n\n", ""),
    "page.html": write_paragraphs("<!doctype html><p>", "</p>"),
    "paper.pdf": write_pdf,
    "letter.docx": write_word,
    "mail.eml": lambda path, rows: path.write_bytes(bytes(make_mail(rows))) and None,
    "box.mbox": write_mailbox,
    "table.csv": write_table,
    "table.parquet": write_parquet,
    "lines.jsonl": lambda path, rows: path.write_text("".join(json.dumps(row) + "\n" for row in rows)) and None,
}


def write_files(folder: Path, demo: Path) -> None:
    """The 40 files, and the catalog beside them."""
    folder.mkdir(parents=True)
    with open(demo / "corpus.jsonl", encoding="utf-8") as lines:
        rows = [{"title": row["title"], "text": row["text"]} for row in map(json.loads, lines)]
    parts = len(KINDS) * FILES
    for number in range(parts):
        name, write = list(KINDS.items())[number % len(KINDS)]
        write(folder / f"{number // len(KINDS)}-{name}", rows[number::parts])
    write_pdf(folder / "0-paper.pdf", [{"title": "", "text": FACTS[0]}, *rows[3::parts]])
    mail = make_mail([{"title": "A walrus", "text": FACTS[1]}, *rows[5::parts]])
    (folder / "0-mail.eml").write_bytes(bytes(mail))
    catalog = ["name,type,aliases"]
    for line in (demo / "entities.tsv").read_text(encoding="utf-8").splitlines():
        _id, name, types, aliases = line.split("\t")
        catalog.append(f'"{name}","{types}","{aliases}"')
    (folder.parent / "people.csv").write_text("\n".join(catalog) + "\n", encoding="utf-8")


def ask(address: str) -> list[str]:
    """The names that the server answers with, the best first; none where it answers nothing yet."""
    try:
        with urllib.request.urlopen(f"{address}v1/ask?q={QUESTION.replace(' ', '+')}&k=3", timeout=10) as reply:
            return [result["name"] for result in json.load(reply)["results"]]
    except OSError:
        return []


def wait_for(address: str, right: Callable[[list[str]], bool], process: subprocess.Popen[str]) -> list[str]:
    """Ask until the answer is right."""
    end = time.perf_counter() + PATIENCE
    while not right(names := ask(address)):
        if time.perf_counter() > end or process.poll() is not None:
            sys.exit(f"no right answer: {names}")
        time.sleep(0.02)
    return names


def measure(work: Path, given: Any) -> dict[str, Any]:
    generate(work / "demo")
    write_files(work / "files", work / "demo")
    environment = dict(os.environ)
    if given.cold:
        environment["FADER_KERNEL_CACHE"] = str(work / "kernels")
    catalog = [] if given.discover else ["--catalog", str(work / "people.csv")]
    command = [sys.executable, "-m", "fader", "start", str(work / "files"), "-o", str(work / "out"), *catalog]
    began, before = time.perf_counter(), os.times()
    server = subprocess.Popen([*command, "--port", "0"], stderr=subprocess.PIPE, text=True, env=environment)
    assert server.stderr is not None
    address, said = "", list[str]()
    try:
        for line in server.stderr:
            said.append(line)
            if found := re.search(r"Serving \S+ at (http://\S+)", line):
                address = found[1]
                break
        if not address:
            sys.exit("".join(said))
        first = wait_for(address, lambda names: set(names[:2]) == set(FIRST), server)
        with urllib.request.urlopen(address, timeout=10) as page:
            assert b"<title>Fader</title>" in page.read()
        report: dict[str, Any] = {"first s": time.perf_counter() - began, "first answer": first}
        write_pdf(work / "files" / "0-paper.pdf", [{"title": "", "text": CHANGED}])
        (work / "files" / "0-mail.eml").unlink()
        began = time.perf_counter()
        subprocess.run([*command, "--no-serve", "--quiet"], check=True, env=environment)
        report["again, command s"] = time.perf_counter() - began
        second = wait_for(
            address,
            lambda names: names[:1] == ["Marie Curie"] and not set(FIRST) & set(names),
            server,
        )
        report |= {"again s": time.perf_counter() - began, "again answer": second}
    finally:
        server.terminate()
        server.communicate()
    after = os.times()
    report["all CPU s"] = after.children_user + after.children_system - before.children_user - before.children_system
    return {**report, "steps": [line.strip() for line in said if "just this step" not in line]}


def main(argv: Sequence[str] | None = None) -> None:
    parser = common.arguments("From an empty folder to a right answer in the page.")
    parser.add_argument("--cold", action="store_true", help="compile kernels first, as on a new machine")
    parser.add_argument("--discover", action="store_true", help="find the people in the texts, without a catalog")
    given = parser.parse_args(argv)
    work = given.work / "start"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    report = measure(work.resolve(), given)
    print("\n".join(report["steps"]))
    for name in ("first", "again"):
        print(f"{name}: {report[f'{name} s']:.1f} s to the answer {', '.join(report[f'{name} answer'])}")
    print(f"all of it: {report['all CPU s']:.1f} s of CPU")
    common.write_report(given.json or given.work / "start.json", report)
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
