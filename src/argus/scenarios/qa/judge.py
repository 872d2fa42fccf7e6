"""Read the verdicts of a judge, from 0 to 100, and measure how far votes agree.

A failure is never a zero: it says why there is no score.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from argus.data.types import State
from argus.llm import Outcome
from argus.llm import State as PromptState
from argus.llm.model import without_thoughts

LOW, HIGH = 0.0, 100.0
_MARKS = r"(?:[^\w\n]|_)"
_LINE = re.compile(
    rf"^{_MARKS}*(?:final |overall )?score{_MARKS}*?[:=]\s*(?P<rest>.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_OPEN, _CLOSE = r"[\s*_`\"'(\[{<]*", r"[\s*_`\"')\]}>.,]*"
_NUMBER = re.compile(
    rf"{_OPEN}(?P<number>[-+]?\d+(?:[.,]\d{{1,2}})?)"
    rf"(?:\s*+(?:%|(?:/|out of|of)\s*(?P<of>\d+)))?(?:\s*+points?)?{_CLOSE}"
    r"(?:\(.*|\s[-–—]\s+[^\d\s].*)?",  # a remark, which is no second number
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\W*(?:i['’ ]?a?m sorry|sorry\b|i apologi[sz]e|i(?: can ?not| can['’]?t| am unable| won['’]?t)"
    r"|as an ai\b)",
    re.IGNORECASE,
)
_REASON = re.compile(r"^[\W_]*reason[\W_]*?:[*_\s]*", re.IGNORECASE)
# Full-width letters, digits and marks of Chinese and Japanese text to those of ASCII.
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
_ENDPOINT_REFUSED = ("the model refused", "the answer was withheld")


def agreement(votes: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return how far the votes on each answer agree, over the answers with two votes or more.

    votes: any number per answer. Keys of the result:

    answers, votes: answers with two votes or more, and the votes on them.
    mean_difference: mean absolute difference of two votes on one answer, averaged over answers.
    alpha: Krippendorff's alpha for interval data: 1 agree, 0 as by chance, below: worse. None where
        it is not defined.
    no_alpha: why it is not defined. Empty where it is.
    """
    units = [list(unit) for unit in votes if len(unit) > 1]
    differences = [_mean_difference(unit) for unit in units]
    alpha = interval_alpha(units) if units else None
    undefined = "all votes are equal, so nothing shows what chance is"
    if not units:
        undefined = "no answer has two votes"
    return {
        "answers": len(units),
        "votes": sum(map(len, units)),
        "mean_difference": sum(differences) / len(differences) if units else None,
        "alpha": alpha,
        "no_alpha": undefined if alpha is None else "",
    }


def interval_alpha(units: Sequence[Sequence[float]]) -> float | None:
    """Return Krippendorff's alpha with squared differences (Krippendorff, 2011), 1 - D_o / D_e.

    units: the values that each unit was given, at least two each. Any may be missing. D_o is the
    mean squared difference of values of one unit, a unit of m values weighing m. D_e is that of all
    values. None where all values are equal: D_e is zero then.
    """
    values = [value for unit in units for value in unit]
    if min(values) == max(values):
        return None
    n = len(values)
    expected = _squared_differences(values) / (n * (n - 1))
    observed = sum(_squared_differences(unit) / (len(unit) - 1) for unit in units) / n
    return 1 - observed / expected


def _squared_differences(values: Sequence[float]) -> float:
    """Return the sum of squared differences over all ordered pairs: 2m times the sum of squares.

    Around the mean, so that nothing cancels.
    """
    mean = sum(values) / len(values)
    return 2 * len(values) * sum((value - mean) ** 2 for value in values)


def _mean_difference(unit: Sequence[float]) -> float:
    m = len(unit)
    total = sum(abs(a - b) for i, a in enumerate(unit) for b in unit[:i])
    return total / (m * (m - 1) / 2)


class Failure(StrEnum):
    """Why there is no score, or no answer."""

    UNPARSABLE = "unparsable"
    OUT_OF_RANGE = "out of range"
    REFUSED = "refused"
    NOT_ANSWERED = "not answered"


@dataclass(frozen=True, slots=True)
class Vote:
    """One judgement. score: from 0 to 100, None where there is none.

    reason: reason that the judge gives, else why there is no score.
    """

    score: float | None
    reason: str
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Joint result of all votes on an answer.

    state: MEASURED or FAILED. score: the median of the votes that could be read, so that a single
    judgement that went astray decides nothing.
    """

    state: State
    score: float | None
    votes: tuple[Vote, ...]
    reason: str = ""
    failure: Failure | None = None


def read_judgement(text: str) -> Vote:
    """Read "REASON: ... SCORE: 60", as models write it.

    Mark-up around the words, a score on the line below, "60%" and "60/100" are read. Not read is
    all doubtful forms: two scores that differ, a range, a share of anything but 100, words.
    """
    text = without_thoughts(text).translate(_NARROW)
    lines = list(_LINE.finditer(text))
    if not lines:
        refused = _REFUSAL.match(text) is not None
        failure = Failure.REFUSED if refused else Failure.UNPARSABLE
        return Vote(None, f"no line 'SCORE: NUMBER'; it says {_excerpt(text)}", failure)
    scores: set[float] = set()
    for line in lines:
        number = _NUMBER.fullmatch(line["rest"].strip())
        if number is None or number["of"] not in (None, "100"):
            why = f"no number from 0 to 100 after SCORE: {_excerpt(line['rest'])}"
            return Vote(None, why, Failure.UNPARSABLE)
        scores.add(float(number["number"].replace(",", ".")))
    if len(scores) > 1:
        named = " and ".join(f"{score:g}" for score in sorted(scores))
        return Vote(None, f"several scores: {named}", Failure.UNPARSABLE)
    (score,) = scores
    if not LOW <= score <= HIGH:
        return Vote(None, f"the score {score:g} is not from 0 to 100", Failure.OUT_OF_RANGE)
    return Vote(score, _REASON.sub("", text[: lines[0].start()], count=1).strip())


def vote_of(outcome: Outcome[str]) -> Vote:
    """Return the vote in the outcome of a judge's prompt."""
    if outcome.state is PromptState.OK and outcome.value is not None:
        return read_judgement(outcome.value)
    return Vote(None, why_no_answer(outcome), failure_of(outcome))


def failure_of(outcome: Outcome[str]) -> Failure:
    """Return how a prompt failed that has no answer: the model refused, or there was none."""
    refused = outcome.reason.startswith(_ENDPOINT_REFUSED)
    return Failure.REFUSED if refused else Failure.NOT_ANSWERED


def why_no_answer(outcome: Outcome[str]) -> str:
    """Return why a prompt has no answer, in words."""
    not_asked = outcome.state is PromptState.NOT_ASKED
    return f"not asked: {outcome.reason}" if not_asked else outcome.reason


def combine(votes: Sequence[Vote]) -> Verdict:
    """Return the median of the votes with a score. FAILED unless these are more than half.

    votes: at least one.
    """
    scores = [vote.score for vote in votes if vote.score is not None]
    if 2 * len(scores) > len(votes):
        return Verdict(State.MEASURED, statistics.median(scores), tuple(votes))
    failed = [vote for vote in votes if vote.failure is not None]
    commonest = Counter(vote.failure for vote in failed).most_common(1)[0][0]
    reason = next(vote.reason for vote in failed if vote.failure is commonest)
    if len(votes) > 1:
        reason = f"{len(scores)} of {len(votes)} votes could be read: {reason}"
    return Verdict(State.FAILED, None, tuple(votes), reason, commonest)


def _excerpt(text: str) -> str:
    short = " ".join(text.split())
    return repr(short[:80] + ("..." if len(short) > 80 else ""))
