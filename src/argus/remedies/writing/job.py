"""`remedy blend --store`: a blend of a store's own documents, written beside them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from argus.corpora.names import StoreCorpus
from argus.corpora.stored import StoredCorpus, StoredVectors
from argus.data.artifacts import ArtifactFolder
from argus.data.fields import FieldNames
from argus.data.provenance import content_hash
from argus.data.records import record_of
from argus.data.types import FloatArray, IntArray
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.errors import ArgusError, InputError
from argus.indexes.blend import BLEND, Blend
from argus.indexes.recipes import BlendRecord
from argus.jobs.result import Result
from argus.jobs.workspace import Record, open_encoder, read_documents, require_some
from argus.reach.config import ReachConfig
from argus.reach.job import reach
from argus.reach.summary import ReachSummary
from argus.remedies.writing.collection import ids_of, make_home, remedies_in
from argus.remedies.writing.records import DOCUMENT, RemedyRecords, blend_records
from argus.remedies.writing.stand_ins import CAP, hubness, sentence_views
from argus.remedies.writing.summary import WrittenSummary, headline
from argus.remedies.writing.write import Written, parent_payloads, write
from argus.reports import write_report
from argus.stores.config import StoreConfig
from argus.stores.opening import open_store
from argus.stores.protocol import Payload, Store
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


@dataclass(frozen=True)
class _Source:
    """The user's records: read, with their vectors and payloads."""

    store: WritableStore
    vectors: StoredVectors
    payloads: Mapping[str, Payload]
    sha256: str
    """Of texts and vectors."""

    @property
    def rows(self) -> list[int]:
        """The documents that have a whole vector."""
        return [i for i in range(len(self.vectors.documents)) if i not in self.vectors.broken]

    def remedy(self, blend: Blend, cap: int, fingerprint: str) -> str:
        """Return an id that says what the records are made of: settings, encoder, documents."""
        settings = {"lambda": blend.weight, "hubs": blend.hubs, "cap": cap}
        template = self.vectors.agreement.template
        fields = json.dumps(self.payloads, sort_keys=True, default=str)
        parts = (json.dumps(settings), fingerprint, self.sha256, template or "", fields)
        return f"{BLEND}-{blend.weight:g}-{content_hash(*parts, size=4).hex()}"


def blend_store(
    store: str | Store,
    *,
    encoder: Encoder | EncoderConfig | str,
    blend: Blend | None = None,
    cap: int = CAP,
    into: str | None = None,
    opening: StoreConfig | None = None,
    fields: FieldNames | None = None,
    out: Path | str = "argus-out",
    fresh: bool = False,
) -> WrittenResult:
    """Write a blend of a store's documents beside them, and ask what of it can be reached.

    store: `KIND:PLACE/COLLECTION`, or one that is opened; its records stay as they are. encoder:
    the one that made its vectors. cap: sentences of a document at most. into: the collection of the
    new records; None makes NAME_argus. out: folder for the receipt, and for the vectors of the
    sentences. A run that was stopped goes on when it is called again. Raises InputError for bad
    input, ArgusError where the store cannot be written.
    """
    blend, fields, folder = _checked(blend, fields, ArtifactFolder(Path(out), fresh=fresh))
    with open_store(store, opening) as opened:
        base = writable(opened)
        corpus = StoreCorpus(base, opening or StoreConfig())
        documents, origin = read_documents(corpus, fields, None, encoder)
        assert isinstance(origin, StoredCorpus)
        assert origin.vectors is not None
        require_some(
            len(documents) - len(origin.vectors.broken), "record with a whole vector",
            f"See what is in it: argus reach {base.name}.",
        )  # fmt: skip
        config = {**asdict(blend), "cap": cap, "store": base.name, "into": into}
        record = Record(JOB, config, {"corpus": origin})
        texts = [document.content for document in documents]
        with open_encoder(folder, encoder, record, sample=texts) as (model, vectors):
            sha256 = record.describe("corpus")["corpus"]["sha256"]
            source = _Source(base, origin.vectors, parent_payloads(base), sha256)
            target = make_home(base, into)  # before anything is embedded: it may be read-only
            records, failed = _records(source, blend, cap, model, vectors, record)
        with record.timed("writing"):
            written = write(target, records, source.payloads)
        _check_whole(target, records)
        with record.timed("asking for what was written"):
            reached = _reached(target, records, folder.path)
        summary = _summary(source, target, records, blend, written, failed, reached, record)
    folder.write_section("summary.json", JOB, summary)
    folder.write_section("manifest.json", JOB, record.manifest(summary["counts"]))
    return WrittenResult(records.remedy, folder.path, write_report(folder.path), summary)


def _checked(
    blend: Blend | None, fields: FieldNames | None, folder: ArtifactFolder
) -> tuple[Blend, FieldNames, ArtifactFolder]:
    """Return the settings; InputError for those that a store cannot serve."""
    blend, fields = blend or Blend(), fields or FieldNames()
    if blend.smoothing:
        raise InputError(
            f"smoothing {blend.smoothing:g}", expected="0: records have their documents' vectors",
            fix="Leave it out, or blend an index.", where="--smoothing",
        )  # fmt: skip
    if fields.id is not None:
        raise InputError(
            f"ids of the field {fields.id!r}", expected="the store's own: records name them",
            fix="Leave --id-field out; --store-id names a table's column of ids.",
            where="--id-field",
        )  # fmt: skip
    return blend, fields, folder


def _records(
    source: _Source,
    blend: Blend,
    cap: int,
    encoder: Encoder,
    store: EmbeddingStore,
    record: Record,
) -> tuple[RemedyRecords, int]:
    """Return the records, and how many sentences failed."""
    rows = source.rows
    remedy = source.remedy(blend, cap, encoder.fingerprint)
    documents = [source.vectors.documents[row] for row in rows]
    ids, own = [document.id for document in documents], source.vectors.vectors[rows]
    views = sentence_views(documents, remedy, cap) if blend.sentences or blend.hubs else []
    with record.timed("embedding sentences"):
        embedded = embed(
            as_documents([view.text for view in views]), encoder, store, what="sentences"
        )
    kept = [view for view, ok in zip(views, embedded.ok, strict=True) if ok]
    place = {doc: row for row, doc in enumerate(ids)}
    owner: IntArray = np.array([place[view.doc_id] for view in kept], np.int64)
    with record.timed("measuring hubness"):
        hubs = blend.hubs and len(kept)
        penalties = blend.hubs * hubness(own, embedded.vectors, owner) if hubs else _none(own)
    if not blend.sentences:
        return blend_records(remedy, ids, own, penalties, [], own[:0], 1.0), 0
    records = blend_records(remedy, ids, own, penalties, kept, embedded.vectors, blend.weight)
    return records, len(ids) + len(views) - len(records)


def _none(documents: FloatArray) -> FloatArray:
    return np.zeros(len(documents), np.float32)


def _check_whole(target: WritableStore, records: RemedyRecords) -> None:
    """Raise ArgusError where the store does not hold all that it took."""
    there = len(ids_of(target, records.remedy))
    if there != len(records):
        raise ArgusError(
            f"{target.name}: took {len(records):,} records of {records.remedy}, and holds "
            f"{there:,}. Run the same command again."
        )


def _reached(target: WritableStore, records: RemedyRecords, out: Path) -> ReachSummary:
    """Ask for the records by their own vectors, among those of this remedy."""
    sample = REACHED if len(records) > REACHED else None
    config = ReachConfig(sample=sample)
    return reach(target, out=out, config=config, matching={REMEDY: records.remedy}).summary


def _summary(
    source: _Source,
    target: WritableStore,
    records: RemedyRecords,
    blend: Blend,
    written: Written,
    failed: int,
    reached: ReachSummary,
    record: Record,
) -> WrittenSummary:
    kinds = Counter(records.kinds)
    return {
        "remedy": records.remedy,
        "store": source.store.name,
        "collection": target.name,
        "blend": record_of(BlendRecord, blend),
        "counts": {
            "documents": kinds[DOCUMENT],
            "documents_without_vector": len(source.vectors.broken),
            "sentences": len(records) - kinds[DOCUMENT],
            "sentences_failed": failed,
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
