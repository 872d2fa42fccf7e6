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
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from argus.corpora import StoreCorpus
from argus.data.documents import TEXT_FIELDS, TITLE_FIELDS, whole_documents
from argus.data.fields import FieldNames, prose_fields
from argus.data.provenance import content_hash
from argus.data.rows import Row, field_names, id_value, text_value
from argus.data.types import Document, FloatArray
from argus.errors import InputError
from argus.progress import progress
from argus.stores.protocol import Metric, Payload, Records, Store, is_of_remedy, whole_rows
from argus.stores.spec import check_dimension, open_store, parse_store

if TYPE_CHECKING:
    from argus.encoders import Encoder

OWN_RULE = "{title} {text}, a title once"  # `Document.content` without a template
# Templates to try where none is named. None is the rule of `Document.content`.
USUAL: tuple[str | None, ...] = (
    None, "{text}", "{title} {text}", "{title}\n{text}", "{title}\n\n{text}", "{title}: {text}",
    "{title}. {text}", "{title}",
)  # fmt: skip
COMPARED = 32  # texts, spread over the corpus, that are embedded
AGREEMENT = 0.99  # least cosine to the encoder's vectors at which both are of one space
BATCH = 1_000  # records that are read at once
UNIT = 1e-3  # by how much the length of a unit vector may differ from 1
NODE = "_node_content"  # where LlamaIndex keeps a node: JSON, with the text in it
TEXTS = (*TEXT_FIELDS, "page_content", "document", "chunk", "chunk_text")  # LangChain, Chroma
# Fields that hold the rest as an object. Its fields count as if they stood beside.
OBJECTS = ("metadata", "cmetadata", "metadata_")


@dataclass(frozen=True)
class Agreement:
    """How a template fits: the cosines by it, (n,), one per row compared, to four digits."""

    template: str | None
    rows: list[int]
    cosines: npt.NDArray[np.float64]
    median: float
    least: float

    @property
    def holds(self) -> bool:
        """Whether the encoder made the vectors, of texts joined by this template."""
        return self.least >= AGREEMENT


def describe_template(template: str | None) -> str:
    """Return a template as a person would give it."""
    return OWN_RULE if template is None else template.replace("\n", "\\n").replace("\t", "\\t")


def find_template(
    documents: Sequence[Document],
    vectors: FloatArray,
    usable: Sequence[int],
    encoder: Encoder,
    *,
    template: str | None = None,
) -> Agreement:
    """Return the template by which `encoder` makes vectors most like those of the documents.

    vectors: unit rows, (n_documents, dim). usable: rows that have a text and a vector, at least
    one. template: the only one to try. None tries the usual ones. Raises EncodingError for a text
    that cannot be embedded.
    """
    # spread over the corpus
    rows = [usable[i] for i in np.unique(np.linspace(0, len(usable) - 1, COMPARED).astype(int))]
    templates = USUAL if template is None else (template,)
    vector_of: dict[str, FloatArray] = {}
    no_text = np.zeros(vectors.shape[1])

    def tried(templates: Sequence[str | None], rows: list[int]) -> list[Agreement]:
        texts = [replace(documents[row], template=one).content for one in templates for row in rows]
        new = [text for text in dict.fromkeys(texts) if text.strip() and text not in vector_of]
        vector_of.update(zip(new, encoder.encode_documents(new), strict=True))
        ours = np.array([vector_of.get(text, no_text) for text in texts], np.float64)
        ours = ours.reshape(len(templates), len(rows), -1)
        theirs = vectors[rows].astype(np.float64)
        norms = np.linalg.norm(ours, axis=2) * np.linalg.norm(theirs, axis=1)
        cosines = np.einsum("tij,ij->ti", ours, theirs) / np.where(norms > 0, norms, 1)
        medians, least = np.median(cosines, axis=1).round(4).tolist(), cosines.min(axis=1).round(4)
        return [*map(Agreement, templates, repeat(rows), cosines, medians, least.tolist())]

    # What disagrees in a few texts agrees in no more of them: most are embedded once or twice.
    likely = [one.template for one in tried(templates, rows[::8]) if one.holds]
    agreeing = [one for one in tried(likely, rows) if one.holds] if likely else []
    # The best of those that agree, else the one that most texts are like. Of equals the first.
    if agreeing:
        return max(agreeing, key=lambda one: one.least)
    return max(tried(templates, rows), key=lambda one: one.median)


@dataclass
class StoredCorpus:
    """The records of a store as documents. It stands for them in a manifest.

    asking: opens the encoder to compare the vectors with. None where texts are enough. All others
    are empty before the documents are read, and where texts are enough. read: the documents, joined
    by `template`, as they were embedded, so that a vector is one of `content`. vectors:
    (n_documents, dim), unit rows, or of their own lengths where the encoder's have some. broken:
    row to why its text has no vector. ranking: metric to compare them by, cosine or dot product.
    facts: the vectors' part of a summary:

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
    asking: Callable[[], Encoder] | None = None
    read: list[Document] = field(default_factory=list)
    template: str | None = None
    vectors: FloatArray = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    broken: dict[int, str] = field(default_factory=dict)
    ranking: Metric = Metric.COSINE
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

    def describe(self) -> dict[str, Any]:
        """Return name, records and hash for a manifest, once the documents are read."""
        return self._entry

    def documents(self, fields: FieldNames) -> list[Document]:
        """Read the documents, in the store's order, joined as they were embedded.

        Records that a remedy wrote are left out. Raises InputError for records without texts, ids
        that repeat, a store that changes meanwhile, and vectors that the encoder of `asking` did
        not make, in whatever way title and text are joined.
        """
        documents: list[Document] = []
        hashes: list[bytes] = []
        self.broken, of_remedies = {}, 0
        with open_store(self.corpus.store, self.corpus.opening) as store:
            about = store.describe()
            expected = min(about.records, self.limit or about.records)
            # of whole vectors, zeros for the others
            vectors = np.zeros((expected if self.asking else 0, about.dim), np.float32)
            for records, rows, read in read_records(store, fields, expected, self.limit):
                of_remedies += sum(map(is_of_remedy, records.payloads))
                at = {row: place for place, row in enumerate(rows, len(documents))}
                documents += read
                for row, one in zip(rows, read, strict=True):
                    vector = records.vectors[row].tobytes()
                    hashes.append(content_hash(one.id, one.title, one.text, vector))
                if self.asking is not None:
                    if (more := len(documents) - len(vectors)) > 0:  # than it said before
                        vectors = np.pad(vectors, ((0, more), (0, 0)))
                    whole, odd = whole_rows(records, rows)
                    self.broken |= {at[row]: why for row, why in odd.items()}
                    vectors[[at[row] for row in whole]] = records.vectors[whole]
        whole_documents(tuple(documents))
        sha256 = hashlib.sha256(b"".join(sorted(hashes))).hexdigest()
        n = len(documents)
        self._entry = {"file": str(self), "records": n, "sha256": sha256}
        if self.asking is None:
            return documents
        encoder, vectors = self.asking(), vectors[:n]
        check_dimension(encoder.dim, about, store.name)
        pages = (vectors[start : start + BATCH] for start in range(0, n, BATCH))
        lengths = np.concatenate([np.linalg.norm(page, axis=1) for page in pages])
        vectors /= np.where(lengths > 0, lengths, 1)[:, None]
        self.read, self.vectors = documents, vectors
        agreement = self._agree(encoder, fields.template, store.name)
        self.template = agreement.template
        self.read = [replace(one, template=self.template) for one in documents]
        sample = encoder.encode_documents([self.read[agreement.rows[0]].content])
        if abs(float(np.linalg.norm(sample)) - 1) > UNIT:
            self.ranking, self.vectors = Metric.DOT, vectors * lengths[:, None]
        self.facts = {
            "store": str(self),
            "vector_field": about.vector_field,
            "metric": str(about.metric),
            "ranking": str(self.ranking),
            "index": about.index,
            "records": min(about.records - of_remedies, expected),
            "read": n,
            "broken": dict(Counter(self.broken.values())),
            "shortest": round(float(lengths[lengths > 0].min()), 4),
            "longest": round(float(lengths.max()), 4),
            "template": describe_template(agreement.template),
            "agreement": agreement.median,
            "least": agreement.least,
            "compared": len(agreement.cosines),
            "sha256": sha256,
        }
        return self.read

    def _agree(self, encoder: Encoder, template: str | None, name: str) -> Agreement:
        """Find how title and text were joined. Raise an error where `encoder` made no vector."""
        usable = [i for i, d in enumerate(self.read) if i not in self.broken and d.content.strip()]
        if not usable:
            got = f"not one of {len(self.read):,} records has a text and a whole vector"
            fix = "See what is in it: argus check STORE."
            raise InputError(got, expected="records with both", fix=fix, where=name)
        agreement = find_template(self.read, self.vectors, usable, encoder, template=template)
        if not agreement.holds:
            rows, odd = agreement.rows, np.flatnonzero(agreement.cosines < AGREEMENT)
            ids = ", ".join(repr(self.read[rows[i]].id) for i in odd[:5])
            raise InputError(
                f"its vectors are not what {encoder.fingerprint} makes of its texts, as of {ids} "
                f"(cosine: median {agreement.median:.4f}, least {agreement.least:.4f} over "
                f"{len(rows)} texts joined as {describe_template(agreement.template)!r})",
                expected=f"the encoder that made them: a least cosine of {AGREEMENT}",
                fix="Name it with --encoder, with the prompt that documents had; or name how title "
                r"and text were joined (--template '{title}\n{text}'), or their fields "
                "(--title-field, --text-field).",
                where=name,
            )
        return agreement


def remarks(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield which vectors were taken and how well the encoder agrees, then doubts."""
    yield (
        f"vectors: those of {facts['store']} ({facts['metric']}), of title and text joined as "
        f"'{facts['template']}': the encoder agrees at a median cosine of "
        f"{facts['agreement']:.4f} (least {facts['least']:.4f}, {facts['compared']} texts)"
    )
    for why, n in facts["broken"].items():
        yield f"failed: {n:,} records: {why}"
    low, high = facts["shortest"], facts["longest"]
    if facts["metric"] not in (Metric.COSINE, facts["ranking"]) and max(1 - low, high - 1) > UNIT:
        yield (
            f"note: the store ranks by {facts['metric']}, and its vectors are {low:g} to "
            f"{high:g} long: figures here are by {facts['ranking']}, and it may rank otherwise"
        )


def read_records(
    store: Store, fields: FieldNames, total: int, limit: int | None = None, *, strict: bool = True
) -> Iterator[tuple[Records, list[int], list[Document]]]:
    """Read all records of a store, or the first `limit`, a page at a time. total: as expected.

    Yield each page, the rows of it that are documents and no remedy's, and those documents. Where
    no field of texts is named or usual, the one of the first page that is clear is taken. Raises
    InputError for no record, as `record_document` does, and, if `strict`, as `find_text` does.
    """
    n = 0
    with progress(f"reading {store.name}", total) as advance:
        for records in store.iterate(BATCH):
            rows = [i for i, one in enumerate(records.payloads) if not is_of_remedy(one)]
            rows = rows[: limit and limit - n]
            payloads = [records.payloads[row] for row in rows]
            if not n:
                with nullcontext() if strict else suppress(InputError):
                    fields = find_text(payloads, fields, store.name)
            ids = [records.ids[row] for row in rows]
            made = map(record_document, ids, payloads, repeat(fields), repeat(store.name))
            yield records, rows, list(made)
            n += len(rows)
            advance(len(records.ids))
            if limit is not None and n >= limit:
                break
    if not n:
        got, fix = "no record in it", "Check the collection's name."
        raise InputError(got, expected="at least one", fix=fix, where=store.name)


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
    row = Row({**values, **payload}, f"{store}, record {id_}", 0)
    title, text = (name and text_value(row, name) for name in (title_field, text_field))
    own_id = fields.id and id_value(row, fields.id, coerce=fields.coerce_ids)
    used = {NODE, *(name for name in (fields.id, text_field, title_field) if name)}
    paths = tuple(f"{name}." for name in OBJECTS)
    used |= {name.partition(".")[2] for name in used if name.startswith(paths)}
    if not text_field:
        with suppress(KeyError, TypeError, ValueError):  # a node of LlamaIndex
            node = json.loads(values[NODE])["text"]
            text = node if isinstance(node, str) else ""
    rest = {name: value for name, value in values.items() if name not in used}
    own = {"id_field": fields.id, "text_field": text_field}
    return Document(own_id or id_, text or "", title or "", rest, **own)
