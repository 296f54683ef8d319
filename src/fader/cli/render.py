"""Answers for people: colours and emphasis on a terminal, plain marks elsewhere.

On a terminal the mention is reversed and matches are coloured; in plain text they stand as [mention] and *match*.
"""

from __future__ import annotations

import unicodedata
from typing import Any

from rich.console import Console
from rich.text import Text

from fader.search.answer import Answer, Result, Snippet

DIRECTION = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def print_answer(answer: Answer, console: Console | None = None) -> None:
    """The ranked entities with their evidence."""
    out = console or Console(highlight=False, soft_wrap=True)
    for warning in answer.warnings:
        out.print(Text(f"! {warning}", style="yellow"))
    for result in answer.results:
        out.print(_heading(result))
        for snippet in result.evidence if any(s.snippet for s in result.evidence) else []:
            out.print(_snippet(snippet, out.is_terminal and not out.is_dumb_terminal))
        if result.explain is not None:
            for line in _explanation(result.explain):
                out.print(Text(line, style="dim"))
    out.print(Text(_summary(answer), style="dim"))


def _heading(result: Result) -> Text:
    line = Text(f"{result.rank:>3}. ")
    line.append(_harmless(result.name), style="bold")
    line.append(f"  {', '.join(result.types)}", style="cyan")
    contexts = "context" if result.support == 1 else "contexts"
    return line.append(f"  {result.score:.3f} from {result.support:,} {contexts}", style="dim")


def _snippet(snippet: Snippet, styled: bool) -> Text:
    marks = [(snippet.mention, "reverse", "[]"), *((m.at, "bold green", "**") for m in snippet.matches)]
    line = Text("     ")
    text = _harmless(snippet.snippet)
    if styled:
        body = Text(text)
        for (start, end), style, _signs in marks:
            body.stylize(style, start, end)
    else:
        body = Text(_marked(text, [(at, signs) for at, _style, signs in marks]))
    line.append(body)
    return line.append(f"  ({_harmless(snippet.title or snippet.doc)})", style="dim italic")


def _harmless(text: str) -> str:
    """The text without characters that would steer the terminal or turn its direction; one for one."""
    return "".join("\ufffd" if unicodedata.category(c) == "Cc" or c in DIRECTION else c for c in text)


def _marked(text: str, marks: list[tuple[tuple[int, int], str]]) -> str:
    """Plain marks around highlights, one inside another where they nest."""
    opened = [(start, 1, -end, i, signs[0]) for i, ((start, end), signs) in enumerate(marks)]
    closed = [(end, 0, -start, -i, signs[1]) for i, ((start, end), signs) in enumerate(marks)]
    shown, last = "", 0
    # What closes at a place comes before what opens there; the outer opens before the inner and closes after it.
    events = sorted(opened + closed)
    for at, _opens, _length, _rank, sign in events:
        shown += text[last:at] + sign
        last = at
    return shown + text[last:]


def _explanation(explain: dict[str, Any]) -> list[str]:
    parts = " + ".join(f"{v:.4f} {name!r}" for name, v in explain["literals"].items())
    lines = [f"       {explain['score']:.4f} = {parts}"]
    for context in explain["contexts"]:
        literals = ", ".join(
            f"{x['contribution']:.4f} {x['literal']!r} at {x['distance']}" for x in context["literals"]
        )
        place = f"{context['doc']} [{context['start']}:{context['end']}]"
        lines.append(f"       {context['contribution']:.4f}  {place}  {literals}{_without(context['without'])}")
        lines += [f"                 {cell}" for cell in _cells(context["cells"])]
    if explain["others"]["contexts"]:
        lines.append(f"       {explain['others']['contribution']:.4f}  {explain['others']['contexts']:,} more contexts")
    return lines


def _without(left: dict[str, Any]) -> str:
    """What the entity would be without the context."""
    return "; the only one" if left["rank"] is None else f"; without it rank {left['rank']}, {left['score']:.4f}"


def _cells(cells: list[dict[str, Any]]) -> list[str]:
    """The feature cells that make up a context's score, those that add nothing left out."""
    return [
        f"{c['value']:.4f} {c['feature']}: {c['cell']}" + (f" ({c['literal']!r})" if c["literal"] else "")
        for c in cells
        if c["value"]
    ]


def _summary(answer: Answer) -> str:
    named = (("candidate", answer.candidates), ("context", answer.contexts), ("document", answer.matched_documents))
    counts = ", ".join(f"{n:,} {name}{'s' if n != 1 else ''}" for name, n in named)
    return f"{counts}; {answer.model}; {answer.took_ms:.1f} ms"
