"""Answers and explanations as tables: HTML for notebooks, Arrow for frames. Knows nothing of how they were found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from fader.notebook import Safe, element, escape, heat, highlight, join, table

if TYPE_CHECKING:
    from fader.search.answer import Snippet
    from fader.search.why import Why

SHOWN_CONTEXTS = 10


class _Result(Protocol):
    @property
    def rank(self) -> int: ...
    @property
    def entity(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def types(self) -> list[str]: ...
    @property
    def score(self) -> float: ...
    @property
    def support(self) -> int: ...
    @property
    def evidence(self) -> list[Snippet]: ...


def show_snippet(shown: Snippet) -> Safe:
    """A snippet, its mention bold and its matches marked, and where it is from."""
    spans = [(*shown.mention, "b"), *((*match.at, "mark") for match in shown.matches)]
    return join([highlight(shown.snippet, spans), element("small", f" ({shown.title or shown.doc})", "color:gray")])


def show_results(results: Iterable[_Result], title: str, foot: str, warnings: Iterable[str]) -> str:
    """The entities of an answer with their evidence."""
    rows = [
        (
            r.rank,
            join([element("b", r.name), Safe("<br>"), element("small", ", ".join(r.types), "color:gray")]),
            r.score,
            r.support,
            join(element("div", show_snippet(each)) for each in r.evidence),
        )
        for r in results
    ]
    notes = join(element("div", f"Note: {warning}") for warning in warnings)
    shown = table(["", "entity", "score", "contexts", "evidence"], rows, title)
    return str(join([shown, element("small", foot, "color:gray"), notes]))


def results_to_arrow(results: Iterable[_Result]) -> Any:
    """A row per entity, with its best snippet."""
    import pyarrow as pa

    listed = list(results)
    best = [r.evidence[0] if r.evidence else None for r in listed]
    return pa.table(
        {
            "rank": pa.array([r.rank for r in listed], pa.int32()),
            "entity": pa.array([r.entity for r in listed], pa.string()),
            "name": pa.array([r.name for r in listed], pa.string()),
            "types": pa.array([r.types for r in listed], pa.list_(pa.string())),
            "score": pa.array([r.score for r in listed], pa.float64()),
            "support": pa.array([r.support for r in listed], pa.int32()),
            "document": pa.array([b.doc if b else None for b in best], pa.string()),
            "title": pa.array([b.title if b else None for b in best], pa.string()),
            "snippet": pa.array([b.snippet if b else None for b in best], pa.string()),
        }
    )


def show_why(why: Why) -> str:
    """Rank and score, the weight of each literal, the evidence, and the grids."""
    rank = f"rank {why.rank} of {why.candidates:,}" if why.rank else f"not among {why.candidates:,} candidates"
    score = f", score {why.score:.4g}" if why.score is not None else ""
    head = join([element("b", why.name), f": {rank}{score}, by {why.model}"])
    literals = table(
        ["literal", "documents", "share", "contribution"],
        [(each.text, each.documents, each.share, why.explain.literals.get(each.text, 0.0)) for each in why.literals],
    )
    contexts = zip(why.explain.contexts, why.evidence, strict=False)
    evidence = table(
        ["contribution", "evidence"],
        [(share.contribution, show_snippet(shown)) for share, shown in list(contexts)[:SHOWN_CONTEXTS]],
    )
    grids = [
        heat(grid.columns, grid.rows, grid.values, f"{grid.feature}{f', {grid.side}' if grid.side else ''}")
        for grid in why.grids
    ]
    return str(join([element("div", head), literals, evidence, *grids]))


def why_to_arrow(why: Why) -> Any:
    """A row per context that is listed."""
    import pyarrow as pa

    listed = why.explain.contexts
    return pa.table(
        {
            "document": pa.array([c.doc for c in listed], pa.string()),
            "start": pa.array([c.start for c in listed], pa.int32()),
            "end": pa.array([c.end for c in listed], pa.int32()),
            "score": pa.array([c.score for c in listed], pa.float64()),
            "contribution": pa.array([c.contribution for c in listed], pa.float64()),
            "snippet": pa.array([s.snippet for s in why.evidence[: len(listed)]], pa.string())
            if len(why.evidence) >= len(listed)
            else pa.nulls(len(listed), pa.string()),
        }
    )


def show_facts(title: str, facts: dict[str, object]) -> str:
    """Names and values."""
    return str(table([escape(title), ""], list(facts.items())))
