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

from dataclasses import dataclass

import numpy as np

from fader.corpora.annotate.dictionary import COMMON, F32, OBSERVED, Dictionary
from fader.corpora.annotate.match import Matches
from fader.corpora.annotate.scan import CAPITALISED, I32, I64, SENTENCE, U8, U64, Tokens
from fader.kernel import kernel

WINDOW = 50
SENTENCE_START = 0.5
OTHER_CASE = 0.75


@dataclass(slots=True)
class Resolved:
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
        d, n = self.dictionary, matches.token.size
        entity, confidence = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.float32)
        _resolve(
            tokens.gap, tokens.ends, term, matches.token,
            matches.length, matches.group, matches.ends, d.group_candidates, d.candidate_entity, d.candidate_prior,
            d.group_flags, d.group_mask, d.group_link, d.profile_starts, d.profile_term, d.profile_weight, self._stamp,
            self._serial, entity, confidence,
        )  # fmt: skip
        self._serial += n
        return Resolved(entity, confidence)


@kernel
def _resolve(
    gap: U8, token_ends: I64, term: I32, token: I32, length: I32,
    group: I32, ends: I64, candidates: I64, candidate_entity: I32, prior: F32, group_flags: U8, mask: U64, link: F32,
    profile_starts: I64, profile_term: I32, profile_weight: F32, stamp: I64, serial: int, entity: I32, confidence: F32,
) -> None:  # fmt: skip
    m = 0
    for d in range(ends.size):
        low = token_ends[d - 1] if d else 0
        high = token_ends[d]
        while m < ends[d]:
            t, g = token[m], group[m]
            first, last = candidates[g], candidates[g + 1]
            best, share = first, 1.0
            if last - first > 1:
                serial_here = serial + m + 1
                for u in range(max(low, t - WINDOW), min(high, t + length[m] + WINDOW)):
                    if term[u] >= 0 and not t <= u < t + length[m]:
                        stamp[term[u]] = serial_here
                highest, total = -np.inf, 0.0
                for c in range(first, last):
                    score = np.float64(prior[c])
                    e = candidate_entity[c]
                    for p in range(profile_starts[e], profile_starts[e + 1]):
                        if stamp[profile_term[p]] == serial_here:
                            score += np.float64(profile_weight[p])
                    if score > highest:
                        total = total * np.exp(highest - score) + 1.0
                        highest, best = score, c
                    else:
                        total += np.exp(score - highest)
                share = 1.0 / total
            sure = np.float64(link[g])
            if not group_flags[g] & OBSERVED:
                if group_flags[g] & COMMON and gap[t] & SENTENCE:
                    sure *= SENTENCE_START
                for j in range(length[m]):
                    wanted = (mask[g] >> np.uint64(j)) & np.uint64(1)
                    if wanted != np.uint64(0) and not gap[t + j] & CAPITALISED:
                        sure *= OTHER_CASE
                        break
            entity[m] = candidate_entity[best]
            confidence[m] = np.float32(share * sure)
            m += 1
