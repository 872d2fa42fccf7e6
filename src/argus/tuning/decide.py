"""Decide between ways to search (arms) by judged questions, and tell how sure that is.

A measure per arm and question -> a verdict on each arm against the retriever that runs, and one
recommendation. `argus.repair.trials` calls it for `argus tune try`. Intervals hold for all arms at
once, since the best of many arms is lucky. `python -m benchmarks tuning_decision` draws 50 judged
questions many times and measures the decision on the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.algorithms import normal_tail, student_quantile
from argus.measures.significance import FEWEST_CHANGED, UNCHANGED

Values = Mapping[str, float]
BETTER, WORSE, ALIKE, OPEN = "better", "worse", "no difference", "inconclusive"
SAME = "the same"
# Standard errors by which an arm has to beat the default to take its place.
EVIDENCE = 2.0
# A difference up to this is none: verdict ALIKE where the whole interval is within it.
SMALL = 0.02
LEVEL, RESAMPLES, BATCH = 0.95, 2_000, 100
# Normal quantile of 80%: in so many samples the questions that are said to tell do.
POWER = 0.841621


@dataclass(frozen=True, slots=True)
class ArmVerdict:
    """One arm against the retriever that runs.

    difference: of the means. low, high: its interval, simultaneous over all arms, None where fewer
    than six questions changed. verdict: BETTER, WORSE, ALIKE, SAME or OPEN. needed: further
    questions that would tell, where OPEN.
    """

    arm: str
    difference: float
    low: float | None
    high: float | None
    verdict: str
    needed: int | None = None

    def words(self) -> str:
        """Return the verdict as a person reads it."""
        if self.verdict == ALIKE and self.low is not None and self.high is not None:
            return f"no difference larger than {max(-self.low, self.high):.3f}"
        if self.needed:
            return f"inconclusive: about {self.needed:,} more questions would tell"
        return self.verdict


def compare_arms(
    arms: Mapping[str, Values], mine: str, *, seed: int = 0
) -> tuple[dict[str, ArmVerdict], float]:
    """Return the verdict on each arm but `mine`, and the critical value of the intervals.

    arms: a value per question for each arm, all of the same questions. An interval is the mean
    difference ± c standard errors. c is the 95% quantile, over resampled questions, of the largest
    deviation of any arm's mean in its standard errors (max-t bootstrap, Romano and Wolf 2005).
    """
    questions = sorted(arms[mine])
    names = [name for name in arms if name != mine]
    d = _matrix(arms, names, questions) - _matrix(arms, [mine], questions)
    n, means, errors = len(questions), d.mean(axis=1), _errors(d)
    rng, largest = np.random.default_rng(seed), []
    for _ in range(RESAMPLES // BATCH):
        weights = rng.multinomial(n, np.full(n, 1 / n), size=BATCH) / n
        deviations = np.abs(weights @ d.T - means) / errors  # 0 where too few changed
        largest.append(deviations.max(axis=1, initial=0.0))
    critical = float(np.quantile(np.concatenate(largest), LEVEL))
    critical = student_quantile(2 * normal_tail(critical), max(1, n - 1))  # of few questions
    found = {}
    for name, mean, error in zip(names, means.tolist(), errors.tolist(), strict=True):
        if math.isinf(error):  # all alike, or too few that are not
            is_same = not (np.abs(d[names.index(name)]) > UNCHANGED).any()
            found[name] = ArmVerdict(name, mean, None, None, SAME if is_same else OPEN)
            continue
        low, high = mean - critical * error, mean + critical * error
        verdict = BETTER if low > 0 else WORSE if high < 0 else OPEN
        if verdict == OPEN and max(-low, high) <= SMALL:
            verdict = ALIKE
        # Errors fall with the root of the number. A difference below half of SMALL is not sought.
        times = ((critical + POWER) * error / max(abs(mean), SMALL / 2)) ** 2
        needed = math.ceil(n * (times - 1)) if verdict == OPEN else 0
        found[name] = ArmVerdict(name, mean, low, high, verdict, max(needed, 0) or None)
    return found, critical


def recommend(arms: Mapping[str, Values], mine: str, default: str) -> str:
    """Return the arm to take.

    The default stands until another arm beats it by `EVIDENCE` standard errors, on at least six
    questions that differ. Of several the one that does so most clearly is taken. What runs stays
    where the arm so found is not better here in the mean: a change has its price.
    """
    questions = sorted(arms[mine])
    names = list(arms)
    d = _matrix(arms, names, questions) - _matrix(arms, [default], questions)
    ahead = np.where([name == default for name in names], 0.0, d.mean(1) - EVIDENCE * _errors(d))
    best = names[int(ahead.argmax())]
    gain = np.mean([arms[best][q] - arms[mine][q] for q in questions])
    return best if gain > UNCHANGED else mine


def _matrix(
    arms: Mapping[str, Values], names: Sequence[str], questions: Sequence[str]
) -> npt.NDArray[np.float64]:
    return np.array([[arms[name][q] for q in questions] for name in names], np.float64).reshape(
        len(names), len(questions)
    )


def _errors(differences: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return standard errors of means, (n_arms,). Infinite where fewer than six changed."""
    changed = (np.abs(differences) > UNCHANGED).sum(axis=1)
    n = differences.shape[1]
    deviations = differences.std(axis=1, ddof=1) if n > 1 else np.zeros(len(differences))
    errors = np.maximum(deviations, UNCHANGED) / n**0.5  # all may change alike
    return np.where(changed < FEWEST_CHANGED, np.inf, errors)
