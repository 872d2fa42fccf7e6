"""The study's sections of summary.json, key by key, and their headline."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.data.types import StateCounts


class Compared(StateCounts):
    """Questions of one comparison, by outcome.

    versus: rival of scenarios.
    """

    versus: str


class StudySummary(TypedDict):
    """A study as it was made.

    k: results on each side.
    questions: questions that were read.
    drawn: questions of which pairs are shown.
    pairs: pairs of results.
    sheets: sheets, one for each person.
    judges: people who judge each pair.
    judgements: pairs on all sheets.
    pairs_per_sheet: pairs of each sheet.
    """

    index: str
    k: int
    questions: int
    drawn: int
    comparisons: list[Compared]
    pairs: int
    sheets: int
    judges: int
    judgements: int
    pairs_per_sheet: list[int]


class Agreement(TypedDict):
    """How far raters agree beyond chance. None where it is not defined, and why not.

    equal: share of equal pairs of answers on one pair of results.
    kappa: Fleiss' kappa.
    cohen: mean of Cohen's kappa over pairs of raters.
    rater_pairs: pairs of raters.
    alpha: Krippendorff's alpha, nominal.
    undefined: why one is not defined. Empty where all are.
    """

    equal: float | None
    kappa: float | None
    cohen: float | None
    rater_pairs: int
    alpha: float | None
    undefined: str


class Preference(TypedDict):
    """One criterion of one comparison.

    versus: rival of scenarios.
    criterion: question about the two results.
    pairs: pairs that were judged.
    judgements: answers to the criterion.
    no_answer: places left empty.
    scenarios, tie, rival: judgements that prefer scenarios, neither, the other.
    share: judgements that prefer scenarios, a tie half, as the mean over pairs.
    wins, even, losses: pairs by the majority of their judges.
    verdict: joint verdict of interval and test.
    """

    versus: str
    criterion: str
    pairs: int
    judgements: int
    no_answer: int
    scenarios: int
    tie: int
    rival: int
    share: float | None
    low: float | None
    high: float | None
    no_interval: str
    p_value: float | None
    wins: int
    even: int
    losses: int
    verdict: str
    agreement: Agreement


class SideA(TypedDict):
    """How often side A was preferred, of the answers that name a side: near a half is no habit.

    share: share that prefers side A. None without an answer.
    answers: answers that name a side.
    """

    share: float | None
    low: float | None
    high: float | None
    answers: int


class PreferenceSummary(TypedDict):
    """Answers of people.

    study: folder of the study.
    sheets: sheets that came back.
    missing_sheets: numbers of the others.
    """

    study: str
    sheets: int
    missing_sheets: list[int]
    answers: StateCounts
    side_a: SideA
    preferences: list[Preference]


def study_headline(summary: StudySummary) -> Iterator[str]:
    """Yield how many pairs there are for how many people, and why some questions have none."""
    per = summary["pairs_per_sheet"]
    length = f"{min(per):,}" if min(per) == max(per) else f"{min(per):,} to {max(per):,}"
    yield (
        f"{summary['pairs']:,} pairs of {summary['drawn']:,} questions "
        f"({summary['questions']:,} in all), each judged by {summary['judges']}: "
        f"{summary['sheets']} sheets of {length}"
    )
    for one in summary["comparisons"]:
        reasons = "; ".join(f"{n:,}: {why}" for why, n in one["reasons"].items())
        without = f" ({reasons})" if reasons else ""
        yield f"against {one['versus']}: {one['measured']:,} of {one['total']:,} questions{without}"


def preference_headline(summary: PreferenceSummary) -> Iterator[str]:
    """Yield the preference by each criterion, and how far raters agree."""
    answers = summary["answers"]
    missing = ", ".join(map(str, summary["missing_sheets"]))
    yield (
        f"{summary['sheets']} sheets, {answers['measured']:,} of {answers['total']:,} answers"
        + (f"; not here: sheet {missing}" if missing else "")
    )
    for one in summary["preferences"]:
        yield f"{one['criterion']}, scenarios against {one['versus']}: {_share(one)}"
    if (side := summary["side_a"])["share"] is not None:
        yield (
            f"side A was preferred in {side['share']:.1%} ({side['low']:.1%} to "
            f"{side['high']:.1%}) of {side['answers']:,} answers that name a side"
        )


def _share(one: Preference) -> str:
    if one["share"] is None:
        return "no answer"
    interval = (
        f"no interval: {one['no_interval']}"
        if one["low"] is None
        else f"95% {one['low']:.1%} to {one['high']:.1%}"
    )
    alpha = one["agreement"]["alpha"]
    agree = one["agreement"]["undefined"] if alpha is None else f"alpha {alpha:.2f}"
    return (
        f"{one['share']:.1%} ({interval}) over {one['pairs']:,} pairs; {one['scenarios']:,} prefer "
        f"them, {one['tie']:,} tie, {one['rival']:,} not; {agree}"
    )
