"""Preferences of people by each criterion, and how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from argus.data.types import StateCounts
from argus.measures.intervals import wilson
from argus.measures.rater_agreement import cohen_kappa, fleiss_kappa, nominal_alpha
from argus.measures.significance import paired_difference
from argus.scenarios.study.answers import RIVAL, SCENARIOS, Answer
from argus.scenarios.study.config import Criterion, PreferenceConfig, Versus
from argus.scenarios.study.sheets import TIE, A
from argus.scenarios.study.summary import Agreement, Preference, SideA

WORTH = {SCENARIOS: 1.0, TIE: 0.5, RIVAL: 0.0}
"""Value of an answer for scenarios."""
EVEN = 0.5


@dataclass(frozen=True)
class Judgements:
    """The answers by one criterion of one comparison. by_pair: of each pair, label by sheet."""

    versus: Versus
    criterion: Criterion
    by_pair: dict[str, dict[int, str]]
    no_answer: int

    @classmethod
    def of(cls, answers: Sequence[Answer], versus: Versus, criterion: Criterion) -> Judgements:
        """Return those of all answers. A pair that nobody judged is left out."""
        own = [a for a in answers if a.versus is versus and a.criterion is criterion]
        by_pair: dict[str, dict[int, str]] = {}
        for answer in own:
            if answer.label is not None:
                by_pair.setdefault(answer.pair, {})[answer.sheet] = answer.label
        return cls(versus, criterion, by_pair, sum(a.label is None for a in own))

    @property
    def values(self) -> dict[str, float]:
        """Value of each pair for scenarios: the mean over its judges, from 0 to 1."""
        return {
            pair: sum(WORTH[label] for label in labels.values()) / len(labels)
            for pair, labels in self.by_pair.items()
        }


def preferences(answers: Sequence[Answer], config: PreferenceConfig) -> list[Preference]:
    """Return every criterion of every comparison that any answer is of, in their order."""
    present = {answer.versus for answer in answers}
    return [
        preference(Judgements.of(answers, versus, criterion), config)
        for versus in Versus
        if versus in present
        for criterion in Criterion
    ]


def preference(judgements: Judgements, config: PreferenceConfig) -> Preference:
    """Return the result by one criterion. Pairs are resampled, not answers."""
    labels = Counter(label for own in judgements.by_pair.values() for label in own.values())
    values = judgements.values
    row: Preference = {
        "versus": str(judgements.versus), "criterion": str(judgements.criterion),
        "pairs": len(values), "judgements": labels.total(), "no_answer": judgements.no_answer,
        "scenarios": labels[SCENARIOS], "tie": labels[TIE], "rival": labels[RIVAL],
        "share": None, "low": None, "high": None, "no_interval": "no answer", "p_value": None,
        "wins": sum(value > EVEN for value in values.values()),
        "even": sum(value == EVEN for value in values.values()),
        "losses": sum(value < EVEN for value in values.values()),
        "verdict": "", "agreement": agreement(judgements),
    }  # fmt: skip
    if not values:
        return row
    test = paired_difference(
        dict.fromkeys(values, EVEN), values, seed=config.seed, resamples=config.resamples
    )
    why_not = test.no_interval.replace("queries", "pairs").replace("query", "pair")
    row["share"], row["p_value"], row["verdict"] = test.mean_after, test.p_value, test.verdict
    row["no_interval"] = why_not.replace("changed", "with a preference")
    if test.low is not None and test.high is not None:
        row["low"], row["high"] = max(0.0, EVEN + test.low), min(1.0, EVEN + test.high)
    return row


def agreement(judgements: Judgements) -> Agreement:
    """Return how far the judges of equal pairs agree, by scenarios, rival or tie."""
    units = [list(own.values()) for own in judgements.by_pair.values() if len(own) > 1]
    sizes = {len(unit) for unit in units}
    kappas = [
        kappa
        for pairs in _by_rater_pairs(judgements).values()
        if (kappa := cohen_kappa(pairs)) is not None
    ]
    equal = _equal_share(units)
    alpha = nominal_alpha(units)
    undefined = "" if alpha is not None else "all answers are equal" if units else _ONE_JUDGE
    return {
        "equal": equal,
        "kappa": fleiss_kappa(units) if len(sizes) == 1 else None,
        "cohen": sum(kappas) / len(kappas) if kappas else None,
        "rater_pairs": len(kappas),
        "alpha": alpha,
        "undefined": undefined,
    }


_ONE_JUDGE = "no pair has two judges"


def _by_rater_pairs(judgements: Judgements) -> dict[tuple[int, int], list[tuple[str, str]]]:
    """Return, for every two raters, both answers on each pair that both judged."""
    both: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for own in judgements.by_pair.values():
        for first, second in combinations(sorted(own), 2):
            both.setdefault((first, second), []).append((own[first], own[second]))
    return both


def _equal_share(units: Sequence[Sequence[str]]) -> float | None:
    """Return the share of equal pairs of answers. Each unit counts once."""
    if not units:
        return None
    shares = []
    for unit in units:
        equal = sum(n * (n - 1) for n in Counter(unit).values())
        shares.append(equal / (len(unit) * (len(unit) - 1)))
    return sum(shares) / len(shares)


def side_a(answers: Sequence[Answer]) -> SideA:
    """Return how often side A was preferred, whatever stood there."""
    sides = [answer.side for answer in answers if answer.side and answer.side != TIE]
    if not sides:
        return {"share": None, "low": None, "high": None, "answers": 0}
    share = sum(side == A for side in sides) / len(sides)
    low, high = (float(end) for end in wilson(share, len(sides)))
    return {"share": share, "low": low, "high": high, "answers": len(sides)}


def answer_counts(answers: Sequence[Answer], elsewhere: int) -> StateCounts:
    """Count answers by state. elsewhere: those on sheets that did not come back."""
    measured = sum(answer.label is not None for answer in answers)
    reasons = {"no answer": len(answers) - measured, "the sheet is not here": elsewhere}
    return {
        "total": len(answers) + elsewhere,
        "measured": measured,
        "failed": 0,
        "not applicable": len(answers) - measured + elsewhere,
        "reasons": {why: n for why, n in reasons.items() if n},
    }
