"""Build an index from a corpus, add and delete documents, free its disk space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from argus.corpora.opening import CorpusSource, open_corpus
from argus.data.documents import listed
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.types import Document, FloatArray, View
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, EmbeddingStore, Encoder, embed
from argus.encoders import documents as as_documents
from argus.encoders.protocol import similarity_of
from argus.encoders.rows import UNIT_TOLERANCE
from argus.encoders.store import EMBEDDINGS, store_of
from argus.errors import InputError
from argus.indexes.blend import REMEDIES
from argus.indexes.fold import ORIGINAL
from argus.indexes.header import (
    FILE,
    CorpusFields,
    IndexHeader,
    VectorsFile,
    describe_encoder,
    index_folder,
    parse_index_spec,
    write_header,
)
from argus.indexes.lexical import FOLDER, remove_words
from argus.indexes.own_vectors import own_vectors
from argus.indexes.retriever import encoder_of
from argus.indexes.snapshot import list_some
from argus.indexes.table import KEPT, NAME, remove_half_written, writing
from argus.indexes.views import ViewIndex
from argus.jobs import options as o
from argus.jobs.on_engine import opened as open_engine
from argus.jobs.result import Result
from argus.jobs.workspace import Record, corpus_for, open_encoder, require_some, take_stored
from argus.settings import INDEX, OUTPUT, Doc, Option

BATCH_VIEWS = 4096
OWN_NAMES = (FILE, f"{NAME}.lance", REMEDIES, FOLDER)
"""Files and folders of an index."""
NOTE = "deleting.json"
NO_TEXT = "no text"


Vectors = Annotated[
    Path | str | None,
    Doc(
        "Your own vectors (.npy, one row per document in corpus order) instead of embedding; "
        "--encoder names what queries are embedded with."
    ),
    Option(("--vectors",)),
]
Ann = Annotated[
    bool,
    Doc(
        "Also build the approximate index: takes minutes, needs about half the memory to "
        "search, may miss a result. Faster for single questions over hundreds of thousands of "
        "views; not over tens of thousands, nor for many questions at once."
    ),
    Option(("--ann",)),
]


@dataclass(frozen=True, repr=False)
class IndexResult(Result):
    """An index after a job. `summary` is also in its summary.json.

    Keys of every summary:

    index: path of the index.
    encoder: fingerprint of the encoder that made the vectors.
    dim: length of a vector.
    views: views in the index, documents' own among them.
    remedies: remedies in the index, with their views (fields of `RemedyViews`).
    ann: whether it has an approximate index.

    Keys of `build_index` and `add_documents`:

    documents: documents of the corpus (total), with a vector in the index (indexed), without a
        text (no_text), and that could not be embedded (failed).
    failures: why documents could not be embedded (reason), and how many (documents), the 20 most
        frequent.
    vectors: the file, or store, of vectors that were used instead of embedding (file), its hash
        (sha256), the encoder of queries (encoder), median and least cosine to its vectors
        (agreement, least) over so many texts (compared), how title and text were joined
        (template), whether rows were scaled to length 1 (normalised), and whether the encoder
        makes other vectors (foreign). Missing where the encoder embedded the documents.
    stored_vectors: the vectors of a store, see `argus.corpora.stored.StoredCorpus`.

    Keys of `delete_documents`:

    documents: documents that were deleted (deleted).
    views_deleted: views that went with them, their own among them.
    """

    index: ViewIndex
    summary: dict[str, Any]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary, documents = self.summary, self.summary["documents"]
        if "views_deleted" in summary:
            yield f"deleted {documents['deleted']:,} documents ({summary['views_deleted']:,} views)"
        else:
            left_out = f"{documents['no_text']:,} without text, {documents['failed']:,} failed"
            yield f"indexed {documents['indexed']:,} of {documents['total']:,} ({left_out})"
            for failure in summary["failures"]:
                yield f"failed: {failure['documents']:,} x {failure['reason']}"
            own = summary.get("vectors")
            if own and own["normalised"]:
                yield f"note: the rows of {own['file']} were scaled to length 1"
            if own and own["foreign"]:
                yield (
                    f"warning: your vectors are not what {own['encoder']} makes of the same texts "
                    f"(cosine: median {own['agreement']:.2f}, least {own['least']:.2f}, at best). "
                    "Search asks with that encoder, so it has to be the one that they were made "
                    "for. No vector of the encoder can be added: for remedies, build with the "
                    "encoder that made them, without --vectors"
                )
            elif own and "stored_vectors" not in summary:
                yield (
                    f"vectors: those of {own['file']}, of title and text joined as "
                    f"'{own['template']}': the encoder agrees at a median cosine of "
                    f"{own['agreement']:.4f} (least {own['least']:.4f}, {own['compared']} texts)"
                )
        approximate = ", approximate index" if summary["ann"] else ""
        yield f"index: {summary['index']} ({summary['views']:,} views{approximate})"


@one_writer
def build_index(
    corpus: o.Corpus,
    *,
    out: o.IndexOut,
    encoder: o.Encoder = DEFAULT_MODEL,
    vectors: Vectors = None,
    fields: FieldNames | None = None,
    store: o.Store = None,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    ann: Ann = False,
    engine: o.Engine = None,
) -> IndexResult:
    """Index every document of a corpus through its own text.

    Writes the index, summary.json and manifest.json. A build that was stopped goes on where it was.

    vectors: a .npy file with one row per document in corpus order, used instead of embedding, as
    are the vectors of a corpus that is a store. Then `encoder` names the encoder of queries. Where
    it does not make the same vectors, the index has a fingerprint of its own: it can be searched,
    and no vector of the encoder can enter. Documents without text, and those that cannot be
    embedded, are left out and counted. A complete build stays as it is. ann: also build the
    approximate index. engine: where to embed. None is this process. Raises InputError when `out`
    holds an index of other documents or vectors.
    """
    spec = parse_index_spec(out) if "@" in Path(out).name else None
    if spec is not None and spec.as_of is not None and (spec.path / FILE).is_file():
        got, fix = f"names the state {spec.as_of!r} of the index {spec.path}", "Give another --out."
        raise InputError(got, expected="a folder for an index", fix=fix, where=out)
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
            views, rows, failures, notes = _originals(documents, model, own, embeddings, record)
        with record.timed("writing the index"):
            for name in OWN_NAMES:
                folder.own(name, goes_on=True)
            corpus_fields: CorpusFields | None = None
            if (read := documents[0].fields) is not None:  # a store's own ids stand in no field
                is_field = opened.stored is None or bool(fields and fields.id)
                corpus_fields = {"id": read.id if is_field else None, "text": read.text}
            header = IndexHeader(
                fingerprint=model.fingerprint,
                dim=model.dim,
                encoder=describe_encoder(encoder),
                similarity=similarity_of(model),
                corpus_fields=corpus_fields,
            )
            if notes is not None:
                header = replace(header, vectors=_file_of(notes))
                if notes["foreign"]:
                    space = f"own vectors sha256={notes['sha256'][:16]} dim={model.dim}"
                    header = replace(header, fingerprint=space)
            index = _open_or_create(folder.path, header)
            _fill(index, views, rows)
    return _finish(index, folder, record, documents, (views, failures, notes), ann)


@one_writer
def add_documents(
    index: Annotated[Path | str, Doc("Index folder."), Option(("--index",)), INDEX, OUTPUT],
    corpus: o.Corpus,
    *,
    encoder: o.IndexEncoder = None,
    vectors: Vectors = None,
    fields: FieldNames | None = None,
    limit: o.Limit = None,
    ann: Ann = False,
    engine: o.Engine = None,
) -> IndexResult:
    """Add the documents of a corpus to an index: all of them, or none when one is there already.

    encoder: default: the one that the index names. A document that the index holds already, with
    the same text, stays as it is: an addition that was killed is finished by the same command. One
    of the same id with another text is an InputError, and nothing is added. So are vectors of
    another space than those of the index. Other arguments as for `build_index`.
    """
    there = ViewIndex.open(index_folder(index))
    asking = None if vectors is not None else partial(encoder_of, there, encoder)
    opened = open_corpus(corpus, limit=limit, asking=asking)
    documents = _documents(opened, fields, vectors)
    own = Path(vectors) if vectors is not None else None
    if own is None:
        _known_documents(there, [_view(d) for d in documents])  # changed ones are refused at once
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
        cache: AbstractContextManager[EmbeddingStore | None] = nullcontext()
        if own is None:
            folder.own(EMBEDDINGS)
            home, made = store_of(folder.path), model.fingerprint
            cache = EmbeddingStore(home, fingerprint=made, dim=model.dim)
        with record.timed("embedding documents"), cache as store:
            if store is not None:
                take_stored(record, store)
            views, rows, failures, notes = _originals(documents, model, own, store, record)
        known = _known_documents(there, views, None if own is None else rows)
    if notes and notes["foreign"] != (there.header.foreign is not None):
        raise InputError(
            f"vectors of another space than those of {there.path} ({_file_of(notes)}, the latter "
            f"those of {notes['encoder']})",
            expected="vectors of your own"
            if there.header.foreign
            else f"those of {there.fingerprint}",
            fix="Build an index of their own, or make them with what made the others.",
            where=notes["file"],
        )
    with record.timed("writing the index"):
        there.add_batches(_batches(views, rows, known))
    return _finish(there, folder, record, documents, (views, failures, notes), ann)


@one_writer
def delete_documents(index: Path | str, ids: Iterable[str]) -> IndexResult:
    """Delete documents with all their views, in one commit.

    Raises InputError for unknown ids and one text in place of several, and deletes nothing. A
    deletion that was killed is finished by the same call: a note of it stays until its summary is
    written.
    """
    there = ViewIndex.open(index_folder(index))
    doc_ids = sorted(set(listed(ids)))
    if not doc_ids:
        got = "no document id"
        raise InputError(got, expected="at least one", fix="Give ids, or a file of them.")
    folder = ArtifactFolder(there.path)
    record = Record("index delete", {"ids": len(doc_ids)}, {})
    folder.open()
    counted = Counter(there.texts()["doc_id"])
    views, begun = sum(counted[doc] for doc in doc_ids), None
    with suppress(InputError):  # a damaged note: the index itself decides
        begun = folder.read_json(NOTE)
    if not views and begun and begun.get("ids") == doc_ids and isinstance(begun.get("views"), int):
        there.delete_documents(())  # removes files that the killed run left half written
        views = begun["views"]
    else:
        if not set(doc_ids) - set(counted):
            folder.write_json(NOTE, {"ids": doc_ids, "views": views})
        views = there.delete_documents(doc_ids)
    counts = {"deleted": len(doc_ids)}
    summary = {"documents": counts, "views_deleted": views, **_state(there)}
    folder.write_results(record.job, summary, record.manifest(counts))
    (folder / NOTE).unlink(missing_ok=True)
    return IndexResult(there, summary)


def compact_index(index: Path | str, *, kept: timedelta = KEPT) -> dict[str, Any]:
    """Free the space of deleted and rolled-back views.

    kept: readers that opened the index longer ago than this, and have not read it again since it
    changed, must open it anew. No state is lost: all documents and remedies stay, and can be
    rolled back. Return a dict of these:

    index: path of the index.
    views: views in the index.
    bytes_before, bytes: bytes of the folder before, and now.
    """
    there = ViewIndex.open(index_folder(index))
    before = _bytes_in(there.path)
    there.compact(kept)
    remove_words(there.path)
    sizes = {"bytes_before": before, "bytes": _bytes_in(there.path)}
    return {"index": str(there.path), "views": len(there), **sizes}


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _documents(
    corpus: CorpusSource, fields: FieldNames | None, vectors: Path | str | None
) -> list[Document]:
    """Read a corpus. Raises InputError for a file of vectors beside a store's own.

    Raises NothingMeasured where no document has text.
    """
    if corpus.stored is not None and vectors is not None:
        got = "a file of vectors for a store, which holds its own"
        raise InputError(got, expected="one of them", fix="Leave --vectors out.", where="--vectors")
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
) -> tuple[list[View], FloatArray, dict[str, str], dict[str, Any] | None]:
    """Embed documents, or read their vectors. Raises NothingMeasured where none has one.

    Return a view and a vector per document that has one, why the others have none, and the origin
    of vectors that came from a file or a store.
    """
    notes: dict[str, Any] | None = None
    usable = [i for i, d in enumerate(documents) if d.content.strip()]
    failures = {d.id: NO_TEXT for d in documents if not d.content.strip()}
    if file is not None:
        vectors, notes, template = own_vectors(file, documents, model)
        views = [_view(replace(documents[i], template=template)) for i in usable]
        vectors = vectors[usable]
    else:
        assert store is not None
        texts = as_documents([documents[i].content for i in usable])
        embedded = embed(texts, model, store, what="documents")
        failures |= {documents[usable[i]].id: why for i, why in embedded.failures.items()}
        views = [_view(documents[i]) for i, ok in zip(usable, embedded.ok, strict=True) if ok]
        vectors = embedded.vectors
        if (stored := record.stored()) is not None:
            facts = dict(stored.facts)
            shared = ("sha256", "agreement", "least", "template", "compared")
            notes = {name: facts[name] for name in shared}
            notes |= {"encoder": model.fingerprint, "file": facts["store"]}
            notes |= {"normalised": False, "foreign": False}
    why = next((f"First failure: {why}" for why in failures.values() if why != NO_TEXT), "")
    require_some(len(views), "document has a vector", why)
    return views, vectors, failures, notes


def _batches(
    views: Sequence[View], vectors: FloatArray, known: Set[str] = frozenset()
) -> Iterator[tuple[list[View], FloatArray]]:
    """Yield views and vectors, without those of known documents."""
    new = [i for i, view in enumerate(views) if view.doc_id not in known]
    for start in range(0, len(new), BATCH_VIEWS):
        rows = new[start : start + BATCH_VIEWS]
        yield [views[i] for i in rows], vectors[rows]


def _file_of(notes: Mapping[str, Any]) -> VectorsFile:
    return VectorsFile(**{name: notes[name] for name in VectorsFile.__annotations__})


def _view(document: Document) -> View:
    return View(document.id, document.id, ORIGINAL, document.content, document.title)


def _open_or_create(path: Path, header: IndexHeader) -> ViewIndex:
    """Open the index in a folder, or make it. Raises InputError for one of other vectors.

    The origin of the vectors is written while the index is empty: a build stopped before that has
    nothing in it whose origin is unknown.
    """
    if not (path / FILE).exists():
        return ViewIndex.create(path, **vars(header))
    index = ViewIndex.open(path)
    if not len(index):
        index.header.check_fingerprint(header.fingerprint, path)
        with writing(path):
            write_header(path, replace(header, made=index.made, recipes=index.header.recipes))
        return ViewIndex.open(path)
    there, here = (h.vectors and h.vectors.sha256 for h in (index.header, header))
    if there != here:
        got = f"holds an index of other vectors: {_origin(index.header)}"
        expected = f"the vectors of this build: {_origin(header)}"
        fix = "Give another --out, or use --fresh to build it with these."
        raise InputError(got, expected=expected, fix=fix, where=path)
    index.header.check_queries(header.asked_with, path)
    return index


def _origin(header: IndexHeader) -> str:
    if header.vectors is None:
        return f"embedded by {header.fingerprint}"
    return f"from a file (--vectors) with SHA-256 {header.vectors.sha256[:16]}..."


def _fill(index: ViewIndex, views: Sequence[View], vectors: FloatArray) -> None:
    """Put the views into an empty index. Leave one alone that holds exactly these."""
    if not len(index):
        remove_words(index.path)  # of another index, whose versions have the same numbers
        index.add_batches(_batches(views, vectors))
        return
    there = index.texts(ORIGINAL)
    if dict(zip(there["id"], there["text"], strict=True)) != {v.id: v.text for v in views}:
        got = f"holds an index of {len(there['id']):,} other documents"
        expected = "a new folder, or the index of this corpus"
        fix = "Use `argus index add`, give another --out, or start over with --fresh."
        raise InputError(got, expected=expected, fix=fix, where=index.path)
    remove_half_written(index.path)  # a build that was killed behind its commit writes no more


def _known_documents(
    index: ViewIndex, views: Sequence[View], vectors: FloatArray | None = None
) -> frozenset[str]:
    """Return the ids of documents that an index holds as they are.

    vectors: a row per view, where they are a person's own. These must be equal, too. Raises
    InputError for changed documents.
    """
    texts = index.texts(ORIGINAL)
    there = dict(zip(texts["doc_id"], texts["text"], strict=True))
    changed = sorted(v.doc_id for v in views if there.get(v.doc_id, v.text) != v.text)
    known = frozenset(v.doc_id for v in views if v.doc_id in there)
    if vectors is not None and known and not changed:
        snapshot = index.snapshot(ORIGINAL)
        rows = {view.doc_id: row for row, view in enumerate(snapshot.views)}
        changed = [
            view.doc_id
            for view, vector in zip(views, vectors, strict=True)
            if view.doc_id in rows
            and not np.allclose(vector, snapshot.vectors[rows[view.doc_id]], atol=UNIT_TOLERANCE)
        ]
    if changed:
        raise InputError(
            f"{len(changed)} of the documents are in it already with another text or "
            f"vector: {list_some(changed)}",
            expected="new documents, or those of the index as they are",
            fix="Leave them out, or delete them first with `argus index delete`.",
            where=index.path,
        )
    return known


def _finish(
    index: ViewIndex,
    folder: ArtifactFolder,
    record: Record,
    documents: Sequence[Document],
    indexed: tuple[list[View], dict[str, str], dict[str, Any] | None],
    ann: bool,
) -> IndexResult:
    """Build the approximate index if asked for, and write summary and manifest."""
    if ann:
        with record.timed("building the approximate index"):
            index.build_ann()
    views, failures, notes = indexed
    reasons = Counter(failures.values())
    no_text = reasons.pop(NO_TEXT, 0)
    counts = {"total": len(documents), "indexed": len(views), "no_text": no_text}
    counts["failed"] = sum(reasons.values())
    summary = {
        "documents": counts,
        "failures": [{"reason": why, "documents": n} for why, n in reasons.most_common(20)],
        **({"vectors": notes} if notes else {}),
        **_state(index),
        **record.of_store(),
    }
    folder.write_results(record.job, summary, record.manifest(counts))
    return IndexResult(index, summary)


def _state(index: ViewIndex) -> dict[str, Any]:
    return {
        "index": str(index.path),
        "encoder": index.fingerprint,
        "dim": index.dim,
        "views": len(index),
        "remedies": [asdict(remedy) for remedy in index.remedies()],
        "ann": index.has_ann(),
    }
