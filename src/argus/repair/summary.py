"""A repair that was chosen: its part of summary.json, its tables and its section."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from argus.commands import command
from argus.measures.coverage import Coverage, coverage_words
from argus.measures.significance import DifferenceFigures, with_interval
from argus.remedies.blend.summary import Rival, rivals_line
from argus.reports.section import Section, table
from argus.verdict.verdict import BLEND_MEASURED

TABLE = "repair_questions"
NOTHING = "nothing"
"""In the place of a candidate that is kept."""


class TrialFigures(TypedDict):
    """A candidate on the questions, against the index as it was.

    candidate: remedy that was tried.
    passes: whether it is better on average: by more than chance, and without harm.
    harms: whether it lowers either measure in the mean by more than it may.
    needed: judged questions that would tell; None where these do, or nothing is gained.
    coverage: how many of the documents, and of the relevant ones, have it.
    ndcg10: nDCG@10 against the index as it was.
    recall10: recall@10 against the index as it was.
    """

    candidate: str
    passes: bool
    harms: bool
    needed: int | None
    coverage: Coverage
    ndcg10: DifferenceFigures
    recall10: DifferenceFigures


class RepairSummary(TypedDict):
    """What was tried, what was kept, and by what proof.

    judged_by: judged questions, held-out needs, or nothing.
    questions: questions that candidates were tried on.
    trials: best first; none where nothing judged.
    rivals: fixed fusions of the documents' own vectors with BM25, against the index as it was.
    failed: candidates that could not be tried, and why.
    missing: candidates for which something was not given, and what.
    cross_validated: chosen on other folds and measured on each; None without a trial.
    chosen_by_fold: candidate that each fold's others choose.
    kept: candidate that was kept, or nothing.
    remedies: ids of what was added to the index.
    in_index: ids of the remedies that were in the index when candidates were tried.
    only_try: whether nothing was to be added.
    """

    index: str
    judged_by: str
    questions: int
    trials: list[TrialFigures]
    rivals: list[Rival]
    failed: dict[str, str]
    missing: dict[str, str]
    cross_validated: DifferenceFigures | None
    chosen_by_fold: list[str]
    kept: str
    remedies: list[str]
    in_index: NotRequired[list[str]]
    only_try: NotRequired[bool]
    seconds: float


def headline(summary: RepairSummary) -> Iterator[str]:
    """Yield what was tried, what came of it, and what follows."""
    for name, why in {**summary["missing"], **summary["failed"]}.items():
        yield f"not tried: {name}: {why}"
    if not summary["trials"]:
        yield (
            "no judged questions and no information needs: nothing was chosen. "
            f"{summary['kept']} is the fixed default. {BLEND_MEASURED}"
        )
    else:
        yield f"{summary['questions']:,} {summary['judged_by']}, nDCG@10:"
        yield from (_trial(trial) for trial in summary["trials"])
        yield f"  {rivals_line(summary['rivals'])}"
        figures = summary["cross_validated"]
        assert figures is not None
        yield f"chosen on other folds and measured on each: {_figures(figures)}"
    remedies = ", ".join(summary["remedies"])
    if summary.get("only_try") and summary["kept"] != NOTHING:
        yield f"would be kept: {summary['kept']}; the index is as it was (--only-try)"
    elif remedies:
        yield f"kept: {summary['kept']} ({remedies})"
        yield "search, evaluate and explain use it from now on. To undo it:"
        for remedy in reversed(summary["remedies"]):
            yield f"  {command('remedy', 'rollback', remedy, '--index', summary['index'])}"
    elif summary["kept"] != NOTHING:
        yield f"kept: {summary['kept']}, which was in the index already"
    else:
        passing = any(trial["passes"] for trial in summary["trials"])
        why = (
            "what is better on average gains nothing on questions that did not choose it"
            if passing
            else ("no candidate gained more than chance without harm")
        )
        needed = min((t["needed"] for t in summary["trials"] if t["needed"]), default=None)
        few = f". Too few questions: about {needed:,} would tell" if needed else ""
        yield f"kept: nothing; {why}{few}. `argus remedy blend` adds the default unproven"


def verdict_words(trial: TrialFigures) -> str:
    """Return what a trial comes to; single questions may be harmed by what is better on average."""
    return "better on average" if trial["passes"] else "harms" if trial["harms"] else "not proven"


def _trial(trial: TrialFigures) -> str:
    recall, covered = trial["recall10"]["mean_difference"], coverage_words(trial["coverage"])
    return (
        f"  {trial['candidate']}: {_figures(trial['ndcg10'])}, R@10 {recall:+.3f}: "
        f"{verdict_words(trial)}" + (f"; a gain where {covered}" if covered else "")
    )


def _figures(figures: DifferenceFigures) -> str:
    low, high = figures["low"], figures["high"]
    interval = f" (95% {low:+.3f} to {high:+.3f})" if low is not None and high is not None else ""
    after, difference = figures["mean_after"], figures["mean_difference"]
    return f"{figures['mean_before']:.3f} → {after:.3f}, {difference:+.3f}{interval}"


def section(folder: Path, repair: RepairSummary) -> Section:
    """Build it from the summary alone."""
    columns = ["candidate", "nDCG@10", "difference (95%)", "improved, harmed", "R@10"]
    columns += ["a gain where", "verdict"]
    rows = []
    for trial in repair["trials"]:
        ndcg, recall = trial["ndcg10"], trial["recall10"]
        mark = ", kept" if trial["candidate"] == repair["kept"] else ""
        rows.append([
            trial["candidate"], f"{ndcg['mean_after']:.3f}", with_interval(ndcg),
            f"{ndcg['improved']}, {ndcg['harmed']}", f"{recall['mean_difference']:+.3f}",
            coverage_words(trial["coverage"]) or "all documents have it",
            verdict_words(trial) + mark,
        ])  # fmt: skip
    tables = {"repair_trials": table(dict.fromkeys(columns, "text"), rows)} if rows else {}
    return Section({}, tables, f"kept {repair['kept']}, judged by {repair['judged_by']}")
