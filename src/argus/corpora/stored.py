"""Read a vector database's records as documents, and check that a given encoder made their vectors.

`StoredCorpus.documents`: an open database -> documents joined as they were embedded.
`find_template` embeds a few of them by each usual way to join title and text, and takes the one
whose least cosine with the stored vectors is the highest.

That least cosine must reach 0.99. Rounded vectors (bfloat16, int8) keep every cosine above 0.9999,
weights in int8 above 0.998 (MiniLM, wiki2). The smallest real change tried, a prefix before the
text, gives a median of 0.99 and some texts 0.90. Another encoder, or rows in another order, gives
about 0.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from argus.corpora import StoreCorpus, parse_template
from argus.data.documents import TEXT_FIELDS, TITLE_FIELDS, whole_documents
from argus.data.fields import FieldNames, prose_fields
from argus.data.provenance import content_hash
from argus.data.rows import field_names
from argus.data.types import Document, FloatArray
from argus.errors import InputError
from argus.progress import progress
from argus.stores.protocol import Metric, Payload, Store, StoreFacts, is_of_remedy, whole_rows
from argus.stores.spec import open_store, parse_store

Doubles = npt.NDArray[np.float64]
OWN_RULE = "{title} {text}, a title once"  # `Document.content` without a template
USUAL: tuple[str | None, ...] = (
    None, "{text}", "{title} {text}", "{title}\n{text}", "{title}\n\n{text}", "{title}: {text}",
    "{title}. {text}", "{title}",
)  # fmt: skip
"""Templates to try where none is named. None is the rule of `Document.content`."""
COMPARED = 32  # texts, spread over the corpus, that are embedded
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
    one. template: the only one to try. None tries the usual ones. Raises EncodingError for a text
    that cannot be embedded.
    """
    places = np.unique(np.linspace(0, len(usable) - 1, COMPARED).astype(np.int64))
    rows = [usable[place] for place in places]  # spread over the corpus
    texts = {
        one: [replace(documents[row], template=one).content for row in rows]
        for one in (USUAL if template is None else (template,))
    }
    distinct = list(dict.fromkeys(text for own in texts.values() for text in own if text.strip()))
    fresh = np.zeros((len(distinct) + 1, vectors.shape[1]))  # the last row is for no text
    fresh[:-1] = encoder.encode_documents(distinct)
    place_of = {text: i for i, text in enumerate(distinct)}
    theirs = vectors[rows].astype(np.float64)
    tried: dict[str | None, Doubles] = {}
    for one, own in texts.items():
        ours = fresh[[place_of.get(text, -1) for text in own]]
        norms = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
        tried[one] = np.einsum("ij,ij->i", ours, theirs) / np.where(norms > 0, norms, 1)
    # The best of those that agree, else the one that most texts are like. Of equals the first.
    agreeing = {one: float(c.min()) for one, c in tried.items() if c.min() >= AGREEMENT}
    ranked = agreeing or {one: float(np.median(c)) for one, c in tried.items()}
    chosen = max(ranked, key=lambda one: round(ranked[one], 4))
    return Agreement(chosen, rows, tried[chosen])


BATCH = 1_000  # records that are read at once
UNIT = 1e-3  # by how much the length of a unit vector may differ from 1
NODE = "_node_content"  # where LlamaIndex keeps a node: JSON, with the text in it
TEXTS = (*TEXT_FIELDS, "page_content", "document", "chunk", "chunk_text")  # LangChain, Chroma
OBJECTS = ("metadata", "cmetadata", "metadata_")
"""Fields that hold the rest as an object. Its fields count as if they stood beside."""


@dataclass(frozen=True)
class StoredVectors:
    """The documents of a store with their vectors.

    documents: joined as they were embedded, so that a vector is one of `content`. vectors:
    (n_documents, dim), unit rows, or of their own lengths where the encoder's have some. broken:
    row to why its text has no vector. ranking: metric to compare them by, cosine or dot product.
    """

    documents: list[Document]
    vectors: FloatArray
    broken: dict[int, str]
    agreement: Agreement
    ranking: Metric


@dataclass
class StoredCorpus:
    """The records of a store as documents. It stands for them in a manifest.

    asking: opens the encoder to compare the vectors with. None where texts are enough. vectors,
    facts: empty before the documents are read, and where texts are enough. The facts are the
    vectors' part of a summary:

    store: name or address of the store.
    vector_field: field of the vectors.
    metric: metric that the store ranks by.
    ranking: similarity that they are compared by here.
    index: kind of index that the store has.
    records: records that the store said that it holds, or as many as were wanted.
    read: records that were read.
    broken: records without a usable vector, by reason.
    shortest, longest: lengths of whole vectors. None without any.
    template: how title and text were joined.
    agreement, least: median and least cosine to the encoder's vectors.
    compared: texts that were embedded for it.
    sha256: SHA-256 of ids, texts and vectors.
    """

    corpus: StoreCorpus
    limit: int | None = None
    asking: Callable[[], Embeds] | None = None
    vectors: StoredVectors | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    _entry: dict[str, Any] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        """Return its name, without user and password."""
        return str(self.corpus)

    @property
    def place(self) -> Path | None:
        """The file or folder that it is in. None where it is elsewhere."""
        if not isinstance(self.corpus.store, str):
            return None
        place = Path(parse_store(self.corpus.store).place)
        return place if place.exists() else None

    def documents(self, fields: FieldNames) -> list[Document]:
        """Read the documents, in the store's order, joined as they were embedded.

        Records that a remedy wrote are left out. Raises InputError for records without texts, ids
        that repeat, a store that changes meanwhile, and vectors that the encoder of `asking` did
        not make, in whatever way title and text are joined.
        """
        template = parse_template(fields.template)
        with open_store(self.corpus.store, self.corpus.opening) as store:
            reading = _read_store(store, fields, self.limit, self.asking is not None)
        documents = reading.documents
        self._entry = {"file": str(self), "records": len(documents), "sha256": reading.sha256}
        if self.asking is None:
            return documents if template is None else _joined(documents, template)
        self.vectors = _compare(reading, self.asking(), template)
        agreement, store_facts = self.vectors.agreement, reading.facts
        norms = [round(float(norm), 4) for norm in reading.norms[reading.norms > 0]]
        self.facts = {
            "store": str(self),
            "vector_field": store_facts.vector_field,
            "metric": str(store_facts.metric),
            "ranking": str(self.vectors.ranking),
            "index": store_facts.index,
            "records": reading.expected,
            "read": len(documents),
            "broken": dict(Counter(self.vectors.broken.values())),
            "shortest": min(norms, default=None),
            "longest": max(norms, default=None),
            "template": describe_template(agreement.template),
            "agreement": agreement.median,
            "least": agreement.least,
            "compared": len(agreement.cosines),
            "sha256": reading.sha256,
        }
        return self.vectors.documents

    def describe(self) -> dict[str, Any]:
        """Return name, records and hash for a manifest, once the documents are read."""
        return self._entry


def remarks(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield which vectors were taken and how well the encoder agrees, then doubts."""
    yield (
        f"vectors: those of {facts['store']} ({facts['metric']}), of title and text joined as "
        f"'{facts['template']}': the encoder agrees at a median cosine of "
        f"{facts['agreement']:.4f} (least {facts['least']:.4f}, {facts['compared']} texts)"
    )
    for why, n in facts["broken"].items():
        yield f"failed: {n:,} records: {why}"
    shortest, longest = facts["shortest"] or 1, facts["longest"] or 1
    lengths_differ = max(abs(shortest - 1), abs(longest - 1)) > UNIT
    if facts["metric"] not in (Metric.COSINE, facts["ranking"]) and lengths_differ:
        yield (
            f"note: the store ranks by {facts['metric']}, and its vectors are {shortest:g} to "
            f"{longest:g} long: figures here are by {facts['ranking']}, and it may rank otherwise"
        )


@dataclass(frozen=True)
class _Reading:
    """The records of a store. Arrays have a row per document."""

    name: str
    facts: StoreFacts
    expected: int  # as many records as it said that there are, or as were wanted
    documents: list[Document]
    vectors: FloatArray  # unit rows, zeros where none is whole; (0, dim) where none is wanted
    norms: FloatArray  # lengths of the vectors as they are; 0 where there is no whole one
    broken: dict[int, str]  # row to why it has no vector to be found by
    sha256: str  # of ids, titles, texts and vectors, whatever order they are read in


def _read_store(
    store: Store, fields: FieldNames, limit: int | None, with_vectors: bool
) -> _Reading:
    """Read the first `limit` records, or all of them, a page at a time."""
    facts, name = store.describe(), store.name
    expected, of_remedies = min(facts.records, limit or facts.records), 0
    vectors = np.zeros((expected if with_vectors else 0, facts.dim), np.float32)
    documents: list[Document] = []
    hashes: list[bytes] = []
    lengths: list[FloatArray] = []
    broken: dict[int, str] = {}
    with progress(f"reading {name}", expected) as advance:
        for records in store.iterate(BATCH):
            rows = [i for i, one in enumerate(records.payloads) if not is_of_remedy(one)]
            of_remedies += len(records.ids) - len(rows)
            first, rows = len(documents), rows[: limit and limit - len(documents)]
            payloads = [records.payloads[row] for row in rows]
            fields = fields if documents else find_text(payloads, fields, name)
            read = [
                record_document(records.ids[row], payload, fields, name)
                for row, payload in zip(rows, payloads, strict=True)
            ]
            documents += read
            hashes += [
                content_hash(one.id, one.title, one.text, records.vectors[row].tobytes())
                for row, one in zip(rows, read, strict=True)
            ]
            whole, odd = whole_rows(records, rows)
            at = {row: first + place for place, row in enumerate(rows)}
            broken |= {at[row]: why for row, why in odd.items()}
            norms = np.zeros(len(records.ids), np.float32)
            norms[whole] = np.linalg.norm(records.vectors[whole], axis=1)
            lengths.append(norms[rows])
            if with_vectors:
                if (more := len(documents) - len(vectors)) > 0:  # than it said before
                    vectors = np.concatenate([vectors, np.zeros((more, facts.dim), np.float32)])
                places = [at[row] for row in whole]
                vectors[places] = records.vectors[whole] / norms[whole, None]
            advance(len(records.ids))
            if limit is not None and len(documents) >= limit:
                break
    wrong = partial(InputError, where=name)
    n = len(documents)
    if not n:
        raise wrong("no record in it", expected="at least one", fix="Check the collection's name.")
    whole_documents(tuple(documents))
    expected = min(facts.records - of_remedies, expected)
    sha256 = hashlib.sha256(b"".join(sorted(hashes))).hexdigest()
    return _Reading(
        name, facts, expected, documents, vectors[:n], np.concatenate(lengths), broken, sha256
    )


def find_text(payloads: Sequence[Payload], fields: FieldNames, store: str) -> FieldNames:
    """Return the fields, with the one of texts where no usual name has any and one is clear.

    payloads: of the first records. store: its name. Raises InputError where none is clear.
    """
    unnamed = replace(fields, id=None)
    if not payloads or any(record_document("", p, unnamed, store).text.strip() for p in payloads):
        return fields
    names = [] if fields.text else prose_fields(payloads)
    if len(names) == 1:
        return replace(fields, text=names[0])
    held = names or dict.fromkeys(field for one in payloads for field in field_names(one))
    got = "no field of texts is clear" if names else "its records hold no text"
    got += f" (fields: {', '.join(held)[:300] or 'none'})"
    fix = "Name it with --text-field, such as metadata.body; where texts are kept elsewhere, give "
    fix += "those as the corpus."
    expected = f"a field of texts: {fields.text or ', '.join(names or TEXTS)}"
    raise InputError(got, expected=expected, fix=fix, where=store)


def record_document(id_: str, payload: Payload, fields: FieldNames, store: str) -> Document:
    """Return a record of a store as a document; without a text its text is empty.

    fields: those that are named, by dotted paths too. store: its name, for errors. Raises
    InputError for a title or text that is none, and an id that is no text.
    """
    values = dict(payload)
    for name in OBJECTS:
        if isinstance(held := values.get(name), Mapping):
            del values[name]
            values |= {f"{name}.{k}" if k in values else k: v for k, v in held.items()}
    title_field, text_field = (
        name or next((usual for usual in usuals if isinstance(values.get(usual), str)), None)
        for name, usuals in ((fields.title, TITLE_FIELDS), (fields.text, TEXTS))
    )
    found: dict[str | None, Any] = {None: None}
    for name in filter(None, (title_field, text_field, fields.id)):
        inside: Any = payload
        for step in name.split("."):
            inside = inside.get(step) if isinstance(inside, Mapping) else None
        found[name] = payload.get(name, values.get(name, inside))
    title, text, own_id = (found[name or None] for name in (title_field, text_field, fields.id))
    wrong = partial(InputError, fix="Name another field.", where=f"{store}, record {id_}")
    for column, value in ((title_field, title), (text_field, text)):
        if value is not None and not isinstance(value, str):
            got = f"{value!r} in {column!r} is of type {type(value).__name__}"
            raise wrong(got, expected="a text")
    if fields.id is not None:
        if fields.coerce_ids and type(own_id) is int:
            own_id = str(own_id)
        if not isinstance(own_id, str) or not own_id:
            expected = "an id: a text, or a whole number with --coerce-ids"
            raise wrong(f"{own_id!r} in {fields.id!r}", expected=expected)
    used = {NODE, *(name for name in (fields.id, text_field, title_field) if name)}
    paths = tuple(f"{name}." for name in OBJECTS)
    used |= {name.partition(".")[2] for name in used if name.startswith(paths)}
    if not text_field:
        with suppress(KeyError, TypeError, ValueError):  # a node of LlamaIndex
            node = json.loads(values[NODE])["text"]
            text = node if isinstance(node, str) else ""
    return Document(
        id=id_ if fields.id is None else str(own_id),
        title=title or "",
        text=text or "",
        metadata={name: value for name, value in values.items() if name not in used},
        id_field=fields.id,
        text_field=text_field,
    )


def _compare(reading: _Reading, encoder: Embeds, template: str | None) -> StoredVectors:
    """Find how title and text were joined. Raise InputError where `encoder` made no vector."""
    documents, vectors = reading.documents, reading.vectors
    usable = [
        row
        for row, one in enumerate(documents)
        if row not in reading.broken and one.content.strip()
    ]
    wrong = partial(InputError, where=reading.name)
    made = encoder.fingerprint
    if not usable:
        got = f"not one of {len(documents):,} records has a text and a whole vector"
        raise wrong(got, expected="records with both", fix="See what is in it: argus check STORE.")
    if encoder.dim != (dim := vectors.shape[1]):
        raise wrong(
            f"vectors of {dim} dimensions; {made} makes {encoder.dim}",
            expected="the encoder that made the store's vectors",
            fix="Name it with --encoder, or another field of vectors with --vector-field.",
        )
    agreement = find_template(documents, vectors, usable, encoder, template=template)
    if not agreement.holds:
        join = r"name how title and text were joined (--template '{title}\n{text}')"
        odd = [agreement.rows[i] for i in np.flatnonzero(agreement.cosines < AGREEMENT)]
        ids = ", ".join(repr(documents[row].id) for row in odd[:5])
        raise wrong(
            f"its vectors are not what {made} makes of its texts, as of {ids} ({agreement})",
            expected=f"the encoder that made them: a least cosine of {AGREEMENT}",
            fix=f"Name it with --encoder, with the prompt that documents had; or {join}, or their "
            "fields (--title-field, --text-field).",
        )
    documents = _joined(documents, agreement.template)
    sample = documents[agreement.rows[0]].content
    length = float(np.linalg.norm(encoder.encode_documents([sample])[0]))
    if abs(length - 1) <= UNIT:
        return StoredVectors(documents, vectors, reading.broken, agreement, Metric.COSINE)
    own = vectors * reading.norms[:, None]
    return StoredVectors(documents, own, reading.broken, agreement, Metric.DOT)


def _joined(documents: Sequence[Document], template: str | None) -> list[Document]:
    return [replace(document, template=template) for document in documents]
