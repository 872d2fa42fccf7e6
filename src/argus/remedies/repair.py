"""Repair an index: find its documents at risk, make further texts for them, and add these as views.

The shared steps of `argus tune apply expand` and `synthesize`, which make different texts.
`open_index` reads the inputs of a repair, `diagnose_index` finds the entities at risk
(`argus.remedies.diagnosis`), and `apply_remedy` adds the views in one commit. Next,
`argus.remedies.receipt` measures the gain.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash, file_hash, utc_now
from argus.data.types import Document, View
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.encoders.store import store_of
from argus.engine import Engine
from argus.errors import ArgusError, NothingToMend
from argus.indexes.blend import REMEDIES
from argus.indexes.header import index_folder
from argus.indexes.retriever import encoder_of
from argus.indexes.views import ViewIndex, new_views, originals
from argus.jobs.workspace import Record
from argus.knowledge.names import MentionFinder
from argus.remedies.config import TAU, ReferenceConfig
from argus.remedies.diagnosis import Diagnosis, check_tau, diagnose_documents, write_diagnosis
from argus.remedies.reference import PassageLookup, make_finder, open_lookup, open_probe
from argus.remedies.undo import MADE, ROLLED_BACK, is_in_index, read_origin
from argus.retrievability.probes import Probe


@dataclass(frozen=True)
class OpenedIndex:
    """An index that is to be repaired, with its encoder, documents and reference."""

    index: ViewIndex
    name: str  # as the caller named it
    encoder: Encoder
    documents: Sequence[Document]  # the originals, whose content is the indexed text
    reference: ReferenceConfig
    lookup: PassageLookup
    finder: MentionFinder
    probe: Probe
    tau: float
    started: str  # when it was opened, UTC
    engine: Engine | None = None  # embeds, if it is not this process


@dataclass(frozen=True)
class Applied:
    """A remedy that is in the index. added: False if an earlier run had added and recorded it."""

    remedy: str
    folder: ArtifactFolder
    opened: OpenedIndex
    diagnosis: Diagnosis
    added: bool
    origin: dict[str, Any]
    record: Record


Proposal = tuple[Sequence[View], dict[str, Any], Mapping[str, pa.Table]]
"""Views that a remedy would add, notes for made.json, and tables to leave beside the receipt."""
Make = Callable[[OpenedIndex, Diagnosis, EmbeddingStore, str], Proposal]
"""Makes the views of a remedy from the entities at risk. The last argument is its id."""


def open_index(
    index: Path | str,
    *,
    reference: ReferenceConfig,
    probe: Path | str | Probe | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    tau: float = TAU,
    device: str | None = None,
    engine: Engine | None = None,
) -> OpenedIndex:
    """Open an index and everything that its repair reads. Changes nothing.

    probe: None uses the one shipped for the encoder. encoder: None uses the one that the index
    names. device: of the loaded encoder. Raises InputError for bad input.
    """
    check_tau(tau)
    started = utc_now()
    views = ViewIndex.open(index_folder(index))
    passages, lookup = open_lookup(reference)
    model = encoder_of(views, encoder, device, engine)
    views.header.check_fingerprint(model.fingerprint, views.path)
    documents = originals(views)
    judge = open_probe(probe, model)
    finder = make_finder(reference, passages, [d.content for d in documents])
    return OpenedIndex(
        views, str(index), model, documents, reference, lookup, finder, judge, tau, started, engine
    )


@contextmanager
def diagnose_index(
    opened: OpenedIndex, record: Record | None = None
) -> Iterator[tuple[Diagnosis, EmbeddingStore]]:
    """Diagnose the documents of an index and open its vectors. Changes nothing in it.

    Raises ArgusError if nothing is known to be at risk.
    """
    index, encoder = opened.index, opened.encoder
    vectors = store_of(index.path)
    with EmbeddingStore(vectors, fingerprint=encoder.fingerprint, dim=encoder.dim) as cache:
        with record.timed("diagnosing") if record else nullcontext():
            diagnosis = diagnose_documents(
                opened.documents, opened.finder, encoder, cache, opened.probe, tau=opened.tau
            )
        if not diagnosis.flagged():
            risks, tau = diagnosis.risks, diagnosis.tau
            total, with_rps = len(risks), sum(risk.rps is not None for risk in risks)
            why = "no entity was found in its documents. Check that --kb and --mentions fit them"
            if with_rps:
                why = f"{with_rps:,} of its {total:,} entities have an RPS, none below τ={tau:g}"
            elif risks:
                why = f"none of its {total:,} entities has a predicted RPS ({risks[0].reason})"
            raise NothingToMend(f"{index.path}: nothing to repair: {why}. Nothing was changed.")
        yield diagnosis, cache


def apply_remedy(
    opened: OpenedIndex,
    kind: str,
    label: str,
    settings: Mapping[str, object],
    make: Make,
    *,
    max_views: int | None = None,
    out: Path | None = None,
) -> Applied:
    """Diagnose the documents of an index and add the views of a remedy in one commit.

    The remedy's id is a hash of settings, knowledge base, probe and documents, whatever the paths
    of files, so the same repair is never added twice. A view whose document has one with that text
    is left out. If the remedy that holds that one was rolled back since, the view is added now. A
    run killed before the commit leaves the index as it was, and its vectors are used again. label:
    for the id. settings: those that change the outcome. max_views: most views of their kind that a
    document may have, of all remedies. out: default `INDEX/remedies/ID`, which holds the notes on
    the views in any case. Raises ArgusError if nothing is at risk, no view can be made, or all are
    in the index.
    """
    model, domain = opened.probe.model.arrays(), opened.probe.domain.arrays()
    arrays = [*sorted(model.items()), *sorted(domain.items())]
    numbers = [part for name, of in arrays for part in (name, np.ascontiguousarray(of).data)]
    probe = f"{opened.probe.family} {content_hash(opened.probe.pooling, *numbers, size=8).hex()}"
    judges = {"finder": opened.finder.name, "probe": probe}
    settings = {"tau": opened.tau, **settings, **opened.reference.described(), **judges}
    anywhere = {name: value for name, value in settings.items() if name != "kb"}
    made_of = [json.dumps(anywhere, sort_keys=True, default=str)]
    made_of += [file_hash(path) for path in opened.reference.inputs().values() if path is not None]
    for d in opened.documents:  # one that was added again is another: its views are gone
        made_of += [d.id, d.text, d.title, str(d.metadata["added"])]
    remedy = f"{kind}-{label}-{content_hash(*made_of, size=4).hex()}"
    record = Record(
        "remedy", {"index": opened.name, **settings}, opened.reference.inputs(),
        {"fingerprint": opened.encoder.fingerprint}, opened.engine, started=opened.started,
    )  # fmt: skip
    index = opened.index
    with diagnose_index(opened, record) as (diagnosis, cache):
        home = ArtifactFolder(index.path / REMEDIES / remedy)
        folder = ArtifactFolder(out or home.path)
        record.open(folder, about=(index.path,))
        home.open()
        write_diagnosis(folder, diagnosis, record)
        added = not is_in_index(index, remedy, by_recipe=False)
        there = {r.id for r in index.remedies()}
        is_whole = there.issuperset({remedy, *read_origin(home).get("relied_on", ())})
        if not is_whole:
            with record.timed("making views"):
                views, notes, tables = make(opened, diagnosis, cache, remedy)
            for name, table in tables.items():
                folder.write_table(name, table)
            with record.timed("adding views"):
                added |= add_views(index, opened.encoder, cache, home, views, notes, max_views)
    return Applied(remedy, folder, opened, diagnosis, added, read_origin(home), record)


def add_views(
    index: ViewIndex,
    encoder: Encoder,
    cache: EmbeddingStore,
    home: ArtifactFolder,
    views: Sequence[View],
    notes: Mapping[str, Any],
    max_views: int | None = None,
) -> bool:
    """Embed and add the views of a remedy that are new. Their notes are on disk before.

    home: folder of the remedy in the index. Returns whether any was added: none is if another
    remedy has added the rest of this one. Raises NothingToMend if nothing of it would be there.
    """
    remedy = home.path.name
    new = new_views(views, index, remedy, max_views)
    if not new.views and remedy not in {r.id for r in index.remedies()}:
        why = "no view could be made"
        if views:
            why = f"of {len(views):,} views {new.known:,} are in the index already"
            if new.beyond:
                why += f", and the documents of {new.beyond:,} have their {max_views}"
            why += f" (remedy {', '.join(new.relied_on)})"
        raise NothingToMend(f"{index.path}: {why}, so nothing was added.")
    texts = as_documents([view.text for view in new.views])
    embedded = embed(texts, encoder, cache, what="views")
    able = [view for view, ok in zip(new.views, embedded.ok, strict=True) if ok]
    if new.views and not able:
        raise ArgusError(
            f"{index.path}: none of {len(new.views):,} views could be embedded "
            f"({next(iter(embedded.failures.values()))}), so nothing was added."
        )
    origin = {"remedy": remedy, "kind": remedy.partition("-")[0], "at": utc_now(), **notes}
    origin["views_failed"] = len(new.views) - len(able)
    left_out = {"views_known": new.known, "views_beyond_cap": new.beyond}
    origin |= {name: n for name, n in left_out.items() if n}
    home.write_json(MADE, origin | {"relied_on": new.relied_on})
    if able:
        index.add(able, embedded.vectors, remedy=remedy)
    (home / ROLLED_BACK).unlink(missing_ok=True)
    return bool(able)
