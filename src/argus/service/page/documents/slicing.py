"""Which documents are in which slice: the labels that the jobs cut them by, made again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from argus.corpora.opening import open_corpus
from argus.data.fields import FieldNames
from argus.data.parquet import read_table
from argus.errors import InputError
from argus.measures.slices import slicings
from argus.verdict.reading import Results

if TYPE_CHECKING:
    import pyarrow as pa

JOBS = ("exposure", "audit")
"""Jobs that tell shares by slice of the documents of a corpus."""


@dataclass(frozen=True, slots=True)
class SliceLabels:
    """A corpus, and the fields by which its documents were cut."""

    corpus: Path
    fields: tuple[str, ...]

    @classmethod
    def of(cls, folder: Path) -> SliceLabels:
        """Return those of a folder's results; InputError where no job cut a corpus file."""
        for job in JOBS:
            section = Results.of(folder).places.manifest.get(job)
            fields = section["config"].get("by") if section else None
            corpus = section["inputs"].get("corpus") if section else None
            if isinstance(fields, list | tuple) and fields and corpus:
                return cls(Path(corpus["file"]), tuple(map(str, fields)))
        raise InputError(
            "no slices",
            expected="results that were told by fields of their corpus",
            fix="Run argus exposure or argus audit with --by FIELD.",
            where=folder,
        )

    def table(self) -> pa.Table:
        """Return a row per document and slice: id, field, slice. Reads the whole corpus."""
        import pyarrow as pa

        documents = sorted(open_corpus(self.corpus).documents(FieldNames()), key=lambda d: d.id)
        parts = [pa.table({"id": pa.array([], pa.string()), "field": pa.array([], pa.string()),
                           "slice": pa.array([], pa.string())})]  # fmt: skip
        for one in slicings(documents, self.fields):
            pairs = [
                (d.id, label) for d, ls in zip(documents, one.labels, strict=True) for label in ls
            ]
            ids, labels = zip(*pairs, strict=True) if pairs else ((), ())
            names = [one.figures["field"]] * len(pairs)
            parts.append(
                pa.table({"id": pa.array(ids, pa.string()), "field": pa.array(names, pa.string()),
                          "slice": pa.array(labels, pa.string())})
            )  # fmt: skip
        return pa.concat_tables(parts)


def slice_names(folder: Path) -> list[str]:
    """Return "FIELD=VALUE" of each slice that the tables of a folder tell of."""
    names: dict[str, None] = {}
    for file in ("slices", "audit_slices"):
        path = folder / f"{file}.parquet"
        if path.is_file():
            rows = read_table(path, ["field", "slice"]).to_pylist()
            names.update(dict.fromkeys(f"{row['field']}={row['slice']}" for row in rows))
    return sorted(names)
