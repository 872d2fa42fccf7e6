"""What two folders of audit or exposure results say of the same entities and documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from argus.errors import InputError
from argus.evaluation.compare.folder import JOBS, DocumentRow, EntityRow, Results
from argus.evaluation.compare.rows import (
    GAINED,
    LOST,
    NOT_COMPARABLE,
    ONLY_AFTER,
    ONLY_BEFORE,
    SAME,
    count_verdicts,
    row_order,
)
from argus.evaluation.compare.summary import (
    AuditSides,
    ComparisonRow,
    ExposureSides,
    JobSides,
    ResultFigures,
)
from argus.evaluation.history import FigureChange, compare_runs
from argus.runs import runs_of

R = TypeVar("R")
BANDS = {"low": 0, "mid": 1, "high": 2}


def compare_results(
    before: Results, after: Results, jobs: Sequence[str] = JOBS
) -> tuple[list[ComparisonRow], ResultFigures]:
    """Return the rows of entities and documents, in order, and what they come to.

    jobs: those that count. Raises InputError when the folders share none of them or no id, or
    measured at another k or N.
    """
    shared = [job for job in jobs if job in before.summaries and job in after.summaries]
    if not shared:
        raise InputError(
            f"{before.folder} holds {', '.join(before.summaries)}; {after.folder} holds "
            f"{', '.join(after.summaries)}",
            expected="the same job in both: audit or exposure",
            fix="Run it for the other, too.",
        )
    kinds: JobSides = {}
    rows: list[ComparisonRow] = []
    for job in shared:
        if job == "audit":
            kinds["audit"] = _audits(before, after)
            rows += _entities(before, after)
        else:
            kinds["exposure"] = _exposures(before, after)
            rows += _documents(before, after)
    rows.sort(key=row_order)
    return rows, {
        "same_corpus": _same_corpus(before, after),
        "kinds": kinds,
        "changes": _changes(before, after, shared),
        "verdicts": count_verdicts(rows),
    }


def _changes(before: Results, after: Results, jobs: Sequence[str]) -> list[FigureChange]:
    """Return what both folders measured of the same items, by a paired test."""
    first, second = runs_of(before.folder), runs_of(after.folder)
    return [
        change
        for job in jobs
        if job in first and job in second
        for change in compare_runs(first[job], second[job])["figures"]
    ]


def _audits(before: Results, after: Results) -> AuditSides:
    first, second = before.audit, after.audit
    _same("audit", "--k", first["k"], second["k"], after)
    _same("audit", "--pool", first["pool"], second["pool"], after)
    return {
        "k": [first["k"], second["k"]],
        "pool": [first["pool"], second["pool"]],
        "mean_rps": [first["mean_rps"], second["mean_rps"]],
        "share_below_0.33": [first["share_below_0.33"], second["share_below_0.33"]],
    }


def _exposures(before: Results, after: Results) -> ExposureSides:
    first, second = before.exposure, after.exposure
    _same("exposure", "--k", first["k"], second["k"], after)
    drawn = [one["sample"]["drawn"] if "sample" in one else "all" for one in (first, second)]
    _same("exposure", "--sample", drawn[0], drawn[1], after)
    return {
        "k": [first["k"], second["k"]],
        "title": [side["title"]["success_at_k"] for side in (first, second)],
        "sentence": [side["sentence"]["success_at_k"] for side in (first, second)],
        "never_retrieved": [first["never_retrieved"], second["never_retrieved"]],
    }


def _same(job: str, option: str, first: object, second: object, after: Results) -> None:
    """Raise InputError where a job was measured at two settings."""
    if first != second:
        raise InputError(
            f"the {job} was measured at {option} {first} and {option} {second}",
            expected="the same setting in both folders",
            fix=f"Run one of them again with {option} {first}.",
            where=after.folder,
        )


def _same_corpus(before: Results, after: Results) -> bool | None:
    """Whether both read the same corpus file; None where that was not noted."""
    if not before.corpora or not after.corpora:
        return None
    return before.corpora == after.corpora


def _beside(
    before: Mapping[str, R], after: Mapping[str, R], folders: tuple[Path, Path], table: str
) -> Iterator[tuple[str, R | None, R | None]]:
    """Yield each id with its rows before and after, None where it has none."""
    if not before.keys() & after.keys():
        raise InputError(
            f"{folders[0]} and {folders[1]} have no id in common",
            expected="two results over one corpus",
            fix="Compare folders that were made from the same documents.",
            where=f"{table}.parquet",
        )
    for id_ in sorted(before.keys() | after.keys()):
        yield id_, before.get(id_), after.get(id_)


def _entities(before: Results, after: Results) -> list[ComparisonRow]:
    """Call an entity gained when its band rises, lost when it falls."""
    folders = before.folder, after.folder
    rows: list[ComparisonRow] = []
    for id_, old, new in _beside(before.entities(), after.entities(), folders, "retrievability"):
        first = None if old is None else old["rps"]
        second = None if new is None else new["rps"]
        rows.append(
            {
                "kind": "entity",
                "id": id_,
                "label": (old or new or {"label": ""})["label"],
                "verdict": _verdict(old, new, _band),
                "before": None if old is None else old["band"] or old["reason"] or old["state"],
                "after": None if new is None else new["band"] or new["reason"] or new["state"],
                "value_before": first,
                "value_after": second,
                "rps_change": None if first is None or second is None else second - first,
                "rank_change": None,
            }
        )
    return rows


def _documents(before: Results, after: Results) -> list[ComparisonRow]:
    """Call a document gained when some query now brings it back, lost the other way."""
    folders = before.folder, after.folder
    rows: list[ComparisonRow] = []
    for id_, old, new in _beside(before.documents(), after.documents(), folders, "exposure"):
        first = None if old is None else old["title_rank"]
        second = None if new is None else new["title_rank"]
        rows.append(
            {
                "kind": "document",
                "id": id_,
                "label": (old or new or {"label": ""})["label"],
                "verdict": _verdict(old, new, _retrieved),
                "before": None if old is None else _retrieval(old),
                "after": None if new is None else _retrieval(new),
                "value_before": first,
                "value_after": second,
                "rps_change": None,
                "rank_change": None if first is None or second is None else second - first,
            }
        )
    return rows


def _verdict(old: R | None, new: R | None, level: Callable[[R], int | None]) -> str:
    """Return what became of a row; level: where it stands, more is better, None not measured."""
    if old is None:
        return ONLY_AFTER
    if new is None:
        return ONLY_BEFORE
    before, after = level(old), level(new)
    if before is None or after is None:
        return NOT_COMPARABLE
    return SAME if before == after else GAINED if after > before else LOST


def _band(entity: EntityRow) -> int | None:
    return BANDS.get(entity["band"] or "")


def _retrieved(document: DocumentRow) -> int | None:
    never = document["never_retrieved"]
    return None if never is None else int(not never)


def _retrieval(document: DocumentRow) -> str:
    if document["never_retrieved"] is None:
        return document["reason"] or document["state"]
    return "never retrieved" if document["never_retrieved"] else "retrieved"
