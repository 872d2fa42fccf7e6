"""Vectors that a person brings along instead of having documents embedded.

They count as the encoder's own when they agree with what it makes of the same texts. What changes
a vector without changing its encoder is rounding: bfloat16 weights and vectors stored as int8 leave
every cosine above 0.9999 (MiniLM, wiki2). The smallest real change tried, a prefix before the text,
gives a median of 0.99 and some texts 0.90; another encoder, or rows in another order, about 0. So
the least of the cosines decides, and 0.99 lies between. Vectors below it are another space, with a
fingerprint of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from argus.data.provenance import file_hash
from argus.data.types import Document, FloatArray
from argus.encoders import Encoder
from argus.encoders.protocol import COSINE, similarity_of, unit_rows
from argus.errors import InputError
from argus.indexes.header import VectorsFile
from argus.indexes.summary import OwnVectorsNotes

COMPARED = 32
"""Texts, spread over the corpus, that are embedded to see whether the encoder made the vectors."""
AGREEMENT = 0.99
"""Least cosine to the encoder's vectors at which both are of one space."""


@dataclass(frozen=True)
class OwnVectors:
    """Unit rows, one per document in corpus order, and what was noticed on the way."""

    vectors: FloatArray
    file: VectorsFile
    fingerprint: str
    """The encoder's where it agrees with the vectors; else of their own."""
    notes: OwnVectorsNotes


def own_vectors(file: Path, documents: Sequence[Document], encoder: Encoder) -> OwnVectors:
    """Read a .npy file of shape (n_documents, dim); rows of documents without text are not used.

    Raises InputError for an encoder that ranks by dot product, a missing or broken file, another
    shape, a dimension that is not the encoder's, and rows that are zero or not finite;
    EncodingError when the encoder cannot embed the texts to compare: vectors of which nothing is
    known are not taken.
    """
    if similarity_of(encoder) != COSINE:
        raise InputError(
            "an encoder that ranks by dot product, with vectors of your own",
            expected="one that ranks by cosine: vectors of your own are scaled to length 1",
            fix="Leave out --vectors to have the documents embedded.",
            where="--vectors",
        )
    vectors = _read(file)
    used = np.array([bool(d.content.strip()) for d in documents])
    norms = _norms(vectors, file, documents, used, encoder)
    clean = np.where(used[:, None], vectors, 0).astype(np.float32)
    normalised = bool((np.abs(norms[used] - 1) > 1e-3).any())
    unit = unit_rows(clean)
    cosines = _cosines(unit, documents, encoder)
    origin = VectorsFile(
        sha256=file_hash(file),
        encoder=encoder.fingerprint,
        agreement=round(float(np.median(cosines)), 4),
        least=round(float(cosines.min()), 4),
    )
    foreign = origin.least < AGREEMENT
    own = f"own vectors sha256={origin.sha256[:16]} dim={encoder.dim}"
    notes: OwnVectorsNotes = {
        "sha256": origin.sha256,
        "encoder": origin.encoder,
        "agreement": origin.agreement,
        "least": origin.least,
        "file": str(file),
        "normalised": normalised,
        "foreign": foreign,
    }
    return OwnVectors(unit, origin, own if foreign else encoder.fingerprint, notes)


def _norms(
    vectors: FloatArray,
    file: Path,
    documents: Sequence[Document],
    used: npt.NDArray[np.bool_],
    encoder: Encoder,
) -> npt.NDArray[np.float64]:
    """Return the length of every row; InputError for a wrong shape or a `used` row without one."""
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
    norms: npt.NDArray[np.float64] = np.linalg.norm(vectors.astype(np.float64), axis=1)
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
    return norms


def _read(file: Path) -> np.ndarray:
    try:
        vectors = np.load(file, allow_pickle=False, mmap_mode="r")
    except FileNotFoundError as error:
        raise InputError(
            "no such file", expected="a .npy file", fix="Check the path.", where=file
        ) from error
    except (ValueError, OSError, EOFError) as error:
        raise InputError(
            f"cannot be read as .npy ({str(error).splitlines()[0]})",
            expected="one array that numpy.save wrote, of numbers",
            fix="Write it again with numpy.save.",
            where=file,
        ) from error
    if (
        not isinstance(vectors, np.ndarray)
        or vectors.ndim != 2
        or not (np.issubdtype(vectors.dtype, np.floating))
    ):
        shape = getattr(vectors, "shape", "several arrays")
        raise InputError(
            f"an array of shape {shape}, type {getattr(vectors, 'dtype', '?')}",
            expected="floating-point numbers of shape (documents, dimension)",
            fix="Save one row per document with numpy.save.",
            where=file,
        )
    return vectors


def _cosines(vectors: FloatArray, documents: Sequence[Document], encoder: Encoder) -> FloatArray:
    """Return the cosines to what `encoder` makes of texts spread over the corpus."""
    usable = np.array([i for i, d in enumerate(documents) if d.content.strip()])
    count = min(COMPARED, len(usable))
    rows = usable[np.linspace(0, len(usable) - 1, count).astype(np.int64)]
    own = encoder.encode_documents([documents[i].content for i in rows])
    cosines: FloatArray = np.einsum("ij,ij->i", own, vectors[rows])
    return cosines
