"""`remedy blend --store`: a blend of a store's own documents, written beside them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from argus.corpora.names import StoreCorpus
from argus.corpora.stored import StoredCorpus, StoredVectors
from argus.data.artifacts import ArtifactFolder
from argus.data.fields import FieldNames
from argus.data.provenance import content_hash
from argus.data.records import record_of
from argus.data.types import Document
from argus.encoders import Encoder, EncoderConfig
from argus.errors import ArgusError, InputError
from argus.indexes.blend import BLEND, Blend
from argus.indexes.recipes import BlendRecord
from argus.jobs.result import Result
from argus.jobs.workspace import Record, open_encoder, read_documents
from argus.reach.config import ReachConfig
from argus.reach.job import reach
from argus.reach.summary import ReachSummary
from argus.remedies.blend.config import SentenceSettings
from argus.remedies.blend.making import BlendPlan, Making, make_blend
from argus.remedies.writing.collection import ids_of, make_home, remedies_in
from argus.remedies.writing.records import DOCUMENT, RemedyRecords, blend_records
from argus.remedies.writing.summary import WrittenSummary, headline
from argus.remedies.writing.write import Written, parent_payloads, write
from argus.reports import write_report
from argus.stores.config import StoreConfig
from argus.stores.opening import open_store
from argus.stores.protocol import Metric, Payload, Store
from argus.stores.writable import REMEDY, WritableStore, writable

JOB = "written"
REACHED = 2_000
"""Records that are asked for by their own vectors, drawn at random where there are more."""


@dataclass(frozen=True, repr=False)
class WrittenResult(Result):
    """A remedy's records in a store; everything in it is also in `folder`."""

    remedy: str
    folder: Path
    report: Path
    summary: WrittenSummary

    def headline(self) -> Iterator[str]:
        """Yield the figures that matter."""
        return headline(self.summary)

    def unreached(self) -> Iterator[str]:
        """Yield one line where records that were asked for did not come back."""
        reached = self.summary["reach"]["reached"]
        if missing := reached["asked"] - reached["reached"]:
            yield (
                f"WARNING: {missing:,} of {reached['asked']:,} records cannot be reached by their "
                f"own vectors: {self.folder / self.remedy / 'unreached.csv'} names them, and why"
            )


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

    def plan(self, blend: Blend, sentences: SentenceSettings, fingerprint: str) -> BlendPlan:
        """Return the plan; its id says what the records are made of.

        Equal settings, encoder, texts, vectors and payloads share one. BM25 is no part of records.
        """
        plan = BlendPlan.of(replace(blend, bm25=0.0), sentences, self.documents)
        template = self.vectors.agreement.template or ""
        fields = json.dumps(self.payloads, sort_keys=True, default=str)
        parts = (plan.remedy, fingerprint, self.sha256, template, fields)
        return replace(plan, blend=blend, remedy=f"{BLEND}-{content_hash(*parts, size=4).hex()}")


def blend_store(
    store: str | Store,
    blend: Blend | None = None,
    *,
    encoder: Encoder | EncoderConfig | str,
    sentences: SentenceSettings | None = None,
    into: str | None = None,
    opening: StoreConfig | None = None,
    fields: FieldNames | None = None,
    out: Path | str = "argus-out",
    fresh: bool = False,
) -> WrittenResult:
    """Write a blend of a store's documents beside them, and ask what of it can be reached.

    store: `KIND:PLACE/COLLECTION`, or one that is opened; its records stay as they are. encoder:
    the one that made its vectors. into: the collection of the new records; None makes NAME_argus.
    out: folder for the receipt, and for the vectors of the sentences; what reach tells of the
    records stands in OUT/REMEDY. A run that was stopped goes on when it is called again. Raises
    InputError for bad input, and for vectors that another encoder made; ArgusError where the store
    cannot be written.
    """
    blend, folder = blend or Blend(), ArtifactFolder(Path(out), fresh=fresh)
    with open_store(store, opening) as opened:
        base = writable(opened)
        documents, origin = _read(base, opening, fields or FieldNames(), encoder)
        settings = sentences or SentenceSettings()
        config = {**asdict(blend), **asdict(settings), "store": base.name, "into": into}
        record = Record(JOB, config, {"corpus": origin})
        texts = [document.content for document in documents]
        with open_encoder(folder, encoder, record, sample=texts) as (model, vectors):
            source = _source(base, origin, record)
            plan = source.plan(blend, settings, model.fingerprint)
            target = make_home(base, into)  # before anything is embedded: it may be read-only
            with record.timed("embedding sentences, measuring hubness"):
                own = source.vectors.vectors[source.rows]
                making = make_blend(plan, source.documents, own, model, vectors)
        records = _records(plan, making, source, model.fingerprint)
        with record.timed("writing"):
            written = write(target, records, source.payloads, undo=_undo(base, plan, into))
        with record.timed("asking for what was written"):
            reached = _reached(target, records, folder.path / plan.remedy)
        summary = _summary(source, target, records, plan, making, written, reached, record)
    folder.write_section("summary.json", JOB, summary)
    folder.write_section("manifest.json", JOB, record.manifest(summary["counts"]))
    return WrittenResult(records.remedy, folder.path, write_report(folder.path), summary)


def _read(
    store: WritableStore,
    opening: StoreConfig | None,
    fields: FieldNames,
    encoder: Encoder | EncoderConfig | str,
) -> tuple[list[Document], StoredCorpus]:
    """Return the documents of a store; InputError where records could not be of them."""
    if fields.id is not None:
        raise InputError(
            f"ids of the field {fields.id!r}", expected="the store's own: records name them",
            fix="Leave --id-field out; --store-id names a table's column of ids.",
            where="--id-field",
        )  # fmt: skip
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


def _source(store: WritableStore, origin: StoredCorpus, record: Record) -> _Source:
    assert origin.vectors is not None
    sha256 = record.describe("corpus")["corpus"]["sha256"]
    return _Source(store, origin.vectors, parent_payloads(store), sha256)


def _records(plan: BlendPlan, making: Making, source: _Source, encoder: str) -> RemedyRecords:
    """Return the records of what a blend is made of."""
    ids, own = [d.id for d in source.documents], source.vectors.vectors[source.rows]
    penalties = np.zeros(len(ids), np.float32)
    if making.numbers is not None:
        penalties = np.float32(plan.blend.hubs) * making.numbers.hubness
        own = own if making.numbers.smoothed is None else making.numbers.smoothed
    if not plan.blend.sentences:
        return blend_records(plan.remedy, ids, own, penalties, [], own[:0], 1.0, encoder)
    return blend_records(
        plan.remedy, ids, own, penalties, making.views, making.vectors, plan.blend.weight, encoder
    )


def _undo(store: WritableStore, plan: BlendPlan, into: str | None) -> str:
    """Return the command that takes out what a store holds of a remedy."""
    words = ["argus", "remedy", "rollback", plan.remedy, "--store", store.name]
    return shlex.join([*words, *(() if into is None else ("--into", into))])


def _reached(target: WritableStore, records: RemedyRecords, out: Path) -> ReachSummary:
    """Ask for the records by their own vectors, among those of this remedy.

    Raises ArgusError where the store does not hold all that it took.
    """
    there = len(ids_of(target, records.remedy))
    if there != len(records):
        raise ArgusError(
            f"{target.name}: took {len(records):,} records of {records.remedy}, and holds "
            f"{there:,}. Run the same command again."
        )
    config = ReachConfig(sample=REACHED if len(records) > REACHED else None)
    return reach(target, out=out, config=config, matching={REMEDY: records.remedy}).summary


def _summary(
    source: _Source,
    target: WritableStore,
    records: RemedyRecords,
    plan: BlendPlan,
    making: Making,
    written: Written,
    reached: ReachSummary,
    record: Record,
) -> WrittenSummary:
    documents = records.kinds.count(DOCUMENT)
    views = making.views if plan.blend.sentences else []
    return {
        "remedy": records.remedy,
        "store": source.store.name,
        "collection": target.name,
        "settings": record_of(BlendRecord, plan.blend),
        "max_views": plan.sentences.max_views,
        "documents": {
            "total": documents,
            "with_views": len({view.doc_id for view in views}),
            "without": making.proposal.none,
            "joined": making.proposal.joined,
        },
        "without_vector": len(source.vectors.broken),
        "sentences_failed": making.failed + len(views) - (len(records) - documents),
        "counts": {
            "documents": documents,
            "sentences": len(records) - documents,
            "records": len(records),
            "written": written.now,
            "there_before": written.before,
            "bytes": int(records.vectors.nbytes),
        },
        "others": [remedy for remedy in remedies_in(target) if remedy != records.remedy],
        "reach": {
            "k": reached["k"],
            "reached": reached["reached"],
            "causes": reached["causes"],
            "examples": reached["examples"],
        },
        "seconds": round(sum(record.timings_s.values()), 1),
        **record.of_store(),
    }
