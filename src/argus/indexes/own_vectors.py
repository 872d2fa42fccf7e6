"""Take vectors that a person brings instead of embedding, and keep vectors of two spaces apart.

They count as the encoder's own when they agree with its vectors of the same texts (see
`argus.corpora.stored`). Other vectors are another space, with a fingerprint of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from argus.corpora.stored import describe_template, find_template
from argus.data.folders import StoredVectorsFacts
from argus.data.provenance import file_hash
from argus.data.reading import UNREADABLE, damage
from argus.data.types import Document, FloatArray, View
from argus.encoders import Encoder
from argus.encoders.config import COSINE
from argus.encoders.protocol import similarity_of, unit_rows
from argus.encoders.rows import UNIT_TOLERANCE
from argus.errors import InputError
from argus.indexes.fold import ORIGINAL
from argus.indexes.header import FILE, IndexHeader, VectorsFile, VectorsFileRecord, write_header
from argus.indexes.snapshot import list_some
from argus.indexes.table import writing
from argus.indexes.views import ViewIndex


class OwnVectorsNotes(VectorsFileRecord):
    """The file, or store, of vectors that were taken instead of embedding.

    file: file, or address of the store.
    normalised: whether rows were scaled to length 1.
    foreign: whether the encoder makes other vectors.
    template: how title and text were joined, at best where they are foreign.
    compared: texts that were embedded to tell.
    """

    file: str
    normalised: bool
    foreign: bool
    template: str
    compared: int


@dataclass(frozen=True)
class OwnVectors:
    """Unit rows, one per document in corpus order, and their origin.

    fingerprint: the encoder's if it agrees with the vectors, else one of their own. template:
    how title and text were joined, where the agreement shows it.
    """

    vectors: FloatArray
    fingerprint: str
    notes: OwnVectorsNotes
    template: str | None = None

    @property
    def file(self) -> VectorsFile:
        """The file as index.json names it."""
        notes = self.notes
        return VectorsFile(
            sha256=notes["sha256"], encoder=notes["encoder"],
            agreement=notes["agreement"], least=notes["least"],
        )  # fmt: skip


def own_vectors(file: Path, documents: Sequence[Document], encoder: Encoder) -> OwnVectors:
    """Read a .npy file of shape (n_documents, dim). Rows of documents without text are not used.

    Raises InputError for an encoder that ranks by dot product, a missing or broken file, another
    shape, a dimension that is not the encoder's, and rows that are zero or not finite.
    Raises EncodingError when the encoder cannot embed the texts to compare: vectors of which
    nothing is known are refused.
    """
    if similarity_of(encoder) != COSINE:
        raise InputError(
            "an encoder that ranks by dot product, with vectors of your own",
            expected="one that ranks by cosine: vectors of your own are scaled to length 1",
            fix="Leave out --vectors to have the documents embedded.",
            where="--vectors",
        )
    stored = _read(file, documents, encoder)
    with np.errstate(over="ignore"):  # beyond float32 is infinite, or zero
        vectors = stored.astype(np.float32)
    used = np.array([bool(d.content.strip()) for d in documents])
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    wrong = np.flatnonzero(used & ~((norms > 0) & np.isfinite(norms)))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"{len(wrong)} rows are zero or not finite, the first is row {row} "
            f"(document {documents[row].id!r})",
            expected="a vector for every document with text",
            fix="Embed those documents again, or leave them out of both files.",
            where=file,
        )
    unit = unit_rows(np.where(used[:, None], vectors, 0))
    usable = np.flatnonzero(used).tolist()
    named = documents[usable[0]].template
    agreement = find_template(documents, unit, usable, encoder, template=named)
    sha256, foreign = file_hash(file), not agreement.holds
    notes: OwnVectorsNotes = {
        "sha256": sha256,
        "encoder": encoder.fingerprint,
        "agreement": agreement.median,
        "least": agreement.least,
        "file": str(file),
        "normalised": bool((np.abs(norms[used] - 1) > 1e-3).any()),
        "foreign": foreign,
        "template": describe_template(agreement.template),
        "compared": len(agreement.cosines),
    }
    if foreign:
        space = f"own vectors sha256={sha256[:16]} dim={encoder.dim}"
        return OwnVectors(unit, space, notes, named)
    return OwnVectors(unit, encoder.fingerprint, notes, agreement.template)


def _read(file: Path, documents: Sequence[Document], encoder: Encoder) -> np.ndarray:
    """Return the rows of a .npy file, memory-mapped, one per document."""
    try:
        with np.errstate(over="ignore"):  # of a size that no file has
            vectors = np.lib.format.open_memmap(file, mode="r")
    except FileNotFoundError as error:
        raise InputError(
            "no such file", expected="a .npy file", fix="Check the path.", where=file
        ) from error
    except UNREADABLE as error:
        raise InputError(
            f"cannot be read as .npy ({damage(error)})",
            expected="one array that numpy.save wrote, of numbers",
            fix="Write it again with numpy.save.",
            where=file,
        ) from error
    if vectors.ndim != 2 or not np.issubdtype(vectors.dtype, np.floating):
        raise InputError(
            f"an array of shape {vectors.shape}, type {vectors.dtype}",
            expected="floating-point numbers of shape (documents, dimension)",
            fix="Save one row per document with numpy.save.",
            where=file,
        )
    if vectors.shape[0] != len(documents):
        raise InputError(
            f"{vectors.shape[0]:,} rows",
            expected=f"{len(documents):,}: one row per document, in the order of the corpus",
            fix="Write a row for every document, those without text too; mind --limit.",
            where=file,
        )
    if vectors.shape[1] != encoder.dim:
        raise InputError(
            f"vectors of dimension {vectors.shape[1]}",
            expected=f"{encoder.dim}, as {encoder.fingerprint} gives for queries",
            fix="Name the encoder that made them with --encoder.",
            where=file,
        )
    return vectors


def vectors_of_store(
    facts: StoredVectorsFacts, vectors: FloatArray, encoder: Encoder
) -> OwnVectors:
    """Return the vectors of a store, with which the encoder agrees, as an index notes them."""
    notes: OwnVectorsNotes = {
        "sha256": facts["sha256"],
        "encoder": encoder.fingerprint,
        "agreement": facts["agreement"],
        "least": facts["least"],
        "file": facts["store"],
        "normalised": False,
        "foreign": False,
        "template": facts["template"],
        "compared": facts["compared"],
    }
    return OwnVectors(vectors, encoder.fingerprint, notes)


def open_or_create(path: Path, header: IndexHeader) -> ViewIndex:
    """Open the index in a folder, or make it. Raises InputError for one of other vectors.

    The origin of the vectors is written while the index is empty: a build stopped before that has
    nothing in it whose origin is unknown.
    """
    if (path / FILE).exists():
        index = ViewIndex.open(path)
        if len(index):
            there, here = (None if of is None else of.sha256
                           for of in (index.header.vectors, header.vectors))  # fmt: skip
            if there != here:
                raise InputError(
                    f"holds an index of other vectors: {_origin(index.header)}",
                    expected=f"the vectors of this build: {_origin(header)}",
                    fix="Give another --out, or use --fresh to build it with these.",
                    where=path,
                )
            index.header.check_queries(header.asked_with, path)
            return index
        index.header.check_fingerprint(header.fingerprint, path)
    else:
        index = ViewIndex.create(
            path,
            fingerprint=header.fingerprint,
            dim=header.dim,
            encoder=header.encoder,
            similarity=header.similarity,
        )
    whole = replace(index.header, vectors=header.vectors, corpus_fields=header.corpus_fields)
    if index.header != whole:
        with writing(path):
            write_header(path, whole)
        index = ViewIndex.open(path)
    return index


def _origin(header: IndexHeader) -> str:
    if header.vectors is None:
        return f"embedded by {header.fingerprint}"
    return f"from a file (--vectors) with SHA-256 {header.vectors.sha256[:16]}..."


def check_space(index: ViewIndex, own: OwnVectors | None) -> None:
    """Raise InputError for vectors of a file that are of another space than those of the index."""
    if own is None or own.notes["foreign"] == (index.header.foreign is not None):
        return
    there = "vectors of your own" if index.header.foreign else f"those of {index.fingerprint}"
    raise InputError(
        f"vectors of another space than those of {index.path} ({own.file}, the latter "
        f"those of {own.file.encoder})",
        expected=there,
        fix="Build an index of their own, or make them with what made the others.",
        where=own.notes["file"],
    )


def known_documents(
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
