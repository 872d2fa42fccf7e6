"""Vectors that a person brings along instead of having documents embedded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.types import Document, FloatArray
from argus.encoders import Encoder
from argus.encoders.protocol import unit_rows
from argus.errors import InputError

COMPARED = 16
"""Documents that are embedded to see whether the vectors come from the encoder that was named."""


@dataclass(frozen=True)
class OwnVectors:
    """Unit rows, one per document in corpus order, and what was noticed on the way."""

    vectors: FloatArray
    notes: dict[str, Any]
    """file; normalised: whether rows were scaled to length 1; encoder_agreement: median cosine
    between them and what the encoder makes of the same texts (None where it was not to be had)."""


def own_vectors(file: Path, documents: Sequence[Document], encoder: Encoder) -> OwnVectors:
    """Read a .npy file of shape (n_documents, dim); rows of documents without text are not used.

    Raises InputError for a missing or broken file, another shape, a dimension that is not the
    encoder's, and rows that are zero or not finite.
    """
    vectors = _read(file)
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
    clean = np.where(used[:, None], vectors, 0).astype(np.float32)
    normalised = bool((np.abs(norms[used] - 1) > 1e-3).any())
    unit = unit_rows(clean)
    return OwnVectors(
        unit,
        {
            "file": str(file),
            "normalised": normalised,
            "encoder_agreement": _agreement(unit, documents, encoder),
        },
    )


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


def _agreement(vectors: FloatArray, documents: Sequence[Document], encoder: Encoder) -> float:
    """Return the median cosine to what `encoder` makes of the first texts."""
    rows = [i for i, d in enumerate(documents) if d.content.strip()][:COMPARED]
    own = encoder.encode_documents([documents[i].content for i in rows])
    return round(float(np.median(np.einsum("ij,ij->i", own, vectors[rows]))), 4)
