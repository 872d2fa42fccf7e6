"""The last trial of an index, of which a candidate is added as it was measured."""

from __future__ import annotations

from argus.data.artifacts import SUMMARY, ArtifactFolder
from argus.data.records import read_record
from argus.errors import InputError
from argus.repair.summary import RepairSummary

JOB = "repair"
AGAIN = "Try again first: argus repair --only-try."


def read_last_trial(folder: ArtifactFolder, candidate: str, there: list[str]) -> RepairSummary:
    """Return the trial in a folder, with a candidate of it as what is kept.

    there: ids of the remedies in the index. Raises InputError where nothing was tried, not this, or
    on an index that had other remedies.
    """
    section = folder.read_json(SUMMARY).get(JOB)
    if section is None:
        raise InputError(
            f"{candidate!r}, and nothing was tried", expected=f"a trial in {folder.path}",
            fix=AGAIN, where="--apply",
        )  # fmt: skip
    summary = read_record(RepairSummary, section, where=folder / SUMMARY, section=JOB)
    names = [t["candidate"] for t in summary["trials"]] or [summary["kept"]]
    if candidate not in names:
        raise InputError(
            repr(candidate), expected=f"one of the last trial: {', '.join(names)}",
            fix="Correct it.", where="--apply",
        )  # fmt: skip
    if summary.get("in_index") != there:
        raise InputError(
            "the index has other remedies than when they were tried",
            expected=", ".join(summary.get("in_index", [])) or "none", fix=AGAIN, where="--apply",
        )  # fmt: skip
    return {**summary, "kept": candidate, "remedies": []}
