"""`fader analyze`: a text's tokens as indexed."""

from __future__ import annotations

import click

from fader.cli.common import Output, print_json, speaks, takes
from fader.corpus.analysis import Analysis
from fader.index.commit import read_commit
from fader.search.options import AnalyzeOptions


@click.command("analyze", epilog="Example: fader analyze 'Straße, naïve, COVID-19'")
@takes(AnalyzeOptions)
@speaks(quiet=False)
def command(options: AnalyzeOptions, out: Output) -> None:
    """Show the tokens of TEXT: position, term, characters."""
    analysis = Analysis(options.stemmer) if options.index is None else read_commit(options.index).analysis.load()
    tokens = list(analysis.tokens(options.text))
    if out.as_json:
        print_json([{"position": i, "term": t.term, "start": t.start, "end": t.end} for i, t in enumerate(tokens)])
        return
    for i, token in enumerate(tokens):
        print(f"{i:>4}  {'(stop word)' if token.term is None else token.term}  [{token.start}:{token.end}]")
