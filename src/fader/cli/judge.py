"""`fader judge`: say whether an answer is right, and bring judgments in and out."""

from __future__ import annotations

import getpass
from pathlib import Path

import click
import msgspec

from fader.cli.common import Output, folder_argument, print_json, speaks, takes
from fader.corpus.queries import FaultCollector
from fader.errors import UsageError
from fader.judging.files import export_judgments, import_judgments
from fader.judging.options import JudgeOptions
from fader.judging.record import GRADES, now
from fader.judging.store import JudgmentStore, path_beside

WORDS = {grade: word for word, grade in GRADES.items()}


@click.command("judge", epilog="Example: fader judge index/ 'Who played the violin?' Albert_Einstein right")
@folder_argument
@takes(JudgeOptions)
@speaks()
def command(folder: Path, options: JudgeOptions, out: Output) -> None:
    """Say that ENTITY is a right, partly right or wrong answer to QUESTION on the index in DIR.

    Judgments are kept in DIR.judgments beside the index; `fader train --judgments` learns from them.
    """
    tasks = {
        "GRADE": options.question,
        "--export": options.export,
        "--qrels": options.qrels or options.queries,
        "--list": options.list or None,
        "--undo": options.undo,
    }
    given = [name for name, value in tasks.items() if value is not None]
    if len(given) != 1:
        raise UsageError(f"judge does one thing at a time, not {' and '.join(given) or 'nothing'}; see --help")
    store = JudgmentStore(options.judgments or path_beside(folder))
    match given[0]:
        case "GRADE":
            _judge(folder, options, store, out)
        case "--export":
            _export(options, store, out)
        case "--qrels":
            _import(options, store, out)
        case "--list":
            _list(store, out)
        case "--undo":
            _undo(options, store, out)


def _who(options: JudgeOptions) -> str:
    return options.who or getpass.getuser()


def _judge(folder: Path, options: JudgeOptions, store: JudgmentStore, out: Output) -> None:
    from fader.judging.judge import judge_answer  # loads numba, and listing must be quick
    from fader.search.index import Index

    if options.entity is None or options.grade is None:
        raise UsageError("a judgment needs QUESTION, ENTITY and GRADE; give all three")
    assert options.question is not None
    index = Index.open(folder)
    grade = None if options.grade == "none" else options.grade
    judgment = judge_answer(index, _who(options), options.question, options.entity, grade, options.query, options.type)
    total = store.add(judgment)
    plain = {"file": str(store.path), "records": total, "judgment": msgspec.to_builtins(judgment)}
    said = "taken back" if judgment.grade is None else WORDS[judgment.grade]
    out.conclude(plain, f"{store.path}: {judgment.entity} is {said} for {judgment.reading.query!r}")


def _export(options: JudgeOptions, store: JudgmentStore, out: Output) -> None:
    assert options.export is not None
    queries, grades = export_judgments(store.current(), options.export)
    count = sum(map(len, grades.values()))
    plain = {"folder": str(options.export), "queries": len(queries), "judgments": count}
    out.conclude(plain, f"{options.export}: judged queries: {len(queries):,}, judged answers: {count:,}")


def _import(options: JudgeOptions, store: JudgmentStore, out: Output) -> None:
    if options.queries is None or options.qrels is None:
        raise UsageError("judgments are imported from two files; give --queries and --qrels")
    found = import_judgments(options.queries, options.qrels, options.who or "import", FaultCollector())
    total = store.add(*found)
    plain = {"file": str(store.path), "records": total, "imported": len(found)}
    out.conclude(plain, f"{store.path}: {len(found):,} judgments imported")


def _list(store: JudgmentStore, out: Output) -> None:
    current = store.current()
    if out.as_json:
        print_json([msgspec.to_builtins(judgment) for judgment in current])
        return
    for judgment in current:
        assert judgment.grade is not None
        question = judgment.reading.question or judgment.reading.query
        click.echo(f"{judgment.when}  {judgment.who}  {WORDS[judgment.grade]:6}  {judgment.entity}  {question}")


def _undo(options: JudgeOptions, store: JudgmentStore, out: Output) -> None:
    assert options.undo is not None
    count = store.undo(options.undo, _who(options), now())
    out.conclude({"undone": count}, f"{store.path}: {count:,} judgments of {options.undo} do not count any more")
