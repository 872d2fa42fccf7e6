"""A folder of audit or exposure results, as far as two of them are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypeVar

from typing_extensions import TypedDict

from argus.data.artifacts import MANIFEST, SUMMARY, ArtifactFolder
from argus.data.manifest import check_one_run
from argus.data.parquet import WRITTEN, read_records
from argus.data.records import read_record
from argus.data.row_checks import require_shares, require_unique
from argus.errors import InputError

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
