"""Voting: documents are ranked, and each of the best n votes for the entities it mentions.

R is the ranking of the matching documents by a weighting model, cut at n = |R| documents; over the documents of R that
mention the entity, with their scores s and ranks r from 1:

    votes      how many there are            rr         sum 1/r                     borda      sum (n - r)
    combmax    max s                         combmin    min s                       combmed    median s
    combsum    sum s                         combanz    combsum / votes             combmnz    votes * combsum
    expcombsum sum exp(s)                    expcombanz expcombsum / votes          expcombmnz votes * expcombsum

Values of the three with exponentials are their natural logarithms, which order entities alike and cannot overflow. An
entity without a document in R is not ranked. Where fewer documents match than the cutoff says, n is their number, so
that the last one's borda vote is 0. Scores are used as they are, also from 0 down; or normalised over R beforehand:
`max` divides them by the largest (where that is above 0), `z` gives them mean 0 and variance 1 (all 0 where they do not
differ). Every mention of a document has the document's vote, and the first one stands for it. Shares are those of the
aggregators.

Golden case: R has d1, d2, d3 with scores 3, 2, 1. An entity in d1 and d3 has votes 2, rr 4/3, borda 2, combmax 3,
combmin 1, combmed 2, combsum 4, combanz 2, combmnz 8, expcombsum ln(e^3 + e), expcombanz ln(e^3 + e) - ln 2, expcombmnz
ln(e^3 + e) + ln 2. Knows nothing of how documents get their scores, or of where in them a mention stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fader.aggregate.average import Average
from fader.aggregate.base import Aggregator
from fader.aggregate.count import Count
from fader.aggregate.expanz import ExpAnz
from fader.aggregate.expmnz import ExpMnz
from fader.aggregate.max import Max
from fader.aggregate.median import Median
from fader.aggregate.min import Min
from fader.aggregate.mnz import Mnz
from fader.aggregate.softmax import SoftMax
from fader.aggregate.sum import Sum
from fader.contexts.table import Contexts
from fader.errors import UsageError, did_you_mean, quote
from fader.rank.system import ContextScorer, FusedMaker, FusedScoring
from fader.systems.shared.weighting import check_model, document_ranking, document_scores

F64 = NDArray[np.float64]

TECHNIQUES: dict[str, Aggregator] = {
    "votes": Count(), "rr": Sum(), "borda": Sum(), "combmax": Max(), "combmin": Min(), "combmed": Median(),
    "combsum": Sum(), "combanz": Average(), "combmnz": Mnz(), "expcombsum": SoftMax(), "expcombanz": ExpAnz(),
    "expcombmnz": ExpMnz(),
}  # fmt: skip
NORMALISATIONS = ("none", "max", "z")
EQUAL = 1e-9  # scores whose deviation is no larger, beside the largest, are the same but for rounding


def check_technique(name: str, owner: str) -> None:
    """Refuse a voting technique that is none."""
    if name not in TECHNIQUES:
        hint = did_you_mean(name, TECHNIQUES) or f"; known: {', '.join(TECHNIQUES)}"
        raise UsageError(f"{owner}: unknown voting technique {quote(name)}{hint}")


@dataclass(frozen=True)
class Voting(ContextScorer):
    """The best documents vote for the entities they mention, by one of twelve techniques; a cutoff of 0 is none."""

    name: ClassVar[str] = "voting"
    citation: ClassVar[str] = "Macdonald & Ounis, Voting for candidates, CIKM 2006"
    tries: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "cutoff": ("100", "300", "1000", "0"),
        "normalise": NORMALISATIONS,
    }
    policy = "document"
    technique: str = "expcombmnz"
    model: str = "bm25"
    cutoff: int = 1000
    normalise: str = "none"

    def __post_init__(self) -> None:
        check_technique(self.technique, self.name)
        check_model(self.model, self.name)
        if self.cutoff < 0:
            raise UsageError(f"{self.name}: cutoff must be a number of documents, or 0 for all, not {self.cutoff}")
        if self.normalise not in NORMALISATIONS:
            known = ", ".join(NORMALISATIONS)
            raise UsageError(f"{self.name}: normalise must be one of {known}, not {quote(self.normalise)}")

    @property
    def entity_aggregator(self) -> Aggregator:
        return TECHNIQUES[self.technique]

    def scores(self, contexts: Contexts) -> F64:
        """The vote of each context's document; 0 outside of R."""
        return self._votes(contexts)[contexts.matching.row]

    def prepare_fused(self) -> FusedMaker:
        def vote(documents: Contexts) -> tuple[F64, NDArray[np.bool_]]:
            return self._votes(documents), self._inside(documents)

        scoring = FusedScoring((), self.entity_aggregator, self.policy, documents=vote)
        return lambda _statistics, _farthest: scoring

    def can_count(self, contexts: Contexts) -> NDArray[np.bool_]:
        return self._inside(contexts)[contexts.matching.row]

    def _inside(self, contexts: Contexts) -> NDArray[np.bool_]:
        """Which of the matching documents are in R."""
        every = document_ranking(contexts, self.model)
        inside = np.zeros(every.size, dtype=np.bool_)
        inside[every[: self.cutoff or None]] = True
        return inside

    def _votes(self, contexts: Contexts) -> F64:
        """The vote of each matching document."""
        every = document_ranking(contexts, self.model)
        chosen, votes = every[: self.cutoff or None], np.zeros(every.size)
        rank = np.arange(1.0, chosen.size + 1.0)
        if self.technique == "votes":
            votes[chosen] = 1.0
        elif self.technique == "rr":
            votes[chosen] = 1.0 / rank
        elif self.technique == "borda":
            votes[chosen] = chosen.size - rank
        else:
            votes[chosen] = normalise_scores(document_scores(contexts, self.model)[chosen], self.normalise)
        return votes


def normalise_scores(scores: F64, how: str) -> F64:
    """The scores of R, normalised."""
    largest = float(scores.max(initial=0.0))
    if how == "max" and largest > 0:
        return scores / largest
    if how == "z" and scores.size:
        deviation = float(scores.std())
        differ = deviation > EQUAL * float(np.abs(scores).max())
        return (scores - scores.mean()) / deviation if differ else np.zeros(scores.size)
    return scores
