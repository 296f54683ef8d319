"""Which entity a span means, and how sure that is.

For candidate e of the span's group g, with the words W of the text within 50 tokens of the span, the span left out:

    score(e) = log prior(e | g) + sum of w(e, t) over the words t of W that speak for e
    P(e)     = exp(score(e)) / sum over candidates
    confidence = P(best) * link(g)

The best score wins, at equal scores the candidate that comes first (see dictionary.py). link(g) is how often a span
like this is a mention at all. Where no linked corpus has seen the group it is a round number by the kind of name, times
1/2 for common words at the start of a sentence, where a capital says nothing, and times 3/4 where the name has a
capital that the text has not. With one candidate P = 1. Knows nothing of where weights are from: see `profiles` and
`links`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fader.arrays import F32, I32, I64
from fader.corpora.annotate.dictionary import COMMON, OBSERVED, Dictionary
from fader.corpora.annotate.match import Matches
from fader.corpora.annotate.scan import CAPITALISED, SENTENCE, Tokens
from fader.kernel import kernel

WINDOW = 50
SENTENCE_START = 0.5
OTHER_CASE = 0.75


class Resolved(NamedTuple):
    """Per span its entity and confidence."""

    entity: I32
    confidence: F32


class Resolver:
    """Chooses among candidates; not for several threads at once."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._stamp = np.zeros(dictionary.term_starts.size, dtype=np.int64)
        self._serial = 0

    def resolve(self, tokens: Tokens, term: I32, matches: Matches) -> Resolved:
        """The entities of a batch's spans."""
        n = matches.token.size
        out = Resolved(np.empty(n, dtype=np.int32), np.empty(n, dtype=np.float32))
        _resolve(tokens, term, matches, self.dictionary, self._stamp, self._serial, out)
        self._serial += n
        return out


@kernel
def _resolve(
    tokens: Tokens, term: I32, matches: Matches, names: Dictionary, stamp: I64, serial: int, out: Resolved
) -> None:
    gap, length, flags = tokens.gap, matches.length, names.group_flags
    m = 0
    for d in range(matches.ends.size):
        low = tokens.ends[d - 1] if d else 0
        high = tokens.ends[d]
        while m < matches.ends[d]:
            t, g = matches.token[m], matches.group[m]
            first, last = names.group_candidates[g], names.group_candidates[g + 1]
            best, share = first, 1.0
            if last - first > 1:
                serial_here = serial + m + 1
                for u in range(max(low, t - WINDOW), min(high, t + length[m] + WINDOW)):
                    if term[u] >= 0 and not t <= u < t + length[m]:
                        stamp[term[u]] = serial_here
                highest, total = -np.inf, 0.0
                for c in range(first, last):
                    score = np.float64(names.candidate_prior[c])
                    e = names.candidate_entity[c]
                    for p in range(names.profile_starts[e], names.profile_starts[e + 1]):
                        if stamp[names.profile_term[p]] == serial_here:
                            score += np.float64(names.profile_weight[p])
                    if score > highest:
                        total = total * np.exp(highest - score) + 1.0
                        highest, best = score, c
                    else:
                        total += np.exp(score - highest)
                share = 1.0 / total
            sure = np.float64(names.group_link[g])
            if not flags[g] & OBSERVED:
                if flags[g] & COMMON and gap[t] & SENTENCE:
                    sure *= SENTENCE_START
                for j in range(length[m]):
                    wanted = (names.group_mask[g] >> np.uint64(j)) & np.uint64(1)
                    if wanted != np.uint64(0) and not gap[t + j] & CAPITALISED:
                        sure *= OTHER_CASE
                        break
            out.entity[m] = names.candidate_entity[best]
            out.confidence[m] = np.float32(share * sure)
            m += 1
