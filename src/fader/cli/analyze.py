"""`fader analyze`: a text's tokens as indexed."""

from __future__ import annotations

from pathlib import Path

import click

from fader.cli.common import json_option, print_json
from fader.corpus.analysis import Analysis
from fader.index.commit import read_commit


@click.command("analyze", epilog="Example: fader analyze 'Straße, naïve, COVID-19'")
@click.argument("text")
@click.option("--index", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Analyse as this index does.")
@click.option("--stemmer", metavar="LANGUAGE", help="A Snowball stemmer, such as english.")
@json_option
def command(text: str, folder: Path | None, stemmer: str | None, as_json: bool) -> None:
    """Show the tokens of TEXT: position, term, characters."""

    analysis = Analysis(stemmer)
    if folder is not None:
        analysis = read_commit(folder).analysis.load()
    tokens = [
        {"position": i, "term": token.term, "start": token.start, "end": token.end}
        for i, token in enumerate(analysis.tokens(text))
    ]
    if as_json:
        print_json(tokens)
        return
    for t in tokens:
        term = t["term"] if t["term"] is not None else "(stop word)"
        print(f"{t['position']:>4}  {term}  [{t['start']}:{t['end']}]")
