"""Answers for people: colours and emphasis on a terminal, plain marks elsewhere.

On a terminal the mention is reversed and matches are coloured; in plain text they stand as [mention] and *match*.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.text import Text

from fader.index.catalog import StoredCatalog
from fader.search.answer import Answer, Explanation, Result, Snippet
from fader.search.ask import AskedAnswer
from fader.search.document import DocumentPage
from fader.search.entity import EntityCard, EntityEvidence, Placed
from fader.search.grids import Point, WeightGrid
from fader.search.why import Why

SHOWN_READINGS = 3  # of a question
SHOWN_SNIPPETS = 3  # of an explanation for people
SHOWN_TYPES = 4  # of an entity in an answer; some catalogs give one dozens
DIRECTION = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def print_answer(answer: Answer, catalog: StoredCatalog, console: Console | None = None) -> None:
    """The ranked entities with their evidence; types by their names in the catalog."""
    out = console or Console(highlight=False, soft_wrap=True)
    for warning in answer.warnings:
        out.print(Text(f"! {warning}", style="yellow"))
    for result in answer.results:
        out.print(_heading(result, lambda type_id: catalog.type_names[catalog.type_ids.find(type_id)]))
        _print_snippets(result.evidence, out)
        if result.explain is not None:
            for line in _explanation(result.explain):
                out.print(Text(line, style="dim"))
    named = (("candidate", answer.candidates), ("context", answer.contexts), ("document", answer.matched_documents))
    counts = ", ".join(f"{n:,} {name}{'s' if n != 1 else ''}" for name, n in named)
    out.print(Text(f"{counts}; {answer.model}; {answer.took_ms:.1f} ms", style="dim"))


def print_asked(answer: AskedAnswer, catalog: StoredCatalog, console: Console | None = None) -> None:
    """How a question was read, then the ranked entities with their evidence."""
    out = console or Console(highlight=False, soft_wrap=True)
    for warning in answer.warnings:
        out.print(Text(f"! {_harmless(warning)}", style="yellow"))
    near = ", ".join(literal.text for literal in answer.query.literals if literal.mode != "forbidden")
    readings = answer.readings[:SHOWN_READINGS] if answer.chosen is None else [answer.chosen]
    for i, reading in enumerate(readings):
        said = f"{reading.name} near {near} ({reading.probability:.0%}): {reading.reason}"
        out.print(Text(_harmless(f"{'read as: ' if not i else '     or: '}{said}"), style="cyan"))
    for result in answer.results:
        shown = Result(result.rank, result.entity, result.name, result.types, result.score, result.support, [])
        line = _heading(shown, lambda type_id: catalog.type_names[catalog.type_ids.find(type_id)])
        if result.probability is not None:
            line.append(f"  {result.probability:.0%} sure", style="green")
        out.print(line)
        _print_snippets(result.evidence, out)
    if answer.expected is not None and answer.results:
        taken = "the first is" if answer.cut == 1 else f"the first {answer.cut:,} are"
        out.print(Text(f"about {answer.expected:.1f} of all are right; {taken} the best to take", style="dim"))
    counts = f"{answer.candidates:,} candidates, {answer.contexts:,} contexts"
    out.print(Text(f"{counts}; {answer.model}; {answer.took_ms:.1f} ms", style="dim"))


def print_card(card: EntityCard, console: Console | None = None) -> None:
    """An entity, without anything of a query."""
    out = console or Console(highlight=False, soft_wrap=True)
    line = Text(_harmless(card.name), style="bold")
    line.append(f"  {_harmless(card.id)}", style="cyan")
    documents = "document mentions it" if card.documents == 1 else "documents mention it"
    out.print(line.append(f"  {card.documents:,} {documents}", style="dim"))
    if card.aliases:
        out.print(Text(f"     also {_harmless(', '.join(card.aliases))}"))
    for found in card.types:
        out.print(Text(f"     {_harmless(' > '.join(step.name for step in found.path))}", style="cyan"))


def print_document(page: DocumentPage, console: Console | None = None) -> None:
    """A document: its title, its text with mentions and matches, and how many mentions it has."""
    out = console or Console(highlight=False, soft_wrap=True)
    out.print(Text(_harmless(page.title or page.id), style="bold"))
    marks = [(mention.at, "reverse", "[]") for mention in page.mentions if mention.at is not None]
    marks += [(match.at, "bold green", "**") for match in page.matches]
    lines = "\n".join(map(_harmless, page.text.split("\n")))  # one for one, as offsets need it
    if out.is_terminal and not out.is_dumb_terminal:
        body = Text(lines)
        for (start, end), style, _signs in marks:
            body.stylize(style, start, end)
    else:
        body = Text(_mark_plainly(lines, [(at, signs) for at, _style, signs in marks]))
    out.print(body)
    mentions = f"{len(page.mentions):,} mention{'s' if len(page.mentions) != 1 else ''}"
    where = f"; {_harmless(page.url)}" if page.url else ""
    out.print(Text(f"{_harmless(page.id)}: {page.characters:,} characters, {mentions}{where}", style="dim"))


def print_evidence(found: EntityEvidence, console: Console | None = None) -> None:
    """An entity's rank, and a page of its contexts."""
    out = console or Console(highlight=False, soft_wrap=True)
    _print_standing(found, out)
    _print_snippets(found.contexts.items, out)
    page = found.contexts
    if page.items:
        out.print(Text(f"contexts {page.items[0].place:,} to {page.items[-1].place:,} of {page.total:,}", style="dim"))
    elif page.total:
        out.print(Text(f"no context after the first {page.offset:,}; there are {page.total:,}", style="dim"))


def print_why(why: Why, console: Console | None = None) -> None:
    """Why an entity has its rank: its score by feature, grid cell, word and context."""
    out = console or Console(highlight=False, soft_wrap=True)
    out.print(Text(_harmless(why.name), style="bold"))
    _print_standing(why, out)
    if why.rank is None:
        return
    for literal in why.literals:
        facts = f"in {literal.documents:,} documents, {literal.share:.0%} of the IDF"
        out.print(Text(f"     {_harmless(literal.text)!r}  {facts}"))
    if why.features:
        parts = " + ".join(f"{part.contribution:.4f} {part.feature}" for part in why.features)
        out.print(Text(f"     {why.score:.4f} = {parts}"))
    for grid in why.grids:
        for point in sorted(grid.points, key=lambda p: -abs(p.contribution)):
            out.print(Text(_point(grid, point, why), style="dim"))
    for line in _explanation(why.explain):
        out.print(Text(_harmless(line), style="dim"))
    _print_snippets(why.evidence[:SHOWN_SNIPPETS], out)


def _point(grid: WeightGrid, point: Point, why: Why) -> str:
    cell = f"IDF share {grid.rows[point.row]}, distance {grid.columns[point.column]}"
    contexts = f"{point.contexts:,} {'context' if point.contexts == 1 else 'contexts'}"
    literal = _harmless(why.literals[point.literal].text)
    side = f" {grid.side}" if grid.side else ""
    return f"       {point.contribution:.4f}  {grid.feature}{side}: {literal!r} in {contexts}, {cell}"


def _print_standing(found: EntityEvidence | Why, out: Console) -> None:
    for warning in found.warnings:
        out.print(Text(f"! {_harmless(warning)}", style="yellow"))
    if found.rank is not None:
        contexts = "context" if found.support == 1 else "contexts"
        where = f"rank {found.rank:,} of {found.candidates:,}"
        out.print(
            Text(f"     {where}  {found.score:.3f} from {found.support:,} {contexts}; {found.model}", style="dim")
        )


def _print_snippets(snippets: Sequence[Snippet | Placed], out: Console) -> None:
    for snippet in snippets if any(s.snippet for s in snippets) else []:
        out.print(_snippet(snippet, out.is_terminal and not out.is_dumb_terminal))


def _heading(result: Result, name_of: Callable[[str], str]) -> Text:
    line = Text(f"{result.rank:>3}. ")
    line.append(_harmless(result.name), style="bold")
    types = [name_of(type_id) for type_id in result.types[:SHOWN_TYPES]]
    more = len(result.types) - len(types)
    line.append(f"  {_harmless(', '.join(types))}{f' and {more} more' if more else ''}", style="cyan")
    contexts = "context" if result.support == 1 else "contexts"
    return line.append(f"  {result.score:.3f} from {result.support:,} {contexts}", style="dim")


def _snippet(snippet: Snippet | Placed, styled: bool) -> Text:
    marks = [(snippet.mention, "reverse", "[]"), *((m.at, "bold green", "**") for m in snippet.matches)]
    line = Text("     ")
    text = _harmless(snippet.snippet)
    if styled:
        body = Text(text)
        for (start, end), style, _signs in marks:
            body.stylize(style, start, end)
    else:
        body = Text(_mark_plainly(text, [(at, signs) for at, _style, signs in marks]))
    line.append(body)
    return line.append(f"  ({_harmless(snippet.title or snippet.doc)})", style="dim italic")


def _harmless(text: str) -> str:
    """The text without characters that would steer the terminal or turn its direction; one for one."""
    return "".join("\ufffd" if unicodedata.category(c) == "Cc" or c in DIRECTION else c for c in text)


def _mark_plainly(text: str, marks: list[tuple[tuple[int, int], str]]) -> str:
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


def _explanation(explain: Explanation) -> list[str]:
    parts = " + ".join(f"{v:.4f} {name!r}" for name, v in explain.literals.items())
    lines = [f"       {explain.score:.4f} = {parts}"]
    for context in explain.contexts:
        literals = ", ".join(f"{x.contribution:.4f} {x.literal!r} at {x.distance}" for x in context.literals)
        place = f"{context.doc} [{context.start}:{context.end}]"
        left, without = context.without, ""  # the entity's rank and score without the context, if they were computed
        if left is not None:
            without = "; the only one" if left.rank is None else f"; without it rank {left.rank}, {left.score:.4f}"
        lines.append(f"       {context.contribution:.4f}  {place}  {literals}{without}")
        for cell in context.cells:
            if cell.value:
                literal = f" ({cell.literal!r})" if cell.literal else ""
                lines.append(f"                 {cell.value:.4f} {cell.feature}: {cell.cell}{literal}")
    if explain.others.contexts:
        lines.append(f"       {explain.others.contribution:.4f}  {explain.others.contexts:,} more contexts")
    return lines
