"""Repair an index: diagnose, make views, add them under a remedy's id; or take them out again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.data.artifacts import ArtifactFolder
from argus.data.provenance import content_hash, file_hash, utc_now
from argus.data.types import Document, View
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.engine import Engine
from argus.errors import ArgusError, InputError
from argus.indexes.live_views import NewViews, new_views
from argus.indexes.originals import originals
from argus.indexes.retriever import encoder_of, index_folder
from argus.indexes.views import ViewIndex
from argus.jobs.workspace import Record
from argus.remedies.diagnosis.config import TAU
from argus.remedies.diagnosis.diagnose import Diagnosis, check_tau, diagnose
from argus.remedies.diagnosis.job import write_diagnosis
from argus.remedies.lookup import PassageLookup
from argus.remedies.repair.reference import (
    ReferenceConfig,
    make_finder,
    open_probe,
    read_passages,
    read_words,
)
from argus.retrievability.probes import Probe

REMEDIES = "remedies"
"""Folder of an index that keeps, by remedy, how its views came about."""
MADE = "made.json"
ROLLED_BACK = "rolled_back.json"


@dataclass(frozen=True)
class Making:
    """What a remedy makes its views from."""

    index: ViewIndex
    documents: Sequence[Document]
    """The originals of the index; a document's content is the text that is indexed."""
    diagnosis: Diagnosis
    finder: str
    lookup: PassageLookup
    encoder: Encoder
    store: EmbeddingStore
    probe: Probe
    remedy: str = ""


@dataclass(frozen=True)
class Made:
    """The views a remedy adds, and what it says of how they came about."""

    views: Sequence[View]
    notes: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Tables to leave beside the receipt, by name."""
    most_views: int | None = None
    """Most views of their kind that a document may have, whatever remedy they are of."""


@dataclass(frozen=True)
class Remedy:
    """A kind of repair: how it is called, its settings, and what makes the views."""

    kind: str
    label: str
    settings: dict[str, Any]
    make: Callable[[Making], Made]


@dataclass(frozen=True)
class Applied:
    """A remedy that is in the index."""

    remedy: str
    folder: ArtifactFolder
    index: ViewIndex
    encoder: Encoder
    diagnosis: Diagnosis
    added: bool
    """False when the index had it already and nothing was added."""
    record: Record


@contextmanager
def prepare(
    index: Path | str,
    *,
    reference: ReferenceConfig,
    probe: Path | str | Probe | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    tau: float = TAU,
    device: str | None = None,
    record: Record | None = None,
    engine: Engine | None = None,
) -> Iterator[Making]:
    """Open an index, its encoder and vectors, and diagnose its documents; changes nothing in it.

    Raises InputError for bad input and ArgusError when nothing is known to be at risk.
    """
    check_tau(tau)
    _require_kb(reference)
    opened = ViewIndex.open(index_folder(index))
    passages = read_passages(reference)
    model = encoder_of(opened, encoder, device, engine)
    opened.header.check_fingerprint(model.fingerprint, opened.path)
    judge = open_probe(probe, model)
    documents = originals(opened)
    finder = make_finder(reference, passages, [d.content for d in documents])
    vectors = opened.path / "embeddings"
    with EmbeddingStore(vectors, fingerprint=model.fingerprint, dim=model.dim) as store:
        with record.timed("diagnosing") if record else nullcontext():
            found = diagnose(documents, finder, model, store, judge, tau=tau)
        _require_risk(found, opened.path)
        lookup = PassageLookup(passages, read_words(reference))
        yield Making(opened, documents, found, finder.name, lookup, model, store, judge)


def _require_kb(reference: ReferenceConfig) -> None:
    """Raise InputError where nothing could be said of any entity."""
    if not reference.kb:
        raise InputError(
            "no knowledge base that says what the entities are",
            expected="--kb FILE, passages with titles",
            fix="Give one; to see what is at risk without, run `argus diagnose`.",
            where="--kb",
        )


def _require_risk(found: Diagnosis, index: Path) -> None:
    """Raise ArgusError when no entity is flagged, and say what is known of them all."""
    if found.flagged():
        return
    known = sum(risk.rps is not None for risk in found.risks)
    if not found.risks:
        why = "no entity was found in its documents. Check that --kb and --mentions fit them"
    elif not known:
        why = (
            f"the RPS of none of its {len(found.risks):,} entities could be predicted "
            f"({found.risks[0].reason}). Fit a probe on documents like these (argus probe fit)"
        )
    else:
        why = (
            f"{known:,} of its {len(found.risks):,} entities have a predicted RPS, none below "
            f"τ={found.tau:g}"
        )
    raise ArgusError(f"{index}: nothing to repair: {why}. Nothing was changed.")


def apply(
    index: Path | str,
    remedy: Remedy,
    *,
    reference: ReferenceConfig,
    probe: Path | str | Probe | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    tau: float = TAU,
    device: str | None = None,
    out: Path | None = None,
    engine: Engine | None = None,
) -> Applied:
    """Diagnose the documents of an index and add the views that `remedy` makes, in one commit.

    The remedy's id says what it was made of (settings, knowledge base, probe, documents), so the
    same repair is never added twice; nor is a view whose document has one with that text already.
    Where the remedy that holds such a one was rolled back since, it is added now. Killed before the
    commit the index is as it was, and vectors that were made are used again. device: of the encoder
    that is loaded. engine: what embeds. out: default `INDEX/remedies/ID`, which in any case keeps
    how the views came about. Raises InputError for bad input and ArgusError when nothing is at
    risk, no view can be made, or all are in the index.
    """
    settings = {"tau": tau, **remedy.settings, **reference.described()}
    record = Record("remedy", {"index": str(index), **settings}, reference.inputs())
    record.runs_on(engine)
    with prepare(
        index, reference=reference, probe=probe, encoder=encoder, tau=tau, device=device,
        record=record, engine=engine,
    ) as making:  # fmt: skip
        judged_by = {"finder": making.finder, "probe": _name(making.probe)}
        record.config |= judged_by
        record.encoder["fingerprint"] = making.encoder.fingerprint
        name = remedy_id(remedy, settings | judged_by, reference, making)
        making = replace(making, remedy=name)
        home = ArtifactFolder(making.index.path / REMEDIES / name)
        folder = ArtifactFolder(out or home.path)
        record.open(folder, about=(making.index.path,))
        home.open()
        write_diagnosis(folder, making.diagnosis, record)
        added = not _is_whole(making, home) and _add(making, remedy, home, record)
        _hand_out(home, folder)
    return Applied(name, folder, making.index, making.encoder, making.diagnosis, added, record)


def _is_whole(making: Making, home: ArtifactFolder) -> bool:
    """Whether the remedy is in the index, and so is each other one whose views it left out."""
    there = {r.id for r in making.index.remedies()}
    return making.remedy in there and there.issuperset(_made(home).get("relied_on", ()))


def _made(home: ArtifactFolder) -> dict[str, Any]:
    """Return what is kept of how a remedy came about; nothing where that is gone or broken."""
    try:
        return home.read_json(MADE) if (home / MADE).is_file() else {}
    except InputError:
        return {}


def _add(making: Making, remedy: Remedy, home: ArtifactFolder, record: Record) -> bool:
    """Make, embed and add the views; what is said of them is on disk before they are added.

    Returns whether any was added: none is where the rest of a remedy came in with another one.
    """
    with record.timed("making views"):
        made = remedy.make(making)
    for table, rows in made.tables.items():
        home.write_table(table, pa.Table.from_pylist(rows))
    new = new_views(made.views, making.index, making.remedy, made.most_views)
    if not new.views and making.remedy not in {r.id for r in making.index.remedies()}:
        raise _nothing_to_add(making, made, new, home)
    with record.timed("embedding views"):
        texts = as_documents([view.text for view in new.views])
        embedded = embed(texts, making.encoder, making.store, what="views")
    kept = [view for view, ok in zip(new.views, embedded.ok, strict=True) if ok]
    if new.views and not kept:
        raise ArgusError(
            f"{making.index.path}: none of {len(new.views):,} views could be embedded "
            f"({next(iter(embedded.failures.values()))}), so nothing was added."
        )
    left_out = {"views_known": new.known, "views_beyond_cap": new.beyond}
    notes = made.notes | {"views_failed": len(new.views) - len(kept)}
    notes |= {name: n for name, n in left_out.items() if n} | {"tables": [*made.tables]}
    about = {"remedy": making.remedy, "kind": remedy.kind, "at": utc_now()}
    home.write_json(MADE, about | notes | {"relied_on": new.relied_on})
    if kept:
        with record.timed("adding views"):
            making.index.add(kept, embedded.vectors, remedy=making.remedy)
    return bool(kept)


def _nothing_to_add(making: Making, made: Made, new: NewViews, home: ArtifactFolder) -> ArgusError:
    """Return the error that says why a remedy has no view for an index."""
    index = making.index.path
    if not made.views:
        flagged = sum(map(len, making.diagnosis.flagged().values()))
        told = next((f" {home / table}.parquet says why." for table in made.tables), "")
        return ArgusError(
            f"{index}: no view could be made for the {flagged:,} entities at risk, so nothing was "
            f"added.{told} Another --kb may say more of them."
        )
    holders = f"(remedy {', '.join(new.relied_on)})"
    if not new.beyond:
        return ArgusError(
            f"{index}: all {len(made.views):,} views are in the index already {holders}; nothing "
            "was added."
        )
    return ArgusError(
        f"{index}: of {len(made.views):,} views {new.known:,} are in the index already, and the "
        f"documents of {new.beyond:,} have their {made.most_views} {holders}; nothing was added. "
        "Raise --max-views, or roll a remedy back first."
    )


def _hand_out(home: ArtifactFolder, folder: ArtifactFolder) -> None:
    """Leave what is known of the views where the receipt goes, and no mark of a rollback."""
    (home / ROLLED_BACK).unlink(missing_ok=True)
    if folder.path.resolve() == home.path.resolve():
        return
    names = (f"{table}.parquet" for table in home.read_json(MADE).get("tables", ()))
    for name in (MADE, *names):
        if (home / name).is_file():
            shutil.copyfile(home / name, folder / name)


def remedy_id(
    remedy: Remedy, settings: dict[str, Any], reference: ReferenceConfig, making: Making
) -> str:
    """Return an id that equal repairs of equal documents share, wherever the files lie.

    A document that was deleted and added again is another one: its views went with it.
    """
    chosen = {name: value for name, value in settings.items() if name != "kb"}
    parts = [json.dumps(chosen, sort_keys=True, default=str)]
    parts += [file_hash(path) for path in reference.inputs().values() if path is not None]
    for d in making.documents:
        parts += [d.id, d.text, d.title, str(d.metadata["added"])]
    return f"{remedy.kind}-{remedy.label}-{content_hash(*parts, size=4).hex()}"


def _name(probe: Probe) -> str:
    """Return the family of a probe and a hash of the numbers that it predicts by."""
    arrays = [*sorted(probe.model.arrays().items()), *sorted(probe.domain.arrays().items())]
    parts = [part for name, array in arrays for part in (name, np.ascontiguousarray(array).data)]
    return f"{probe.family} {content_hash(probe.pooling, *parts, size=8).hex()}"


def rollback(index: Path | str, remedy: str) -> dict[str, Any]:
    """Remove exactly the views of a remedy and mark its folder in the index.

    The note says which remedies left out views that this one held: run again, they add them.
    Raises InputError, naming the remedies there are, for an unknown one and for one that was
    rolled back already.
    """
    opened = ViewIndex.open(index_folder(index))
    there = [r.id for r in opened.remedies()]
    folder = ArtifactFolder(opened.path / REMEDIES / remedy)
    if remedy not in there and folder.path.name == remedy and (folder / ROLLED_BACK).is_file():
        raise InputError(
            f"remedy {remedy!r} was rolled back already ({folder.read_json(ROLLED_BACK)['at']})",
            expected=f"one of {', '.join(there)}" if there else "a remedy; there is none left",
            fix="Its views are no longer in the index; nothing is left to remove.",
            where=opened.path,
        )
    homes = {name: ArtifactFolder(opened.path / REMEDIES / name) for name in there}
    missed = [n for n, home in homes.items() if remedy in _made(home).get("relied_on", ())]
    views = opened.rollback(remedy)
    note = {"remedy": remedy, "views_removed": views, "at": utc_now(), "relied_on_by": missed}
    if folder.path.is_dir():
        folder.write_json(ROLLED_BACK, note)
    return note


def list_remedies(index: Path | str) -> list[dict[str, Any]]:
    """Return the remedies in an index, oldest first: id, kind, at (UTC), views, documents, bytes.

    kind and at are None where the index's folder no longer says how the remedy came about.
    """
    opened = ViewIndex.open(index_folder(index))
    listed = []
    for r in opened.remedies():
        made = _made(ArtifactFolder(opened.path / REMEDIES / r.id))
        about = {"id": r.id, "kind": made.get("kind"), "at": made.get("at")}
        listed.append(about | {"views": r.views, "documents": r.documents, "bytes": r.bytes})
    return listed
