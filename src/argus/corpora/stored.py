"""A vector store as a corpus: its records are documents, with their vectors as they are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from argus.corpora.agreement import AGREEMENT, Agreement, Embeds, find_template
from argus.corpora.names import StoreCorpus
from argus.corpora.reading import Reading, read_store
from argus.corpora.remarks import UNIT
from argus.corpora.templates import described, parse_template
from argus.data.fields import FieldNames
from argus.data.manifest import StoredVectorsFacts
from argus.data.provenance import InputFile, content_hash
from argus.data.types import Document, FloatArray
from argus.errors import InputError
from argus.stores.opening import open_store
from argus.stores.protocol import Metric
from argus.stores.spec import parse_store

SHARED = "its text is another record's, too, with another vector"


@dataclass(frozen=True)
class StoredVectors:
    """The vectors of the documents of a store, and what was learnt of them."""

    documents: list[Document]
    """Joined as they were embedded: `content` is what a vector is of."""
    vectors: FloatArray
    """(n_documents, dim): unit rows, or of their own lengths where the encoder's have some."""
    broken: dict[int, str]
    """Row to why it has no vector that can be told by its text."""
    agreement: Agreement
    ranking: Metric
    """By what they are compared here: cosine, or dot product."""


@dataclass
class StoredCorpus:
    """The records of a store as documents; it stands for them in a manifest.

    asking: opens the encoder that the vectors are compared with; None where texts are enough.
    """

    corpus: StoreCorpus
    limit: int | None = None
    asking: Callable[[], Embeds] | None = None
    vectors: StoredVectors | None = None
    """None before the documents are read, and where texts are enough."""
    _reading: Reading | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """Return how a person names it, without user and password."""
        return str(self.corpus)

    @property
    def place(self) -> Path | None:
        """The file or folder that it is in; None where it is elsewhere."""
        if not isinstance(self.corpus.store, str):
            return None
        place = Path(parse_store(self.corpus.store).place)
        return place if place.exists() else None

    def documents(self, fields: FieldNames) -> list[Document]:
        """Read the documents, in the store's order, joined as they were embedded.

        Raises InputError as `read_store` does, and for vectors that the encoder of `asking` did not
        make, in whatever way title and text are joined.
        """
        template = parse_template(fields.template)
        with open_store(self.corpus.store, self.corpus.opening) as store:
            reading = read_store(store, fields, self.limit, with_vectors=self.asking is not None)
        documents = reading.documents
        if self.asking is not None:
            encoder = self.asking()
            agreement = _agreement(reading, encoder, template)
            documents = _joined(documents, agreement.template)
            self.vectors = _vectors(reading, documents, agreement, encoder)
        elif template is not None:
            documents = _joined(documents, template)
        self._reading = replace(reading, documents=documents, vectors=None)
        return documents

    def describe(self) -> InputFile:
        """Return what a manifest says of it, once the documents are read."""
        assert self._reading is not None
        read = len(self._reading.documents)
        return {"file": str(self), "records": read, "sha256": self._reading.sha256}

    @property
    def facts(self) -> StoredVectorsFacts:
        """What is told of its vectors, once they are read."""
        assert self.vectors is not None and self._reading is not None
        reading, agreement, store = self._reading, self.vectors.agreement, self._reading.facts
        return {
            "store": str(self),
            "vector_field": store.vector_field,
            "metric": str(store.metric),
            "ranking": str(self.vectors.ranking),
            "index": store.index,
            "records": reading.expected,
            "read": len(reading.documents),
            "broken": dict(Counter(self.vectors.broken.values())),
            "shortest": reading.shortest,
            "longest": reading.longest,
            "template": described(agreement.template),
            "agreement": agreement.median,
            "least": agreement.least,
            "compared": len(agreement.cosines),
            "sha256": reading.sha256,
        }


Origin = Path | StoredCorpus
"""What stands for a corpus in a manifest."""


def _joined(documents: Sequence[Document], template: str | None) -> list[Document]:
    return [replace(document, template=template) for document in documents]


def _agreement(reading: Reading, encoder: Embeds, template: str | None) -> Agreement:
    """Return how title and text were joined; raises InputError where `encoder` made no vector."""
    assert reading.vectors is not None
    unclear = {*reading.broken, *_confused(reading.documents, reading)}
    usable = [
        row for row, document in enumerate(reading.documents)
        if row not in unclear and document.content.strip()
    ]  # fmt: skip
    if not usable:
        raise InputError(
            f"not one of {len(reading.documents):,} records has a text and a whole vector",
            expected="records with both",
            fix="See what is in it: argus reach STORE.",
            where=reading.name,
        )
    dim = reading.vectors.shape[1]
    if encoder.dim != dim:
        raise InputError(
            f"vectors of {dim} dimensions; {encoder.fingerprint} makes {encoder.dim}",
            expected="the encoder that made the store's vectors",
            fix="Name it with --encoder, or another field of vectors with --vector-field.",
            where=reading.name,
        )
    agreement = find_template(
        reading.documents, reading.vectors, usable, encoder, template=template
    )
    if agreement.holds:
        return agreement
    raise _foreign(reading, agreement, encoder)


def _foreign(reading: Reading, agreement: Agreement, encoder: Embeds) -> InputError:
    """Return what is raised where an encoder made none of the vectors, or not all of them."""
    if odd := agreement.odd_rows:
        ids = ", ".join(repr(reading.documents[row].id) for row in odd[:5])
        return InputError(
            f"{len(odd)} of {len(agreement.rows)} records compared hold vectors of other texts "
            f"({ids}; {agreement})",
            expected=f"a least cosine of {AGREEMENT} to what {encoder.fingerprint} makes",
            fix="Write these records again, and others that changed since they were embedded; or "
            r"name how title and text were joined (--template '{title}\n{text}').",
            where=reading.name,
        )
    return InputError(
        f"its vectors are not what {encoder.fingerprint} makes of its texts (at best {agreement})",
        expected=f"the encoder that made them: a least cosine of {AGREEMENT}",
        fix="Name it with --encoder, with the prompt that documents had; or name how title and "
        r"text were joined (--template '{title}\n{text}'), or their fields (--title-field, "
        "--text-field).",
        where=reading.name,
    )


def _vectors(
    reading: Reading, documents: Sequence[Document], agreement: Agreement, encoder: Embeds
) -> StoredVectors:
    """Return the vectors of documents that are joined as they were embedded."""
    assert reading.vectors is not None
    sample = documents[agreement.rows[0]].content
    length = float(np.linalg.norm(encoder.encode_documents([sample])[0]))
    is_unit = abs(length - 1) <= UNIT
    vectors = reading.vectors if is_unit else reading.vectors * reading.norms[:, None]
    broken = dict.fromkeys(_confused(documents, reading), SHARED) | reading.broken
    ranking = Metric.COSINE if is_unit else Metric.DOT
    return StoredVectors(list(documents), vectors, broken, agreement, ranking)


def _confused(documents: Sequence[Document], reading: Reading) -> list[int]:
    """Return the rows of texts that several records share, but not their vectors.

    A text finds its vector, so nobody could tell such vectors apart.
    """
    assert reading.vectors is not None
    first: dict[bytes, int] = {}
    sharing: dict[int, list[int]] = defaultdict(list)
    for row, document in enumerate(documents):
        if document.content.strip() and row not in reading.broken:
            before = first.setdefault(content_hash(document.content), row)
            if before != row:
                sharing[before].append(row)
    confused = []
    for row, others in sharing.items():
        rows = [row, *others]
        if bool((reading.vectors[rows] @ reading.vectors[row] < AGREEMENT).any()):
            confused += rows
    return confused
