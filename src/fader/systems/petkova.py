"""Petkova & Croft's kernel language model: an entity's language is that of the tokens around its mentions.

    p(t|d, o) = sum_i [t_i = t] k(l(i)) / sum_i k(l(i))                 over the tokens i of d, o a mention of e
    p(t|e)    = mean over documents of the mean over the mentions of e in each
    V(e)      = ln p(q|e) = sum_t ln[ (1 - lam_e) p(t|e) + lam_e p(t|C) ],   lam_e = beta / (beta + n(e))

l(i) is 0 inside the mention and counts tokens from its nearest end outside; a phrase counts once, at its first token.
n(e) is the tokens of the documents that mention e; beta = 0 is its average over the query's candidates. Literals with
cf = 0 are left out. With r = l/width: gaussian exp(-r^2/2), triangle 1 - r, step 1, both 0 beyond the width; with the
constant kernel, which has no width, this is balog1 with boolean association.

Golden case: documents `alpha x x x`, which mentions e at token 1, and `alpha alpha`, which mentions e and f at token 1;
query `alpha`. With a step of width 1 p(t|e) = (1/3 + 1)/2 = 2/3; p(t|C) = 1/2, n(e) = 6, n(f) = 2, beta = 4, so that
V(e) = ln(0.6 * 2/3 + 0.4/2) = ln 0.6 and V(f) = ln 2/3. Petkova & Croft, "Proximity-based document representation for
named entity retrieval", CIKM 2007. Values are natural logarithms. Knows nothing of which mention is nearest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from fader.contexts.table import Contexts
from fader.features.checks import check_choice
from fader.systems.shared.kernels import CONSTANT, check_width, propagate_counts
from fader.systems.shared.likelihood import F64, CandidateModel, check_beta, mean_of_mentions, pairs_of

KERNELS = ("gaussian", "triangle", "step", CONSTANT)


@dataclass(frozen=True)
class Petkova(CandidateModel):
    """Kernel language model: query likelihood under the words around an entity's mentions, weighted by distance."""

    name: ClassVar[str] = "petkova"
    citation: ClassVar[str] = (
        "Petkova & Croft, Proximity-based document representation for named entity retrieval, CIKM 2007"
    )
    tries: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "kernel": ("gaussian", "triangle", "step"),
        "width": ("10", "30", "100", "300"),
    }
    kernel: str = "gaussian"
    width: float = 50.0
    beta: float = 0.0

    def __post_init__(self) -> None:
        check_choice(self.name, "kernel", self.kernel, KERNELS)
        check_width(self.name, self.width)
        check_beta(self.name, self.beta, "the average n(e)")

    def foreground(self, contexts: Contexts) -> F64:
        width = self.width if self.kernel != CONSTANT else 0.0
        made: F64 = contexts.compute_once(("kernel shares", self.kernel, width), lambda: self._shares(contexts))
        return made

    def _shares(self, contexts: Contexts) -> F64:
        count, mass = propagate_counts(contexts, self.kernel, self.width)
        count /= mass
        return mean_of_mentions(pairs_of(contexts), count)
