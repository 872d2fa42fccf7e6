"""Repair an index: diagnose, make views, add them under a remedy's id; or take them out again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash, file_hash, utc_now
from argus.data.reading import read_record
from argus.data.types import View
from argus.encoders import EmbeddingStore, embed
from argus.encoders import documents as as_documents
from argus.encoders.store import store_of
from argus.errors import ArgusError, InputError, NothingToMend
from argus.indexes.live_views import NewViews, new_views
from argus.indexes.spec import index_folder
from argus.indexes.table import remove_half_written
from argus.indexes.views import ViewIndex
from argus.jobs.workspace import Record
from argus.remedies.diagnosis.diagnose import Diagnosis, diagnose_documents, why_none_flagged
from argus.remedies.diagnosis.job import write_diagnosis
from argus.remedies.repair.opened import OpenedIndex
from argus.remedies.repair.summary import ListedRemedy, Origin, RollbackNote
from argus.retrievability.probes import Probe

REMEDIES = "remedies"
"""Folder of an index that keeps, by remedy, how its views came about."""
MADE = "made.json"
RECORDED = "recorded.json"
"""Written last of all: without it, what is in the index came with a run that was killed."""
ROLLED_BACK = "rolled_back.json"


@dataclass(frozen=True)
class Making:
    """What a remedy makes its views from."""

    opened: OpenedIndex
    diagnosis: Diagnosis
    store: EmbeddingStore
    remedy: str = ""


@dataclass(frozen=True)
class Proposal:
    """The views that a remedy would add, and what it says of how they came about."""

    views: Sequence[View]
    notes: Origin
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    """Tables to leave beside the receipt, by name."""
    most_views: int | None = None
    """Most views of their kind that a document may have, whatever remedy they are of."""


@dataclass(frozen=True)
class Remedy:
    """A kind of repair: how it is called, its settings, and what makes the views.

    settings: what changes the outcome; hashed into the remedy's id, and named in the manifest.
    """

    kind: str
    label: str
    settings: Mapping[str, object]
    make: Callable[[Making], Proposal]


@dataclass(frozen=True)
class Applied:
    """A remedy that is in the index."""

    remedy: str
    folder: ArtifactFolder
    opened: OpenedIndex
    diagnosis: Diagnosis
    added: bool
    """False when an earlier run had added it, and said so."""
    origin: Origin
    record: Record


@contextmanager
def prepare(opened: OpenedIndex, record: Record | None = None) -> Iterator[Making]:
    """Diagnose the documents of an index; changes nothing in it.

    Raises ArgusError when nothing is known to be at risk.
    """
    index = opened.index
    encoder = opened.encoder
    vectors = store_of(index.path)
    with EmbeddingStore(vectors, fingerprint=encoder.fingerprint, dim=encoder.dim) as store:
        with record.timed("diagnosing") if record else nullcontext():
            diagnosis = diagnose_documents(
                opened.documents, opened.finder, encoder, store, opened.probe, tau=opened.tau
            )
        if why := why_none_flagged(diagnosis):
            raise NothingToMend(f"{index.path}: nothing to repair: {why}. Nothing was changed.")
        yield Making(opened, diagnosis, store)


def apply(opened: OpenedIndex, remedy: Remedy, *, out: Path | None = None) -> Applied:
    """Diagnose the documents of an index and add the views that `remedy` makes, in one commit.

    The remedy's id says what it was made of (settings, knowledge base, probe, documents), so the
    same repair is never added twice; nor is a view whose document has one with that text already.
    Where the remedy that holds such a one was rolled back since, it is added now. Killed before the
    commit the index is as it was, and vectors that were made are used again. out: default
    `INDEX/remedies/ID`, which in any case keeps how the views came about. Raises ArgusError when
    nothing is at risk, no view can be made, or all are in the index.
    """
    judges = {"finder": opened.finder.name, "probe": _name(opened.probe)}
    settings = {"tau": opened.tau, **remedy.settings, **opened.reference.settings, **judges}
    name = remedy_id(remedy, settings, opened)
    record = Record(
        "remedy", {"index": opened.name, **settings}, {**opened.reference.files},
        {"fingerprint": opened.encoder.fingerprint}, opened.engine, started=opened.started,
    )  # fmt: skip
    with prepare(opened, record) as making:
        making = replace(making, remedy=name)
        home = ArtifactFolder(opened.index.path / REMEDIES / name)
        folder = ArtifactFolder(out or home.path)
        record.open(folder, about=(opened.index.path,))
        home.open()
        write_diagnosis(folder, making.diagnosis, record)
        is_told = is_recorded(home, name, opened.index, by_recipe=False)
        added = (not _is_whole(making, home) and _add(making, remedy, home, record)) or not is_told
        origin = _hand_out(home, folder)
    return Applied(name, folder, opened, making.diagnosis, added, origin, record)


def is_recorded(home: ArtifactFolder, remedy: str, index: ViewIndex, *, by_recipe: bool) -> bool:
    """Return whether a remedy is in an index and a run has told of it to the end.

    by_recipe: whether it counts by its recipe, and not by its views. After a kill it may be there
    untold: whoever goes on tells what the whole command did, and may have nothing more to write.
    The mark of a remedy that was rolled back is removed.
    """
    recipes = {r.remedy for r in index.header.recipes}
    there = recipes if by_recipe else {r.id for r in index.remedies() if r.views}
    if remedy not in there:
        (home / RECORDED).unlink(missing_ok=True)
    is_told = (home / RECORDED).is_file()
    if remedy in there and not is_told:
        remove_half_written(index.path)
    return is_told


def write_recorded(home: ArtifactFolder) -> None:
    """Mark a remedy as told, in its folder within the index."""
    home.write_json(RECORDED, {"at": utc_now()})


def _is_whole(making: Making, home: ArtifactFolder) -> bool:
    """Whether the remedy is in the index, and so is each other one whose views it left out."""
    there = {r.id for r in making.opened.index.remedies()}
    return making.remedy in there and there.issuperset(_kept_origin(home).get("relied_on", ()))


def read_origin(folder: ArtifactFolder) -> Origin:
    """Return how a remedy came about; nothing without a file. InputError for a broken one."""
    return read_record(Origin, folder.read_json(MADE), where=folder / MADE)


def _kept_origin(home: ArtifactFolder) -> Origin:
    """Return how a remedy came about; nothing where the note is gone or broken."""
    try:
        return read_origin(home)
    except InputError:
        return {}


def _add(making: Making, remedy: Remedy, home: ArtifactFolder, record: Record) -> bool:
    """Make, embed and add the views; what is said of them is on disk before they are added.

    Returns whether any was added: none is where the rest of a remedy came in with another one.
    """
    index = making.opened.index
    with record.timed("making views"):
        proposal = remedy.make(making)
    for name, table in proposal.tables.items():
        home.write_table(name, table)
    new = new_views(proposal.views, index, making.remedy, proposal.most_views)
    if not new.views and making.remedy not in {r.id for r in index.remedies()}:
        raise _nothing_to_add(making, proposal, new, home)
    with record.timed("embedding views"):
        texts = as_documents([view.text for view in new.views])
        embedded = embed(texts, making.opened.encoder, making.store, what="views")
    views = [view for view, ok in zip(new.views, embedded.ok, strict=True) if ok]
    if new.views and not views:
        raise ArgusError(
            f"{index.path}: none of {len(new.views):,} views could be embedded "
            f"({next(iter(embedded.failures.values()))}), so nothing was added."
        )
    origin: Origin = {"remedy": making.remedy, "kind": remedy.kind, "at": utc_now()}
    origin |= proposal.notes
    origin["views_failed"] = len(new.views) - len(views)
    if new.known:
        origin["views_known"] = new.known
    if new.beyond:
        origin["views_beyond_cap"] = new.beyond
    origin["tables"] = [*proposal.tables]
    origin["relied_on"] = new.relied_on
    home.write_json(MADE, origin)
    if views:
        with record.timed("adding views"):
            index.add(views, embedded.vectors, remedy=making.remedy)
    return bool(views)


def _nothing_to_add(
    making: Making, proposal: Proposal, new: NewViews, home: ArtifactFolder
) -> ArgusError:
    """Return the error that says why a remedy has no view for an index."""
    index = making.opened.index.path
    if not proposal.views:
        flagged = sum(map(len, making.diagnosis.flagged().values()))
        why = next((f" {home / table}.parquet says why." for table in proposal.tables), "")
        return NothingToMend(
            f"{index}: no view could be made for the {flagged:,} entities at risk, so nothing was "
            f"added.{why} Another --kb may say more of them."
        )
    holders = f"(remedy {', '.join(new.relied_on)})"
    if not new.beyond:
        return ArgusError(
            f"{index}: all {len(proposal.views):,} views are in the index already {holders}; "
            "nothing was added."
        )
    return ArgusError(
        f"{index}: of {len(proposal.views):,} views {new.known:,} are in the index already, and "
        f"the documents of {new.beyond:,} have their {proposal.most_views} {holders}; nothing was "
        "added. Raise --max-views, or roll a remedy back first."
    )


def _hand_out(home: ArtifactFolder, folder: ArtifactFolder) -> Origin:
    """Leave what is known of the views where the receipt goes, and no mark of a rollback."""
    (home / ROLLED_BACK).unlink(missing_ok=True)
    origin = read_origin(home)
    if folder.path.resolve() != home.path.resolve():
        for name in (MADE, *(f"{table}.parquet" for table in origin.get("tables", ()))):
            if (home / name).is_file():
                shutil.copyfile(home / name, folder / name)
    return origin


def remedy_id(
    remedy: Remedy,
    settings: Mapping[str, object],
    opened: OpenedIndex,
) -> str:
    """Return an id that equal repairs of equal documents share, wherever the files lie.

    A document that was deleted and added again is another one: its views went with it.
    """
    anywhere = {name: value for name, value in settings.items() if name != "kb"}
    parts = [json.dumps(anywhere, sort_keys=True, default=str)]
    parts += [file_hash(path) for path in opened.reference.files.values() if path is not None]
    for d in opened.documents:
        parts += [d.id, d.text, d.title, str(d.metadata["added"])]
    return f"{remedy.kind}-{remedy.label}-{content_hash(*parts, size=4).hex()}"


def _name(probe: Probe) -> str:
    """Return the family of a probe and a hash of the numbers that it predicts by."""
    arrays = [*sorted(probe.model.arrays().items()), *sorted(probe.domain.arrays().items())]
    parts = [part for name, array in arrays for part in (name, np.ascontiguousarray(array).data)]
    return f"{probe.family} {content_hash(probe.pooling, *parts, size=8).hex()}"


def rollback(index: Path | str, remedy: str) -> RollbackNote:
    """Remove exactly the views of a remedy and mark its folder in the index.

    One that was rolled back before is done: nothing is removed, and its note says so. The note says
    which remedies left out views that this one held: run again, they add them. Raises InputError,
    naming the remedies there are, for an unknown one.
    """
    views = ViewIndex.open(index_folder(index))
    there = {r.id: r.views for r in views.remedies()}
    folder = ArtifactFolder(views.path / REMEDIES / remedy)
    if remedy not in there and folder.path.name == remedy and (folder / ROLLED_BACK).is_file():
        return _rolled_back(views, folder)
    homes = {name: ArtifactFolder(views.path / REMEDIES / name) for name in there}
    relying = [n for n, home in homes.items() if remedy in _kept_origin(home).get("relied_on", ())]
    note: RollbackNote = {
        "remedy": remedy,
        "views_removed": there.get(remedy, 0) or (_begun(folder) if remedy in there else 0),
        "at": utc_now(),
        "relied_on_by": relying,
    }
    if folder.path.is_dir() and remedy in there:
        folder.write_json(ROLLED_BACK, {**note, "finished": False})
    try:
        note["views_removed"] = views.rollback(remedy) or note["views_removed"]
    except InputError:
        if remedy not in there or remedy in {r.id for r in ViewIndex.open(index).remedies()}:
            raise
        return rollback(index, remedy)  # another process removed it meanwhile
    if folder.path.is_dir():
        folder.write_json(ROLLED_BACK, note)
    return note


def _begun(folder: ArtifactFolder) -> int:
    """Return how many views a rollback removed that was killed before it was at its end."""
    if not (folder / ROLLED_BACK).is_file():
        return 0
    where = folder / ROLLED_BACK
    note = read_record(RollbackNote, folder.read_json(ROLLED_BACK), where=where)
    return 0 if note.get("finished", True) else note["views_removed"]


def _rolled_back(views: ViewIndex, folder: ArtifactFolder) -> RollbackNote:
    """Return the note of a remedy whose views are gone; finish one that a kill left behind."""
    where = folder / ROLLED_BACK
    note = read_record(RollbackNote, folder.read_json(ROLLED_BACK), where=where)
    if note.pop("finished", True):
        return {**note, "already": True}
    remove_half_written(views.path)
    folder.write_json(ROLLED_BACK, note)
    return note


def list_remedies(index: Path | str) -> list[ListedRemedy]:
    """Return the remedies in an index, oldest first."""
    views = ViewIndex.open(index_folder(index))
    views.check_recipes()
    remedies: list[ListedRemedy] = []
    for r in views.remedies():
        origin = _kept_origin(ArtifactFolder(views.path / REMEDIES / r.id))
        remedies.append(
            {
                "id": r.id,
                "kind": origin.get("kind"),
                "at": origin.get("at"),
                "views": r.views,
                "documents": r.documents,
                "bytes": r.bytes,
            }
        )
    return remedies
