"""A folder of results, read for its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from argus.data.artifacts import SUMMARY, ArtifactFolder
from argus.data.manifest import MANIFEST, ManifestSection, torn_jobs
from argus.data.records import read_record
from argus.verdict.places import Places
from argus.verdict.project import Project

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
ROLLED_BACK = "remedies/*/rolled_back.json"
"""The notes of remedies that are no longer in an index."""


@dataclass(frozen=True)
class Results:
    """The sections of a folder's summary.json, and its tables."""

    folder: Path
    sections: dict[str, object]
    places: Places

    @classmethod
    def of(cls, folder: Path) -> Results:
        """Read them, without those of a job that was stopped while it wrote.

        Raises InputError where a file is damaged. A folder without any has no sections.
        """
        files, torn = ArtifactFolder(folder), torn_jobs(folder)
        manifest = {
            job: read_record(ManifestSection, section, where=folder / MANIFEST, section=job)
            for job, section in files.read_json(MANIFEST).items()
        }
        sections = {j: s for j, s in files.read_json(SUMMARY).items() if j not in torn}
        return cls(folder, sections, Places(folder, manifest, Project.here()))

    def section(self, name: str, kind: type[T]) -> T | None:
        """Return a job's section as what is read of it; None where it did not run."""
        if name not in self.sections:
            return None
        where = self.folder / SUMMARY
        return read_record(kind, self.sections[name], where=where, section=name)

    def table(self, name: str, columns: list[str]) -> pa.Table | None:
        """Return columns of a table; None where the table, or one of them, is not there.

        Raises InputError for one that is damaged.
        """
        from argus.data.parquet import WRITTEN, open_parquet, read_table

        path = self.folder / f"{name}.parquet"
        if not path.is_file():
            return None
        if not set(columns) <= set(open_parquet(path, fix=WRITTEN).schema_arrow.names):
            return None
        return read_table(path, columns)

    @cached_property
    def undone(self) -> tuple[str, ...]:
        """The remedies that were taken out of the index since judged questions were asked of it."""
        evaluation = self.places.manifest.get("evaluation")
        if evaluation is None or self.places.index is None:
            return ()
        homes = [note.parent for note in sorted(Path(self.places.index).glob(ROLLED_BACK))]
        notes = {home.name: ArtifactFolder(home).read_json("rolled_back.json") for home in homes}
        return tuple(id_ for id_, n in notes.items() if str(n.get("at")) >= evaluation["finished"])

    @cached_property
    def has_index(self) -> bool:
        """Whether the folder itself is an index."""
        return self.places.index == str(self.folder)
