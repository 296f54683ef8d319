"""What judging can be asked for: each option once. Knows nothing of files."""

from __future__ import annotations

from pathlib import Path

from fader.options import option, options


@options
class JudgeOptions:
    """Judge an answer; or export, import, list or undo judgments."""

    question: str | None = option(
        None, help="The question or query that was asked.", longest=20_000, argument=True, example="Who landed on Mars?"
    )
    entity: str | None = option(None, help="The answer that is judged, by its id.", longest=2_000, argument=True)
    grade: str | None = option(
        None, help="right, partly or wrong (2, 1, 0); none takes a judgment back.", longest=10, argument=True
    )
    query: str | None = option(
        None, help="The query that the question was read as; that of its best reading without.", longest=2_000
    )
    type: str | None = option(None, help="The answer type of the reading, by id or name.", longest=2_000)
    who: str | None = option(None, help="Who judges; your login name without.", metavar="NAME")
    judgments: Path | None = option(
        None, help="The file of judgments; DIR.judgments beside the index without.", metavar="FILE"
    )
    export: Path | None = option(None, help="Write queries.jsonl and qrels.txt into this folder.", metavar="FOLDER")
    queries: str | None = option(None, help="Import judgments: queries.jsonl, with --qrels.", metavar="FILE")
    qrels: str | None = option(None, help="Import judgments: qid 0 entity grade.", metavar="FILE")
    list: bool = option(False, help="Print the judgments that count.")
    undo: str | None = option(None, help="Let no judgment of this person so far count.", metavar="NAME")
