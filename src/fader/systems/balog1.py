"""Balog's model 1, the candidate model: the documents that mention an entity, joined, are its language.

    V(e) = ln p(q|e) = sum_t ln[ (1 - lam_e) sum_{d in D_e} p(t|d) p(d|e) + lam_e p(t|C) ]
    p(t|d) = tf/|d|,   lam_e = beta / (beta + n(e)),   n(e) = tokens of D_e,   p(t|C) = cf/tokens

Literals with cf = 0 are left out. `association` is a(d, e): boolean, or frequency, n(e, d) * ln(1 + E/E(d)) with E
candidates of which d mentions E(d) (the TF-IDF association); p(d|e) is a(d, e) divided by its sum over D_e, or a(d, e)
itself with `normalise=false`. `window` makes it model 1B: p(t|d) is then that of the tokens within w of a mention, the
mention's included, as the mean over the mentions of e in d and, if there are several sizes, over these; 0 is the whole
document. Smoothing does not depend on the window.

Golden case: documents `alpha x x x`, which mentions e, and `alpha alpha`, which mentions e and f; query `alpha`.
p(t|C) = 1/2, n = 6 and 2, beta = 4; p(t|e) = (1/4 + 1)/2 = 5/8, so that V(e) = ln(0.6 * 5/8 + 0.4/2) = ln 0.575 and
V(f) = ln(1/3 + 2/3 * 1/2) = ln 2/3. Balog, Azzopardi & de Rijke, "Formal models for expert finding in enterprise
corpora", SIGIR 2006, and "A language modeling framework for expert finding", IP&M 2009. Values are natural logarithms.
Knows nothing of distances but through windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fader.contexts.table import Contexts
from fader.features.checks import check_choice, check_flag
from fader.systems.shared.likelihood import (
    F64,
    WHOLE,
    CandidateModel,
    EntityDocumentPairs,
    check_beta,
    check_window,
    frequencies,
    near_shares,
    per_entity,
)


@dataclass(frozen=True)
class Balog1(CandidateModel):
    """Candidate model: query likelihood under an entity's documents taken together; 1B with a window."""

    name: ClassVar[str] = "balog1"
    citation: ClassVar[str] = (
        "Balog, Azzopardi & de Rijke, Formal models for expert finding in enterprise corpora, SIGIR 2006"
    )
    tries: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "association": ("boolean", "frequency"),
        "beta": ("0", "1000"),
        "window": ("0", "25", "100"),
    }
    association: str = "boolean"
    normalise: bool = True
    beta: float = 0.0
    window: tuple[float, ...] = WHOLE

    def __post_init__(self) -> None:
        check_choice(self.name, "association", self.association, ("boolean", "frequency"))
        check_flag(self.name, "normalise", self.normalise)
        check_beta(self.name, self.beta, "the average n(e)")
        check_window(self.name, self.window)

    def foreground(self, contexts: Contexts) -> F64:
        return near_shares(contexts, self.window)

    def associate(self, pairs: EntityDocumentPairs) -> F64:
        a = frequencies(pairs.counts) if self.association == "frequency" else np.ones(pairs.row.size)
        return per_entity(pairs.counts, a) if self.normalise else a
