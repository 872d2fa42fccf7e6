"""`argus gate`: hold the results in some folders to bounds, and to an earlier run.

A check passes only on a measurement. A figure is a mean of values in 0..1 over n things; with f
more that failed to be measured its best and worst possible values are (n·v + f)/(n + f) and
n·v/(n + f), or the other way round. Where the check passes even at worst, it passes. Where it fails
even at best, it fails. In between it could not be measured, nor could a figure of nothing.

Against a baseline, a figure fails where it is worse by more than the tolerance, the interval leaves
out zero, and the p-values of all figures, corrected for their number (Holm, 1979), say so. An item
that failed since counts as its worst value, 0. A figure of so few items that no loss of theirs
would stand out among so many figures could not be measured.

Exit code: 1 when a check fails (whatever else was not measured, this is certain), else 2 when one
could not be measured, else 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from xml.etree import ElementTree as ET

import numpy as np
from annotated_types import MinLen
from typing_extensions import TypedDict

from argus.data.folders import SUMMARY, ArtifactFolder, check_one_run
from argus.data.markdown import code_in_cell, in_cell
from argus.data.reading import read_record
from argus.errors import InputError
from argus.evaluation.history import (
    NotComparable,
    Pairs,
    check_comparable,
    differing_settings,
    paired,
)
from argus.jobs.result import Result
from argus.measures.measures import measure_name
from argus.measures.significance import LEVEL, UNCHANGED, PairedDifference, least_bound
from argus.runs import JobRun, runs_of
from argus.runs.figures import TRACKED
from argus.settings import Doc, Ge, Interval, Le, check_settings
from argus.visible import visible, visible_line

SHARE = Interval(ge=0, le=1)
CHECK = "against"
LEAST_COMMON = 0.5  # of the baseline's items, the share that a run must have
NOT_OF_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, kw_only=True)
class GateBounds:
    """The bounds that are set; None is no check. All shares and measures lie in 0..1."""

    max_low_rps_share: Annotated[float | None, SHARE, Doc("Entities with RPS below 0.33.")] = None
    min_mean_rps: Annotated[float | None, SHARE, Doc("Mean RPS.")] = None
    max_at_risk_share: Annotated[
        float | None, SHARE, Doc("Entities that argus diagnose flags.")
    ] = None
    min_recall: Annotated[float | None, SHARE, Doc("Of the last system evaluated.")] = None
    recall_measure: Annotated[str, Doc("What --min-recall reads.")] = "R@10"
    min_ndcg: Annotated[float | None, SHARE, Doc("Of the last system evaluated.")] = None
    max_ndcg_drop: Annotated[float | None, SHARE, Doc("Mean loss from before to after.")] = None
    max_harmed_share: Annotated[float | None, SHARE, Doc("Queries whose nDCG fell.")] = None
    ndcg_measure: Annotated[str, Doc("What the nDCG checks read.")] = "nDCG@10"
    max_never_retrieved_share: Annotated[
        float | None, SHARE, Doc("Documents that no query brought back.")
    ] = None
    min_self_retrieval: Annotated[
        float | None, SHARE, Doc("Titles and sentences that find their document.")
    ] = None
    max_unreachable_share: Annotated[
        float | None, SHARE, Doc("Records of a store that their own vector does not find.")
    ] = None
    min_index_recall: Annotated[
        float | None, SHARE, Doc("Of a store's index, against an exact search.")
    ] = None

    tolerance: Annotated[
        float, SHARE, Doc("Loss that --against allows whatever its test says.")
    ] = 0.0

    def __post_init__(self) -> None:
        check_settings(self)
        for name in ("recall_measure", "ndcg_measure"):  # as evaluate spells them
            object.__setattr__(self, name, measure_name(getattr(self, name)))

    @property
    def checks(self) -> list[str]:
        """Names of the checks that are set."""
        names = [f.name for f in fields(self) if f.name.startswith(("min_", "max_"))]
        return [name for name in names if getattr(self, name) is not None]


class Verdict(StrEnum):
    """What became of a check."""

    PASS = "pass"
    FAIL = "fail"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Outcome:
    """What one check says of one folder. bound: None where there was nothing to compare with."""

    check: str
    folder: str
    verdict: Verdict
    bound: float | None
    value: float | None
    detail: str

    @property
    def sign(self) -> str:
        """Whether the bound is a ceiling, a floor, or a baseline."""
        names = {"max": "at most", "min": "at least"}
        return names.get(self.check.partition("_")[0], "was")

    @property
    def option(self) -> str:
        """The option that set the check."""
        return "--" + self.check.replace("_", "-")

    @property
    def line(self) -> str:
        """One line for a person."""
        value, bound = self.shown
        compared = f"{value}, {self.sign} {bound}; " if self.bound is not None else ""
        finding = f"{self.option}: {compared}{self.detail} [{self.folder}]"
        return f"{self.verdict.upper():<12} {visible_line(finding)}"

    @property
    def shown(self) -> tuple[str, str]:
        """Value and bound as a person reads them."""
        value = "–" if self.value is None else f"{self.value:.4f}"
        bound = "–" if self.bound is None else f"{self.bound:.4g}"
        return value, bound


class NotMeasured(Exception):
    """There is no such figure; the text says why and what to run."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value, and what it could be at best and worst, had nothing failed."""

    value: float
    best: float
    worst: float
    note: str


# What the checks read of each section of summary.json.
Count = Annotated[int, Ge(0)]
Share = Annotated[float, Ge(0), Le(1)]
_Counted = TypedDict("_Counted", {"measured": Count, "failed": Count, "not applicable": Count})
_Audit = TypedDict(
    "_Audit", {"entities": _Counted, "mean_rps": Share | None, "share_below_0.33": Share | None}
)


class _Diagnosis(TypedDict):
    entities: _Counted
    share_flagged: Share | None
    tau: Share


class _Documents(TypedDict):
    total: Count
    failed: Count
    reasons: dict[str, Count]


class _NeverRetrieved(TypedDict):
    documents: _Documents
    never_retrieved: Count


class _Probes(TypedDict):
    probes: Count
    success_at_k: Share | None


class _SelfRetrieval(TypedDict):
    k: Count
    title: _Probes
    sentence: _Probes
    probes_failed: Count


class _Reached(TypedDict):
    asked: Count
    share: Share


class _Unreachable(TypedDict):
    k: Count
    reachable: Count
    reached: _Reached
    broken: dict[str, Count]


class _Recall(TypedDict):
    queries: Count
    recall: Share


class _IndexRecall(TypedDict):
    k: Count
    recall: _Recall | None
    recall_of_queries: _Recall | None


class _Queries(TypedDict):
    measured: Count
    failed: Count


class _System(TypedDict):
    measures: dict[str, Share | None]


Systems = Annotated[list[_System], MinLen(1)]


class _Evaluation(TypedDict):
    queries: _Queries
    systems: Systems


Mean = Annotated[float, Ge(-1), Le(1)]


class _Difference(TypedDict):
    queries: Count
    mean_difference: Mean
    harmed: Count


class _Comparison(TypedDict):
    queries: _Queries
    comparison: dict[str, _Difference] | None


def _mean(
    value: float | None, n: int, failed: int, *, good: bool, of: str, lost: str = "that failed"
) -> Figure:
    """Return a mean of n things. good: whether a high one is. lost: how to call what failed."""
    if value is None or not n:
        raise NotMeasured(f"measured on no {of}; the report of the folder says why")
    low, high = value * n / (n + failed), (value * n + failed) / (n + failed)
    best, worst = (high, low) if good else (low, high)
    note = f", {n:,} {of}" + (f" and {failed:,} {lost}" if failed else "")
    return Figure(value, best, worst, note)


def _about(text: str, figure: Figure, more: str = "") -> Figure:
    return replace(figure, note=f"{text}{figure.note}{more}")


def _of_entities(value: float | None, counts: _Counted, *, good: bool) -> Figure:
    """Return a figure of the entities that have an RPS."""
    without = counts["not applicable"]
    figure = _mean(value, counts["measured"], counts["failed"], good=good, of="entities")
    return _about("", figure, f"; {without:,} have no RPS" * (without > 0))


def _at_risk(diagnosis: _Diagnosis, _: GateBounds) -> Figure:
    """Entities on which the probe abstained may be at risk: they count as those that failed do."""
    counts = diagnosis["entities"]
    figure = _mean(
        diagnosis["share_flagged"], counts["measured"], counts["failed"] + counts["not applicable"],
        good=False, of="entities", lost="without a prediction",
    )  # fmt: skip
    return _about(f" (predicted RPS below {diagnosis['tau']:g})", figure)


def _never_retrieved(exposure: _NeverRetrieved, _: GateBounds) -> Figure:
    """Share of the documents with text; where a sample was asked for, of those drawn."""
    counts, documents = exposure["documents"], exposure["never_retrieved"]
    unread = sum(counts["reasons"].get(why, 0) for why in ("no text", "not drawn"))
    n = counts["total"] - counts["failed"] - unread
    if not 0 <= documents <= max(n, 0) and n:
        raise NotMeasured(f"{documents:,} never retrieved of {n:,}: the summary is damaged")
    value = documents / n if n else None
    return _mean(value, n, counts["failed"], good=False, of="documents")


def _self_retrieval(exposure: _SelfRetrieval, _: GateBounds) -> Figure:
    """Share of all probes, titles and sentences together."""
    kinds = exposure["title"], exposure["sentence"]
    n = sum(kind["probes"] for kind in kinds)
    found = sum(kind["probes"] * (kind["success_at_k"] or 0) for kind in kinds)
    failed = exposure["probes_failed"]
    figure = _mean(found / n if n else None, n, failed, good=True, of="probes")
    return _about(f" in the top {exposure['k']}", figure)


def _unreachable(reach: _Unreachable, _: GateBounds) -> Figure:
    """Share of a store's records; that of a sample stands for all records with a vector."""
    reachable, drawn = reach["reachable"], reach["reached"]["asked"]
    broken = sum(reach["broken"].values())
    n = reachable + broken
    lost = reachable * (1 - reach["reached"]["share"]) if drawn else 0.0
    value = (broken + lost) / n if n and (drawn or not reachable) else None
    sample = f"; {drawn:,} of them were asked for" * (drawn < reachable)
    return _about(f" in the top {reach['k']}", _mean(value, n, 0, good=False, of="records"), sample)


def _index_recall(reach: _IndexRecall, _: GateBounds) -> Figure:
    """Recall@k of real queries where there were any, else of the records."""
    recall = reach["recall_of_queries"] or reach["recall"]
    if recall is None:
        raise NotMeasured("nothing was compared with an exact search")
    of = "queries" if reach["recall_of_queries"] else "records asked for by their own vectors"
    figure = _mean(recall["recall"], recall["queries"], 0, good=True, of=of)
    return _about(f" (recall@{reach['k']})", figure)


def _measure(evaluation: _Evaluation, name: str) -> Figure:
    """Return a measure of the last system: the only one, or the one after the change."""
    measures, queries = evaluation["systems"][-1]["measures"], evaluation["queries"]
    if name not in measures:
        raise _not_evaluated(name)
    figure = _mean(measures[name], queries["measured"], queries["failed"], good=True, of="queries")
    return _about(f" ({name})", figure)


def _drop(evaluation: _Comparison, bounds: GateBounds) -> Figure:
    """Return how much the mean of a measure fell; negative where it rose."""
    name, failed = bounds.ndcg_measure, evaluation["queries"]["failed"]
    difference = _difference(evaluation, name)
    value, n = -difference["mean_difference"], difference["queries"]
    best, worst = (value * n - failed) / (n + failed), (value * n + failed) / (n + failed)
    note = f" ({name}), {n:,} queries" + (f" and {failed:,} that failed" if failed else "")
    return Figure(value, best, worst, note)


def _harmed(evaluation: _Comparison, bounds: GateBounds) -> Figure:
    """Return the share of the queries on which a measure fell."""
    name, failed = bounds.ndcg_measure, evaluation["queries"]["failed"]
    difference = _difference(evaluation, name)
    harmed, n = difference["harmed"], difference["queries"]
    if harmed > n:
        raise NotMeasured(f"{harmed:,} harmed of {n:,} queries: the summary is damaged")
    return _about(f" ({name})", _mean(harmed / n, n, failed, good=False, of="queries"))


def _difference(evaluation: _Comparison, name: str) -> _Difference:
    """Return the paired difference of a measure."""
    comparison = evaluation["comparison"]
    if comparison is None:
        raise NotMeasured("only one system was evaluated: run argus evaluate with two")
    if name not in comparison:
        raise _not_evaluated(name)
    if not comparison[name]["queries"]:
        raise NotMeasured("measured on no queries; the report of the folder says why")
    return comparison[name]


def _not_evaluated(name: str) -> NotMeasured:
    return NotMeasured(f"{name} is not among the measures: run argus evaluate --measures {name}")


@dataclass(frozen=True)
class Check:
    """One bound on one figure: the section it is in, what is read of it, and how."""

    section: str
    kind: Any
    what: str
    run: str
    read: Callable[[Any, GateBounds], Figure]


TWO = "argus evaluate with two systems"
CHECKS = {
    "max_low_rps_share": Check(
        "audit", _Audit, "entities with RPS below 0.33", "argus audit",
        lambda s, _: _of_entities(s["share_below_0.33"], s["entities"], good=False),
    ),
    "min_mean_rps": Check(
        "audit", _Audit, "mean RPS", "argus audit",
        lambda s, _: _of_entities(s["mean_rps"], s["entities"], good=True),
    ),
    "max_at_risk_share": Check(
        "diagnosis", _Diagnosis, "entities at risk", "argus diagnose", _at_risk
    ),
    "min_recall": Check(
        "evaluation", _Evaluation, "recall", "argus evaluate",
        lambda s, b: _measure(s, b.recall_measure),
    ),
    "min_ndcg": Check(
        "evaluation", _Evaluation, "nDCG", "argus evaluate",
        lambda s, b: _measure(s, b.ndcg_measure),
    ),
    "max_ndcg_drop": Check(
        "evaluation", _Comparison, "mean loss of nDCG, before to after", TWO, _drop
    ),
    "max_harmed_share": Check("evaluation", _Comparison, "queries harmed", TWO, _harmed),
    "max_never_retrieved_share": Check(
        "exposure", _NeverRetrieved, "documents never retrieved", "argus exposure", _never_retrieved
    ),
    "min_self_retrieval": Check(
        "exposure", _SelfRetrieval, "probes that find their own document", "argus exposure",
        _self_retrieval,
    ),
    "max_unreachable_share": Check(
        "reach", _Unreachable, "records that their own vector does not find", "argus reach",
        _unreachable,
    ),
    "min_index_recall": Check(
        "reach", _IndexRecall, "recall against an exact search", "argus reach", _index_recall
    ),
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class GateResult(Result):
    """All outcomes, in the order of CHECKS and folders."""

    outcomes: list[Outcome]

    def headline(self) -> Iterator[str]:
        """Yield a line per check, and the verdict."""
        for outcome in self.outcomes:
            yield outcome.line
        yield f"verdict: {self.verdict}"

    @property
    def verdict(self) -> Verdict:
        """A failure decides; else what was not measured; else all passed."""
        verdicts = {outcome.verdict for outcome in self.outcomes}
        decisive = (v for v in (Verdict.FAIL, Verdict.NOT_MEASURED) if v in verdicts)
        return next(decisive, Verdict.PASS)

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 2 could not measure."""
        return (Verdict.PASS, Verdict.FAIL, Verdict.NOT_MEASURED).index(self.verdict)

    def markdown(self) -> str:
        """Return a summary for a pull request or a pipeline's step."""
        signs = {"at most": "≤", "at least": "≥"}
        lines = [
            f"**Argus gate: {self.verdict}**", "", "| | check | measured | bound | of |",
            "|---|---|---:|---:|---|",
        ]  # fmt: skip
        for o in self.outcomes:
            value, bound = o.shown
            of = f"{in_cell(o.detail)} ({code_in_cell(o.folder)})"
            sign = signs.get(o.sign, o.sign)
            lines.append(
                f"| {o.verdict} | {code_in_cell(o.check)} | {value} | {sign} {bound} | {of} |"
            )
        return "\n".join(lines) + "\n"

    def junit(self) -> str:
        """Return a JUnit report: a failure is a failure, what was not measured an error."""
        verdicts = [outcome.verdict for outcome in self.outcomes]
        suites = ET.Element("testsuites")
        about = {
            "name": "argus gate", "tests": str(len(verdicts)),
            "failures": str(verdicts.count(Verdict.FAIL)),
            "errors": str(verdicts.count(Verdict.NOT_MEASURED)),
        }  # fmt: skip
        suite = ET.SubElement(suites, "testsuite", about)
        for outcome in self.outcomes:
            name, _, rest = outcome.detail.partition(":")
            names = {
                "classname": _clean(visible_line(outcome.folder)),
                "name": _clean(f"{outcome.option} {name}"),
            }
            case = ET.SubElement(suite, "testcase", names)
            if outcome.verdict is Verdict.PASS:
                element = ET.SubElement(case, "system-out")
            else:
                kind = "failure" if outcome.verdict is Verdict.FAIL else "error"
                element = ET.SubElement(case, kind, {"message": _clean(rest.strip() or name)})
            element.text = _clean(outcome.line)
        ET.indent(suites)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, "unicode") + "\n"


def _clean(text: str) -> str:
    return NOT_OF_XML.sub("\N{REPLACEMENT CHARACTER}", visible(text))


def gate(
    folders: Path | str | Sequence[Path | str],
    bounds: GateBounds,
    *,
    baseline: Path | str | None = None,
) -> GateResult:
    """Check every bound in every folder that holds its figure, and every figure of a baseline.

    folders: one or several. A bound whose figure no folder holds is not measured. baseline: a
    folder of results, or a run of its history; a figure that is worse than there, beyond chance,
    fails. Raises InputError when no bound and no baseline is set, for a folder that is missing or
    holds no summary.json, and for a baseline that is missing or damaged.
    """
    folders = [folders] if isinstance(folders, str | Path) else folders
    if not (bounds.checks or baseline) or not folders:
        raise InputError(
            "no check" if folders else "no folder",
            expected="at least one bound or a baseline, and a folder of results",
            fix="For example: argus gate OUT --max-low-rps-share 0.1 --against BASELINE",
            where="argus gate",
        )
    places = {Path(f).resolve(): Path(f) for f in reversed(folders)}  # once, as named first
    summaries: dict[Path, Mapping[str, object]] = {}
    for folder in reversed(places.values()):
        summaries[folder] = ArtifactFolder(folder).read_json(SUMMARY) if folder.exists() else {}
        if not summaries[folder]:
            raise InputError(
                "no summary.json in it" if folder.exists() else "no such folder",
                expected="a folder that argus audit, diagnose, exposure or evaluate wrote",
                fix="Run one of them with --out set to this folder.",
                where=folder,
            )
    if judged := [CHECKS[name].section for name in bounds.checks]:
        for folder in summaries:
            check_one_run(folder, *judged)
    outcomes = [o for name in bounds.checks for o in _outcomes(name, bounds, summaries)]
    if baseline is not None:
        outcomes += against(list(summaries), Path(baseline), bounds.tolerance)
    return GateResult(outcomes)


def _outcomes(
    name: str, bounds: GateBounds, summaries: Mapping[Path, Mapping[str, object]]
) -> Iterator[Outcome]:
    """Yield what a check says of each folder that has its section."""
    check, bound = CHECKS[name], float(getattr(bounds, name))
    having = {f: summary for f, summary in summaries.items() if check.section in summary}
    if not having:
        detail = f"no {check.section} among the results: run {check.run}"
        folders = ", ".join(map(str, summaries))
        yield Outcome(name, folders, Verdict.NOT_MEASURED, bound, None, detail)
    for folder, summary in having.items():
        content, where = summary[check.section], folder / SUMMARY
        try:
            section = read_record(check.kind, content, where=where, section=check.section)
            figure = check.read(section, bounds)
        except (NotMeasured, InputError) as reason:
            detail = f"{check.what}: {reason}"
            yield Outcome(name, str(folder), Verdict.NOT_MEASURED, bound, None, detail)
            continue
        sign = 1 if name.startswith("max") else -1
        verdict = Verdict.PASS
        if sign * (figure.best - bound) > UNCHANGED:
            verdict = Verdict.FAIL
        elif sign * (figure.worst - bound) > UNCHANGED:
            verdict = Verdict.NOT_MEASURED
        detail = f"{check.what}{figure.note}"
        yield Outcome(name, str(folder), verdict, bound, figure.value, detail)


@dataclass(frozen=True)
class Change:
    """A paired difference, with a p-value that does not end at one in the resamples."""

    difference: PairedDifference
    p_value: float

    @classmethod
    def of(cls, before: Mapping[str, float], after: Mapping[str, float]) -> Change:
        """Compare two sides' values of the same items."""
        change = paired(before, after)
        bound = least_bound(np.array([after[id_] - value for id_, value in before.items()]))
        return cls(change, min(change.p_value, bound))


@dataclass(frozen=True)
class _Tested:
    """A figure of a run and its baseline. at_worst: with what failed as 0. items: of these."""

    job: str
    figure: str
    folder: str
    plain: Change
    at_worst: Change
    items: int
    note: str


def against(folders: Sequence[Path], baseline: Path, tolerance: float) -> list[Outcome]:
    """Check every figure of the folders that the baseline has, too.

    Raises InputError for a baseline that is missing or damaged. What cannot be compared, with why,
    is not measured.
    """
    base = runs_of(baseline)
    tested: list[_Tested] = []
    outcomes: list[Outcome] = []
    jobs: set[str] = set()
    for folder in folders:
        for job, run in runs_of(folder).items():
            if job not in base:
                continue
            jobs.add(job)
            for one in _figures(base[job], run, str(folder)):
                (tested if isinstance(one, _Tested) else outcomes).append(one)  # type: ignore[arg-type]
    fewest = fewest_items(len(tested))
    for one in tested:
        if one.items < fewest:
            few = f"{one.items:,} {TRACKED[one.job].unit} are too few for {len(tested)} figures"
            detail = f"{one.job}, {one.figure}: {few}: at least {fewest} show a change"
            outcomes.append(_missing(one.folder, detail))
    tested = [one for one in tested if one.items >= fewest]
    for job in base.keys() - jobs:
        where = ", ".join(map(str, folders))
        outcomes.append(_missing(where, f"{job}: in {baseline}, and not among these results"))
    return [*_judged(tested, tolerance), *outcomes]


def _figures(before: JobRun, after: JobRun, folder: str) -> Iterator[_Tested | Outcome]:
    job = before.job
    if differing := differing_settings(before, after):
        yield _missing(folder, f"{job}: not the same figures: {', '.join(differing)}")
        return
    try:
        check_comparable(before, after)
    except NotComparable as reason:
        yield _missing(folder, f"{job}: {reason}")
        return
    unit = TRACKED[job].unit
    for name, values in before.items.items():
        if name not in after.items:
            yield _missing(folder, f"{job}, {name}: not measured any more")
            continue
        pairs = Pairs.of(values, after.items[name])
        whole = pairs.with_failed(values)
        measured = len(whole.before) + pairs.only_before
        if len(whole.before) < max(fewest_items(1), LEAST_COMMON * measured):
            few = f"only {len(whole.before):,} of {measured:,} {unit} of the baseline are there"
            yield _missing(folder, f"{job}, {name}: {few}")
            continue
        at_worst = Change.of(whole.before, whole.after)
        some_failed = pairs.failed and pairs.before
        plain = Change.of(pairs.before, pairs.after) if some_failed else at_worst
        note = f"{len(pairs.before):,} {unit}"
        note += f" and {len(pairs.failed):,} that failed" if pairs.failed else ""
        note += f"; {pairs.only_before:,} are gone" if pairs.only_before else ""
        yield _Tested(job, name, folder, plain, at_worst, len(whole.before), note)


def fewest_items(figures: int) -> int:
    """Return of how many items a change can be told from chance, among so many figures.

    If all of n items are worse, the sign test's p-value is 2/2ⁿ.
    """
    return math.floor(math.log2(2 * max(1, figures) / LEVEL)) + 1


def _judged(tested: Sequence[_Tested], tolerance: float) -> Iterator[Outcome]:
    plain = holm([one.plain.p_value for one in tested])
    at_worst = holm([one.at_worst.p_value for one in tested])
    for one, p, worst_p in zip(tested, plain, at_worst, strict=True):
        verdict = Verdict.PASS
        if _is_worse(one.plain, p, tolerance):
            verdict = Verdict.FAIL
        elif _is_worse(one.at_worst, worst_p, tolerance):
            verdict = Verdict.NOT_MEASURED
        change, ends = one.plain.difference, "no interval"
        if change.low is not None and change.high is not None:
            ends = f"95% {change.low:+.4f} to {change.high:+.4f}"
        detail = (
            f"{one.job}, {one.figure}: {change.mean_difference:+.4f} ({ends}, p={p:.3g} of "
            f"{len(tested)} tests) over {one.note}"
        )
        yield Outcome(CHECK, one.folder, verdict, change.mean_before, change.mean_after, detail)


def _is_worse(change: Change, p: float, tolerance: float) -> bool:
    difference = change.difference
    loss = -difference.mean_difference
    return p < LEVEL and difference.verdict == "worse" and loss > tolerance + UNCHANGED


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm, 1979)."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    out, highest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        out[i] = highest
    return out


def _missing(folder: str, detail: str) -> Outcome:
    return Outcome(CHECK, folder, Verdict.NOT_MEASURED, None, None, detail)
