"""Build an index from a corpus, add and delete documents, free its disk space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Generic, NotRequired, TypeVar, final

from typing_extensions import TypedDict

from argus.corpora import Corpus
from argus.corpora.opening import CorpusSource, open_corpus
from argus.corpora.stored import OfStore
from argus.data.documents import listed
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.reading import read_record
from argus.data.storage import bytes_in
from argus.data.types import Document, FloatArray, View
from argus.data.writing import one_writer
from argus.encoders import (
    DEFAULT_MODEL,
    EmbeddingStore,
    Encoder,
    EncoderConfig,
    embed,
)
from argus.encoders import documents as as_documents
from argus.encoders.protocol import similarity_of
from argus.encoders.store import EMBEDDINGS, store_of
from argus.engine import Engine, EngineConfig
from argus.errors import InputError
from argus.indexes.blend import REMEDIES
from argus.indexes.fold import ORIGINAL
from argus.indexes.header import (
    FILE,
    CorpusFields,
    IndexHeader,
    describe_encoder,
    index_folder,
    parse_index_spec,
)
from argus.indexes.lexical import FOLDER, remove_words
from argus.indexes.own_vectors import (
    OwnVectors,
    OwnVectorsNotes,
    check_space,
    known_documents,
    open_or_create,
    own_vectors,
    vectors_of_store,
)
from argus.indexes.retriever import encoder_of
from argus.indexes.table import KEPT, NAME, remove_half_written
from argus.indexes.views import RemedyInIndex, ViewIndex
from argus.jobs.on_engine import opened as open_engine
from argus.jobs.result import Result
from argus.jobs.workspace import Record, corpus_for, open_encoder, require_some, take_stored

BATCH_VIEWS = 4096
OWN_NAMES = (FILE, f"{NAME}.lance", REMEDIES, FOLDER)
"""Files and folders of an index."""
NOTE = "deleting.json"
NO_TEXT = "no text"


class DocumentCounts(TypedDict):
    """Outcomes of the documents of a corpus.

    total: documents of the corpus.
    indexed: documents that have a vector in the index.
    no_text: documents without a text.
    failed: documents that could not be embedded.
    """

    total: int
    indexed: int
    no_text: int
    failed: int


class FailureReason(TypedDict):
    """Why documents could not be embedded.

    reason: why they could not be embedded.
    documents: documents of which that is so.
    """

    reason: str
    documents: int


class IndexState(TypedDict):
    """Contents of an index after a job.

    encoder: fingerprint of the encoder that made the vectors.
    views: views in the index, documents' own among them.
    remedies: remedies in the index, with their views.
    ann: whether it has an approximate index.
    """

    index: str
    encoder: str
    dim: int
    views: int
    remedies: list[RemedyInIndex]
    ann: bool


class BuildCounts(TypedDict):
    """Documents that a job took in.

    failures: why documents could not be embedded, the 20 most frequent.
    """

    documents: DocumentCounts
    failures: list[FailureReason]
    vectors: NotRequired[OwnVectorsNotes]


@final
class BuildSummary(BuildCounts, IndexState, OfStore):
    """Summary of `build_index` and `add_documents`."""


class DeletedDocuments(TypedDict):
    """The number of deleted documents.

    deleted: documents that were deleted.
    """

    deleted: int


class DeleteCounts(TypedDict):
    """Documents and views that a job took out.

    views_deleted: views that went with them, their own among them.
    """

    documents: DeletedDocuments
    views_deleted: int


@final
class DeleteSummary(DeleteCounts, IndexState):
    """Summary of `delete_documents`."""


class CompactSummary(TypedDict):
    """Space that `compact_index` freed.

    views: views in the index.
    bytes_before, bytes: bytes of the folder before, and now.
    """

    index: str
    views: int
    bytes_before: int
    bytes: int


class DeletionNote(TypedDict):
    """A deletion under way: documents, and the number of their views."""

    ids: list[str]
    views: int


S = TypeVar("S", BuildSummary, DeleteSummary)


@dataclass(frozen=True, repr=False)
class IndexResult(Result, Generic[S]):
    """An index after a job. `summary` is also in its summary.json."""

    index: ViewIndex
    summary: S

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary = self.summary
        if "views_deleted" in summary:
            n, views = summary["documents"]["deleted"], summary["views_deleted"]
            yield f"deleted {n:,} documents ({views:,} views)"
        else:
            yield from _built_lines(summary)
        approximate = ", approximate index" if summary["ann"] else ""
        yield f"index: {summary['index']} ({summary['views']:,} views{approximate})"


def _built_lines(summary: BuildCounts) -> Iterator[str]:
    documents = summary["documents"]
    left_out = f"{documents['no_text']:,} without text, {documents['failed']:,} failed"
    yield f"indexed {documents['indexed']:,} of {documents['total']:,} ({left_out})"
    for failure in summary["failures"]:
        yield f"failed: {failure['documents']:,} x {failure['reason']}"
    own = summary.get("vectors")
    if own is None:
        return
    if own["normalised"]:
        yield f"note: the rows of {own['file']} were scaled to length 1"
    if own["foreign"]:
        yield (
            f"warning: your vectors are not what {own['encoder']} makes of the same texts (cosine: "
            f"median {own['agreement']:.2f}, least {own['least']:.2f}, at best). Search asks with "
            "that encoder, so it has to be the one that they were made for. No vector of the "
            "encoder can be added: for remedies, build with the encoder that made them, without "
            "--vectors"
        )
    elif "stored_vectors" not in summary:
        yield (
            f"vectors: those of {own['file']}, of title and text joined as '{own['template']}': "
            f"the encoder agrees at a median cosine of {own['agreement']:.4f} (least "
            f"{own['least']:.4f}, {own['compared']} texts)"
        )


@dataclass(frozen=True)
class _Originals:
    """One view per document that has a vector, and reasons why the others have none.

    own: where the vectors came from a file or a store.
    """

    views: list[View]
    vectors: FloatArray
    failures: dict[str, str]
    own: OwnVectors | None


@one_writer
def build_index(
    corpus: Corpus,
    *,
    out: Path | str,
    encoder: Encoder | EncoderConfig | str = DEFAULT_MODEL,
    vectors: Path | str | None = None,
    fields: FieldNames | None = None,
    store: Path | None = None,
    limit: int | None = None,
    fresh: bool = False,
    ann: bool = False,
    engine: EngineConfig | Engine | None = None,
) -> IndexResult[BuildSummary]:
    """Index every document of a corpus through one view, its own text.

    vectors: a .npy file with one row per document in corpus order, used instead of embedding, as
    are the vectors of a corpus that is a store. Then `encoder` names the encoder of queries. Where
    it does not make the same vectors, the index has a fingerprint of its own: it can be searched,
    and no vector of the encoder can enter. Documents without text, and those that cannot be
    embedded, are left out and counted. A build that was stopped goes on where it was. A complete
    one stays as it is. ann: also build the approximate index. engine: where to embed. None is this
    process. Raises InputError when `out` holds an index of other documents or vectors.
    """
    spec = parse_index_spec(out) if "@" in Path(out).name else None
    if spec is not None and spec.as_of is not None and (spec.path / FILE).is_file():
        raise InputError(  # that folder would hide the state of an index
            f"names the state {spec.as_of!r} of the index {spec.path}",
            expected="a folder for an index",
            fix="Give another --out.",
            where=out,
        )
    opened = corpus_for(corpus, None if vectors is not None else encoder, limit)
    documents = _documents(opened, fields, vectors)
    own = Path(vectors) if vectors is not None else None
    folder = ArtifactFolder(Path(out), fresh=fresh)
    inputs = {"corpus": opened.origin, "vectors": own}
    record = Record("index", {"limit": limit, "ann": ann}, inputs)
    sample = [d.content for d in documents if d.content.strip()]
    with (
        open_engine(engine) as running,
        open_encoder(
            folder, encoder, record, sample=sample, store=store, engine=running
        ) as (model, embeddings),
    ):  # fmt: skip
        with record.timed("embedding documents"):
            originals = _originals(documents, model, own, embeddings, record)
        with record.timed("writing the index"):
            for name in OWN_NAMES:
                folder.own(name, goes_on=True)
            corpus_fields: CorpusFields | None = None
            if (read := documents[0].fields) is not None:  # a store's own ids stand in no field
                is_field = opened.stored is None or bool(fields and fields.id)
                corpus_fields = {"id": read.id if is_field else None, "text": read.text}
            header = IndexHeader(
                fingerprint=originals.own.fingerprint if originals.own else model.fingerprint,
                dim=model.dim,
                encoder=describe_encoder(encoder),
                vectors=originals.own.file if originals.own else None,
                similarity=similarity_of(model),
                corpus_fields=corpus_fields,
            )
            index = open_or_create(folder.path, header)
            _fill(index, originals)
    if ann:
        with record.timed("building the approximate index"):
            index.build_ann()
    return _built(index, folder, record, documents, originals)


@one_writer
def add_documents(
    index: Path | str,
    corpus: Corpus,
    *,
    encoder: Encoder | EncoderConfig | str | None = None,
    vectors: Path | str | None = None,
    fields: FieldNames | None = None,
    limit: int | None = None,
    ann: bool = False,
    engine: EngineConfig | Engine | None = None,
) -> IndexResult[BuildSummary]:
    """Add the documents of a corpus to an index, with the encoder that the index names.

    All or nothing. A document that the index holds already, with the same text, stays as it is: an
    addition that was killed is finished by the same command. One of the same id with another text
    is an InputError, and nothing is added. So are vectors of another space than those of the index.
    Other arguments as for `build_index`.
    """
    there = ViewIndex.open(index_folder(index))
    asking = None if vectors is not None else partial(encoder_of, there, encoder)
    opened = open_corpus(corpus, limit=limit, asking=asking)
    documents = _documents(opened, fields, vectors)
    own = Path(vectors) if vectors is not None else None
    if own is None:
        known_documents(there, [_view(d) for d in documents])  # changed ones are refused at once
    inputs = {"added": opened.origin, "vectors": own}
    record = Record("index add", {"limit": limit, "ann": ann}, inputs)
    folder = ArtifactFolder(there.path)
    with open_engine(engine) as running:
        record.runs_on(running)
        with record.timed("loading the encoder"):
            model = encoder_of(there, encoder, engine=running)
            if own is None:
                there.header.check_fingerprint(model.fingerprint, there.path)
            else:
                there.header.check_queries(model.fingerprint, there.path)
            record.encoder["fingerprint"] = model.fingerprint
        folder.open()
        there.refresh()  # another process may have added since
        with record.timed("embedding documents"):
            if own is None:
                home = store_of(folder.path)
                folder.own(EMBEDDINGS)
                with EmbeddingStore(home, fingerprint=model.fingerprint, dim=model.dim) as store:
                    take_stored(record, store)
                    originals = _originals(documents, model, own, store, record)
            else:
                originals = _originals(documents, model, own, None, record)
            vectors_of = None if own is None else originals.vectors
            known = known_documents(there, originals.views, vectors_of)
            check_space(there, originals.own)
    with record.timed("writing the index"):
        there.add_batches(_batches(originals, known))
    if ann:
        with record.timed("building the approximate index"):
            there.build_ann()
    return _built(there, folder, record, documents, originals)


@one_writer
def delete_documents(index: Path | str, ids: Iterable[str]) -> IndexResult[DeleteSummary]:
    """Delete documents with all their views, in one commit.

    Raises InputError for unknown ids and one text in place of several, and deletes nothing. A
    deletion that was killed is finished by the same call: a note of it stays until its summary is
    written.
    """
    there = ViewIndex.open(index_folder(index))
    doc_ids = sorted(set(listed(ids)))
    if not doc_ids:
        raise InputError(
            "no document id", expected="at least one", fix="Give ids, or a file of them."
        )
    folder = ArtifactFolder(there.path)
    record = Record("index delete", {"ids": len(doc_ids)}, {})
    folder.open()
    counted = Counter(there.texts()["doc_id"])
    views, begun = sum(counted[doc] for doc in doc_ids), _begun(folder)
    if begun is not None and begun["ids"] == doc_ids and not views:
        there.delete_documents(())  # removes files that the killed run left half written
        views = begun["views"]
    else:
        if not set(doc_ids) - set(counted):
            folder.write_json(NOTE, DeletionNote(ids=doc_ids, views=views))
        views = there.delete_documents(doc_ids)
    counts: DeleteCounts = {"documents": {"deleted": len(doc_ids)}, "views_deleted": views}
    summary: DeleteSummary = {**counts, **_state(there)}
    folder.write_results(record.job, summary, record.manifest(counts["documents"]))
    (folder / NOTE).unlink(missing_ok=True)
    return IndexResult(there, summary)


def _begun(folder: ArtifactFolder) -> DeletionNote | None:
    try:
        note = folder.read_json(NOTE)
        return read_record(DeletionNote, note, where=folder / NOTE) if note else None
    except InputError:
        return None  # damaged: the index itself decides


def compact_index(index: Path | str, *, kept: timedelta = KEPT) -> CompactSummary:
    """Free the space of deleted and rolled-back views. Return bytes before and after.

    kept: readers that opened the index longer ago than this, and have not read it again since it
    changed, must open it anew. No state is lost: all documents and remedies stay, and can be
    rolled back.
    """
    there = ViewIndex.open(index_folder(index))
    before = bytes_in(there.path)
    there.compact(kept)
    remove_words(there.path)
    return {
        "index": str(there.path),
        "views": len(there),
        "bytes_before": before,
        "bytes": bytes_in(there.path),
    }


def _documents(
    corpus: CorpusSource, fields: FieldNames | None, vectors: Path | str | None
) -> list[Document]:
    """Read a corpus. Raises InputError for a file of vectors beside a store's own.

    Raises NothingMeasured where no document has text.
    """
    if corpus.stored is not None and vectors is not None:
        raise InputError(
            "a file of vectors for a store, which holds its own",
            expected="one of them",
            fix="Leave --vectors out.",
            where="--vectors",
        )
    documents = corpus.documents(fields or FieldNames())
    with_text = sum(bool(d.content.strip()) for d in documents)
    require_some(with_text, "document has text", "Check --text-field.")
    return documents


def _originals(
    documents: Sequence[Document],
    model: Encoder,
    file: Path | None,
    store: EmbeddingStore | None,
    record: Record,
) -> _Originals:
    """Embed documents, or read their vectors. Raises NothingMeasured where none has one."""
    own: OwnVectors | None = None
    failures = {d.id: NO_TEXT for d in documents if not d.content.strip()}
    if file is None:
        assert store is not None
        usable = [d for d in documents if d.content.strip()]
        embedded = embed(as_documents([d.content for d in usable]), model, store, what="documents")
        failures |= {usable[i].id: why for i, why in embedded.failures.items()}
        views = [_view(d) for d, ok in zip(usable, embedded.ok, strict=True) if ok]
        vectors = embedded.vectors
        if (stored := record.stored()) is not None:
            own = vectors_of_store(stored.facts, vectors, model)
    else:
        own = own_vectors(file, documents, model)
        documents = [replace(document, template=own.template) for document in documents]
        rows = [i for i, d in enumerate(documents) if d.content.strip()]
        failures = {d.id: NO_TEXT for d in documents if not d.content.strip()}
        views, vectors = [_view(documents[i]) for i in rows], own.vectors[rows]
    why = next((f"First failure: {why}" for why in failures.values() if why != NO_TEXT), "")
    require_some(len(views), "document has a vector", why)
    return _Originals(views, vectors, failures, own)


def _view(document: Document) -> View:
    return View(document.id, document.id, ORIGINAL, document.content, document.title)


def _fill(index: ViewIndex, originals: _Originals) -> None:
    """Put the views into an empty index. Leave one alone that holds exactly these."""
    if not len(index):
        remove_words(index.path)  # of another index, whose versions have the same numbers
        index.add_batches(_batches(originals))
        return
    there = index.texts(ORIGINAL)
    if dict(zip(there["id"], there["text"], strict=True)) != {
        v.id: v.text for v in originals.views
    }:
        raise InputError(
            f"holds an index of {len(there['id']):,} other documents",
            expected="a new folder, or the index of this corpus",
            fix="Use `argus index add`, give another --out, or start over with --fresh.",
            where=index.path,
        )
    remove_half_written(index.path)  # a build that was killed behind its commit writes no more


def _batches(
    originals: _Originals, known: Set[str] = frozenset()
) -> Iterator[tuple[list[View], FloatArray]]:
    """Yield the views and their vectors, without those of documents that are known."""
    new = [i for i, view in enumerate(originals.views) if view.doc_id not in known]
    for start in range(0, len(new), BATCH_VIEWS):
        rows = new[start : start + BATCH_VIEWS]
        yield [originals.views[i] for i in rows], originals.vectors[rows]


def _built(
    index: ViewIndex,
    folder: ArtifactFolder,
    record: Record,
    documents: Sequence[Document],
    originals: _Originals,
) -> IndexResult[BuildSummary]:
    """Write summary and manifest of this job."""
    reasons = Counter(originals.failures.values())
    no_text = reasons.pop(NO_TEXT, 0)
    counts: BuildCounts = {
        "documents": {
            "total": len(documents),
            "indexed": len(originals.views),
            "no_text": no_text,
            "failed": sum(reasons.values()),
        },
        "failures": [{"reason": why, "documents": n} for why, n in reasons.most_common(20)],
    }
    if originals.own is not None:
        counts["vectors"] = originals.own.notes
    summary: BuildSummary = {**counts, **_state(index), **record.of_store()}
    folder.write_results(record.job, summary, record.manifest(counts["documents"]))
    return IndexResult(index, summary)


def _state(index: ViewIndex) -> IndexState:
    return {
        "index": str(index.path),
        "encoder": index.fingerprint,
        "dim": index.dim,
        "views": len(index),
        "remedies": [r.record() for r in index.remedies()],
        "ann": index.has_ann(),
    }
