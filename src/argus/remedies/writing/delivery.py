"""Records that are ready go into a store: written, asked for, and told in a receipt."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import TypedDict

from argus.commands import carry, command
from argus.data.folders import ArtifactFolder
from argus.data.reading import read_record
from argus.errors import ArgusError
from argus.jobs.result import Result
from argus.jobs.workspace import Record
from argus.reach import ReachConfig, ReachSummary, reach
from argus.remedies.serving import blended, serving_lines
from argus.remedies.writing.collection import ids_of, remedies_in
from argus.remedies.writing.mixtures import DOCUMENT
from argus.remedies.writing.records import RemedyRecords
from argus.remedies.writing.summary import Delivered, WrittenSummary, headline
from argus.remedies.writing.write import write
from argus.reports import write_report
from argus.stores.protocol import Payload, WritableStore
from argus.stores.records import REMEDY
from argus.stores.spec import BLENDED

JOB = "written"
BEGUN = "writing.json"
REACHED = 2_000
"""Records that are asked for by their own vectors, drawn at random where there are more."""


@dataclass(frozen=True, repr=False)
class WrittenResult(Result):
    """A remedy's records in a store; everything in it is also in `folder`."""

    remedy: str
    folder: Path
    report: Path
    summary: WrittenSummary
    undo: str
    """The command that takes the records out again."""
    python: str
    """The expression that serves them in Python."""

    def headline(self) -> Iterator[str]:
        """Yield the figures that matter."""
        return headline(self.summary)

    def last_lines(self) -> Iterator[str]:
        """Yield what of the records did not come back, how to search with them, and how to undo."""
        reached = self.summary["reach"]["reached"]
        if missing := reached["asked"] - reached["reached"]:
            yield (
                f"WARNING: {missing:,} of {reached['asked']:,} records cannot be reached by their "
                f"own vectors: {self.folder / self.remedy / 'unreached.csv'} names them, and why"
            )
        collection = self.summary["collection"]
        words = shlex.join(["--retriever", f"{BLENDED}{collection}", *carry("explain")])
        yield f"To search with it: {words} in every command that has a retriever; in Python:"
        yield from serving_lines(self.python)
        yield f"To undo it: {self.undo}"


@dataclass(frozen=True)
class Destination:
    """Where records go. store: that of the documents; into: what names `target`, if it is said."""

    store: WritableStore
    target: WritableStore
    into: str | None

    def undo(self, remedy: str) -> str:
        """Return the command that takes out what is there of a remedy."""
        into = [] if self.into is None else ["--into", self.into]
        words = ["--store", self.store.name, *into, *carry("remedy rollback")]
        return command("remedy", "rollback", remedy, *words)


def deliver(
    there: Destination,
    records: RemedyRecords,
    payloads: Mapping[str, Payload],
    out: Path,
    record: Record,
) -> Delivered:
    """Write the records that are not there yet, and ask what of all can be reached.

    payloads: of the parents, by id. out: what reach tells goes into OUT/REMEDY. Raises ArgusError
    where the store fails, or does not hold all that it took.
    """
    with record.timed("writing"):
        before = _there_before(there.target, records, ArtifactFolder(out))
        write(there.target, records, payloads, undo=there.undo(records.remedy))
    with record.timed("asking for what was written"):
        reached = _reached(there.target, records, out / records.remedy)
    return _delivered(there, records, before, reached)


def receipt(
    there: Destination,
    folder: ArtifactFolder,
    summary: WrittenSummary,
    record: Record,
    *arguments: str | None,
) -> WrittenResult:
    """Write the receipt of a delivery.

    arguments: what `BlendedRetriever` takes beside the collection; None is left out.
    """
    folder.write_results(JOB, summary, record.manifest(summary["counts"]))
    remedy, report = summary["remedy"], write_report(folder.path)
    (folder / BEGUN).unlink(missing_ok=True)  # last: until then the same command goes on
    serving = blended(repr(summary["collection"]), *arguments)
    return WrittenResult(remedy, folder.path, report, summary, there.undo(remedy), serving)


class _Begun(TypedDict):
    """What a run that was killed may have left: how many records were there before it."""

    remedy: str
    collection: str
    there_before: int


def _there_before(target: WritableStore, records: RemedyRecords, folder: ArtifactFolder) -> int:
    """Return how many records were there before this command, whose first run may have been killed.

    What it finds stays in the folder until the receipt and its report are written. Where fewer are
    there by now, they were taken out since, and that run is not gone on with.
    """
    before = len(ids_of(target, records.remedy))
    if note := folder.read_json(BEGUN):
        begun = read_record(_Begun, note, where=folder / BEGUN)
        is_own = (begun["remedy"], begun["collection"]) == (records.remedy, target.name)
        if is_own and begun["there_before"] <= before:
            return begun["there_before"]
    folder.write_json(BEGUN, _Begun(
        remedy=records.remedy, collection=target.name, there_before=before
    ))  # fmt: skip
    return before


def _reached(target: WritableStore, records: RemedyRecords, out: Path) -> ReachSummary:
    """Ask for what was written; by a filter only where the collection holds anything else.

    A client that searches in its own process may look at every payload for a filter.
    """
    there = len(ids_of(target, records.remedy))
    if there != len(records):
        raise ArgusError(
            f"{target.name}: took {len(records):,} records of {records.remedy}, and holds "
            f"{there:,}. Run the same command again."
        )
    config = ReachConfig(sample=REACHED if len(records) > REACHED else None)
    alone = target.describe().records == there
    matching = None if alone else {REMEDY: records.remedy}
    return reach(target, out=out, config=config, matching=matching).summary


def _delivered(
    there: Destination, records: RemedyRecords, before: int, reached: ReachSummary
) -> Delivered:
    views: dict[str, int] = {}
    for kind in sorted({*records.kinds} - {DOCUMENT}):
        views[kind] = records.kinds.count(kind)
    return {
        "remedy": records.remedy,
        "store": there.store.name,
        "collection": there.target.name,
        "counts": {
            "documents": len({*records.parents}),
            "views": views,
            "records": len(records),
            "written": len(records) - before,
            "there_before": before,
            "bytes": int(records.vectors.nbytes),
        },
        "others": [name for name in remedies_in(there.target) if name != records.remedy],
        "reach": {
            "k": reached["k"],
            "reached": reached["reached"],
            "causes": reached["causes"],
            "examples": reached["examples"],
        },
    }
