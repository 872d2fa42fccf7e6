"""Build an index from a corpus, add and delete documents, free disk space (`argus index ...`).

From documents and an encoder, or a .npy file of your own vectors, to the folder of an index with
one vector per document. `argus.indexes.views` stores it and `argus.indexes.retriever` searches it.
Remedies (`argus tune apply ...`) add further texts per document later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from argus.corpora.opening import CorpusSource, open_corpus
from argus.corpora.stored import describe_template, find_template
from argus.data.documents import listed
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.provenance import file_hash
from argus.data.reading import read_ids, reading
from argus.data.types import Document, FloatArray, View
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, EmbeddingStore, Encoder, embed
from argus.encoders import documents as as_documents
from argus.encoders.config import COSINE
from argus.encoders.protocol import similarity_of
from argus.encoders.store import EMBEDDINGS, store_of
from argus.engine import open_given
from argus.errors import InputError
from argus.indexes.blend import REMEDIES
from argus.indexes.fold import ORIGINAL
from argus.indexes.header import FILE, describe_encoder, index_folder
from argus.indexes.lexical import FOLDER, remove_words
from argus.indexes.retriever import encoder_of
from argus.indexes.snapshot import list_some
from argus.indexes.views import NAME, ViewIndex
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import Record, corpus_for, open_encoder, require_some, take_stored
from argus.settings import INDEX, OUTPUT, Doc, Option

BATCH_VIEWS = 4096
# Files and folders of an index.
OWN_NAMES = (FILE, NAME, REMEDIES, FOLDER)
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


@dataclass(frozen=True, repr=False)
class IndexResult(Result):
    """An index after a job. `summary` is also in its summary.json.

    Keys of every summary:

    index: path of the index.
    encoder: fingerprint of the encoder that made the vectors.
    dim: length of a vector.
    views: views in the index, documents' own among them.
    remedies: remedies in the index, with their views (fields of `RemedyViews`).

    Keys of `build_index` and `add_documents`:

    documents: documents of the corpus (total), with a vector in the index (indexed), without a
        text (no_text), and that could not be embedded (failed).
    failures: why documents could not be embedded (reason), and how many (documents), the 20 most
        frequent.
    vectors: the file of vectors that were used instead of embedding (file), its hash
        (sha256), the encoder of queries (encoder), median and least cosine to its vectors
        (agreement, least) over so many texts (compared), how title and text were joined
        (template), and whether the encoder makes other vectors (foreign). Missing where the encoder
        embedded the documents.
    stored_vectors: the vectors of a store, see `argus.corpora.stored.StoredCorpus`.

    Keys of `delete_documents`:

    documents: documents that were deleted (deleted).
    views_deleted: views that went with them, their own among them.

    Keys of `compact_index`:

    bytes_before, bytes: bytes of the folder before, and now.
    """

    index: ViewIndex
    summary: dict[str, Any]

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary, documents = self.summary, self.summary.get("documents")
        if documents is None:
            yield f"{(summary['bytes_before'] - summary['bytes']) / 1e6:,.1f} MB freed"
        elif "views_deleted" in summary:
            yield f"deleted {documents['deleted']:,} documents ({summary['views_deleted']:,} views)"
        else:
            left_out = f"{documents['no_text']:,} without text, {documents['failed']:,} failed"
            yield f"indexed {documents['indexed']:,} of {documents['total']:,} ({left_out})"
            for failure in summary["failures"]:
                yield f"failed: {failure['documents']:,} x {failure['reason']}"
            own = summary.get("vectors")
            if own and own["foreign"]:
                yield (
                    f"warning: your vectors are not what {own['encoder']} makes of the same texts "
                    f"(cosine: median {own['agreement']:.2f}, least {own['least']:.2f}, at best). "
                    "Search asks with that encoder. No vector of it can be added, so no remedy"
                )
            elif own:
                yield (
                    f"vectors: those of {own['file']}, of title and text joined as "
                    f"'{own['template']}': the encoder agrees at a median cosine of "
                    f"{own['agreement']:.4f} (least {own['least']:.4f}, {own['compared']} texts)"
                )
        yield f"index: {summary['index']} ({summary['views']:,} views)"


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
    engine: o.Engine = None,
) -> IndexResult:
    """Index every document of a corpus through its own text.

    Writes the index, summary.json and manifest.json. A build that was stopped goes on where it was.

    vectors: a .npy file with one row per document in corpus order, used instead of embedding, as
    are the vectors of a corpus that is a store. Where `encoder`, which embeds queries, makes others
    of the same texts, the index can be searched, and no vector of the encoder can enter. Documents
    without text, and those that cannot be embedded, are left out and counted. A complete build
    stays as it is. engine: where to embed. None is this process. Raises InputError when `out` holds
    an index of other documents.
    """
    opened = corpus_for(corpus, None if vectors is not None else encoder, limit)
    documents = _documents(opened, fields, vectors)
    own = Path(vectors) if vectors is not None else None
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record("index", {"limit": limit}, {"corpus": opened.origin, "vectors": own})
    with (
        open_given(engine) as running,
        open_encoder(
            folder, encoder, record, store=store, engine=running
        ) as (model, embeddings),
    ):  # fmt: skip
        with record.timed("embedding documents"):
            views, rows, failures, notes = _originals(documents, model, own, embeddings, record)
        with record.timed("writing the index"):
            for name in OWN_NAMES:
                folder.own(name, goes_on=True)
            corpus_fields: dict[str, str | None] | None = None
            if (first := documents[0]).text_field is not None:
                corpus_fields = {"id": first.id_field, "text": first.text_field}
            is_foreign = notes is not None and notes["foreign"]
            if (folder / FILE).exists():
                index = ViewIndex.open(folder.path)
                index.header.check_queries(model.fingerprint, index.path)
            else:
                index = ViewIndex.create(
                    folder.path,
                    fingerprint=model.fingerprint,
                    dim=model.dim,
                    encoder=describe_encoder(encoder),
                    similarity=similarity_of(model),
                    corpus_fields=corpus_fields,
                    foreign=is_foreign,
                )
            there = index.rows(ORIGINAL)
            texts = dict(zip(there["id"].to_pylist(), there["text"].to_pylist(), strict=True))
            if not texts:
                remove_words(index.path)  # of another index, whose versions have the same numbers
                index.add_batches(_batches(views, rows))
            elif (
                texts != {view.id: view.text for view in views}
                or is_foreign != index.header.foreign
            ):
                got = f"holds an index of {len(texts):,} other documents, or other vectors"
                expected = "a new folder, or the index of this corpus"
                fix = "Use `argus index add`, give another --out, or start over with --fresh."
                raise InputError(got, expected=expected, fix=fix, where=index.path)
    return _finish(index, folder, record, documents, (views, failures, notes))


@one_writer
def add_documents(
    index: Annotated[Path | str, Option(("--index",)), INDEX, OUTPUT],
    corpus: o.Corpus,
    *,
    encoder: o.IndexEncoder = None,
    vectors: Vectors = None,
    fields: FieldNames | None = None,
    limit: o.Limit = None,
    engine: o.Engine = None,
) -> IndexResult:
    """Add the documents of a corpus to an index: all of them, or none when one is there already.

    encoder: default: the one that the index names. A document that the index holds already, with
    the same text, stays as it is: an addition that was killed is finished by the same command. One
    of the same id with another text is an InputError, and nothing is added. So are vectors of
    another space than those of the index. Other arguments as for `build_index`.

    Args:
        index: Index folder.
    """
    there = ViewIndex.open(index_folder(index))
    asking = None if vectors is not None else partial(encoder_of, there, encoder)
    opened = open_corpus(corpus, limit=limit, asking=asking)
    documents = _documents(opened, fields, vectors)
    own = Path(vectors) if vectors is not None else None
    if own is None:  # changed ones are refused at once
        _known_documents(there, {d.id: d.content for d in documents})
    record = Record("index add", {"limit": limit}, {"added": opened.origin, "vectors": own})
    folder = ArtifactFolder(there.path)
    with open_given(engine) as running:
        record.runs_on(running)
        with record.timed("loading the encoder"):
            model = encoder_of(there, encoder, engine=running)
            check = there.header.check_queries if own else there.header.check_fingerprint
            check(model.fingerprint, there.path)
            record.encoder["fingerprint"] = model.fingerprint
        folder.open()
        folder.own(EMBEDDINGS)
        cache = EmbeddingStore(store_of(folder.path), fingerprint=model.fingerprint, dim=model.dim)
        with record.timed("embedding documents"), cache as store:
            take_stored(record, store)
            views, rows, failures, notes = _originals(documents, model, own, store, record)
    if notes is not None and notes["foreign"] != there.header.foreign:
        raise InputError(
            "vectors of another space than those of the index",
            expected=f"{'vectors of your own' if there.header.foreign else there.fingerprint}",
            fix="Build an index of their own, or make them with what made the others.",
            where=notes["file"],
        )
    known = _known_documents(there, {view.doc_id: view.text for view in views})
    with record.timed("writing the index"):
        there.add_batches(_batches(views, rows, known))
    return _finish(there, folder, record, documents, (views, failures, notes))


@one_writer
def delete_documents(
    index: Annotated[Path | str, Option(("--index",)), INDEX, OUTPUT],
    ids: Annotated[Sequence[str], Option(argument="IDS")] = (),
    *,
    ids_file: Path | None = None,
) -> IndexResult:
    """Delete documents with all their views: all of them, or none when an id is unknown.

    ids: any iterable. Raises InputError for unknown ids and one text in place of several. A
    deletion that was killed is finished by the same call: a note of it stays until its summary is
    written.

    Args:
        index: Index folder.
        ids: Document ids.
        ids_file: File with one document id per line.
    """
    there = ViewIndex.open(index_folder(index))
    doc_ids = sorted({*listed(ids), *(id_ for _, id_ in (read_ids(ids_file) if ids_file else ()))})
    if not doc_ids:
        got = "no document id"
        raise InputError(got, expected="at least one", fix="Give ids, or a file of them.")
    folder = ArtifactFolder(there.path)
    record = Record("index delete", {"ids": len(doc_ids)}, {})
    folder.open()
    counted = Counter(there.rows()["doc_id"].to_pylist())
    note = {"ids": doc_ids, "views": sum(counted[doc] for doc in doc_ids)}
    begun = folder.read_json(NOTE)
    if begun.get("ids") == doc_ids and not note["views"]:  # killed behind its commit
        note = begun
    else:
        if counted.keys() >= set(doc_ids):
            folder.write_json(NOTE, note)
        there.delete_documents(doc_ids)
    counts = {"deleted": len(doc_ids)}
    summary = {"documents": counts, "views_deleted": note["views"], **_state(there)}
    folder.write_results(record.job, summary, record.manifest(counts))
    (folder / NOTE).unlink(missing_ok=True)
    return IndexResult(there, summary)


def compact_index(
    index: Annotated[Path | str, Option(("--index",)), INDEX, OUTPUT],
) -> IndexResult:
    """Free the space of what was deleted or rolled back. Every state that there is stays.

    Deleted text stays on the disk until then. Whoever has had the index open through a change has
    to open it again.

    Args:
        index: Index folder.
    """
    there = ViewIndex.open(index_folder(index))
    before = _bytes_in(there.path)
    there.compact()
    remove_words(there.path)
    sizes = {"bytes_before": before, "bytes": _bytes_in(there.path)}
    return IndexResult(there, {**_state(there), **sizes})


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
    store: EmbeddingStore,
    record: Record,
) -> tuple[list[View], FloatArray, dict[str, str], dict[str, Any] | None]:
    """Embed documents, or read their vectors. Raises NothingMeasured where none has one.

    Return a view and a vector per document that has one, why the others have none, and the origin
    of vectors that came from a file.
    """
    notes: dict[str, Any] | None = None
    with_text = [document for document in documents if document.content.strip()]
    failures = {d.id: NO_TEXT for d in documents if not d.content.strip()}
    if file is not None:
        vectors, notes, template = own_vectors(file, documents, model)
        with_text = [replace(document, template=template) for document in with_text]
    else:
        embedded = embed(
            as_documents([d.content for d in with_text]), model, store, what="documents"
        )
        failures |= {with_text[i].id: why for i, why in embedded.failures.items()}
        with_text = [d for d, ok in zip(with_text, embedded.ok, strict=True) if ok]
        vectors = embedded.vectors
    why = next((f"First failure: {why}" for why in failures.values() if why != NO_TEXT), "")
    require_some(len(with_text), "document has a vector", why)
    views = [View(d.id, d.id, ORIGINAL, d.content, d.title) for d in with_text]
    return views, vectors, failures, notes


def own_vectors(
    file: Path, documents: Sequence[Document], encoder: Encoder
) -> tuple[FloatArray, dict[str, Any], str | None]:
    """Read a .npy file of shape (n_documents, dim). Rows of documents without text are not used.

    Return unit rows of the documents with text, their origin (`vectors` of `IndexResult`), and how
    title and text were joined. Raises InputError for a missing or broken file, another shape, rows
    that are zero or not finite.
    """
    if similarity_of(encoder) != COSINE:
        got = "an encoder that ranks by dot product, with vectors of your own"
        expected = "one that ranks by cosine: vectors of your own are scaled to length 1"
        fix = "Leave out --vectors to have the documents embedded."
        raise InputError(got, expected=expected, fix=fix, where="--vectors")
    what, expected = "cannot be read as .npy", "one array that numpy.save wrote, of numbers"
    with reading(file, what, expected=expected, fix="Write it again with numpy.save."):
        stored = np.lib.format.open_memmap(file, mode="r")
        vectors = stored.astype(np.float64)
    shape = len(documents), encoder.dim
    if vectors.shape != shape:
        raise InputError(
            f"an array of shape {vectors.shape}",
            expected=f"{shape}: a row per document, in the order of the corpus, as long as the "
            f"vectors of {encoder.fingerprint}",
            fix="Write a row for every document, those without text too; name their --encoder.",
            where=file,
        )
    used = [row for row, document in enumerate(documents) if document.content.strip()]
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(vectors, axis=1)
    if bad := [row for row in used if not 0 < norms[row] < np.inf]:
        got = f"{len(bad)} rows are zero or not finite, the first is row {bad[0]}"
        fix = f"Embed {documents[bad[0]].id!r} again, or leave it out of both files."
        expected = "a vector for every document with text"
        raise InputError(got, expected=expected, fix=fix, where=file)
    unit = np.zeros(shape, np.float32)
    unit[used] = vectors[used] / norms[used, None]
    template = documents[used[0]].template
    agreement = find_template(documents, unit, used, encoder, template=template)
    notes = {
        "sha256": file_hash(file),
        "encoder": encoder.fingerprint,
        "agreement": agreement.median,
        "least": agreement.least,
        "file": str(file),
        "foreign": not agreement.holds,
        "template": describe_template(agreement.template),
        "compared": len(agreement.cosines),
    }
    return unit[used], notes, agreement.template if agreement.holds else template


def _batches(
    views: Sequence[View], vectors: FloatArray, known: Set[str] = frozenset()
) -> Iterator[tuple[list[View], FloatArray]]:
    """Yield views and vectors, without those of known documents."""
    new = [i for i, view in enumerate(views) if view.doc_id not in known]
    for start in range(0, len(new), BATCH_VIEWS):
        rows = new[start : start + BATCH_VIEWS]
        yield [views[i] for i in rows], vectors[rows]


def _known_documents(index: ViewIndex, texts: Mapping[str, str]) -> set[str]:
    """Return the ids of documents that an index holds. Raises InputError for changed texts."""
    rows = index.rows(ORIGINAL)
    there = dict(zip(rows["doc_id"].to_pylist(), rows["text"].to_pylist(), strict=True))
    if changed := sorted(id_ for id_, text in texts.items() if there.get(id_, text) != text):
        raise InputError(
            f"{len(changed)} of the documents are in it already with another text: "
            f"{list_some(changed)}",
            expected="new documents, or those of the index as they are",
            fix="Leave them out, or delete them first with `argus index delete`.",
            where=index.path,
        )
    return texts.keys() & there.keys()


def _finish(
    index: ViewIndex,
    folder: ArtifactFolder,
    record: Record,
    documents: Sequence[Document],
    indexed: tuple[list[View], dict[str, str], dict[str, Any] | None],
) -> IndexResult:
    """Write summary and manifest."""
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
    }
