"""Two folders of audit or exposure results: what they say of the same entities and documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NotRequired, TypeVar

from typing_extensions import TypedDict

from argus.data.folders import MANIFEST, SUMMARY, ArtifactFolder, check_one_run
from argus.data.reading import WRITTEN, read_record
from argus.data.tables import read_records, require_shares, require_unique
from argus.errors import InputError
from argus.evaluation.compare.summary import (
    GAINED,
    LOST,
    NOT_COMPARABLE,
    ONLY_AFTER,
    ONLY_BEFORE,
    SAME,
    AuditSides,
    ComparisonRow,
    ExposureSides,
    JobSides,
    ResultFigures,
    count_verdicts,
    row_order,
)
from argus.evaluation.history import FigureChange, compare_runs
from argus.runs import runs_of

R = TypeVar("R")
JOBS = ("audit", "exposure")
AuditFigures = TypedDict(
    "AuditFigures",
    {"k": int, "pool": int, "mean_rps": float | None, "share_below_0.33": float | None},
)
"""What is compared of an audit's summary."""


class SampleSize(TypedDict):
    """Of the documents that were drawn to be asked for."""

    drawn: int


class ProbeFigures(TypedDict):
    """What is compared of the probes of one kind."""

    success_at_k: float | None


class ExposureFigures(TypedDict):
    """What is compared of the summary of exposure."""

    k: int
    title: ProbeFigures
    sentence: ProbeFigures
    never_retrieved: int
    sample: NotRequired[SampleSize]


class EntityRow(TypedDict):
    """What is compared of an audit's table: one entity."""

    id: str
    label: str
    band: str | None
    rps: float | None
    state: str
    reason: str


class DocumentRow(TypedDict):
    """What is compared of the table of exposure: one document."""

    id: str
    label: str
    never_retrieved: bool | None
    title_rank: int | None
    state: str
    reason: str


Row = TypeVar("Row", EntityRow, DocumentRow)


class EncoderNote(TypedDict):
    """The encoder of a job; without a fingerprint where it needs none."""

    fingerprint: NotRequired[str]


class InputFile(TypedDict):
    """A file that a job read; without a hash where it is too large for one."""

    sha256: NotRequired[str]


class JobManifest(TypedDict):
    """What is compared of a job's part of manifest.json. inputs: by name."""

    encoder: EncoderNote
    inputs: dict[str, InputFile]


@dataclass(frozen=True)
class Results:
    """One folder of results."""

    folder: Path
    summaries: Mapping[str, object]
    """Each job's part of summary.json, as it was read."""
    manifest: Mapping[str, JobManifest]

    @property
    def fingerprints(self) -> list[str]:
        """Encoders of the jobs in the folder."""
        encoders = [job["encoder"] for job in self.manifest.values()]
        return list(dict.fromkeys(e["fingerprint"] for e in encoders if "fingerprint" in e))

    @property
    def corpora(self) -> set[str]:
        """Hashes of the corpus files that the jobs in the folder read."""
        files = [job["inputs"].get("corpus", {}) for job in self.manifest.values()]
        return {file["sha256"] for file in files if "sha256" in file}

    @property
    def audit(self) -> AuditFigures:
        """Figures of the audit; InputError where the file is not as Argus wrote it."""
        return self._figures(AuditFigures, "audit")

    @property
    def exposure(self) -> ExposureFigures:
        """Figures of the exposure; InputError where the file is not as Argus wrote it."""
        return self._figures(ExposureFigures, "exposure")

    def entities(self) -> dict[str, EntityRow]:
        """Return id -> row of the audit's table; InputError for an id twice, or no score."""
        rows, path = self._rows(EntityRow, "retrievability"), self.folder / "retrievability.parquet"
        ids = [row["id"] for row in rows]
        require_unique(ids, path)
        require_shares(ids, [row["rps"] for row in rows], path, "rps")
        return dict(zip(ids, rows, strict=True))

    def documents(self) -> dict[str, DocumentRow]:
        """Return id -> row of the table of exposure; InputError for an id twice."""
        rows = self._rows(DocumentRow, "exposure")
        require_unique([row["id"] for row in rows], self.folder / "exposure.parquet")
        return {row["id"]: row for row in rows}

    def _figures(self, kind: type[R], job: str) -> R:
        file = self.folder / SUMMARY
        return read_record(kind, self.summaries[job], where=file, section=job)

    def _rows(self, kind: type[R], name: str) -> list[R]:
        """Return the columns of `kind`; InputError when the file or a column is gone."""
        path = self.folder / f"{name}.parquet"
        if not path.is_file():
            raise InputError(
                f"no {name}.parquet, though summary.json speaks of it",
                expected="the folder as Argus wrote it",
                fix=WRITTEN,
                where=self.folder,
            )
        return read_records(kind, path)


def read_results(folder: Path) -> Results:
    """Read the JSON files of a folder of audit or exposure results."""
    summaries = ArtifactFolder(folder).read_json(SUMMARY) if folder.is_dir() else {}
    if not summaries.keys() & set(JOBS):
        raise InputError(
            "no results of audit or exposure in it" if folder.is_dir() else "no such folder",
            expected="a folder that argus audit or exposure wrote",
            fix="Run one of them with --out set to this folder.",
            where=folder,
        )
    manifest = ArtifactFolder(folder).read_json(MANIFEST)
    where = folder / MANIFEST
    jobs = read_record(dict[str, JobManifest], manifest, where=where)
    check_one_run(folder, *JOBS)
    return Results(folder, summaries, jobs)


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
    known = before.corpora and after.corpora
    return rows, {
        "same_corpus": before.corpora == after.corpora if known else None,
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


def _rows(
    kind: Literal["entity", "document"],
    before: Mapping[str, Row],
    after: Mapping[str, Row],
    apart: InputError,
    *,
    level: Callable[[Row], int | None],
    told: Callable[[Row], str],
    value: Callable[[Row], float | None],
) -> list[ComparisonRow]:
    """Return a row per id of either side; raise `apart` when they have none in common.

    level: where a row stands, more is better, None if not measured: it decides what is gained and
    lost. told, value: a row in words, and as a number.
    """
    if not before.keys() & after.keys():
        raise apart
    rows: list[ComparisonRow] = []
    for id_ in sorted(before.keys() | after.keys()):
        old, new = before.get(id_), after.get(id_)
        first, second = (None if one is None else value(one) for one in (old, new))
        change = None if first is None or second is None else second - first
        rows.append(
            {
                "kind": kind,
                "id": id_,
                "label": (old or new or {"label": ""})["label"],
                "verdict": _verdict(old, new, level),
                "before": None if old is None else told(old),
                "after": None if new is None else told(new),
                "value_before": first,
                "value_after": second,
                "rps_change": change if kind == "entity" else None,
                "rank_change": change if kind == "document" else None,  # type: ignore[typeddict-item]
            }
        )
    return rows


def _entities(before: Results, after: Results) -> list[ComparisonRow]:
    """Call an entity gained when its band rises, lost when it falls."""
    return _rows(
        "entity", before.entities(), after.entities(),
        _nothing_common(before, after, "retrievability"),
        level=lambda entity: BANDS.get(entity["band"] or ""),
        told=lambda entity: entity["band"] or entity["reason"] or entity["state"],
        value=lambda entity: entity["rps"],
    )  # fmt: skip


def _documents(before: Results, after: Results) -> list[ComparisonRow]:
    """Call a document gained when some query now brings it back, lost the other way."""

    def level(document: DocumentRow) -> int | None:
        never = document["never_retrieved"]
        return None if never is None else int(not never)

    def told(document: DocumentRow) -> str:
        if document["never_retrieved"] is None:
            return document["reason"] or document["state"]
        return "never retrieved" if document["never_retrieved"] else "retrieved"

    return _rows(
        "document", before.documents(), after.documents(),
        _nothing_common(before, after, "exposure"),
        level=level, told=told, value=lambda document: document["title_rank"],
    )  # fmt: skip


def _nothing_common(before: Results, after: Results, table: str) -> InputError:
    return InputError(
        f"{before.folder} and {after.folder} have no id in common",
        expected="two results over one corpus",
        fix="Compare folders that were made from the same documents.",
        where=f"{table}.parquet",
    )


def _verdict(old: Row | None, new: Row | None, level: Callable[[Row], int | None]) -> str:
    """Return what became of a row; level: where it stands, more is better, None not measured."""
    if old is None:
        return ONLY_AFTER
    if new is None:
        return ONLY_BEFORE
    before, after = level(old), level(new)
    if before is None or after is None:
        return NOT_COMPARABLE
    return SAME if before == after else GAINED if after > before else LOST
