"""`remedy blend --store`: a blend of a store's own documents, written beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from dataclasses import fields as dataclass_fields
from functools import cached_property
from pathlib import Path

import numpy as np

from argus.corpora import StoreCorpus
from argus.corpora.stored import StoredCorpus, StoredVectors
from argus.data.fields import FieldNames, read_parents
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.reading import record_of
from argus.data.types import Document, View
from argus.data.writing import one_writer
from argus.encoders import Encoder, EncoderConfig, as_config
from argus.errors import InputError
from argus.indexes.blend import BLEND, SENTENCE, Blend
from argus.indexes.recipes import BlendRecord
from argus.indexes.remedy_views import ORIGINAL
from argus.indexes.snapshot import Snapshot
from argus.jobs.workspace import Record, open_encoder, read_documents
from argus.remedies.blend.config import SentenceSettings
from argus.remedies.blend.making import BlendPlan, Making, make_blend
from argus.remedies.serving import argument
from argus.remedies.writing.collection import make_home
from argus.remedies.writing.delivery import JOB, Destination, WrittenResult, deliver, receipt
from argus.remedies.writing.records import state_records
from argus.remedies.writing.summary import Delivered, WrittenSummary
from argus.remedies.writing.write import parent_payloads
from argus.stores.opening import open_store
from argus.stores.protocol import Metric, Payload, Store, WritableStore, writable
from argus.stores.records import values_of
from argus.stores.spec import StoreConfig


@dataclass(frozen=True)
class _Source:
    """The user's records: read, with their vectors and payloads."""

    store: WritableStore
    vectors: StoredVectors
    payloads: Mapping[str, Payload]
    sha256: str
    """Of texts and vectors."""

    @cached_property
    def rows(self) -> list[int]:
        """The documents that have a whole vector, by id: a store may hand them out anyhow.

        So what is made of them, and its id, is the same when a run that was stopped goes on.
        """
        documents = self.vectors.documents
        whole = (row for row in range(len(documents)) if row not in self.vectors.broken)
        return sorted(whole, key=lambda row: documents[row].id)

    @cached_property
    def documents(self) -> list[Document]:
        """Those that have one."""
        return [self.vectors.documents[row] for row in self.rows]

    def plan(
        self,
        blend: Blend,
        sentences: SentenceSettings,
        fingerprint: str,
        parents: Mapping[str, str],
    ) -> BlendPlan:
        """Return the plan; its id says what the records are made of.

        Equal settings, encoder, texts, vectors and payloads share one. BM25 is no part of records.
        """
        plan = BlendPlan.of(replace(blend, bm25=0.0), sentences, self.documents, parents)
        template = self.vectors.agreement.template or ""
        fields = json.dumps(self.payloads, sort_keys=True, default=str)
        parts = (plan.remedy, fingerprint, self.sha256, template, fields)
        return replace(plan, blend=blend, remedy=f"{BLEND}-{content_hash(*parts, size=4).hex()}")


@one_writer
def blend_store(
    store: str | Store,
    blend: Blend | None = None,
    *,
    encoder: Encoder | EncoderConfig | str,
    sentences: SentenceSettings | None = None,
    into: str | None = None,
    opening: StoreConfig | None = None,
    fields: FieldNames | None = None,
    parent_field: str | None = None,
    out: Path | str = "argus-out",
    fresh: bool = False,
) -> WrittenResult:
    """Write a blend of a store's documents beside them, and ask what of it can be reached.

    store: `KIND:PLACE/COLLECTION`, or one that is opened; its records stay as they are. encoder:
    the one that made its vectors. into: the collection of the new records; None makes NAME_argus.
    fields: where texts and titles are; of its id the field by which results are called, for a
    record keeps its own id. parent_field: where a chunk names its document, of which it is no hub.
    out: folder for the receipt, and for the vectors of the sentences; what reach tells of the
    records stands in OUT/REMEDY. A run that was stopped goes on when it is called again. Raises
    InputError for bad input, and for vectors that another encoder made; ArgusError where the store
    cannot be written.
    """
    blend, folder = blend or Blend(), ArtifactFolder(Path(out), fresh=fresh)
    fields = fields or FieldNames()
    with open_store(store, opening) as opened:
        base = writable(opened)
        documents, origin = _read(base, opening, replace(fields, id=None), encoder)
        settings = sentences or SentenceSettings()
        config = {
            **asdict(blend), **asdict(settings), "store": base.name, "into": into,
            "parent_field": parent_field,
        }  # fmt: skip
        record = Record(JOB, config, {"corpus": origin})
        texts = [document.content for document in documents]
        with open_encoder(folder, encoder, record, sample=texts) as (model, vectors):
            source = _source(base, origin, record, fields.id)
            parents = read_parents(source.documents, parent_field)
            plan = source.plan(blend, settings, model.fingerprint, parents)
            target = make_home(base, into)  # before anything is embedded: it may be read-only
            with record.timed("embedding sentences, measuring hubness"):
                own = source.vectors.vectors[source.rows]
                making = make_blend(plan, source.documents, own, model, vectors, parents)
        records = state_records(plan.remedy, _state(plan, making, source), 1.0, model.fingerprint)
        there = Destination(base, target, into)
        delivered = deliver(there, records, source.payloads, folder.path, record)
    summary = _summary(source, delivered, plan, making, record)
    return receipt(
        there, folder, summary, record, _encoder(encoder), argument("id_field", fields.id),
        argument("text_field", fields.text),
    )  # fmt: skip


def _encoder(encoder: Encoder | EncoderConfig | str) -> str:
    """Return the argument that names the encoder; one that is an object has no other name."""
    config = as_config(encoder)
    if not isinstance(config, EncoderConfig):
        return "encoder=encoder"
    names = (
        field.name for field in dataclass_fields(config) if field.name not in ("model", "device")
    )
    values = {name: getattr(config, name) for name in names}
    changed = [f"{n}={v!r}" for n, v in values.items() if v != getattr(EncoderConfig(), n)]
    if not changed:
        return f"encoder={config.model!r}"
    return f"encoder=argus.EncoderConfig({', '.join([f'model={config.model!r}', *changed])})"


def _read(
    store: WritableStore,
    opening: StoreConfig | None,
    fields: FieldNames,
    encoder: Encoder | EncoderConfig | str,
) -> tuple[list[Document], StoredCorpus]:
    """Return the documents of a store, by its own ids; InputError for vectors of no cosine."""
    corpus = StoreCorpus(store, opening or StoreConfig())
    documents, origin = read_documents(corpus, fields, None, encoder)
    assert isinstance(origin, StoredCorpus)
    assert origin.vectors is not None
    if origin.vectors.ranking is not Metric.COSINE:
        raise InputError(
            f"vectors that are compared by {origin.vectors.ranking}",
            expected="an encoder that ranks by cosine: a blend's weights hold for cosines",
            fix="Embed the documents with such an encoder.",
            where=store.name,
        )
    return documents, origin


def _source(
    store: WritableStore, origin: StoredCorpus, record: Record, id_field: str | None
) -> _Source:
    assert origin.vectors is not None
    sha256 = record.describe("corpus")["corpus"]["sha256"]
    payloads = parent_payloads(store)
    if id_field is not None and not any(values_of(one, id_field) for one in payloads.values()):
        raise InputError(
            f"no record holds a field {id_field!r}",
            expected="the field by which results are called",
            fix="Check the name; leave it out where the store's own ids are meant.",
            where="--id-field",
        )
    return _Source(store, origin.vectors, payloads, sha256)


def _state(plan: BlendPlan, making: Making, source: _Source) -> Snapshot:
    """Return the documents and their sentences as they are searched under the blend."""
    own = source.vectors.vectors[source.rows]
    numbers = making.numbers
    if numbers is not None and numbers.smoothed is not None:
        own = numbers.smoothed
    views = [View(document.id, document.id, ORIGINAL, "") for document in source.documents]
    if plan.blend.sentences:
        views, own = [*views, *making.views], np.concatenate([own, making.vectors])
    state = Snapshot.of(views, own).blended(plan.blend)
    if numbers is not None:
        state.hubness = numbers.hubness_of(state.doc_ids, numbers.position)
    return state


def _summary(
    source: _Source, delivered: Delivered, plan: BlendPlan, making: Making, record: Record
) -> WrittenSummary:
    views = making.views if plan.blend.sentences else []
    mixed = delivered["counts"]["views"].get(SENTENCE, 0)
    return {
        **delivered,
        "index": None,
        "remedies": [],
        "settings": record_of(BlendRecord, plan.blend),
        "weight": None,
        "left_out": len(source.vectors.broken),
        "sentences": {
            "max_views": plan.sentences.max_views,
            "documents": {
                "total": len(source.documents),
                "with_views": len({view.doc_id for view in views}),
                "without": making.proposal.none,
                "joined": making.proposal.joined,
            },
            "failed": making.failed + len(views) - mixed,
        },
        "seconds": round(sum(record.timings_s.values()), 1),
        **record.of_store(),
    }
