"""Synthetic judged queries, made directly as what training sees: cells of literals, document values, judgments.

At scale 1.0 the paper's sizes: 845 queries, 1,884 candidates and 110,000 contexts each on average, 93 million contexts.
The scale is that of the number of queries; a query keeps its size.

- Candidates per query and contexts per entity are lognormal: half the entities have six contexts or fewer, one in a
  thousand has thousands. A query has one to some ten good entities, well mixed with the others in popularity.
- A context is background or an answer. Answers have nearer matches. A good entity has some
  25 of them, others hardly any, the popular ones more. So evidence adds up, and popularity misleads.
- Two to four literals; shares of IDF(q) give their rows of the rectangle, distances the columns. Which literals are
  there depends on the document, the first one is in all. Documents with more of them and with better values are those
  that good entities are in more often.
- The policy is `mention`: every context counts, one row a group.

Everything follows from the seed, query by query. Knows nothing of text, of an index or of what is done with the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from fader.features.base import Codes, Columns
from fader.features.combined import Combined, feature_map
from fader.learn.dataset import Dataset, QueryData, View
from fader.measures import Judgments

QUERIES, CANDIDATES, CONTEXTS = 845, 1884, 110_000
FEATURES = "noprox+rectangle(10x12)"
CANDIDATE_SPREAD, CONTEXT_SPREAD = 1.0, 2.13  # of the logarithms
MENTIONS_PER_DOCUMENT = 2.5
GOOD = 4.0  # good entities beyond the first
POPULAR, BETTER = 1.0, 1.5  # how good entities differ: logarithm of contexts, choice of documents
MOST = 20_000  # background contexts of an entity
ANSWERS, ANSWER_SPREAD = (0.05, 25.0), 1.3  # median of an entity's answers, bad and good
FAMED = 0.4  # the power of an entity's contexts that its answers grow with, if it is bad
NEARER = np.array([-0.6, 0.05])  # logarithm of a column's probability over the one before it: background, answers
STEPS = 4096  # equal chances, among which columns are shared out


@dataclass(frozen=True)
class Size:
    """Queries, candidates and contexts of one of them, and the seed."""

    queries: int
    candidates: int
    seed: int


def sizes(scale: float, seed: int) -> list[Size]:
    """The queries of a scale: evenly spaced quantiles of the distribution, so that totals do not depend on luck."""
    n = max(5, round(QUERIES * scale))
    level = CANDIDATE_SPREAD * ndtri((np.arange(n) + 0.5) / n)
    candidates = np.exp(level)
    candidates *= CANDIDATES / candidates.mean()
    order = np.random.default_rng(seed).permutation(n)
    return [Size(n, max(20, round(c)), seed) for c in candidates[order]]


def dataset(scale: float, seed: int = 1) -> Dataset:
    """All queries."""
    features = feature_map(FEATURES)
    drawn = (query(number, size, features) for number, size in enumerate(sizes(scale, seed)))
    return Dataset(features, View(policy="mention"), tuple(drawn))


def query(number: int, size: Size, features: Combined) -> QueryData:
    """One query, from a generator of its own."""
    draw = np.random.default_rng((size.seed, number))
    n = size.candidates
    good = np.zeros(n, bool)
    good[draw.permutation(n)[: min(n // 4, 1 + draw.poisson(GOOD))]] = True
    background, answers = _context_counts(draw, good)
    at = np.concatenate(([0], np.cumsum(background + answers)))
    owner = np.repeat(np.arange(n), np.diff(at))
    answer = draw.random(owner.size) < (answers / (background + answers))[owner]
    documents = max(1, round(at[-1] / MENTIONS_PER_DOCUMENT))
    row = _documents(draw, at, owner, good, documents)
    literals = int(draw.integers(2, 5))
    fit = 1.5 - np.arange(documents) / documents  # the first documents suit the query best
    present = draw.random((documents, literals)) < np.outer(fit, draw.uniform(0.2, 0.8, literals))
    present[:, 0] = True
    codes = _codes(draw, answer, present[row], features)
    values = _document_values(draw, fit * present.mean(axis=1))
    group_at = np.arange(at[-1] + 1, dtype=np.int64)
    blocks = (Columns(values, row), Codes(codes, np.ones(literals), features.maps[1].size))
    return QueryData(f"q{number:04}", at, group_at, blocks, _judgments(good))


def _context_counts(draw: np.random.Generator, good: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many contexts of either kind each entity has, 1 at least in all."""
    median = CONTEXTS / CANDIDATES * np.exp(-(CONTEXT_SPREAD**2) / 2)
    background = median * np.exp(CONTEXT_SPREAD * draw.standard_normal(good.size) + POPULAR * good)
    background = np.clip(np.rint(background), 1, MOST).astype(np.int64)
    answers = np.where(good, ANSWERS[1], ANSWERS[0] * background**FAMED)
    answers *= np.exp(ANSWER_SPREAD * draw.standard_normal(good.size))
    return background, np.rint(answers).astype(np.int64)


def _documents(
    draw: np.random.Generator, at: np.ndarray, owner: np.ndarray, good: np.ndarray, documents: int
) -> np.ndarray:
    """Ascending within an entity: one out of each of its equal parts of the documents; good ones lean to the first."""
    place = np.arange(owner.size) - at[owner]
    share = (place + draw.random(owner.size)) / np.diff(at)[owner]
    of_good = good[owner]
    share[of_good] **= BETTER
    return np.minimum(share * documents, documents - 1).astype(np.int32)


def _codes(draw: np.random.Generator, answer: np.ndarray, present: np.ndarray, features: Combined) -> np.ndarray:
    """The cell of every literal in every context: the literal's row of cells, a column by chance and kind."""
    axes = features.maps[1].axes
    first = axes.row_of(draw.dirichlet(np.full(present.shape[1], 3.0))) * axes.columns
    chance = draw.integers(0, STEPS, present.shape, dtype=np.uint16)
    column = _column_table(axes.columns)[chance + (answer * np.uint16(STEPS))[:, None]]
    return np.where(present, column + first.astype(np.uint8), np.uint8(axes.cells))


def _column_table(columns: int) -> np.ndarray:
    """The column for each kind of context and each chance, flat."""
    weight = np.exp(np.outer(NEARER, np.arange(columns)))
    reached = np.cumsum(weight, axis=1) / weight.sum(axis=1, keepdims=True)
    chance = (np.arange(STEPS) + 0.5) / STEPS
    return np.concatenate([np.searchsorted(r, chance) for r in reached]).astype(np.uint8)


def _document_values(draw: np.random.Generator, fit: np.ndarray) -> np.ndarray:
    """Five columns as noprox has them: cosine, BM25, Jaccard, Dirichlet, constant."""
    noise = draw.random((fit.size, 4)) + 0.5
    values = np.ones((fit.size, 5))
    values[:, :4] = fit[:, None] * noise * np.array([0.15, 8.0, 0.05, 6.0])
    return values


def _judgments(good: np.ndarray) -> Judgments:
    grades = good.astype(np.int64)
    count = int(grades.sum())
    return Judgments(np.arange(good.size, dtype=np.int32), grades, good, np.ones(count, np.int64), count)
