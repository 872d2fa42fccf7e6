"""What answers from each context come to."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.authority.benchmarks.summary import ShareFigures
from argus.jobs.recorded_model import Answers


class ArmFigures(TypedDict):
    """Answers from one context; shares of those that were judged, failed ones apart.

    arm: context: superseded, controlling, or the system that served it.
    questions: questions that were asked in this context.
    failed: answers that could not be had or judged.
    reasons: why they failed, to how many.
    controlling_hit: contexts with a controlling document.
    correct: answers that are correct.
    wrong: answers that are confidently wrong.
    uncertain: answers that are uncertain.
    wrong_without: confidently wrong among contexts without a controlling document.
    correct_with: correct among contexts with one.
    """

    arm: str
    questions: int
    failed: int
    reasons: dict[str, int]
    controlling_hit: ShareFigures | None
    correct: ShareFigures | None
    wrong: ShareFigures | None
    uncertain: ShareFigures | None
    wrong_without: ShareFigures | None
    correct_with: ShareFigures | None


class HarmSummary(TypedDict):
    """Answers from superseded and from controlling context (CAR Table 12).

    benchmark: name of the benchmark.
    k: documents that a system serves at most.
    model: model that answers.
    judge: model that judges the answers.
    questions: questions that were drawn.
    answering: what answering took.
    judging: what judging took.
    """

    benchmark: str
    k: int
    model: str
    judge: str
    questions: int
    arms: list[ArmFigures]
    answering: Answers
    judging: Answers


def harm_lines(summary: HarmSummary) -> Iterator[str]:
    """Yield the figures in words."""
    yield (
        f"{summary['benchmark']}: {summary['questions']:,} questions, answered by "
        f"{summary['model']}, judged by {summary['judge']}"
    )
    for arm in summary["arms"]:
        parts = [
            f"{name} {share['value']:.1%} ({share['low']:.1%} to {share['high']:.1%})"
            for name, share in (
                ("correct", arm["correct"]), ("confidently wrong", arm["wrong"]),
                ("uncertain", arm["uncertain"]),
            )
            if share is not None
        ]  # fmt: skip
        hit = arm["controlling_hit"]
        context = "" if hit is None else f", controlling document shown {hit['value']:.1%}"
        failed = f", {arm['failed']:,} failed" if arm["failed"] else ""
        yield f"{arm['arm']}: {', '.join(parts) or 'nothing judged'}{context}{failed}"
