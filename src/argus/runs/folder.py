"""Runs on disk: a folder each in `OUT/history`, written whole or not at all, never changed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path

from argus.data.folders import (
    MANIFEST,
    SUMMARY,
    ArtifactFolder,
    ManifestSection,
    check_one_run,
    torn_jobs,
)
from argus.data.reading import read_record
from argus.data.tables import write_table
from argus.data.writing import check_plain, folder_aside
from argus.errors import InputError
from argus.runs.figures import TRACKED
from argus.runs.run import ID, ITEMS, RUN, JobRun, key_of, run_of_results

HISTORY = "history"  # the folder of runs, beside the results


def record_runs(folder: Path | str) -> list[JobRun]:
    """Record the runs whose results lie in a folder and that are not recorded yet.

    Each becomes a folder of its own, made under another name and then renamed: a run that is killed
    in between leaves nothing that counts. `--fresh` does not remove them.
    """
    folder = Path(folder)
    home = check_plain(folder / HISTORY)
    keys = {run.record["key"] for run in runs_in(folder)}
    return [_write(home, run) for run in results_in(folder, without=keys)]


def runs_in(folder: Path | str) -> list[JobRun]:
    """Return the recorded runs of a folder of results, or of a folder of runs, as recorded.

    A run whose record is damaged or was never finished is left out.
    """
    home = _home(Path(folder))
    runs = [run for place in _places(home) if (run := _readable(place)) is not None]
    return sorted(runs, key=lambda run: (run.record["number"], run.place.name))


def damaged_in(folder: Path | str) -> list[Path]:
    """Return the folders of runs that cannot be read."""
    home = _home(Path(folder))
    return [place for place in _places(home) if _readable(place) is None]


def runs_of(folder: Path | str) -> dict[str, JobRun]:
    """Return the last run of each job: of a folder of results as they lie there, or of its runs.

    folder: of results, of runs, or of one run. Raises InputError where there is none.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise _nothing(folder, "no such folder")
    if (folder / RUN).is_file():
        run = JobRun.at(folder)
        return {run.job: run}
    check_one_run(folder, *TRACKED)
    runs = results_in(folder) or runs_in(folder)
    if not runs:
        raise _nothing(folder, "no run in it")
    return {run.job: run for run in runs}


def results_in(folder: Path, *, without: Collection[str] = ()) -> list[JobRun]:
    """Return the runs whose results lie in a folder, in the order of manifest.json.

    without: keys of runs that are left out, and not read. So are runs that were stopped while they
    wrote.
    """
    files, torn = ArtifactFolder(folder), torn_jobs(folder)
    manifest, summary = files.read_json(MANIFEST), files.read_json(SUMMARY)
    runs = (
        run_of_results(
            folder,
            job,
            read_record(ManifestSection, section, where=folder / MANIFEST, section=job),
            summary[job],
        )
        for job, section in manifest.items()
        if job in summary and job not in torn and key_of(job, section, summary[job]) not in without
    )
    return [run for run in runs if run is not None]


def _home(folder: Path) -> Path:
    """Return where the runs of a folder of results are, or the folder itself."""
    return folder / HISTORY if (folder / HISTORY).is_dir() else folder


def _nothing(folder: Path, what: str) -> InputError:
    return InputError(
        what,
        expected="a folder of results (summary.json), of runs (history/), or one run (run.json)",
        fix="Run argus check, audit, evaluate, scenarios needs or authority audit with --out.",
        where=folder,
    )


def _places(home: Path) -> Iterator[Path]:
    if home.is_dir():
        yield from sorted(
            p.parent for p in home.glob(f"*/{RUN}") if not p.parent.name.startswith(".")
        )


def _readable(place: Path) -> JobRun | None:
    try:
        return JobRun.at(place)
    except InputError:
        return None


def _write(home: Path, run: JobRun) -> JobRun:
    home.mkdir(parents=True, exist_ok=True)
    with folder_aside(home / "run") as aside:
        return _write_aside(home, run, aside)


def _write_aside(home: Path, run: JobRun, aside: Path) -> JobRun:
    """Write a run into a folder, and give that the next number."""
    import pyarrow as pa

    ids = list(dict.fromkeys(id_ for values in run.items.values() for id_ in values))
    columns = {name: [values.get(id_) for id_ in ids] for name, values in run.items.items()}
    table = {ID: pa.array(ids, pa.string())}
    table |= {name: pa.array(values, pa.float64()) for name, values in columns.items()}
    write_table(pa.table(table), aside / ITEMS)
    number = max(
        (int(p.name[:6]) for p in home.glob("[0-9]*-*") if p.name[:6].isdigit()), default=0
    )
    while True:
        number += 1
        record = {**run.record, "number": number}
        (aside / RUN).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
        place = home / f"{number:06d}-{run.job}"
        try:
            aside.rename(place)
        except OSError:  # another process has taken the number
            if not place.exists():
                raise
            continue
        return JobRun.at(place)
