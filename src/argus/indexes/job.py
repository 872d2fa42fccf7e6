"""Indexes on disk: build one from a corpus, add documents, delete documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from argus.corpora import Corpus
from argus.corpora.opening import CorpusSource, open_corpus
from argus.corpora.stored import StoredCorpus
from argus.data.documents import listed
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
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
from argus.indexes.compact import KEPT
from argus.indexes.deletion import delete_views, end_deletion
from argus.indexes.described import describe_encoder
from argus.indexes.header import FILE, CorpusFields, IndexHeader
from argus.indexes.known import known_documents
from argus.indexes.origin import check_encoder, check_space, open_or_create, refuse_state
from argus.indexes.own_vectors import OwnVectors, own_vectors, vectors_of_store
from argus.indexes.retriever import encoder_of
from argus.indexes.saved_words import FOLDER, remove_words
from argus.indexes.spec import index_folder
from argus.indexes.summary import (
    BuildCounts,
    BuildSummary,
    CompactSummary,
    DeleteCounts,
    DeleteSummary,
    IndexState,
    headline,
)
from argus.indexes.table import NAME, remove_half_written
from argus.indexes.views import ORIGINAL, ViewIndex
from argus.jobs.on_engine import opened as open_engine
from argus.jobs.result import Result
from argus.jobs.workspace import Record, corpus_for, open_encoder, require_some, take_stored

BATCH_VIEWS = 4096
OWN_NAMES = (FILE, f"{NAME}.lance", "remedies", FOLDER)
"""What an index is made of, in its folder."""
NO_TEXT = "no text"
S = TypeVar("S", BuildSummary, DeleteSummary)


@dataclass(frozen=True, repr=False)
class IndexResult(Result, Generic[S]):
    """What was done to an index; `summary` is also in its summary.json."""

    index: ViewIndex
    summary: S

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@dataclass(frozen=True)
class _Originals:
    """One view per document that has a vector, and why the others have none."""

    views: list[View]
    vectors: FloatArray
    failures: dict[str, str]
    own: OwnVectors | None = None
    """Where the vectors came from a file or a store."""


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

    vectors: a .npy file with one row per document in corpus order, taken instead of embedding, as
    are the vectors of a corpus that is a store;
    `encoder` then says what queries are embedded with. Where it does not make the same vectors, the
    index has a fingerprint of its own: it can be searched, and no vector of the encoder can enter.
    Documents without text, and those that cannot be embedded, are left out and counted. A build
    that was stopped goes on where it was; one that is complete stays as it is. ann: also build the
    approximate index. engine: what embeds; None is this process. Raises InputError when `out` holds
    an index of other documents or vectors.
    """
    refuse_state(out)
    opened = corpus_for(corpus, None if vectors is not None else encoder, limit)
    _refuse_both(opened, vectors)
    documents, path = _documents(opened, fields), opened.origin
    corpus_fields = _corpus_fields(documents, fields, is_store=opened.stored is not None)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    own = Path(vectors) if vectors is not None else None
    record = Record("index", {"limit": limit, "ann": ann}, {"corpus": path, "vectors": own})
    sample = [d.content for d in documents if d.content.strip()]
    with (
        open_engine(engine) as running,
        open_encoder(
            folder, encoder, record, sample=sample, store=store, engine=running
        ) as (model, embeddings),
    ):  # fmt: skip
        with record.timed("embedding documents"):
            if own is None:
                originals = _embedded(documents, model, embeddings, record.stored())
            else:
                originals = _imported(documents, own, model)
        require_some(len(originals.views), "document has a vector", _first(originals.failures))
        with record.timed("writing the index"):
            for name in OWN_NAMES:
                folder.own(name, goes_on=True)
            index = open_or_create(
                folder.path, _header(originals.own, model, encoder, corpus_fields)
            )
            _fill(index, originals)
    if ann:
        with record.timed("building the approximate index"):
            index.build_ann()
    return _built(index, folder, record, _counts(documents, originals))


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
    is an InputError, and nothing is added; so are vectors of another space than those of the index.
    Other arguments as for `build_index`.
    """
    there = ViewIndex.open(index_folder(index))
    asking = None if vectors is not None else partial(encoder_of, there, encoder)
    opened = open_corpus(corpus, limit=limit, asking=asking)
    _refuse_both(opened, vectors)
    documents, path = _documents(opened, fields), opened.origin
    own = Path(vectors) if vectors is not None else None
    if own is None:
        known_documents(there, [_view(d) for d in documents])  # changed ones are refused at once
    record = Record("index add", {"limit": limit, "ann": ann}, {"added": path, "vectors": own})
    folder = ArtifactFolder(there.path)
    with open_engine(engine) as running:
        record.runs_on(running)
        with record.timed("loading the encoder"):
            model = encoder_of(there, encoder, engine=running)
            check_encoder(there, model, embeds=own is None)
            record.encoder["fingerprint"] = model.fingerprint
        folder.open()
        there.refresh()  # another process may have added since
        with record.timed("embedding documents"):
            if own is None:
                home = store_of(folder.path)
                folder.own(EMBEDDINGS)
                with EmbeddingStore(home, fingerprint=model.fingerprint, dim=model.dim) as store:
                    take_stored(record, store)
                    originals = _embedded(documents, model, store, record.stored())
            else:
                originals = _imported(documents, own, model)
            vectors_of = None if own is None else originals.vectors
            known = known_documents(there, originals.views, vectors_of)
            check_space(there, originals.own)
    require_some(len(originals.views), "document has a vector", _first(originals.failures))
    with record.timed("writing the index"):
        there.add_batches(_batches(originals, known))
    if ann:
        with record.timed("building the approximate index"):
            there.build_ann()
    return _built(there, folder, record, _counts(documents, originals))


@one_writer
def delete_documents(index: Path | str, ids: Iterable[str]) -> IndexResult[DeleteSummary]:
    """Delete documents with all their views; InputError names unknown ids and deletes nothing.

    A deletion that was killed is finished by the same call. One text alone is refused.
    """
    there = ViewIndex.open(index_folder(index))
    ids = listed(ids)
    if not ids:
        raise InputError(
            "no document id", expected="at least one", fix="Give ids, or a file of them."
        )
    folder = ArtifactFolder(there.path)
    record = Record("index delete", {"ids": len(set(ids))}, {})
    folder.open()
    views = delete_views(there, ids, folder)
    counts: DeleteCounts = {"documents": {"deleted": len(set(ids))}, "views_deleted": views}
    summary: DeleteSummary = {**counts, **_state(there)}
    folder.write_results(record.job, summary, record.manifest(counts["documents"]))
    end_deletion(folder)
    return IndexResult(there, summary)


def compact_index(index: Path | str, *, kept: timedelta = KEPT) -> CompactSummary:
    """Free the space of what was deleted or rolled back; return bytes before and after.

    kept: whoever opened the index longer ago than this and has not read it again since it changed
    has to open it anew. No state is lost: all documents and remedies stay, and can be rolled back.
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


def _documents(corpus: CorpusSource, fields: FieldNames | None) -> list[Document]:
    """Read a corpus; InputError where no document has text."""
    documents = corpus.documents(fields or FieldNames())
    require_some(
        sum(bool(d.content.strip()) for d in documents), "document has text", "Check --text-field."
    )
    return documents


def _refuse_both(corpus: CorpusSource, vectors: Path | str | None) -> None:
    if corpus.stored is not None and vectors is not None:
        raise InputError(
            "a file of vectors for a store, which holds its own",
            expected="one of them",
            fix="Leave --vectors out.",
            where="--vectors",
        )


def _embedded(
    documents: Sequence[Document],
    model: Encoder,
    store: EmbeddingStore,
    stored: StoredCorpus | None,
) -> _Originals:
    """Embed documents; stored: the store from which their vectors are taken, if there is one."""
    usable = [d for d in documents if d.content.strip()]
    embedded = embed(as_documents([d.content for d in usable]), model, store, what="documents")
    failures = {d.id: NO_TEXT for d in documents if not d.content.strip()}
    failures |= {usable[i].id: why for i, why in embedded.failures.items()}
    views = [_view(d) for d, ok in zip(usable, embedded.ok, strict=True) if ok]
    own = None if stored is None else vectors_of_store(stored.facts, embedded.vectors, model)
    return _Originals(views, embedded.vectors, failures, own)


def _imported(documents: Sequence[Document], file: Path, model: Encoder) -> _Originals:
    imported = own_vectors(file, documents, model)
    documents = [replace(document, template=imported.template) for document in documents]
    usable = [i for i, d in enumerate(documents) if d.content.strip()]
    failures = {d.id: NO_TEXT for d in documents if not d.content.strip()}
    views = [_view(documents[i]) for i in usable]
    return _Originals(views, imported.vectors[usable], failures, imported)


def _view(document: Document) -> View:
    return View(document.id, document.id, ORIGINAL, document.content, document.title)


def _header(
    own: OwnVectors | None,
    model: Encoder,
    encoder: Encoder | EncoderConfig | str,
    corpus_fields: CorpusFields | None,
) -> IndexHeader:
    return IndexHeader(
        fingerprint=own.fingerprint if own else model.fingerprint,
        dim=model.dim,
        encoder=describe_encoder(encoder),
        vectors=own.file if own else None,
        similarity=similarity_of(model),
        corpus_fields=corpus_fields,
    )


def _corpus_fields(
    documents: Sequence[Document], fields: FieldNames | None, *, is_store: bool
) -> CorpusFields | None:
    """Return where records hold ids and texts; a store's own ids stand in no field."""
    read = documents[0].fields
    if read is None:
        return None
    own = None if is_store and not (fields and fields.id) else read.id
    return {"id": own, "text": read.text}


def _fill(index: ViewIndex, originals: _Originals) -> None:
    """Put the views into an empty index; leave one alone that holds exactly these."""
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


def _counts(documents: Sequence[Document], originals: _Originals) -> BuildCounts:
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
    return counts


def _first(failures: dict[str, str]) -> str:
    return next((f"First failure: {why}" for why in failures.values() if why != NO_TEXT), "")


def _built(
    index: ViewIndex, folder: ArtifactFolder, record: Record, counts: BuildCounts
) -> IndexResult[BuildSummary]:
    """Write what the folder says of the index now, and of this job."""
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
