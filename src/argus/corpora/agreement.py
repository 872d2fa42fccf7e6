"""Whether an encoder made the vectors that come with documents, and of which text of theirs.

What changes a vector without changing its encoder is rounding: bfloat16 weights and vectors stored
as int8 leave every cosine above 0.9999 (MiniLM, wiki2). The smallest real change tried, a prefix
before the text, gives a median of 0.99 and some texts 0.90; another encoder, or rows in another
order, about 0. So the least of the cosines decides, and 0.99 lies between.

How title and text were joined is such a change. It is found: what each usual template makes of a
few documents is embedded, and the one decides whose least cosine is the highest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Protocol

import numpy as np
import numpy.typing as npt

from argus.corpora.templates import USUAL, described
from argus.data.types import Document, FloatArray

COMPARED = 32
"""Texts, spread over the corpus, that are embedded to see whether the encoder made the vectors."""
TRIED = 8
"""Of these, those that every template is tried on; the rest only on what agreed."""
AGREEMENT = 0.99
"""Least cosine to the encoder's vectors at which both are of one space."""
SAME = 0.999
"""Median cosine of the same texts, however vectors are rounded; another template has less."""


class Embeds(Protocol):
    """What vectors are compared with: an encoder (`argus.encoders.protocol.Encoder`)."""

    @property
    def fingerprint(self) -> str:
        """Everything that determines a vector, as one line of text."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    def encode_documents(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim) float32."""


@dataclass(frozen=True)
class Agreement:
    """The template that fits best, and the cosines by it: (n,), one per row compared."""

    template: str | None
    rows: list[int]
    cosines: npt.NDArray[np.float64]

    @property
    def median(self) -> float:
        """The median cosine, to four digits."""
        return round(float(np.median(self.cosines)), 4)

    @property
    def least(self) -> float:
        """The least cosine, to four digits."""
        return round(float(self.cosines.min()), 4)

    @property
    def holds(self) -> bool:
        """Whether the encoder made the vectors, of texts joined by this template."""
        return self.least >= AGREEMENT

    @property
    def odd_rows(self) -> list[int]:
        """Rows that do not agree, where most are the same: of other, perhaps older texts."""
        odd = [self.rows[i] for i in np.flatnonzero(self.cosines < AGREEMENT)]
        return odd if self.median >= SAME else []

    def __str__(self) -> str:
        return (
            f"cosine: median {self.median:.4f}, least {self.least:.4f} over "
            f"{len(self.cosines)} texts joined as {described(self.template)!r}"
        )


def find_template(
    documents: Sequence[Document],
    vectors: FloatArray,
    usable: Sequence[int],
    encoder: Embeds,
    *,
    template: str | None = None,
) -> Agreement:
    """Return the template by which `encoder` makes vectors most like those of the documents.

    vectors: unit rows, (n_documents, dim). usable: rows that have a text and a vector, at least
    one. template: the one that is named; None tries the usual ones. Raises EncodingError where a
    text cannot be embedded: vectors of which nothing is known are not taken.
    """
    rows = spread(documents, usable)
    trial = _Trial(documents, vectors, encoder)
    templates = USUAL if template is None else (template,)
    tried = trial.cosines(rows[:TRIED], templates)
    agreeing = {t: c for t, c in tried.items() if c.min() >= AGREEMENT}
    if not agreeing:
        best = max(tried, key=lambda t: round(float(np.median(tried[t])), 4))
        agreeing = {best: tried[best]}
    rest = trial.cosines(rows[TRIED:], tuple(agreeing))
    whole = {t: np.concatenate([c, rest[t]]) for t, c in agreeing.items()}
    chosen = max(whole, key=lambda t: round(float(whole[t].min()), 4))  # of equals the first
    return Agreement(chosen, rows, whole[chosen])


def spread(documents: Sequence[Document], usable: Sequence[int]) -> list[int]:
    """Return up to COMPARED rows, spread over the corpus.

    Texts with a title, those that begin with it, and those without tell templates apart: of each
    sort there are as many, in turn.
    """
    sorts: dict[int, list[int]] = {}
    for row in usable:
        title, text = documents[row].title, documents[row].text
        sorts.setdefault(0 if not title else 1 + text.startswith(title), []).append(row)
    share = [_evenly(rows, -(-COMPARED // len(sorts))) for _, rows in sorted(sorts.items())]
    mixed = [row for row in chain.from_iterable(zip_longest(*share)) if row is not None]
    if len(mixed) < COMPARED:  # a sort that is rare
        others = sorted(set(usable) - set(mixed))
        mixed += _evenly(others, COMPARED - len(mixed))
    return mixed[:COMPARED]


def _evenly(rows: Sequence[int], n: int) -> list[int]:
    """Return up to n of the rows, evenly; the first of them are far apart already."""
    places = np.unique(np.linspace(0, len(rows) - 1, n).astype(np.int64)) if rows else ()
    chosen = [rows[i] for i in places]
    return [row for start in range(4) for row in chosen[start::4]]


@dataclass(frozen=True)
class _Trial:
    documents: Sequence[Document]
    vectors: FloatArray
    encoder: Embeds

    def cosines(
        self, rows: Sequence[int], templates: Sequence[str | None]
    ) -> dict[str | None, npt.NDArray[np.float64]]:
        """Return the cosines of some documents by template; 0 where that leaves no text."""
        texts = {
            template: [replace(self.documents[row], template=template).content for row in rows]
            for template in templates
        }
        distinct = list(dict.fromkeys(t for own in texts.values() for t in own if t.strip()))
        place = {text: i for i, text in enumerate(distinct)}
        fresh = np.zeros((len(distinct) + 1, self.vectors.shape[1]))
        if distinct:
            fresh[:-1] = self.encoder.encode_documents(distinct)
        theirs = self.vectors[list(rows)].astype(np.float64)
        return {
            template: _cosine(fresh[[place.get(text, -1) for text in own]], theirs)
            for template, own in texts.items()
        }


def _cosine(
    one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the cosines of rows, (n,); 0 where a row is all zeros."""
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    product: npt.NDArray[np.float64] = np.einsum("ij,ij->i", one, other)
    return product / np.where(norms > 0, norms, 1)
