"""The figures of a comparison, as SVG and PNG, each with a caption that says what it shows.

    candidates    candidate entities per query                     histogram, bins 1-2-5 on a log axis
    supports      |S_e| of good and bad entities                   share with at least n contexts, log axis
    contexts      context scores by rank within some S_e           lines, good and bad
    weights-...   learned weight grid                              far/low-IDF corner to near/high-IDF corner
    means         the first measure by system                      means with 95% confidence intervals

The same comparison gives the same bytes: no dates, fixed ids, matplotlib's own font. Labels are never parsed as
mathematics. matplotlib (the extra `fader[plots]`) is imported only here, and late, since it is optional and slow to
load. Knows nothing of pages; a page can replace the five COLOURS in the SVG.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fader.errors import UsageError
from fader.experiment.comparison import Comparison, ContextScores, SystemGrid, measure_title
from fader.experiment.reporting.markup import clean_text, format_count
from fader.experiment.significance import confidence_interval

F64 = NDArray[np.float64]
REMEDY = "figures need matplotlib; install it with: pip install 'fader[plots]'"

# Blue and vermilion of Okabe and Ito, which people with any colour vision can tell apart.
INK, MUTED, PAPER, GOOD, BAD = COLOURS = ("#1b1f24", "#8a9099", "#fefefe", "#0072b2", "#d55e00")

MOST_LINES = 4  # of good and of bad entities each, in the figure of context scores
MOST_GRIDS = 6
MOST_CELLS = 600  # of a grid that are drawn as shapes; more become one picture
MOST_POINTS = 400  # of a curve: more cannot be seen
MARKERS = "os^D"

_STYLE = {
    "svg.fonttype": "none",  # text stays text: small files that can be searched and read aloud
    "text.parse_math": False,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": PAPER,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.6,
    "legend.frameon": False,
}


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure in both forms, with a title and a caption that says what it shows."""

    name: str
    title: str
    caption: str
    svg: str
    png: bytes


def can_draw() -> bool:
    """Whether figures can be drawn here."""
    try:
        import matplotlib.figure  # noqa: F401  only asked for
    except ImportError:
        return False
    return True


def draw(comparison: Comparison) -> list[Drawing]:
    """Every figure that the comparison has data for."""
    if not can_draw():
        raise UsageError(REMEDY)
    return [_finish(plan) for plan in _plan_figures(comparison)]


class Plan(NamedTuple):
    """A figure to be drawn: its name, title and caption, and a function that paints it."""

    name: str
    title: str
    caption: str
    paint: Callable[[Any], None]


def _plan_figures(comparison: Comparison) -> Iterator[Plan]:
    measure = comparison.measures[0]
    if comparison.matrix_of_shared_queries(measure).shape[1]:
        yield plan_means(comparison, measure)
    if comparison.candidates:
        yield plan_candidates(comparison.candidates)
    if comparison.supports.good and comparison.supports.bad:
        yield plan_supports(comparison.supports.good, comparison.supports.bad)
    if comparison.context_scores:
        yield plan_context_scores(comparison)
    for i, grid in enumerate(comparison.grids[:MOST_GRIDS], 1):
        yield plan_weights(grid, comparison.title_of(grid.system), f"weights-{i}")


def _finish(plan: Plan) -> Drawing:
    import matplotlib
    from matplotlib.figure import Figure

    style: Any = {**_STYLE, "svg.hashsalt": plan.name}
    with matplotlib.rc_context(), _ignore_missing_glyphs():
        matplotlib.rcdefaults()  # whatever the user's settings are
        matplotlib.rcParams.update(style)
        figure = Figure(figsize=(6.6, 3.6), layout="constrained")
        plan.paint(figure)
        svg, png = io.StringIO(), io.BytesIO()
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None, "Title": plan.title})
        figure.savefig(png, format="png", dpi=160, metadata={"Software": None})
    return Drawing(plan.name, plan.title, plan.caption, svg.getvalue(), png.getvalue())


@contextmanager
def _ignore_missing_glyphs() -> Iterator[None]:
    """A script that the font lacks is shown as boxes in the PNG and correctly in the SVG: no reason to warn."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        yield


# The figures


def plan_means(comparison: Comparison, measure: str) -> Plan:
    """Dots with 95% confidence intervals, the best system on top."""
    title, smaller = measure_title(measure), measure in comparison.smaller_is_better
    values = comparison.matrix_of_shared_queries(measure)
    centre, ends = values.mean(axis=1), np.array([confidence_interval(row) for row in values])
    order = np.argsort(centre if smaller else -centre, kind="stable")
    labels = [clean_text(comparison.systems[i].title, 44) for i in order]
    several = values.shape[1] > 1  # one query has neither an interval nor a test

    def paint(figure: Any) -> None:
        figure.set_figheight(1.0 + 0.3 * len(order))
        axes = figure.add_subplot()
        y = np.arange(len(order))
        if several:
            axes.hlines(y, ends[order, 0], ends[order, 1], color=MUTED, linewidth=1.6, zorder=2)
        axes.scatter(centre[order], y, s=34, color=[GOOD] + [INK] * (len(order) - 1), zorder=3)
        axes.axvline(centre[order[0]], color=GOOD, linewidth=0.8, linestyle=(0, (2, 3)), zorder=1)
        axes.set_yticks(y, labels)
        axes.set_ylim(len(order) - 0.5, -0.6)
        beside = axes.get_yaxis_transform()
        for place, i in zip(y, order, strict=True):
            axes.text(1.02, place, f"{centre[i]:.3f}", transform=beside, va="center_baseline", ha="left")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        measured = f"{title}, mean and 95% confidence interval" if several else title
        axes.set_xlabel(measured + (" (smaller is better)" if smaller else ""))
        _limit_ticks(axes.xaxis)

    bars = (
        "Bars are 95% confidence intervals of each mean alone; systems answer the same queries, so compare them by the "
        "tests of the table. "
    )
    caption = (
        f"{title} of {format_count(len(order), 'system')} over {format_count(values.shape[1], 'query', 'queries')}. "
        f"{bars if several else ''}Best is {labels[0]} with {centre[order[0]]:.3f}."
    )
    return Plan("means", f"{title} by system", caption, paint)


def plan_candidates(counts: Sequence[int]) -> Plan:
    """A histogram with bins 1, 2, 5, 10, 20, ...; queries without candidates stand apart."""
    numbers = np.sort(np.array(counts, dtype=np.int64))
    found = numbers[numbers > 0]
    edges = _list_edges(int(numbers[-1]))
    heights = np.histogram(found, edges)[0]
    none = int(numbers.size - found.size)
    median = float(np.median(numbers))

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.set_xscale("log")
        axes.bar(edges[:-1], heights, np.diff(edges), align="edge", color=GOOD, edgecolor=PAPER, linewidth=1.2)
        ticks, labels = list(edges), [_format_tick(edge) for edge in edges]
        if none:
            axes.bar([0.35], [none], [0.3], align="edge", color=MUTED, edgecolor=PAPER, linewidth=1.2)
            ticks, labels = [0.5, *ticks], ["0", *labels]
        axes.set_xticks(ticks, labels)
        axes.set_xticks([], minor=True)
        axes.set_xlim(0.3 if none else 0.95, edges[-1] * 1.05)
        top = max(int(heights.max()) if heights.size else 0, none)
        axes.set_ylim(0, top * 1.16)
        if median >= 1:
            axes.axvline(median, ymax=0.93, color=INK, linewidth=1.0, linestyle=(0, (4, 2)))
            axes.text(median, top * 1.1, f" median {_format_count(median)}", ha="left", va="center")
        axes.set_xlabel("candidate entities per query (log scale)")
        axes.set_ylabel("queries")
        _limit_ticks(axes.yaxis, whole=True)

    low, high = np.percentile(numbers, [25, 75])
    caption = (
        f"Candidate entities per query, over {format_count(numbers.size, 'query', 'queries')}: "
        f"median {_format_count(median)}, the middle half between {_format_count(low)} and {_format_count(high)}, "
        f"at most {_format_count(numbers[-1])}, {_format_count(numbers.mean())} on average."
    )
    caption += f" {_format_count(none)} {'query has' if none == 1 else 'queries have'} no candidate." if none else ""
    return Plan("candidates", "Candidate entities per query", caption, paint)


def plan_supports(good: Sequence[int], bad: Sequence[int]) -> Plan:
    """The share of entities with at least n contexts, so that groups of very different size can be compared."""
    groups = [np.sort(np.array(good, dtype=np.int64)), np.sort(np.array(bad, dtype=np.int64))]
    largest = max(int(g[-1]) for g in groups)

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.set_xscale("log")
        at = _log_steps(largest + 1)
        for values, name, colour, line in zip(groups, ("good", "bad"), (GOOD, BAD), ("-", (0, (5, 2))), strict=True):
            share = 100 * (1 - np.searchsorted(values, at) / values.size)
            label = f"{name} ({format_count(values.size, 'entity', 'entities')})"
            axes.plot(at, share, color=colour, linestyle=line, drawstyle="steps-pre", label=label)
            half = max(1.0, float(np.median(values)))
            reached = float(100 * (1 - np.searchsorted(values, half) / values.size))
            axes.plot([half], [reached], "o", color=colour, markersize=5)
        axes.set_xlim(0.9, (largest + 1) * 1.1)
        axes.set_ylim(0, 102)
        _set_decades(axes, largest + 1)
        axes.set_yticks([0, 25, 50, 75, 100], ["0%", "25%", "50%", "75%", "100%"])
        axes.grid(axis="y", color=MUTED, alpha=0.25, linewidth=0.6)
        axes.set_xlabel("n supporting contexts (log scale)")
        axes.set_ylabel("entities with |Sₑ| ≥ n")
        axes.legend(loc="upper right")

    middle = [_format_count(float(np.median(g))) for g in groups]
    caption = (
        f"Supporting contexts of candidates: the share of good and of bad entities with at least n contexts; dots mark "
        f"the medians, {middle[0]} for good and {middle[1]} for bad. Of a good and a bad entity drawn at random the "
        f"good one has more contexts in {100 * _share_larger(*groups):.0f}% of cases (ties count half; 50% would be no "
        f"separation)."
    )
    return Plan("supports", "Supporting contexts of good and bad entities", caption, paint)


def plan_context_scores(comparison: Comparison) -> Plan:
    """Scores over rank within some S_e; title and caption name the systems that gave them, where these are known."""
    lists = comparison.context_scores
    good = [c for c in lists if c.good and c.scores][:MOST_LINES]
    bad = [c for c in lists if not c.good and c.scores][:MOST_LINES]
    systems = dict.fromkeys(comparison.title_of(c.system) for c in [*good, *bad] if c.system)
    by = " and ".join(clean_text(s, 80) for s in systems)
    longest = max((len(c.scores) for c in [*good, *bad]), default=1)

    def paint(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.set_xscale("log")
        for group, name, colour, line in ((good, "good", GOOD, "-"), (bad, "bad", BAD, (0, (5, 2)))):
            for entry, marker in zip(group, MARKERS, strict=False):
                rank = _log_steps(len(entry.scores))
                axes.plot(
                    rank,
                    np.array(entry.scores)[rank - 1],
                    color=colour,
                    linestyle=line,
                    linewidth=1.3,
                    marker=marker,
                    markersize=4.5,
                    markevery=_place_markers(rank),
                    label=f"{name}: {clean_text(entry.entity, 28)}",
                )
        axes.set_xlim(0.9, longest * 1.15)
        _set_decades(axes, longest)
        axes.grid(axis="y", color=MUTED, alpha=0.25, linewidth=0.6)
        axes.set_xlabel("rank of the context within Sₑ (log scale)")
        axes.set_ylabel("context score")
        _limit_ticks(axes.yaxis)
        if good or bad:
            figure.legend(loc="outside right upper", handlelength=2.6)

    caption = (
        f"Context scores{f' given by {by}' if by else ''}, by rank within Sₑ, for {len(good)} good and "
        f"{len(bad)} bad entities{_describe_best(good, bad)}. Where the lines of good and bad entities mix, the scores "
        f"alone do not separate them."
    )
    return Plan("contexts", "Context scores within some Sₑ" + (f", {by}" if by else ""), caption, paint)


def plan_weights(grid: SystemGrid, system: str, name: str) -> Plan:
    """A heat map; nearer is further right, more IDF further up."""
    values = np.array(grid.values, dtype=np.float64)
    far, near = values[0, 0], values[-1, -1]

    def paint(figure: Any) -> None:
        rows, columns = values.shape
        figure.set_figheight(min(5.4, max(2.8, 1.6 + 0.28 * rows)))
        axes = figure.add_subplot()
        signed = bool(values.min() < 0)
        reach = float(np.abs(values).max()) or 1.0
        limits = {"vmin": -reach, "vmax": reach} if signed else {"vmin": 0.0, "vmax": reach}
        edges = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
        mesh = axes.pcolormesh(*edges, values, cmap="PuOr_r" if signed else "YlGnBu", **limits)
        mesh.set_rasterized(values.size > MOST_CELLS)
        slant = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if columns > 6 else {}
        axes.set_xticks(range(columns), [clean_text(c, 16) for c in grid.columns], **slant)
        axes.set_yticks(range(rows), [clean_text(r, 16) for r in grid.rows])
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_xlabel("distance of the literal:  far  →  near")
        axes.set_ylabel("IDF share:  low  →  high")
        bar = figure.colorbar(mesh, ax=axes, pad=0.02, aspect=30)
        bar.outline.set_visible(False)
        bar.set_label("added to the context score")
        if values.size <= 60:
            digits = max(0, 3 - int(np.floor(np.log10(reach))) - 1)
            for (i, j), value in np.ndenumerate(values):
                text, dark = f"{value:.{digits}f}".replace("-", "−"), abs(value) > 0.6 * reach
                axes.text(j, i, text, ha="center", va="center", fontsize=8, color="#ffffff" if dark else "#000000")

    caption = (
        f"Learned weights of {clean_text(grid.feature, 80)} in {clean_text(system, 80)}, averaged over folds: what a "
        f"matched literal adds to a context's score, by its distance and its share of the query's IDF. "
        f"{far:.3g} in the far, low-IDF corner (lower left) and {near:.3g} in the near, high-IDF corner (upper right); "
        f"the cells range from {values.min():.3g} to {values.max():.3g}."
    )
    return Plan(name, f"Learned weights of {clean_text(system, 60)}", caption, paint)


# Parts of figures


def _set_decades(axes: Any, largest: float) -> None:
    """Ticks at 1, 10, 100, ..., and 1-2-5 where these would be few."""
    edges = _list_edges(int(largest))
    ticks = edges if edges.size <= 7 else edges[::3]
    axes.set_xticks(ticks, [_format_tick(t) for t in ticks])
    axes.set_xticks([], minor=True)


def _limit_ticks(axis: Any, whole: bool = False) -> None:
    """Few ticks, on whole numbers if asked for."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(5, integer=True) if whole else MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))


def _list_edges(largest: int) -> NDArray[np.int64]:
    """1, 2, 5, 10, ... to the first above `largest`."""
    edges = [1]
    while edges[-1] <= largest:
        edges.append(edges[-1] * (2 if len(edges) % 3 != 2 else 5) // (1 if len(edges) % 3 != 2 else 2))
    return np.array(edges if len(edges) > 1 else [1, 2], dtype=np.int64)


def _log_steps(largest: int) -> NDArray[np.int64]:
    """Whole numbers from 1 to `largest`, ever wider apart, few enough to draw."""
    return np.unique(np.geomspace(1, max(1, largest), MOST_POINTS).round().astype(np.int64))


def _place_markers(rank: NDArray[np.int64]) -> list[int]:
    """A marker at both ends and at each power of 4 between."""
    wanted = [4**k for k in range(1, 16) if 4**k < int(rank[-1]) / 1.5]
    return sorted({0, rank.size - 1, *(int(np.searchsorted(rank, w)) for w in wanted)})


def _share_larger(good: NDArray[np.int64], bad: NDArray[np.int64]) -> float:
    """Over all pairs of sorted values: the share with good > bad, ties counting half."""
    below, upto = np.searchsorted(bad, good, "left"), np.searchsorted(bad, good, "right")
    return float((below + upto).sum() / (2 * good.size * bad.size))


def _describe_best(good: Sequence[ContextScores], bad: Sequence[ContextScores]) -> str:
    """The range of the best context scores, for the caption."""
    parts = []
    for group, name in ((good, "good"), (bad, "bad")):
        tops = [c.scores[0] for c in group]
        if tops:
            parts.append(f"{min(tops):.3g} to {max(tops):.3g} for {name} ones")
    return f": the best context scores {' and '.join(parts)}" if parts else ""


def _format_tick(number: float) -> str:
    """1, 500, 2k, 10M."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"


def _format_count(value: float) -> str:
    """A count for people: 1,884; one digit after the point where it is not whole and small."""
    return f"{value:,.1f}" if value < 100 and value != round(value) else f"{value:,.0f}"
