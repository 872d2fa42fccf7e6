"""What was drawn, kept beside its results, so that judging goes on where it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from typing_extensions import TypedDict

from argus.data.artifacts import ArtifactFolder
from argus.data.records import read_record
from argus.errors import InputError
from argus.traffic.judging.picking import Stratum

PLAN = "draw.json"


class StratumRecord(TypedDict):
    """A `Stratum`."""

    order: list[str]
    judged: int
    risk: list[float] | None
    certain: bool


class DrawRecord(TypedDict):
    """draw.json. log: the digest of the log that it was drawn from."""

    log: str
    strata: list[StratumRecord]


def write_plan(folder: ArtifactFolder, strata: Sequence[Stratum], log: str) -> None:
    """Write draw.json."""
    record: DrawRecord = {
        "log": log,
        "strata": [
            {
                "order": list(stratum.order),
                "judged": stratum.judged,
                "risk": None if stratum.risk is None else list(stratum.risk),
                "certain": stratum.certain,
            }
            for stratum in strata
        ],
    }
    folder.write_json(PLAN, record)


def read_plan(folder: ArtifactFolder, log: str | None = None) -> tuple[Stratum, ...] | None:
    """Return what was drawn before; None where nothing was. InputError for another log's.

    log: its digest; None takes whatever log it was drawn from.
    """
    value = folder.read_json(PLAN)
    if not value:
        return None
    path = folder / PLAN
    record = read_record(DrawRecord, value, where=path)
    if log is not None and record["log"] != log:
        raise InputError(
            "holds what was drawn from another log, or what was served then",
            expected="the log and the run that judging began with: grades are of what was served",
            fix="Give another --out, or begin anew with --fresh.",
            where=path,
        )
    return tuple(
        Stratum(
            tuple(one["order"]),
            one["judged"],
            None if one["risk"] is None else (one["risk"][0], one["risk"][1]),
            one["certain"],
        )
        for one in record["strata"]
    )


def check_plan(strata: Sequence[Stratum], served: Collection[str], path: Path) -> None:
    """Raise InputError unless a draw has each served question once, and numbers that can be."""
    ids = Counter(id_ for stratum in strata for id_ in stratum.order)
    damage = [
        *(f"question {id_!r} is not among those that were served a document" for id_ in ids
          if id_ not in served),
        *(f"question {id_!r}, which was served a document, is in no stratum" for id_ in served
          if id_ not in ids),
        *(f"question {id_!r} stands {n} times" for id_, n in ids.items() if n > 1),
        *(f"{one.judged} of {len(one.order)} questions of a stratum are to be judged"
          for one in strata if not 0 <= one.judged <= len(one.order)),
    ]  # fmt: skip
    if damage:
        raise InputError(
            damage[0],
            expected="the draw as Argus wrote it, with the questions of its log",
            fix="Put back the file as it was, give another --out, or begin anew with --fresh; "
            "grades in to_judge.tsv are of this draw.",
            where=path,
        )
