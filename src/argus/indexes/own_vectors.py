"""Read vectors that a person brings instead of embedding, and compare them with the encoder's.

They count as the encoder's own when they agree with its vectors of the same texts (see
`argus.corpora.stored`). Other vectors are another space, with a fingerprint of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora.stored import describe_template, find_template
from argus.data.provenance import file_hash
from argus.data.reading import reading
from argus.data.types import Document, FloatArray
from argus.encoders import Encoder
from argus.encoders.config import COSINE
from argus.encoders.protocol import similarity_of, unit_rows
from argus.errors import InputError


def own_vectors(
    file: Path, documents: Sequence[Document], encoder: Encoder
) -> tuple[FloatArray, dict[str, Any], str | None]:
    """Read a .npy file of shape (n_documents, dim). Rows of documents without text are not used.

    Return unit rows in corpus order, their origin (`vectors` of `argus.indexes.job.IndexResult`),
    and how title and text were joined, where the agreement with the encoder shows it.

    Raises InputError for an encoder that ranks by dot product, a missing or broken file, another
    shape, a dimension that is not the encoder's, and rows that are zero or not finite.
    Raises EncodingError when the encoder cannot embed the texts to compare: vectors of which
    nothing is known are refused.
    """
    if similarity_of(encoder) != COSINE:
        got = "an encoder that ranks by dot product, with vectors of your own"
        expected = "one that ranks by cosine: vectors of your own are scaled to length 1"
        fix = "Leave out --vectors to have the documents embedded."
        raise InputError(got, expected=expected, fix=fix, where="--vectors")
    wrong = partial(InputError, where=file)
    if not file.exists():
        raise wrong("no such file", expected="a .npy file", fix="Check the path.")
    what, expected = "cannot be read as .npy", "one array that numpy.save wrote, of numbers"
    open_it = reading(file, what, expected=expected, fix="Write it again with numpy.save.")
    with open_it, np.errstate(over="ignore"):  # of a size that no file has
        stored = np.lib.format.open_memmap(file, mode="r")
    if stored.ndim != 2 or not np.issubdtype(stored.dtype, np.floating):
        got = f"an array of shape {stored.shape}, type {stored.dtype}"
        expected = "floating-point numbers of shape (documents, dimension)"
        raise wrong(got, expected=expected, fix="Save one row per document with numpy.save.")
    if stored.shape[0] != len(documents):
        expected = f"{len(documents):,}: one row per document, in the order of the corpus"
        fix = "Write a row for every document, those without text too; mind --limit."
        raise wrong(f"{stored.shape[0]:,} rows", expected=expected, fix=fix)
    if stored.shape[1] != encoder.dim:
        got = f"vectors of dimension {stored.shape[1]}"
        expected = f"{encoder.dim}, as {encoder.fingerprint} gives for queries"
        raise wrong(got, expected=expected, fix="Name the encoder that made them with --encoder.")
    with np.errstate(over="ignore"):  # beyond float32 is infinite, or zero
        vectors = stored.astype(np.float32)
    used = np.array([bool(d.content.strip()) for d in documents])
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
    bad = np.flatnonzero(used & ~((norms > 0) & np.isfinite(norms)))
    if len(bad):
        row = int(bad[0])
        got = (
            f"{len(bad)} rows are zero or not finite, the first is row {row} "
            f"(document {documents[row].id!r})"
        )
        fix = "Embed those documents again, or leave them out of both files."
        raise wrong(got, expected="a vector for every document with text", fix=fix)
    unit = unit_rows(np.where(used[:, None], vectors, 0))
    usable = np.flatnonzero(used).tolist()
    template = documents[usable[0]].template
    agreement = find_template(documents, unit, usable, encoder, template=template)
    notes = {
        "sha256": file_hash(file),
        "encoder": encoder.fingerprint,
        "agreement": agreement.median,
        "least": agreement.least,
        "file": str(file),
        "normalised": bool((np.abs(norms[used] - 1) > 1e-3).any()),
        "foreign": not agreement.holds,
        "template": describe_template(agreement.template),
        "compared": len(agreement.cosines),
    }
    return unit, notes, agreement.template if agreement.holds else template
