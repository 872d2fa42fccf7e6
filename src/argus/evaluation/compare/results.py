"""What two folders of audit or exposure results say of the same entities and documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from argus.data.artifacts import ArtifactFolder
from argus.errors import InputError

GAINED, LOST, SAME = "gained", "lost", "same"
ONLY_BEFORE, ONLY_AFTER, NOT_COMPARABLE = "only before", "only after", "not comparable"
JOBS = ("audit", "exposure")
VERDICTS = (LOST, GAINED, ONLY_BEFORE, ONLY_AFTER, NOT_COMPARABLE, SAME)
BANDS = {"low": 0, "mid": 1, "high": 2}
SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("id", pa.string()),
        ("label", pa.string()),
        ("verdict", pa.string()),
        ("before", pa.string()),
        ("after", pa.string()),
        ("value_before", pa.float64()),
        ("value_after", pa.float64()),
        ("rps_change", pa.float64()),
        ("rank_change", pa.int64()),
    ]
)
"""One row per entity or document. before, after: in words. value: RPS of an entity (between two
indexes the rank of the first document that names it, by its name), rank of a document by its title.
rps_change: more is better; rank_change: places further down, so less is better. Null where the
value is of the other sort, and where one side has none."""
CHANGES = {"entity": "rps_change", "document": "rank_change"}


@dataclass(frozen=True)
class Results:
    """One folder of results."""

    folder: Path
    summary: dict[str, Any]
    manifest: dict[str, Any]

    @property
    def fingerprints(self) -> list[str]:
        """Encoders of the jobs in the folder."""
        return list(dict.fromkeys(job["encoder"]["fingerprint"] for job in self.manifest.values()))

    def table(self, name: str) -> dict[str, dict[str, Any]]:
        """Return id -> row of a table; InputError when the file is gone."""
        path = self.folder / f"{name}.parquet"
        if not path.is_file():
            raise InputError(
                f"no {name}.parquet, though summary.json speaks of it",
                expected="the folder as Argus wrote it",
                fix="Run the command again with the same --out; vectors are kept.",
                where=self.folder,
            )
        return {row["id"]: row for row in pq.read_table(path).to_pylist()}


def read_results(folder: Path) -> Results:
    """Read the JSON files of a folder of audit or exposure results."""
    summary: dict[str, Any] = {}
    if folder.is_dir():
        summary = ArtifactFolder(folder).read_json("summary.json")
    if not summary.keys() & {"audit", "exposure"}:
        raise InputError(
            "no results of audit or exposure in it" if folder.is_dir() else "no such folder",
            expected="a folder that argus audit or exposure wrote",
            fix="Run one of them with --out set to this folder.",
            where=folder,
        )
    return Results(folder, summary, ArtifactFolder(folder).read_json("manifest.json"))


def compare_results(
    before: Results, after: Results, wanted: Sequence[str] = JOBS
) -> tuple[pa.Table, dict[str, Any]]:
    """Return the table of entities and documents, and its part of the summary.

    wanted: the jobs that count. Raises InputError when the folders share none of them or no id, or
    measured at another k or N.
    """
    jobs = [job for job in wanted if job in before.summary and job in after.summary]
    if not jobs:
        raise InputError(
            f"{before.folder} holds {', '.join(before.summary)}; {after.folder} holds "
            f"{', '.join(after.summary)}",
            expected="the same job in both: audit or exposure",
            fix="Run it for the other, too.",
        )
    rows: list[dict[str, Any]] = []
    for job in jobs:
        _same_setting(before, after, job)
        rows += _entities(before, after) if job == "audit" else _documents(before, after)
    rows.sort(key=row_order)
    return pa.Table.from_pylist(rows, schema=SCHEMA), {
        "same_corpus": _same_corpus(before, after),
        "kinds": {job: _figures(before, after, job) for job in jobs},
        **counts(rows),
    }


def row_order(row: dict[str, Any]) -> tuple[str, int, float, str]:
    """Sort key: kinds apart, what was lost first, the greatest change first, then by id."""
    change = row["rps_change"] or row["rank_change"] or 0
    return row["kind"], VERDICTS.index(row["verdict"]), -abs(change), row["id"]


def counts(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Count verdicts per kind, all of them, at 0 where there is none."""
    kinds = sorted({row["kind"] for row in rows})
    return {
        "verdicts": {
            kind: {v: sum(r["kind"] == kind and r["verdict"] == v for r in rows) for v in VERDICTS}
            for kind in kinds
        }
    }


def _same_setting(before: Results, after: Results, job: str) -> None:
    for name in ("k", "pool") if job == "audit" else ("k",):
        first, second = before.summary[job][name], after.summary[job][name]
        if first != second:
            option = {"k": "--k", "pool": "--pool"}[name]
            raise InputError(
                f"the {job} was measured at {option} {first} and {option} {second}",
                expected="the same setting in both folders",
                fix=f"Run one of them again with {option} {first}.",
                where=after.folder,
            )


def _same_corpus(before: Results, after: Results) -> bool | None:
    """Whether both read the same corpus file; None where that was not noted."""
    hashes = [
        {
            job["inputs"]["corpus"]["sha256"]
            for job in r.manifest.values()
            if "corpus" in job["inputs"]
        }
        for r in (before, after)
    ]
    return hashes[0] == hashes[1] if all(hashes) else None


def _figures(before: Results, after: Results, job: str) -> dict[str, Any]:
    names = {
        "audit": ("k", "pool", "mean_rps", "share_below_0.33"),
        "exposure": ("k", "never_retrieved"),
    }[job]
    return {name: [r.summary[job][name] for r in (before, after)] for name in names}


def _paired(
    before: Results, after: Results, name: str
) -> Iterator[tuple[str, dict[str, Any] | None, dict[str, Any] | None]]:
    first, second = before.table(name), after.table(name)
    if not first.keys() & second.keys():
        raise InputError(
            f"{before.folder} and {after.folder} have no id in common",
            expected="two results over one corpus",
            fix="Compare folders that were made from the same documents.",
            where=f"{name}.parquet",
        )
    for id_ in sorted(first.keys() | second.keys()):
        yield id_, first.get(id_), second.get(id_)


def _entities(before: Results, after: Results) -> list[dict[str, Any]]:
    """Call an entity gained when its band rises, lost when it falls."""
    rows = []
    for id_, old, new in _paired(before, after, "retrievability"):
        row = _row("entity", id_, old, new)
        if old is not None and new is not None:
            bands = [BANDS.get(old["band"]), BANDS.get(new["band"])]
            row["verdict"] = verdict(bands[0], bands[1])
        for side, entity in (("before", old), ("after", new)):
            if entity is not None:
                row[side] = entity["band"] or entity["reason"] or entity["state"]
                row[f"value_{side}"] = entity["rps"]
        rows.append(_with_change(row))
    return rows


def _documents(before: Results, after: Results) -> list[dict[str, Any]]:
    """Call a document gained when some query now brings it back, lost the other way."""
    rows = []
    for id_, old, new in _paired(before, after, "exposure"):
        row = _row("document", id_, old, new)
        if old is not None and new is not None:
            found = [
                None if d["never_retrieved"] is None else int(not d["never_retrieved"])
                for d in (old, new)
            ]
            row["verdict"] = verdict(found[0], found[1])
        for side, document in (("before", old), ("after", new)):
            if document is not None:
                row[side] = _found(document)
                row[f"value_{side}"] = document["title_rank"]
        rows.append(_with_change(row))
    return rows


def verdict(before: int | None, after: int | None) -> str:
    """Return what became of something on a scale where more is better; None is not measured."""
    if before is None or after is None:
        return NOT_COMPARABLE
    return SAME if before == after else GAINED if after > before else LOST


def _row(
    kind: str, id_: str, old: dict[str, Any] | None, new: dict[str, Any] | None
) -> dict[str, Any]:
    label = (old or new or {})["label"]
    only = ONLY_BEFORE if new is None else ONLY_AFTER
    empty = dict.fromkeys(SCHEMA.names[4:])
    return {"kind": kind, "id": id_, "label": label, "verdict": only, **empty}


def _with_change(row: dict[str, Any]) -> dict[str, Any]:
    if row["value_before"] is not None and row["value_after"] is not None:
        row[CHANGES[row["kind"]]] = row["value_after"] - row["value_before"]
    return row


def _found(document: dict[str, Any]) -> str:
    if document["never_retrieved"] is None:
        return str(document["reason"] or document["state"])
    return "never retrieved" if document["never_retrieved"] else "retrieved"
