"""Which of several candidates to keep, so that no question both chooses and tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from argus.measures import PairedDifference, paired_difference
from argus.repair.config import GUARD, HARM, MEASURE
from argus.repair.summary import NOTHING as NOTHING

PerQuery = Mapping[str, Mapping[str, float]]
"""Query to measure to value."""


@dataclass(frozen=True)
class Trial:
    """A candidate on the questions, against the index as it is."""

    candidate: str
    gain: PairedDifference
    """Of nDCG@10."""
    recall: PairedDifference
    """Of R@10."""

    @property
    def harms(self) -> bool:
        """Whether it lowers either measure in the mean by more than it may."""
        return min(self.gain.mean_difference, self.recall.mean_difference) < -HARM

    @property
    def needed(self) -> int | None:
        """Questions that would tell its gain and its harm from chance; None where these do."""
        if self.gain.mean_difference <= 0 or self.recall.verdict == "worse":
            return None
        doubtful = [] if self.gain.verdict else [self.gain]
        if self.recall.mean_difference < -HARM:
            doubtful.append(self.recall)
        return max((d.queries_needed for d in doubtful), default=None)

    @property
    def passes(self) -> bool:
        """Whether its gain is more than chance, and it harms nothing."""
        return self.gain.verdict == "better" and not self.harms


@dataclass(frozen=True)
class Choice:
    """What is kept, and what choosing gains on questions that did not choose."""

    winner: str
    """A candidate; NOTHING where none passes."""
    trials: list[Trial]
    """Best first."""
    cross_validated: PairedDifference
    """Of what each fold's others chose, measured on that fold."""
    chosen_by_fold: list[str]


def choose(before: PerQuery, after: Mapping[str, PerQuery], folds: int, seed: int) -> Choice:
    """Return the candidate to keep.

    before: of the index as it is; after: of each candidate, the same queries. Kept is the one of
    the highest nDCG@10 among those whose gain has an interval above zero and that lower neither
    measure by more than 0.005; nothing is, where the cross-validated gain is not above zero. That
    applies the same rule, all but the test, in each fold to the other folds' questions.
    """
    trials = [
        Trial(
            name,
            compare(before, values, MEASURE, seed),
            compare(before, values, GUARD, seed),
        )
        for name, values in after.items()
    ]
    trials.sort(key=lambda trial: (-trial.gain.mean_difference, trial.candidate))
    outcomes: dict[str, float] = {}
    by_fold = []
    for fold in _folds(sorted(before), folds, seed):
        best = _best(before, after, [q for q in before if q not in fold])
        by_fold.append(best)
        outcomes |= {q: (after[best] if best != NOTHING else before)[q][MEASURE] for q in fold}
    plain = {q: values[MEASURE] for q, values in before.items()}
    validated = paired_difference(plain, outcomes, seed=seed)
    passing = [trial.candidate for trial in trials if trial.passes]
    winner = passing[0] if passing and validated.mean_difference > 0 else NOTHING
    return Choice(winner, trials, validated, by_fold)


def _best(before: PerQuery, after: Mapping[str, PerQuery], queries: Sequence[str]) -> str:
    """Return what gains most on these queries and harms nothing; NOTHING where none gains."""
    if not queries:
        return NOTHING
    best, most = NOTHING, 0.0
    for name in sorted(after):
        gain, recall = (
            float(np.mean([after[name][q][m] - before[q][m] for q in queries]))
            for m in (MEASURE, GUARD)
        )
        if gain > most and recall >= -HARM:
            best, most = name, gain
    return best


def _folds(queries: Sequence[str], folds: int, seed: int) -> list[set[str]]:
    """Return the queries dealt into folds; of fewer queries than folds, one each."""
    order = np.random.default_rng(seed).permutation(len(queries))
    parts = np.array_split(order, min(folds, len(queries)))
    return [{queries[i] for i in part} for part in parts]


def compare(before: PerQuery, after: PerQuery, measure: str, seed: int) -> PairedDifference:
    """Compare two systems' values of one measure, question by question."""
    first, second = ({q: v[measure] for q, v in of.items()} for of in (before, after))
    return paired_difference(first, second, seed=seed)
