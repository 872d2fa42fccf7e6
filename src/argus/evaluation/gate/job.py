"""The gate: whether the results in some folders keep to the bounds that were set.

A check passes only on a measurement. What failed to be measured counts as its worst possible
value: where the check passes even then, it passes; where it fails even with the failed ones left
out, it fails; in between it could not be measured. A figure of nothing was not measured.
Exit code: 1 when a check fails (whatever else was not measured, this is certain), else 2 when one
could not be measured, else 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.data.artifacts import SUMMARY, ArtifactFolder
from argus.data.manifest import check_one_run
from argus.errors import InputError
from argus.evaluation.gate import figures
from argus.evaluation.gate.against import against
from argus.evaluation.gate.config import GateBounds
from argus.evaluation.gate.figures import Figure, NotMeasured
from argus.evaluation.gate.outcome import Outcome, Verdict
from argus.evaluation.gate.reading import Value
from argus.evaluation.gate.writing import junit, markdown
from argus.jobs.result import Result
from argus.measures.significance import UNCHANGED

EXIT_CODES = {Verdict.PASS: 0, Verdict.FAIL: 1, Verdict.NOT_MEASURED: 2}


@dataclass(frozen=True)
class Check:
    """One bound on one figure: the section it is in, and how it is read."""

    section: str
    what: str
    run: str
    read: Callable[[Value, GateBounds], Figure]


def _plain(read: Callable[[Value], Figure]) -> Callable[[Value, GateBounds], Figure]:
    """Return how a figure is read that no setting of the bounds names."""
    return lambda section, _: read(section)


CHECKS: dict[str, Check] = {
    "max_low_rps_share": Check(
        "audit", "entities with RPS below 0.33", "argus audit", _plain(figures.low_rps_share)
    ),
    "min_mean_rps": Check("audit", "mean RPS", "argus audit", _plain(figures.mean_rps)),
    "max_at_risk_share": Check(
        "diagnosis", "entities at risk", "argus diagnose", _plain(figures.at_risk_share)
    ),
    "min_recall": Check(
        "evaluation",
        "recall",
        "argus evaluate",
        lambda s, b: figures.measure(s, b.recall_measure),
    ),
    "min_ndcg": Check(
        "evaluation", "nDCG", "argus evaluate", lambda s, b: figures.measure(s, b.ndcg_measure)
    ),
    "max_ndcg_drop": Check(
        "evaluation",
        "mean loss of nDCG, before to after",
        "argus evaluate with two systems",
        lambda s, b: figures.drop(s, b.ndcg_measure),
    ),
    "max_harmed_share": Check(
        "evaluation",
        "queries harmed",
        "argus evaluate with two systems",
        lambda s, b: figures.harmed_share(s, b.ndcg_measure),
    ),
    "max_never_retrieved_share": Check(
        "exposure", "documents never retrieved", "argus exposure", _plain(figures.never_retrieved)
    ),
    "min_self_retrieval": Check(
        "exposure",
        "probes that find their own document",
        "argus exposure",
        _plain(figures.self_retrieval),
    ),
    "max_unreachable_share": Check(
        "reach",
        "records that their own vector does not find",
        "argus reach",
        _plain(figures.unreachable_share),
    ),
    "min_index_recall": Check(
        "reach", "recall against an exact search", "argus reach", _plain(figures.index_recall)
    ),
}


@dataclass(frozen=True, repr=False)
class GateResult(Result):
    """All outcomes, in the order of CHECKS and folders."""

    outcomes: list[Outcome]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        for outcome in self.outcomes:
            yield outcome.line
        yield f"verdict: {self.verdict}"

    @property
    def verdict(self) -> Verdict:
        """A failure decides; else what was not measured; else all passed."""
        verdicts = {outcome.verdict for outcome in self.outcomes}
        for verdict in (Verdict.FAIL, Verdict.NOT_MEASURED):
            if verdict in verdicts:
                return verdict
        return Verdict.PASS

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 2 could not measure."""
        return EXIT_CODES[self.verdict]

    def markdown(self) -> str:
        """Return a summary for a pull request."""
        return markdown(self.verdict, self.outcomes)

    def junit(self) -> str:
        """Return a JUnit report for a pipeline."""
        return junit(self.outcomes)


def gate(
    folders: Path | str | Sequence[Path | str],
    bounds: GateBounds,
    *,
    baseline: Path | str | None = None,
) -> GateResult:
    """Check every bound in every folder that holds its figure, and every figure of a baseline.

    folders: one or several. A bound whose figure no folder holds is not measured. baseline: a
    folder of results, or a run of its history; a figure that is worse than there, beyond what
    chance may do, fails. Raises InputError when no bound and no baseline is set, for a folder that
    is missing or holds no summary.json, and for a baseline that is missing or damaged.
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
    summaries = {folder: _summary(folder) for folder in reversed(places.values())}
    if judged := [CHECKS[name].section for name in bounds.checks]:
        for folder in summaries:
            check_one_run(folder, *judged)
    outcomes = [o for name in bounds.checks for o in _outcomes(name, bounds, summaries)]
    if baseline is not None:
        outcomes += against(list(summaries), Path(baseline), bounds.tolerance)
    return GateResult(outcomes)


def _summary(folder: Path) -> Mapping[str, object]:
    """Return each job's part of summary.json."""
    sections = ArtifactFolder(folder).read_json(SUMMARY) if folder.exists() else {}
    if not sections:
        raise InputError(
            "no summary.json in it" if folder.exists() else "no such folder",
            expected="a folder that argus audit, diagnose, exposure or evaluate wrote",
            fix="Run one of them with --out set to this folder.",
            where=folder,
        )
    return sections


def _outcomes(
    name: str, bounds: GateBounds, summaries: Mapping[Path, Mapping[str, object]]
) -> Iterator[Outcome]:
    check, bound = CHECKS[name], float(getattr(bounds, name))
    sections = {
        folder: Value(summary[check.section], folder / SUMMARY, check.section, check.run)
        for folder, summary in summaries.items()
        if check.section in summary
    }
    if not sections:
        detail = f"no {check.section} among the results: run {check.run}"
        folders = ", ".join(map(str, summaries))
        yield Outcome(name, folders, Verdict.NOT_MEASURED, bound, None, detail)
    for folder, section in sections.items():
        try:
            figure = check.read(section, bounds)
        except (NotMeasured, InputError) as reason:
            detail = f"{check.what}: {reason}"
            yield Outcome(name, str(folder), Verdict.NOT_MEASURED, bound, None, detail)
        else:
            verdict = _decide(figure, bound, at_most=name.startswith("max"))
            detail = f"{check.what}{figure.note}"
            yield Outcome(name, str(folder), verdict, bound, figure.value, detail)


def _decide(figure: Figure, bound: float, *, at_most: bool) -> Verdict:
    def keeps(value: float) -> bool:
        beyond = value - bound if at_most else bound - value
        return beyond <= UNCHANGED

    if not keeps(figure.best):
        return Verdict.FAIL
    return Verdict.PASS if keeps(figure.worst) else Verdict.NOT_MEASURED
