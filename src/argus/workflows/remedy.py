"""Repair an index: diagnose, make views, add them under a remedy's id; or take them out again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.data.artifacts import ArtifactFolder
from argus.data.provenance import content_hash, file_hash, utc_now
from argus.data.types import Document, View
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.indexes.views import ORIGINAL, ViewIndex
from argus.remedies.diagnose import TAU, Diagnosis, check_tau, diagnose
from argus.retrievability.probes import Probe
from argus.workflows.diagnose import write_diagnosis
from argus.workflows.reference import ReferenceConfig, make_finder, open_probe, read_passages
from argus.workflows.retriever import encoder_of
from argus.workflows.workspace import Record, require_some

REMEDIES = "remedies"


@dataclass(frozen=True)
class Making:
    """What a remedy makes its views from."""

    index: ViewIndex
    documents: Sequence[Document]
    """The originals of the index; a document's content is the text that is indexed."""
    diagnosis: Diagnosis
    finder: str
    passages: Sequence[Document]
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
    """False when the index had it already."""
    record: Record


@contextmanager
def prepare(
    index: Path | str,
    *,
    reference: ReferenceConfig,
    probe: Path | str | Probe | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    tau: float = TAU,
    record: Record | None = None,
) -> Iterator[Making]:
    """Open an index, its encoder and vectors, and diagnose its documents; changes nothing in it.

    Raises InputError for bad input and ArgusError when nothing is at risk.
    """
    check_tau(tau)
    opened = ViewIndex.open(index)
    passages = read_passages(reference)
    model = encoder_of(opened, encoder)
    opened.header.check_fingerprint(model.fingerprint, opened.path)
    judge = open_probe(probe, model)
    documents = originals(opened)
    finder = make_finder(reference, passages, [d.content for d in documents])
    vectors = opened.path / "embeddings"
    with EmbeddingStore(vectors, fingerprint=model.fingerprint, dim=model.dim) as store:
        with record.timed("diagnosing") if record else nullcontext():
            found = diagnose(documents, finder, model, store, judge, tau=tau)
        require_some(len(found.flagged()), f"entity is below τ={tau}", "Nothing needs repair.")
        yield Making(opened, documents, found, finder.name, passages, model, store, judge)


def apply(
    index: Path | str,
    remedy: Remedy,
    *,
    reference: ReferenceConfig,
    probe: Path | str | Probe | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    tau: float = TAU,
    out: Path | None = None,
) -> Applied:
    """Diagnose the documents of an index and add the views that `remedy` makes, in one commit.

    The remedy's id says what it was made of (settings, knowledge base, documents), so the same
    repair is never added twice. Killed before the commit the index is as it was, and vectors that
    were made are used again. out: default `INDEX/remedies/ID`. Raises InputError for bad input and
    ArgusError when nothing is at risk or no view can be made.
    """
    settings = {"tau": tau, **remedy.settings, **reference.described()}
    record = Record("remedy", {"index": str(index), **settings}, reference.inputs())
    with prepare(
        index, reference=reference, probe=probe, encoder=encoder, tau=tau, record=record
    ) as making:
        settings |= {"finder": making.finder, "probe": making.probe.family}
        record.encoder["fingerprint"] = making.encoder.fingerprint
        name = remedy_id(remedy, settings, reference, making.documents)
        making = replace(making, remedy=name)
        folder = ArtifactFolder(out or making.index.path / REMEDIES / name)
        folder.open()
        write_diagnosis(folder, making.diagnosis, record)
        there = name in {r.id for r in making.index.remedies()}
        if not there:
            made = _make(remedy, making, record)
            _add(making, made, record)
            folder.write_json("made.json", {"remedy": name, "kind": remedy.kind, **made.notes})
            for table, rows in made.tables.items():
                folder.write_table(table, pa.Table.from_pylist(rows))
    return Applied(name, folder, making.index, making.encoder, making.diagnosis, not there, record)


def _make(remedy: Remedy, making: Making, record: Record) -> Made:
    with record.timed("making views"):
        made = remedy.make(making)
    require_some(
        len(made.views),
        "view was made",
        "No entity at risk has a passage that passes; see diagnosis.parquet, or give another --kb.",
    )
    return made


def _add(making: Making, made: Made, record: Record) -> None:
    with record.timed("embedding views"):
        texts = as_documents([view.text for view in made.views])
        embedded = embed(texts, making.encoder, making.store, what="views")
    kept = [view for view, ok in zip(made.views, embedded.ok, strict=True) if ok]
    made.notes["views_failed"] = len(made.views) - len(kept)
    with record.timed("adding views"):
        making.index.add(kept, embedded.vectors, remedy=making.remedy)


def originals(index: ViewIndex) -> list[Document]:
    """Return the documents of an index, ordered by id; their content is what is indexed."""
    rows = index.snapshot(ORIGINAL).views
    documents = [Document(view.doc_id, view.text) for view in rows if view.kind == ORIGINAL]
    require_some(len(documents), "document has its own text in the index", "Build it again.")
    return documents


def remedy_id(
    remedy: Remedy,
    settings: dict[str, Any],
    reference: ReferenceConfig,
    documents: Sequence[Document],
) -> str:
    """Return an id that equal repairs of equal documents share."""
    parts = [json.dumps(settings, sort_keys=True, default=str)]
    parts += [file_hash(path) for path in reference.inputs().values() if path is not None]
    parts += [part for d in documents for part in (d.id, d.text)]
    return f"{remedy.kind}-{remedy.label}-{content_hash(*parts, size=4).hex()}"


def rollback(index: Path | str, remedy: str) -> dict[str, Any]:
    """Remove exactly the views of a remedy and mark its receipt.

    Raises InputError, naming the remedies there are, for an unknown one.
    """
    opened = ViewIndex.open(index)
    views = opened.rollback(remedy)
    note = {
        "remedy": remedy,
        "views_removed": views,
        "at": utc_now(),
    }
    folder = opened.path / REMEDIES / remedy
    if folder.is_dir():
        ArtifactFolder(folder).write_json("rolled_back.json", note)
    return note
