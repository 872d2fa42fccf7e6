"""Compare an encoder with vectors that exist, and find how title and text were joined for them.

Rounding changes a vector without changing its encoder: bfloat16 weights and vectors stored as int8
leave every cosine above 0.9999 (MiniLM, wiki2). The smallest real change tried, a prefix before the
text, gives a median of 0.99 and some texts 0.90. Another encoder, or rows in another order, gives
about 0. So the least of the cosines decides, and 0.99 lies between.

Joining title and text in another way is such a change. `find_template` embeds a few documents by
each usual template and takes the one whose least cosine is the highest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Protocol

import numpy as np
import numpy.typing as npt

from argus.data.types import Document, FloatArray
from argus.errors import InputError

Doubles = npt.NDArray[np.float64]
OWN_RULE = "{title} {text}, a title once"  # `Document.content` without a template
USUAL: tuple[str | None, ...] = (
    None, "{text}", "{title} {text}", "{title}\n{text}", "{title}\n\n{text}", "{title}: {text}",
    "{title}. {text}", "{title}",
)  # fmt: skip
"""Templates to try where none is named; None is the rule of `Document.content`."""
COMPARED = 32  # texts, spread over the corpus, that are embedded
TRIED = 8  # of these, those that every template is tried on; the rest only on what agreed
AGREEMENT = 0.99  # least cosine to the encoder's vectors at which both are of one space
SAME = 0.999  # median cosine of the same texts, however rounded; another template has less


class Embeds(Protocol):
    """An encoder to compare vectors with (see `argus.encoders.protocol.Encoder`)."""

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
    cosines: Doubles

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

    def __str__(self) -> str:
        return (
            f"cosine: median {self.median:.4f}, least {self.least:.4f} over "
            f"{len(self.cosines)} texts joined as {describe_template(self.template)!r}"
        )


def describe_template(template: str | None) -> str:
    """Return a template as a person would give it."""
    return OWN_RULE if template is None else template.replace("\n", "\\n").replace("\t", "\\t")


def parse_template(text: str | None) -> str | None:
    r"""Read a template from the command line, where `\n` and `\t` stand for white space.

    Raises InputError for one without `{title}` and `{text}`, or with another field.
    """
    if text is None:
        return None
    template = text.replace("\\n", "\n").replace("\\t", "\t")
    fields = re.findall(r"\{([^{}]*)\}", template)
    if not fields or not {"title", "text"}.issuperset(fields) or len(set(fields)) < len(fields):
        raise InputError(
            f"{text!r}",
            expected="{title} and {text}, or one of them, each once",
            fix=r"For example --template '{title}\n{text}'.",
            where="--template",
        )
    return template


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
    one. template: the only one to try; None tries the usual ones. Raises EncodingError for a text
    that cannot be embedded.
    """

    def cosines(rows: list[int], templates: Sequence[str | None]) -> dict[str | None, Doubles]:
        """Return (n,) cosines by template; 0 where that leaves no text."""
        texts = {
            one: [replace(documents[row], template=one).content for row in rows]
            for one in templates
        }
        distinct = list(dict.fromkeys(t for own in texts.values() for t in own if t.strip()))
        place = {text: i for i, text in enumerate(distinct)}
        fresh = np.zeros((len(distinct) + 1, vectors.shape[1]))
        if distinct:
            fresh[:-1] = encoder.encode_documents(distinct)
        theirs = vectors[rows].astype(np.float64)
        by_template: dict[str | None, Doubles] = {}
        for one, own in texts.items():
            ours = fresh[[place.get(text, -1) for text in own]]
            norms = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
            by_template[one] = np.einsum("ij,ij->i", ours, theirs) / np.where(norms > 0, norms, 1)
        return by_template

    rows = spread(documents, usable)
    tried = cosines(rows[:TRIED], USUAL if template is None else (template,))
    agreeing = {t: c for t, c in tried.items() if c.min() >= AGREEMENT}
    if not agreeing:
        best = max(tried, key=lambda t: round(float(np.median(tried[t])), 4))
        agreeing = {best: tried[best]}
    rest = cosines(rows[TRIED:], tuple(agreeing))
    whole = {t: np.concatenate([c, rest[t]]) for t, c in agreeing.items()}
    chosen = max(whole, key=lambda t: round(float(whole[t].min()), 4))  # of equals the first
    return Agreement(chosen, rows, whole[chosen])


def spread(documents: Sequence[Document], usable: Sequence[int]) -> list[int]:
    """Return up to COMPARED rows, spread over the corpus.

    Texts with a title, those that begin with it, and those without tell templates apart: of each
    sort there are as many, in turn.
    """

    def evenly(rows: Sequence[int], n: int) -> list[int]:
        places = np.unique(np.linspace(0, len(rows) - 1, n).astype(np.int64)) if rows else ()
        chosen = [rows[i] for i in places]
        return [row for start in range(4) for row in chosen[start::4]]  # the first are far apart

    sorts: dict[int, list[int]] = {}
    for row in usable:
        title, text = documents[row].title, documents[row].text
        sorts.setdefault(0 if not title else 1 + text.startswith(title), []).append(row)
    share = [evenly(rows, -(-COMPARED // len(sorts))) for _, rows in sorted(sorts.items())]
    mixed = [row for row in chain.from_iterable(zip_longest(*share)) if row is not None]
    if len(mixed) < COMPARED:  # a sort that is rare
        mixed += evenly(sorted(set(usable) - set(mixed)), COMPARED - len(mixed))
    return mixed[:COMPARED]
