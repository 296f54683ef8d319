"""The parameters of features x aggregator, declared once.

`fader.Ranker(...)`, the options of `fader train`, texts such as `fader(features=noprox,aggregator=sum)` and model files
all have these. Knows nothing of how weights are found.
"""

from __future__ import annotations

from dataclasses import dataclass

from fader.aggregate.base import Aggregator
from fader.errors import UsageError, quote
from fader.features.base import FeatureMap
from fader.learn.train import check_lambda
from fader.options import option

LAMBDAS = (0.1, 1.0, 10.0)


@dataclass(frozen=True)
class TrainingOptions:
    """What to train: features, aggregator, which contexts count, and how weights are sought.

    Feature maps and aggregators are given by name or as objects. `features`, `aggregator`, `policy`, `window` and `top`
    may be alternatives, written with `|`; `lam` is auto, a number, or several as in 0.1/1/10.
    """

    features: str | FeatureMap = option(
        "noprox+rectangle", help="Feature maps joined by +; alternatives with |.", metavar="MAPS"
    )
    aggregator: str | Aggregator = option("sum", help="The aggregator; alternatives with |.", metavar="NAME")
    loss: str = option("pairwise", help="The loss: pairwise, listwise, softmax or ndcg.", metavar="NAME")
    lam: str = option("auto", help="auto, a number, or several as in 0.1/1/10.", flags=("--lambda",), metavar="L")
    policy: str = option("document", help="Contexts that count: document, mention, or both with |.", metavar="NAME")
    window: str = option(
        "0",
        help="Only literals within this many tokens; several with |, 0: no window.",
        metavar="TOKENS",
        show_default=False,
    )
    top: str = option(
        "0", help="Only the N best documents by BM25; several with |, 0: all.", metavar="N", show_default=False
    )
    ignore_overlap: bool = option(False, help="Ignore occurrences inside the mention itself.")
    stem: bool = option(False, help="Words match by their stems.")
    entities: bool = option(
        False, help="Literals that name an entity match its mentions too.", flags=("--entity-literals",)
    )
    relax: bool = option(False, help="Required literals are preferred, not demanded.")
    judged_only: bool = option(False, help="Do not take unjudged candidates for bad ones.")
    starts: int = option(2, help="Starts where the problem is not convex.")
    rounds: int = option(3, help="Rounds of choosing the mentions that count.")
    bad: int = option(0, help="Train on at most N bad candidates per query; 0: all.", metavar="N", show_default=False)
    seed: int = option(0, help="Seed of groups, starts and sample.")

    @property
    def lambdas(self) -> tuple[float, ...]:
        """The values of lambda among which validation chooses."""
        if self.lam == "auto":
            return LAMBDAS
        try:
            found = tuple(float(piece) for piece in self.lam.split("/"))
        except ValueError:
            found = ()
        if not found:
            raise UsageError(f"lambda must be auto or numbers above 0 such as 1 or 0.1/1/10, not {quote(self.lam)}")
        for value in found:
            check_lambda(value)
        return found
