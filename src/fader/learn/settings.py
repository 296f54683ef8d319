"""The parameters of features x aggregator, declared once.

`fader.Ranker(...)`, the options of `fader train`, texts such as `fader(features=noprox,aggregator=sum)` and model files
all have these. Knows nothing of how weights are found.
"""

from __future__ import annotations

from dataclasses import dataclass

from fader.aggregate.base import Aggregator
from fader.errors import UsageError, quoted
from fader.features.base import FeatureMap
from fader.learn.train import check_lambda

LAMBDAS = (0.1, 1.0, 10.0)


@dataclass(frozen=True)
class TrainingOptions:
    """What to train: features, aggregator, which contexts count, and how weights are sought.

    Feature maps and aggregators are given by name or as objects. `features`, `aggregator`, `policy`, `window` and `top`
    may be alternatives, written with `|`; `lam` is auto, a number, or several as in 0.1/1/10.
    """

    features: str | FeatureMap = "noprox+rectangle"
    aggregator: str | Aggregator = "sum"
    loss: str = "pairwise"
    lam: str = "auto"
    policy: str = "document"
    window: str = "0"
    top: str = "0"
    ignore_overlap: bool = False
    judged_only: bool = False
    starts: int = 2
    rounds: int = 3
    bad: int = 0
    seed: int = 0

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
            raise UsageError(f"lambda must be auto or numbers above 0 such as 1 or 0.1/1/10, not {quoted(self.lam)}")
        for value in found:
            check_lambda(value)
        return found
