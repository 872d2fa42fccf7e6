"""What the page of repairs shows: the last trial, the remedies there are, what each changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.data.artifacts import SUMMARY, ArtifactFolder
from argus.data.manifest import MANIFEST, ManifestSection
from argus.data.parquet import Filter, read_where
from argus.data.records import read_record
from argus.errors import InputError
from argus.evaluation.summary import EvaluationSummary
from argus.indexes.blend import BLEND
from argus.measures.coverage import coverage_words
from argus.measures.significance import DifferenceFigures
from argus.remedies.blend.summary import BlendSummary
from argus.remedies.repair.remedy import REMEDIES, list_remedies
from argus.remedies.repair.summary import ListedRemedy
from argus.repair.job import HOME
from argus.repair.last_trial import JOB
from argus.repair.summary import NOTHING, RepairSummary
from argus.repair.trial_table import TABLE

MOST = 200
"""Changed questions that are shown of each."""
PER_QUERY = "per_query"


Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChangedQuestion:
    """A question before and after. place: of its first relevant document, None where none came."""

    id: str
    text: str
    place_before: int | None
    place_after: int | None
    difference: float
    """Of nDCG@10."""

    @property
    def harmed(self) -> bool:
        """Whether it is worse than before."""
        return self.difference < 0


@dataclass(frozen=True)
class Changes:
    """The questions that changed, harmed ones first, worst first; then the improved ones."""

    rows: Sequence[ChangedQuestion]
    harmed: int
    improved: int
    unchanged: int

    @classmethod
    def of(cls, questions: Sequence[ChangedQuestion]) -> Changes:
        """Order questions and count them."""
        harmed = sorted((q for q in questions if q.difference < 0), key=lambda q: q.difference)
        improved = sorted((q for q in questions if q.difference > 0), key=lambda q: -q.difference)
        rest = len(questions) - len(harmed) - len(improved)
        rows = [*harmed[:MOST], *improved[: max(MOST - len(harmed), MOST // 2)]]
        return cls(rows, len(harmed), len(improved), rest)


@dataclass(frozen=True)
class Tried:
    """The last trial of an index. is_old: other remedies are in it now."""

    summary: RepairSummary
    at: str
    is_old: bool
    candidate: str
    """Whose questions are shown."""
    changes: Changes
    inputs: Mapping[str, str]


@dataclass(frozen=True)
class Receipt:
    """A remedy in an index, and what judged questions say of it, where any were asked."""

    remedy: ListedRemedy
    difference: DifferenceFigures | None
    changes: Changes | None
    """None where no questions were judged, and where those of a later remedy took their place."""
    judged_by: str = "judged questions"
    covered: str = ""
    """Of the questions' relevant documents, how many have it; "" where all documents have it."""
    was_chosen: bool = False
    """Whether these very questions chose it."""


def read_trial(index: Path, candidate: str, remedies: Sequence[ListedRemedy]) -> Tried | None:
    """Return the last trial with the questions of one candidate, the best where it has none such.

    Raises InputError where what is there is damaged.
    """
    folder = ArtifactFolder(index / HOME)
    section = folder.read_json(SUMMARY).get(JOB)
    if section is None:
        return None
    summary = read_record(RepairSummary, section, where=folder / SUMMARY, section=JOB)
    manifest = read_record(
        ManifestSection, folder.read_json(MANIFEST).get(JOB), where=folder / MANIFEST, section=JOB
    )
    names = [trial["candidate"] for trial in summary["trials"]]
    best = summary["kept"] if summary["kept"] in names else next(iter(names), NOTHING)
    candidate = candidate if candidate in names else best
    inputs = {name: one["file"] for name, one in manifest["inputs"].items()}
    return Tried(
        summary, manifest["finished"], _ids(remedies) != summary.get("in_index", []),
        candidate, Changes.of(list(_of_trial(folder.path, candidate))), inputs,
    )  # fmt: skip


def _ids(remedies: Sequence[ListedRemedy]) -> list[str]:
    return [remedy["id"] for remedy in remedies]


def _of_trial(folder: Path, candidate: str) -> Iterator[ChangedQuestion]:
    return _questions(
        folder / f"{TABLE}.parquet", [("candidate", "=", candidate)],
        ("query_id", "question", "place_before", "place_after"),
        lambda row: row["ndcg10_after"] - row["ndcg10_before"],
    )  # fmt: skip


def read_receipts(index: Path, results: Sequence[Path]) -> list[Receipt]:
    """Return the remedies of an index, the latest first, each with what it changed.

    results: folders in which a receipt may lie, beside the index's own.
    """
    return [_receipt(index, remedy, results) for remedy in reversed(list_remedies(index))]


def _receipt(index: Path, remedy: ListedRemedy, results: Sequence[Path]) -> Receipt:
    folders = (index / REMEDIES / remedy["id"], index, *results)
    summaries = {folder: ArtifactFolder(folder).read_json(SUMMARY) for folder in folders}
    for folder, sections in summaries.items():
        if (chosen := _of_choice(folder, sections.get(JOB), remedy)) is not None:
            return chosen
        section = sections.get("evaluation")
        if section is None:
            continue
        evaluation = read_record(
            EvaluationSummary, section, where=folder / SUMMARY, section="evaluation"
        )
        if not _is_about(evaluation, remedy["id"]):
            continue
        measure = evaluation["headline"]
        figures = (evaluation["comparison"] or {}).get(measure)
        changes = Changes.of(list(_of_evaluation(folder, measure)))
        own = [one for one in sections.values()
               if isinstance(one, dict) and one.get("remedy") == remedy["id"]]  # fmt: skip
        covered = coverage_words(own[0].get("coverage") if own else None)
        return Receipt(remedy, figures, changes, covered=covered)
    return Receipt(remedy, _gain_of_blend(remedy["id"], summaries), None)


def _of_choice(folder: Path, section: object, remedy: ListedRemedy) -> Receipt | None:
    """Return the receipt of a repair that chose a remedy; None where none did, by questions."""
    if section is None:
        return None
    summary = read_record(RepairSummary, section, where=folder / SUMMARY, section=JOB)
    trials = [t for t in summary["trials"] if t["candidate"] == summary["kept"]]
    if remedy["id"] not in summary["remedies"] or not trials:
        return None
    changes = Changes.of(list(_of_trial(folder, summary["kept"])))
    covered = coverage_words(trials[0]["coverage"])
    return Receipt(remedy, trials[0]["ndcg10"], changes, summary["judged_by"], covered, True)


def _gain_of_blend(
    remedy: str, summaries: Mapping[Path, Mapping[str, Any]]
) -> DifferenceFigures | None:
    """Return what a blend's summary says of judged questions, against the vectors alone."""
    for folder, sections in summaries.items():
        section = sections.get(BLEND)
        if section is not None and section.get("remedy") == remedy:
            summary = read_record(BlendSummary, section, where=folder / SUMMARY, section=BLEND)
            return summary["parts"][-1]["ndcg10"] if summary["parts"] else None
    return None


def _is_about(evaluation: EvaluationSummary, remedy: str) -> bool:
    names = [system["name"].partition(",")[0] for system in evaluation["systems"]]
    return len(names) == 2 and names[1].rpartition("@")[2].split(" ")[0] == remedy


def _of_evaluation(folder: Path, measure: str) -> Iterator[ChangedQuestion]:
    return _questions(
        folder / f"{PER_QUERY}.parquet", [("state", "=", "measured")],
        ("query_id", "text", "rank before", "rank after"),
        lambda row: row[f"{measure} difference"],
    )  # fmt: skip


def _questions(
    path: Path,
    where: list[Filter],
    columns: Sequence[str],
    difference: Callable[[Row], float],
) -> Iterator[ChangedQuestion]:
    """Yield the questions of a table; none where it is not there.

    columns: of id, text, and the two places.
    """
    for row in read_where(path, where).to_pylist() if path.is_file() else []:
        try:
            id_, text, before, after = (row[name] for name in columns)
            yield ChangedQuestion(id_, text, before, after, float(difference(row)))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"a row that lacks a column or a number ({error})",
                expected="the table as Argus wrote it",
                fix="Run the command again with the same --out.",
                where=path,
            ) from error
