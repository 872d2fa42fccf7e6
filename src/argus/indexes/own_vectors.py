"""Vectors that a person brings along instead of having documents embedded.

They count as the encoder's own when they agree with what it makes of the same texts (see
`argus.corpora.stored`). Vectors that do not are another space, with a fingerprint of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from argus.corpora.stored import describe_template, find_template
from argus.data.folders import StoredVectorsFacts
from argus.data.provenance import file_hash
from argus.data.reading import UNREADABLE, damage
from argus.data.types import Document, FloatArray
from argus.encoders import Encoder
from argus.encoders.protocol import COSINE, similarity_of, unit_rows
from argus.errors import InputError
from argus.indexes.header import VectorsFile
from argus.indexes.summary import OwnVectorsNotes


@dataclass(frozen=True)
class OwnVectors:
    """Unit rows, one per document in corpus order, and what was noticed on the way."""

    vectors: FloatArray
    file: VectorsFile
    fingerprint: str
    """The encoder's where it agrees with the vectors; else of their own."""
    notes: OwnVectorsNotes
    template: str | None = None
    """How title and text were joined, where the encoder tells that."""


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
    clean = np.where(used[:, None], _kept(vectors), 0)
    normalised = bool((np.abs(norms[used] - 1) > 1e-3).any())
    unit = unit_rows(clean)
    usable = np.flatnonzero(used).tolist()
    named = documents[usable[0]].template
    agreement = find_template(documents, unit, usable, encoder, template=named)
    origin = VectorsFile(
        sha256=file_hash(file),
        encoder=encoder.fingerprint,
        agreement=agreement.median,
        least=agreement.least,
    )
    foreign = not agreement.holds
    own = f"own vectors sha256={origin.sha256[:16]} dim={encoder.dim}"
    notes: OwnVectorsNotes = {
        "sha256": origin.sha256,
        "encoder": origin.encoder,
        "agreement": origin.agreement,
        "least": origin.least,
        "file": str(file),
        "normalised": normalised,
        "foreign": foreign,
        "template": describe_template(agreement.template),
        "compared": len(agreement.cosines),
    }
    template = named if foreign else agreement.template
    space = own if foreign else encoder.fingerprint
    return OwnVectors(unit, origin, space, notes, template)


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
    norms: npt.NDArray[np.float64] = np.linalg.norm(_kept(vectors).astype(np.float64), axis=1)
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


def _kept(vectors: np.ndarray) -> FloatArray:
    """Return them as they are kept: what float32 does not hold is infinite, or zero."""
    with np.errstate(over="ignore"):
        return vectors.astype(np.float32)


def _read(file: Path) -> np.ndarray:
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
    return vectors


def vectors_of_store(
    facts: StoredVectorsFacts, vectors: FloatArray, encoder: Encoder
) -> OwnVectors:
    """Return the vectors of a store, with which the encoder agrees, as an index notes them."""
    origin = VectorsFile(
        sha256=facts["sha256"],
        encoder=encoder.fingerprint,
        agreement=facts["agreement"],
        least=facts["least"],
    )
    notes: OwnVectorsNotes = {
        "sha256": origin.sha256,
        "encoder": origin.encoder,
        "agreement": origin.agreement,
        "least": origin.least,
        "file": facts["store"],
        "normalised": False,
        "foreign": False,
        "template": facts["template"],
        "compared": facts["compared"],
    }
    return OwnVectors(vectors, origin, encoder.fingerprint, notes)
