"""`argus gate`: check figures in folders of results against bounds and against an earlier run.

`gate`: folders and `GateBounds` -> pass, fail or not measured for each check, with an exit code: 1
if a check fails, else 2 if one is not measured, else 0. `history` lists the runs.

A check passes only on a measurement. A figure is the mean of n values from 0 to 1. If f more things
failed to be measured, the whole mean lies between n·v/(n + f) and (n·v + f)/(n + f). The check
passes if the worse end is within the bound, fails if the better end is not, and is not measured in
between.

Against a baseline, a figure fails if three things hold: it is worse by more than the tolerance, its
interval leaves out zero, and its p-value is below 0.05 after correction for the number of figures
(Holm, 1979). An item that failed since counts as 0. A figure over so few items that no loss could
stand out among so many figures is not measured.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from argus.data.folders import SUMMARY, ArtifactFolder, check_one_run
from argus.data.reading import WRITTEN, reading
from argus.data.texts import code_in_cell, in_cell
from argus.errors import ArgusError, InputError, Location
from argus.evaluation import history
from argus.jobs.result import Result
from argus.measures.significance import (
    LEVEL,
    UNCHANGED,
    PairedDifference,
    change_words,
    least_bound,
)
from argus.runs import TRACKED, JobRun, runs_of
from argus.settings import Interval, check_settings
from argus.visible import visible, visible_line

SHARE = Interval(ge=0, le=1)
RECALL, NDCG = "R@10", "nDCG@10"  # measures that bounds are on
MIN_COMMON = 0.5  # share of the baseline's items that a run must have
NOT_OF_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, kw_only=True)
class GateBounds:
    """Bounds to check. None means no check. Shares and measures are from 0 to 1.

    Attributes:
        max_low_rps_share: Entities with RPS below 0.33.
        min_mean_rps: Mean RPS.
        min_recall: R@10 of the last system evaluated.
        min_ndcg: nDCG@10 of the last system evaluated.
        max_ndcg_drop: Mean loss of nDCG@10 from before to after.
        max_never_retrieved_share: Documents that no query brought back.
        min_self_retrieval: Titles and sentences that find their document.
        max_unreachable_share: Records of a store that their own vector does not find.
        max_stale_served: Chunks whose source changed or is gone, and that come back all the same.
        max_missing: Sources that no chunk is of.
        tolerance: Loss that --against allows whatever its test says.
    """

    max_low_rps_share: Annotated[float | None, SHARE] = None
    min_mean_rps: Annotated[float | None, SHARE] = None
    min_recall: Annotated[float | None, SHARE] = None
    min_ndcg: Annotated[float | None, SHARE] = None
    max_ndcg_drop: Annotated[float | None, SHARE] = None
    max_never_retrieved_share: Annotated[float | None, SHARE] = None
    min_self_retrieval: Annotated[float | None, SHARE] = None
    max_unreachable_share: Annotated[float | None, SHARE] = None
    max_stale_served: Annotated[float | None, SHARE] = None
    max_missing: Annotated[float | None, SHARE] = None
    tolerance: Annotated[float, SHARE] = 0.0

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def checks(self) -> list[str]:
        """Names of the checks that are set."""
        names = [f.name for f in fields(self) if f.name.startswith(("min_", "max_"))]
        return [name for name in names if getattr(self, name) is not None]


class Verdict(StrEnum):
    """Result of a check."""

    PASS = "pass"
    FAIL = "fail"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Outcome:
    """Result of one check in one folder.

    bound: None if there was nothing to compare with. value: None if nothing was measured.
    """

    check: str
    folder: str
    verdict: Verdict
    bound: float | None
    value: float | None
    detail: str

    @property
    def option(self) -> str:
        """The option that set the check."""
        return "--" + self.check.replace("_", "-")

    def compared(self, at_most: str, at_least: str) -> tuple[str, str]:
        """Return the value as text, and the bound behind its sign. A baseline is what it was."""
        signs = {"max": at_most, "min": at_least}
        bound = "–" if self.bound is None else f"{self.bound:.4g}"
        value = "–" if self.value is None else f"{self.value:.4f}"
        return value, f"{signs.get(self.check.partition('_')[0], 'was')} {bound}"

    @property
    def line(self) -> str:
        """One line for the terminal."""
        shown = ", ".join(self.compared("at most", "at least")) + "; "
        shown = shown if self.bound is not None else ""
        finding = f"{self.option}: {shown}{self.detail} [{self.folder}]"
        return f"{self.verdict.upper():<12} {visible_line(finding)}"


@dataclass(frozen=True, repr=False)
class GateResult(Result):
    """All outcomes: bounds by check and folder, then the figures of a baseline."""

    outcomes: list[Outcome]

    @property
    def summary(self) -> dict[str, Any]:
        """The verdict and the outcomes as JSON."""
        return {"verdict": self.verdict, "outcomes": [asdict(one) for one in self.outcomes]}

    def headline(self) -> Iterator[str]:
        """Yield a line per check, and the verdict."""
        for outcome in self.outcomes:
            yield outcome.line
        yield f"verdict: {self.verdict}"

    @property
    def verdict(self) -> Verdict:
        """FAIL if any check fails, else NOT_MEASURED if any is, else PASS."""
        verdicts = {outcome.verdict for outcome in self.outcomes}
        decisive = (v for v in (Verdict.FAIL, Verdict.NOT_MEASURED) if v in verdicts)
        return next(decisive, Verdict.PASS)

    @property
    def exit_code(self) -> int:
        """0 for pass, 1 for fail, 2 for not measured."""
        return (Verdict.PASS, Verdict.FAIL, Verdict.NOT_MEASURED).index(self.verdict)

    def markdown(self) -> str:
        """Return a Markdown table for a pull request or a pipeline's step."""
        head = ["| | check | measured | bound | of |", "|---|---|---:|---:|---|"]
        lines = [f"**Argus gate: {self.verdict}**", "", *head]
        for o in self.outcomes:
            of = f"{in_cell(o.detail)} ({code_in_cell(o.folder)})"
            cells = (o.verdict, code_in_cell(o.check), *o.compared("≤", "≥"), of)
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines) + "\n"

    def junit(self) -> str:
        """Return a JUnit report. A check that was not measured is an error."""
        verdicts = [outcome.verdict for outcome in self.outcomes]
        suites = ET.Element("testsuites")
        failures, errors = map(verdicts.count, (Verdict.FAIL, Verdict.NOT_MEASURED))
        counts = {"tests": len(verdicts), "failures": failures, "errors": errors}
        about = {"name": "argus gate"} | {name: str(n) for name, n in counts.items()}
        suite = ET.SubElement(suites, "testsuite", about)
        for outcome in self.outcomes:
            name, _, rest = outcome.detail.partition(":")
            folder = _clean(visible_line(outcome.folder))
            names = {"classname": folder, "name": _clean(f"{outcome.option} {name}")}
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

    folders: one or several folders of results. A bound whose figure no folder holds is not
    measured. baseline: a folder of results, or a run of its history. Raises InputError if neither
    bound nor baseline is set, if a folder is missing or holds no summary.json, and if the baseline
    is missing or damaged.
    """
    folders = [folders] if isinstance(folders, str | Path) else folders
    if not (bounds.checks or baseline) or not folders:
        got = "no check" if folders else "no folder"
        expected = "at least one bound or a baseline, and a folder of results"
        fix = "For example: argus gate OUT --max-low-rps-share 0.1 --against BASELINE"
        raise InputError(got, expected=expected, fix=fix, where="argus gate")
    summaries: dict[Path, Mapping[str, object]] = {}
    for folder in map(Path, folders):
        summaries[folder] = ArtifactFolder(folder).read_json(SUMMARY) if folder.exists() else {}
        if not summaries[folder]:
            got = "no summary.json in it" if folder.exists() else "no such folder"
            expected = "a folder that argus research audit, diagnose, exposure or evaluate wrote"
            fix = "Run one of them with --out set to this folder."
            raise InputError(got, expected=expected, fix=fix, where=folder)
    if sections := [CHECKS[name].section for name in bounds.checks]:
        for folder in summaries:
            check_one_run(folder, *sections)
    outcomes = [o for name in bounds.checks for o in _check_bound(name, bounds, summaries)]
    if baseline is not None:
        outcomes += _check_baseline(list(summaries), Path(baseline), bounds.tolerance)
    return GateResult(outcomes)


def _check_bound(
    name: str, bounds: GateBounds, summaries: Mapping[Path, Mapping[str, object]]
) -> Iterator[Outcome]:
    """Yield the outcome of a check in each folder that has its section."""
    check, bound = CHECKS[name], float(getattr(bounds, name))
    having = {f: summary for f, summary in summaries.items() if check.section in summary}
    if not having:
        detail = f"no {check.section} among the results: run {check.command}"
        folders = ", ".join(map(str, summaries))
        yield Outcome(name, folders, Verdict.NOT_MEASURED, bound, None, detail)
    for folder, summary in having.items():
        where = Location(folder / SUMMARY, field=check.section)
        try:
            with reading(where, expected="the file as Argus wrote it", fix=WRITTEN):
                value, best, worst, note = check.read(summary[check.section])
        except ArgusError as reason:
            detail = f"{check.title}: {reason}"
            yield Outcome(name, str(folder), Verdict.NOT_MEASURED, bound, None, detail)
            continue
        sign = 1 if name.startswith("max") else -1
        verdict = Verdict.PASS
        if sign * (best - bound) > UNCHANGED:
            verdict = Verdict.FAIL
        elif sign * (worst - bound) > UNCHANGED:
            verdict = Verdict.NOT_MEASURED
        yield Outcome(name, str(folder), verdict, bound, value, f"{check.title}{note}")


class NotMeasured(ArgusError):
    """There is no such figure. The text says why, and which command measures it."""


Figure = tuple[float, float, float, str]
"""A measured value, its best and worst possible value had nothing failed, and a note."""


def _mean(
    value: float | None,
    n: int,
    of: str,
    *,
    failed: int = 0,
    good: bool = False,
    about: str = "",
    more: str = "",
) -> Figure:
    """Return a mean over n things. good: whether a high mean is good. The texts make its note."""
    if value is None or not n:
        raise NotMeasured(f"measured on no {of}; the report of the folder says why")
    low, high = value * n / (n + failed), (value * n + failed) / (n + failed)
    best, worst = (high, low) if good else (low, high)
    note = f"{about}, {n:,} {of}" + (f" and {failed:,} that failed" if failed else "") + more
    return value, best, worst, note


def _read_rps(section: Any, key: str, *, good: bool) -> Figure:
    counts = section["entities"]
    without = counts["not applicable"]
    more = f"; {without:,} have no RPS" * (without > 0)
    n, failed = counts["measured"], counts["failed"]
    return _mean(section[key], n, "entities", failed=failed, good=good, more=more)


def _read_never_retrieved(section: Any) -> Figure:
    """Return the share of the documents with text. Of a sample, of the documents drawn."""
    counts, documents = section["documents"], section["never_retrieved"]
    unread = sum(counts["reasons"].get(why, 0) for why in ("no text", "not drawn"))
    n = counts["total"] - counts["failed"] - unread
    return _mean(documents / n if n else None, n, "documents", failed=counts["failed"])


def _read_self_retrieval(section: Any) -> Figure:
    """Return the share of all probes, titles and sentences together."""
    kinds, about = (section["title"], section["sentence"]), f" in the top {section['k']}"
    n = sum(kind["probes"] for kind in kinds)
    found = sum(kind["probes"] * (kind["success_at_k"] or 0) for kind in kinds)
    value, failed = found / n if n else None, section["probes_failed"]
    return _mean(value, n, "probes", failed=failed, good=True, about=about)


def _read_unreachable(section: Any) -> Figure:
    """Return the share of a store's records. A sample stands for all records with a vector."""
    reachable, drawn = section["reachable"], section["reached"]["asked"]
    broken = sum(section["broken"].values())
    n = reachable + broken
    lost = reachable * (1 - section["reached"]["share"]) if drawn else 0.0
    value = (broken + lost) / n if n and (drawn or not reachable) else None
    sample = f"; {drawn:,} of them were asked for" * (drawn < reachable)
    return _mean(value, n, "records", about=f" in the top {section['k']}", more=sample)


def _read_stale(section: Any) -> Figure:
    """Return the share of chunks. Those that were not asked for may come back."""
    kinds, chunks = [section["kinds"].get(kind, 0) for kind in OUTDATED], section["chunks"]
    served = [section["served"][kind] for kind in OUTDATED if section["asked_by"]]
    if sum(kinds) and not served:
        raise NotMeasured("nothing was asked for them: run argus check --sources with an encoder")
    back, asked = (sum(one[name] for one in served) for name in ("back", "asked"))
    worst, note = (back + sum(kinds) - asked) / chunks, f" in the top {section['k']}"
    return back / chunks, back / chunks, worst, f"{note}, {chunks:,} chunks"


def _read_missing(section: Any) -> Figure:
    missing, n, failed = section["kinds"].get("missing", 0), section["sources"], section["unread"]
    return _mean(missing / n if n else None, n, "sources", failed=failed)


def _read_measure(section: Any, name: str) -> Figure:
    """Return a measure of the last system: the only one, or the one after the change."""
    measures, queries = section["systems"][-1]["measures"], section["queries"]
    if name not in measures:
        raise _not_evaluated(name)
    n, failed = queries["measured"], queries["failed"]
    return _mean(measures[name], n, "queries", failed=failed, good=True, about=f" ({name})")


def _read_drop(section: Any) -> Figure:
    """Return the fall of a measure's mean, negative if it rose."""
    name, failed = NDCG, section["queries"]["failed"]
    if section["comparison"] is None:
        raise NotMeasured("only one system was evaluated: run argus evaluate with two")
    if name not in section["comparison"]:
        raise _not_evaluated(name)
    difference = section["comparison"][name]
    value, n = -difference["mean_difference"], difference["queries"]
    best, worst = (value * n - failed) / (n + failed), (value * n + failed) / (n + failed)
    note = f" ({name}), {n:,} queries" + (f" and {failed:,} that failed" if failed else "")
    return value, best, worst, note


def _not_evaluated(name: str) -> NotMeasured:
    return NotMeasured(f"{name} is not among the measures: run argus evaluate --measures {name}")


class Check(NamedTuple):
    """One bound on one figure. section: of summary.json. command: measures it."""

    section: str
    title: str
    command: str
    read: Callable[[Any], Figure]


TWO, COMPARING = "argus evaluate with two systems", "argus check with --sources"
OUTDATED = ("stale", "orphan")  # kinds of drift of which nothing should be served
CHECKS = {
    "max_low_rps_share": Check(
        "audit", "entities with RPS below 0.33", "argus research audit",
        lambda section: _read_rps(section, "share_below_0.33", good=False),
    ),
    "min_mean_rps": Check(
        "audit", "mean RPS", "argus research audit",
        lambda section: _read_rps(section, "mean_rps", good=True),
    ),
    "min_recall": Check(
        "evaluation", "recall", "argus evaluate",
        lambda section: _read_measure(section, RECALL),
    ),
    "min_ndcg": Check(
        "evaluation", "nDCG", "argus evaluate",
        lambda section: _read_measure(section, NDCG),
    ),
    "max_ndcg_drop": Check("evaluation", "mean loss of nDCG, before to after", TWO, _read_drop),
    "max_never_retrieved_share": Check(
        "exposure", "documents never retrieved", "argus check", _read_never_retrieved
    ),
    "min_self_retrieval": Check(
        "exposure", "probes that find their own document", "argus check", _read_self_retrieval
    ),
    "max_unreachable_share": Check(
        "reach", "records that their own vector does not find", "argus check", _read_unreachable
    ),
    "max_stale_served": Check(
        "drift", "stale and orphaned chunks that come back", COMPARING, _read_stale
    ),
    "max_missing": Check("drift", "sources that no chunk is of", COMPARING, _read_missing),
}  # fmt: skip


class _Tested(NamedTuple):
    """A figure of a run and its baseline. at_worst counts failed items as 0."""

    folder: str
    name: str  # with its job
    unit: str
    plain: tuple[PairedDifference, float]
    at_worst: tuple[PairedDifference, float]
    items: int
    note: str


def _check_baseline(folders: Sequence[Path], baseline: Path, tolerance: float) -> list[Outcome]:
    """Check every figure of the folders that the baseline has, too.

    Raises InputError if the baseline is missing or damaged. A figure that cannot be compared is not
    measured, and its outcome says why.
    """
    base = runs_of(baseline)
    runs = [(folder, job, run) for folder in folders for job, run in runs_of(folder).items()]
    both = [(base[job], run, str(folder)) for folder, job, run in runs if job in base]
    found = [one for pair in both for one in _test_figures(*pair)]
    tested = [one for one in found if isinstance(one, _Tested)]
    missing = [one for one in found if isinstance(one, Outcome)]
    fewest = fewest_items(len(tested))
    for one in tested:
        if one.items < fewest:
            few = f"{one.items:,} {one.unit} are too few for {len(tested)} figures"
            missing.append(
                _missing(one.folder, f"{one.name}: {few}: at least {fewest} show a change")
            )
    where = ", ".join(map(str, folders))
    missing += [
        _missing(where, f"{job}: in {baseline}, and not among these results")
        for job in base.keys() - {job for _, job, _ in runs}
    ]

    def is_worse(change: PairedDifference, p: float) -> bool:
        """Return whether the loss is beyond chance and tolerance. p: the corrected p-value."""
        loss = -change.mean_difference
        return p < LEVEL and change.verdict == "worse" and loss > tolerance + UNCHANGED

    enough = [one for one in tested if one.items >= fewest]
    plain = holm([one.plain[1] for one in enough])
    at_worst = holm([one.at_worst[1] for one in enough])
    outcomes: list[Outcome] = []
    for one, p, worst_p in zip(enough, plain, at_worst, strict=True):
        verdict = Verdict.PASS
        if is_worse(one.plain[0], p):
            verdict = Verdict.FAIL
        elif is_worse(one.at_worst[0], worst_p):
            verdict = Verdict.NOT_MEASURED
        change = one.plain[0]
        test = f"{change_words({**change.figures(), 'p_value': p})} of {len(enough)} tests"
        detail = f"{one.name}: {test}, over {one.note}"
        before, after = change.mean_before, change.mean_after
        outcomes.append(Outcome("against", one.folder, verdict, before, after, detail))
    return outcomes + missing


def _test_figures(before: JobRun, after: JobRun, folder: str) -> Iterator[_Tested | Outcome]:
    """Test each figure of a job, or say why it is not measured."""
    job, unit = before.job, TRACKED[before.job].unit
    if differing := history.differing_settings(before, after):
        yield _missing(folder, f"{job}: not the same figures: {', '.join(differing)}")
        return
    if not history.have_common(before, after):
        yield _missing(folder, f"{job}: no {unit} in common with {before.place}")
        return
    for name, values in before.items.items():
        if name not in after.items:
            yield _missing(folder, f"{job}, {name}: not measured any more")
            continue
        pairs = history.Pairs.of(values, after.items[name])
        failed = {id_: v for id_ in pairs.failed if (v := values[id_]) is not None}
        n = len(pairs.before) + len(failed)
        measured = n + pairs.only_before
        if n < max(fewest_items(1), MIN_COMMON * measured):
            few = f"only {n:,} of {measured:,} {unit} of the baseline are there"
            yield _missing(folder, f"{job}, {name}: {few}")
            continue
        at_worst = _compare(pairs.before | failed, pairs.after | dict.fromkeys(failed, 0.0))
        some_failed = failed and pairs.before
        plain = _compare(pairs.before, pairs.after) if some_failed else at_worst
        note = f"{len(pairs.before):,} {unit}"
        note += f" and {len(failed):,} that failed" if failed else ""
        note += f"; {pairs.only_before:,} are gone" if pairs.only_before else ""
        yield _Tested(folder, f"{job}, {name}", unit, plain, at_worst, n, note)


def _compare(
    before: Mapping[str, float], after: Mapping[str, float]
) -> tuple[PairedDifference, float]:
    """Return the paired difference, and a p-value that may be smaller than one in the resamples."""
    change = history.paired(before, after)
    bound = least_bound(np.array([after[id_] - value for id_, value in before.items()]))
    return change, min(change.p_value, bound)


def _missing(folder: str, detail: str) -> Outcome:
    return Outcome("against", folder, Verdict.NOT_MEASURED, None, None, detail)


def fewest_items(figures: int) -> int:
    """Return the number of items from which a change can be significant among so many figures.

    If all of n items are worse, the sign test's p-value is 2/2ⁿ.
    """
    return math.floor(math.log2(2 * max(1, figures) / LEVEL)) + 1


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm, 1979)."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    out, highest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        out[i] = highest
    return out
