"""Record each run of a job in `OUT/history`: every figure, with its value per document or question.

`record_runs`: a folder of results -> `JobRun`s, each written whole or not at all and never changed.
`argus gate` compares two of them. `TRACKED` names the figures of each job. Every value lies in 0..1
and more is better, so that one test and one direction serve all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from argus.data import tables
from argus.data.folders import (
    PARTS,
    SUMMARY,
    ArtifactFolder,
    check_one_run,
    read_manifest,
    torn_jobs,
)
from argus.data.reading import WRITTEN, parse_json, read_own, reading
from argus.data.writing import check_plain, folder_aside
from argus.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

HISTORY = "history"  # the folder of runs, beside the results
RUN, ITEMS = "run.json", "items.parquet"
ID = "id"
MAX_ITEMS = 100_000  # items of one run that are kept
DEPTH = 10
AS_RECORDED = "a run as Argus recorded it"
AGAIN = "Remove it and take another run; argus gate --history lists them."
Values = list[float | None]
Items = Mapping[str, Mapping[str, float | None]]
"""Value of each item by figure. None means that it was not measured."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """One job's table. id: its key, of several columns joined. settings: those that must agree.

    read: from the table to the values of each figure, None where an item was not measured. columns:
    columns to read, by default all. unique: whether no key comes twice.
    """

    table: str
    id: tuple[str, ...]
    unit: str
    settings: tuple[str, ...]
    read: Callable[[pa.Table], dict[str, Values]]
    columns: tuple[str, ...] | None = None
    unique: bool = True


def _column(table: pa.Table, name: str) -> Values:
    if name not in table.column_names:
        return [None] * table.num_rows
    return [None if v is None else float(v) for v in table[name].to_pylist()]


def _columns(columns: Mapping[str, str], table: pa.Table) -> dict[str, Values]:
    """Return columns as figures. columns: by figure."""
    return {figure: _column(table, name) for figure, name in columns.items()}


def _inverse(values: Values) -> Values:
    return [None if value is None else 1 - value for value in values]


def _exposure(table: pa.Table) -> dict[str, Values]:
    own, back = _column(table, "own_probes"), _column(table, "retrieved_by_own")
    shares = [b / n if n and b is not None else None for n, b in zip(own, back, strict=True)]
    never = _column(table, "never_retrieved")
    return {"found by its own title and sentences": shares, "ever retrieved": _inverse(never)}


def _evaluation(table: pa.Table) -> dict[str, Values]:
    """Return the measures of the last system: the one after a change, or the only one."""
    names = [n for n in table.column_names if n.partition("@")[0] in ("nDCG", "R", "RR")]
    plain = {n: n for n in names if not n.endswith((" before", " after", " difference"))}
    after = {n.removesuffix(" after"): n for n in table.column_names if n.endswith(" after")}
    figures = (plain or after).items()
    skipped = ("rank", "not_indexed")
    return _columns({name: of for name, of in figures if not name.startswith(skipped)}, table)


def _questions(table: pa.Table) -> dict[str, Values]:
    hits = [float(rank is not None and rank <= DEPTH) for rank in _column(table, "rank")]
    return {f"relevant in the top {DEPTH}": [*hits]}


def _traffic(table: pa.Table) -> dict[str, Values]:
    """Return for each question of a log whether it had results, and the feedback on them."""
    results, good, bad = (_column(table, name) for name in ("results", "good", "bad"))
    signs = [(g or 0.0, b or 0.0) for g, b in zip(good, bad, strict=True)]
    return {
        "something came back": [None if n is None else float(n > 0) for n in results],
        "good feedback": [g / (g + b) if g + b else None for g, b in signs],
    }


def _judging(table: pa.Table) -> dict[str, Values]:
    failures = _column(table, "failure")
    relevant = {"judged relevant in the top k": _inverse(failures)}
    return relevant | _columns({"nDCG of what came": "ndcg"}, table)


_CONTROLLING = {
    f"controlling document found by {proxy}": f"{proxy}_reachable" for proxy in ("title", "text")
}
_RPS = ("k", "pool", "pooling")
# By the name that a job has in summary.json.
TRACKED: Mapping[str, Tracked] = {
    "audit": Tracked(
        "retrievability", ("id",), "entities", _RPS, partial(_columns, {"RPS": "rps"})
    ),
    "exposure": Tracked(
        "exposure", ("id",), "documents", ("k", "sentences", "parent_field"), _exposure
    ),
    "evaluation": Tracked("per_query", ("query_id",), "questions", ("parent_field",), _evaluation),
    "questions": Tracked("questions", ("query_id",), "questions", (), _questions),
    "needs": Tracked(
        "need_audit", ("id",), "documents", ("k", "served"),
        partial(_columns, {"needs found": "found"}),
    ),
    "traffic": Tracked(
        "questions", ("question",), "questions", ("k",), _traffic,
        ("question", "results", "good", "bad"), unique=False,  # texts without their secrets
    ),
    "judging": Tracked("judging", ("query_id",), "questions", ("k", "relevant_from"), _judging),
    "authority": Tracked(
        "authority", ("superseded", "controlling"), "pairs", ("k",),
        partial(_columns, _CONTROLLING),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class JobRun:
    """A run, from its record or from a folder of results. place: where it was read.

    Keys of the record, which is run.json:
    key: hash of its output; equal runs are recorded once.
    number: place in the order of recording, from 1, as clocks may run backwards. 0: not recorded.
    job: name of the job in summary.json.
    started, finished: times, ISO 8601 in UTC.
    argus: version.
    corpus: SHA-256 of the corpus. None without one.
    encoder: fingerprint of the encoder. None without one.
    settings: whole configuration of the job.
    means: mean of each figure, over the items that were measured.
    """

    record: dict[str, Any]
    place: Path
    _items: Items | None = field(default=None, repr=False)

    @property
    def job(self) -> str:
        """Its name in summary.json."""
        return str(self.record["job"])

    @property
    def name(self) -> str:
        """Its name: the number and the job."""
        return f"{self.record['number']:06d}-{self.job}"

    @cached_property
    def items(self) -> Items:
        """Value of each item by figure.

        Raises InputError where they were damaged.
        """
        if self._items is not None:
            return self._items
        path = self.place / ITEMS
        with reading(path, expected=AS_RECORDED, fix=AGAIN):
            table = tables.read_table(path)
            ids = table[ID].to_pylist()
            columns = {n: table[n].to_pylist() for n in table.column_names if n != ID}
        return {name: dict(zip(ids, values, strict=True)) for name, values in columns.items()}

    @classmethod
    def at(cls, folder: Path) -> JobRun:
        """Read a recorded run. Raises InputError where the record is damaged."""
        path = folder / RUN
        with reading(path, expected=AS_RECORDED, fix=AGAIN):
            record = parse_json(read_own(path))
            run = cls({name: record[name] for name in _record("", {}, None, {})}, folder)
            if not isinstance(run.record["settings"], dict) or not run.name:
                raise ValueError("its settings are no table")
        return run


def _record(job: str, manifest: Mapping[str, Any], summary: object, items: Items) -> dict[str, Any]:
    """Return the record of a run that has no number yet. manifest, summary: its sections."""
    inputs = manifest.get("inputs", {})
    measured = {n: [v for v in of.values() if v is not None] for n, of in items.items()}
    corpus = inputs.get("corpus") or inputs.get("records") or {}
    return {
        "key": _key_of(job, manifest, summary),
        "number": 0,
        "job": job,
        "started": manifest.get("started"),
        "finished": manifest.get("finished"),
        "argus": manifest.get("argus"),
        "corpus": corpus.get("sha256"),
        "encoder": manifest.get("encoder", {}).get("fingerprint"),
        "settings": manifest.get("config"),
        "means": {name: round(sum(v) / len(v), 6) for name, v in measured.items()},
    }


def _key_of(job: str, manifest: object, summary: object) -> str:
    """Return a key unique to a run: a hash of its output.

    Not of which tables are its own: a later job may take one of them over.
    """
    if isinstance(manifest, Mapping):
        manifest = {name: value for name, value in manifest.items() if name != PARTS}
    written = json.dumps([job, manifest, summary], sort_keys=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def record_runs(folder: Path | str) -> list[JobRun]:
    """Record the runs whose results lie in a folder and that are not recorded yet.

    Each becomes a folder of its own, made under another name and then renamed: a run that is killed
    in between leaves nothing that counts. `--fresh` does not remove them.
    """
    folder = Path(folder)
    home = check_plain(folder / HISTORY)
    keys = {run.record["key"] for run in runs_in(folder)}
    return [_write(home, run) for run in _results_in(folder, without=keys)]


def runs_in(folder: Path | str) -> list[JobRun]:
    """Return the recorded runs of a folder of results, or of a folder of runs, as recorded.

    A run whose record is damaged or was never finished is left out.
    """
    runs = [run for run in _recorded(Path(folder)).values() if run is not None]
    return sorted(runs, key=lambda run: (run.record["number"], run.place.name))


def damaged_in(folder: Path | str) -> list[Path]:
    """Return the folders of runs that cannot be read."""
    return [place for place, run in _recorded(Path(folder)).items() if run is None]


def _recorded(folder: Path) -> dict[Path, JobRun | None]:
    """Return the runs of a folder of results, or of a folder of runs. None for a damaged one."""
    home = folder / HISTORY if (folder / HISTORY).is_dir() else folder
    places = sorted(p.parent for p in home.glob(f"*/{RUN}") if not p.parent.name.startswith("."))
    runs: dict[Path, JobRun | None] = dict.fromkeys(places)
    for place in places:
        try:
            runs[place] = JobRun.at(place)
        except InputError:
            continue
    return runs


def runs_of(folder: Path | str) -> dict[str, JobRun]:
    """Return the last run of each job: of a folder of results as they lie there, or of its runs.

    folder: of results, of runs, or of one run. Raises InputError where there is none.
    """
    folder, runs = Path(folder), []
    if (folder / RUN).is_file():
        runs = [JobRun.at(folder)]
    elif folder.is_dir():
        check_one_run(folder, *TRACKED)
        runs = _results_in(folder) or runs_in(folder)
    if not runs:
        got = "no run in it" if folder.is_dir() else "no such folder"
        expected = "a folder of results (summary.json), of runs (history/), or one run (run.json)"
        fix = "Run argus check, audit, evaluate, scenarios needs or authority audit with --out."
        raise InputError(got, expected=expected, fix=fix, where=folder)
    return {run.job: run for run in runs}


def _results_in(folder: Path, *, without: Collection[str] = ()) -> list[JobRun]:
    """Return the runs whose results lie in a folder, in the order of manifest.json.

    without: keys of runs that are left out, and not read. So are runs that were stopped while they
    wrote.
    """
    files, torn = ArtifactFolder(folder), torn_jobs(folder)
    manifest, summary = read_manifest(folder), files.read_json(SUMMARY)
    runs = []
    for job, part in manifest.items():
        if job not in summary or job in torn or _key_of(job, part, summary[job]) in without:
            continue
        items = _items_of(folder, TRACKED.get(job))
        if items is not None:
            runs.append(JobRun(_record(job, part, summary[job], items), folder, items))
    return runs


def _items_of(folder: Path, tracked: Tracked | None) -> Items | None:
    """Return the figures of a job's table, or None of a job that is not compared.

    Of more than MAX_ITEMS items a part is taken, by their ids: the same part in every run. Raises
    InputError where its table cannot be read.
    """
    import pyarrow as pa

    path = folder / f"{tracked.table}.parquet" if tracked else None
    if tracked is None or path is None or not path.is_file():
        return None
    file, step = tables.open_parquet(path, fix=WRITTEN), 1
    if not set(tracked.id) <= set(file.schema_arrow.names):
        return None  # another job wrote a table of that name since
    while file.metadata.num_rows > MAX_ITEMS * step:
        step *= 2  # so that a part of a larger table lies within that of a smaller one
    items: dict[str, dict[str, float | None]] = {}
    with reading(path, expected=AS_RECORDED, fix=AGAIN):
        for batch in tables.read_batches(path, tracked.columns, rows=MAX_ITEMS, fix=WRITTEN):
            table = pa.Table.from_batches([batch])
            columns = [table[name].to_pylist() for name in tracked.id]
            ids = [" → ".join(map(str, row)) for row in zip(*columns, strict=True)]
            has_states = "state" in table.column_names
            states = table["state"].to_pylist() if has_states else [""] * len(ids)
            rows = {
                i: id_
                for i, (id_, state) in enumerate(zip(ids, states, strict=True))
                if state != "not applicable" and (step == 1 or crc32(id_.encode()) % step == 0)
            }
            measured = table.take(pa.array(rows, pa.int64()))
            for name, values in tracked.read(measured).items():
                items.setdefault(name, {}).update(zip(rows.values(), values, strict=True))
    return {n: v for n, v in items.items() if any(x is not None for x in v.values())}


def _write(home: Path, run: JobRun) -> JobRun:
    """Write a run into a folder aside, and give that the next number."""
    import pyarrow as pa

    ids = list(dict.fromkeys(id_ for values in run.items.values() for id_ in values))
    table = {ID: pa.array(ids, pa.string())}
    for name, values in run.items.items():
        table[name] = pa.array([values.get(id_) for id_ in ids], pa.float64())
    home.mkdir(parents=True, exist_ok=True)
    with folder_aside(home / "run") as aside:
        tables.write_table(pa.table(table), aside / ITEMS)
        names = (place.name[:6] for place in home.glob("[0-9]*-*"))
        number = max((int(name) for name in names if name.isdigit()), default=0)
        while True:
            number += 1
            record = json.dumps({**run.record, "number": number}, indent=1, ensure_ascii=False)
            (aside / RUN).write_text(record + "\n", "utf-8")
            place = home / f"{number:06d}-{run.job}"
            try:
                aside.rename(place)
            except OSError:  # another process has taken the number
                if not place.exists():
                    raise
                continue
            return JobRun.at(place)
