"""Open a corpus: a file, a folder, a knowledge base, a vector store, or documents of a program.

`open_corpus` finds the kind, and `CorpusSource.documents` reads. The records of a store are read
once, in its order, with their vectors, where an encoder is there to compare those with.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import TypedDict

from argus.corpora import Corpus, StoreCorpus, named
from argus.corpora.agreement import (
    AGREEMENT,
    SAME,
    Agreement,
    Embeds,
    describe_template,
    find_template,
    parse_template,
)
from argus.data.corpus import (
    CORPUS_STEMS,
    TEXT_FIELDS,
    TITLE_FIELDS,
    check_columns,
    check_limit,
    documents_in,
    documents_of_frame,
    find_file,
    whole_documents,
)
from argus.data.fields import FieldNames
from argus.data.frames import Frame
from argus.data.kb_file import kb_file
from argus.data.manifest import StoredVectorsFacts
from argus.data.provenance import AsRead, InputFile, content_hash
from argus.data.rows import FORMATS
from argus.data.text_files import no_file
from argus.data.types import Document, FloatArray, RecordFields
from argus.errors import InputError
from argus.progress import progress
from argus.stores.opening import open_store
from argus.stores.protocol import Metric, Payload, Store, StoreFacts
from argus.stores.records import is_of_remedy, whole_rows
from argus.stores.spec import parse_store

if TYPE_CHECKING:
    from argus.data.kb_folder import KnowledgeFolder

BATCH = 1_000  # records that are read at once
MAX_FIELDS_SHOWN = 20
UNIT = 1e-3  # by how much the length of a unit vector may differ from 1
SHARED = "its text is another record's, too, with another vector"
NODE = "_node_content"  # where LlamaIndex keeps a node: JSON, with the text in it
TEXTS = (*TEXT_FIELDS, "page_content", "document", "chunk", "chunk_text")  # LangChain, Chroma
OBJECTS = ("metadata", "cmetadata", "metadata_")
"""Fields that hold the rest as an object; its fields count as if they stood beside."""
_record_fields = lru_cache(maxsize=1024)(RecordFields)  # records of a store mostly have the same


@dataclass(frozen=True)
class CorpusSource:
    """A corpus that was found by `open_corpus`; nothing of it is read before it is needed.

    limit: how many documents, or entities, to take of it. file: of rows, or kb.json; None for a
    store and for documents of a program, which are `in_memory` or the rows of `frame`.
    """

    limit: int | None
    file: Path | None = None
    is_kb: bool = False
    stored: StoredCorpus | None = None
    in_memory: tuple[Document, ...] = ()
    frame: Frame | None = None
    _read: list[AsRead | None] = field(default_factory=list, repr=False, compare=False)

    @property
    def origin(self) -> Origin | None:
        """The file or store, for a manifest; None for documents of a program.

        Raises InputError where the file is not the one whose documents were read.
        """
        if self.file is not None and self._read and (state := self._read[-1]) is not None:
            state.refuse_other(self.file)
        return self.file or self.stored

    @cached_property
    def kb(self) -> KnowledgeFolder | None:
        """The knowledge base; None for another corpus."""
        if self.file is None or not self.is_kb:
            return None
        from argus.data.kb_folder import KnowledgeFolder

        return KnowledgeFolder.at(self.file)

    def documents(self, fields: FieldNames) -> list[Document]:
        """Return the documents, in order; raises InputError as `read_corpus` does."""
        if self.stored is not None:
            return self.stored.documents(fields)
        template = parse_template(fields.template)
        self._read.append(AsRead.of(self.file))
        if self.kb is not None:
            self.refuse_fields(fields)
            documents = self.kb.documents(self.limit)
        elif self.file is not None:
            documents = documents_in(self.file, fields, limit=self.limit)
        elif self.frame is not None:
            rows = documents_of_frame(self.frame, fields, limit=self.limit)
            documents = list(whole_documents(tuple(rows)))
        else:
            documents = list(self.in_memory)
        _ = self.origin  # still the file that was read
        return documents if template is None else _joined(documents, template)

    def check_columns(self, fields: FieldNames) -> None:
        """Raise InputError where the first row lacks a column, as reading the documents would."""
        self.refuse_fields(fields)
        parse_template(fields.template)
        if self.file is not None and not self.is_kb:
            check_columns(self.file, fields)

    def refuse_fields(self, fields: FieldNames) -> None:
        """Raise InputError where columns are named for a knowledge base; others may have any."""
        columns = [name for name in (fields.id, fields.title, fields.text) if name]
        if columns and self.is_kb:
            raise InputError(
                f"a column was named ({columns[0]!r})",
                expected="no --id-field, --title-field or --text-field: a knowledge base has its "
                "own",
                fix="Leave them out; or give its entities/*.parquet as the corpus.",
                where=self.file,
            )


def open_corpus(
    corpus: Corpus, *, limit: int | None = None, asking: Callable[[], Embeds] | None = None
) -> CorpusSource:
    """Find the corpus that a name stands for, or take documents as they are; read nothing yet.

    asking: opens the encoder to compare the vectors of a store with; None where its texts are
    enough. Raises InputError for a name that stands for nothing, an unfinished knowledge base,
    documents that repeat an id or hold half a character, and a limit below 1.
    """
    check_limit(limit)
    if not isinstance(corpus, (str, Path, StoreCorpus)):
        if isinstance(corpus, Frame):
            return CorpusSource(limit, frame=corpus)
        return CorpusSource(limit, in_memory=whole_documents(tuple(corpus)[:limit]))
    place = named(corpus)
    if isinstance(place, StoreCorpus):
        return CorpusSource(limit, stored=StoredCorpus(place, limit, asking))
    rows = place if place.is_file() else find_file(place, CORPUS_STEMS)
    if knowledge := kb_file(corpus if isinstance(corpus, str) else place):
        return CorpusSource(limit, knowledge, is_kb=True)
    if rows is not None:
        return CorpusSource(limit, rows)
    if place.exists():
        raise InputError(
            "the folder holds no corpus file" if place.is_dir() else no_file(place),
            expected=f"{' or '.join(CORPUS_STEMS)} with an ending of {', '.join(FORMATS)}",
            fix="Give the file itself, or name it corpus.jsonl; a knowledge base holds kb.json.",
            where=place,
        )
    raise InputError(
        "no such file or folder",
        expected="a BEIR folder (corpus.jsonl inside) or a JSONL, CSV, TSV or Parquet file",
        fix="Check the path.",
        where=place,
    )


def read_corpus(
    corpus: Corpus, fields: FieldNames | None = None, *, limit: int | None = None
) -> list[Document]:
    """Read documents, in order: of a knowledge base its paragraphs, of a store its records.

    Fields other than id, title and text become metadata. Raises InputError as `open_corpus`,
    `argus.data.corpus.documents_in` and `StoredCorpus.documents` do.
    """
    return open_corpus(corpus, limit=limit).documents(fields or FieldNames())


def corpus_file(path: Path) -> Path:
    """Return the corpus file that `path` (a file, or a folder) stands for.

    Of a BEIR-like folder it is corpus.jsonl or the like; of a knowledge base, kb.json. Raises
    InputError where there is none, and for a knowledge base that was not finished.
    """
    return open_corpus(path).file or path


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
    """The records of a store as documents; it stands for them in a manifest.

    asking: opens the encoder to compare the vectors with; None where texts are enough. vectors:
    None before the documents are read, and where texts are enough.
    """

    corpus: StoreCorpus
    limit: int | None = None
    asking: Callable[[], Embeds] | None = None
    vectors: StoredVectors | None = None
    _reading: _Reading | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """Return its name, without user and password."""
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

        Records that a remedy wrote are left out. Raises InputError for records without texts, ids
        that repeat, a store that changes meanwhile, and vectors that the encoder of `asking` did
        not make, in whatever way title and text are joined.
        """
        template = parse_template(fields.template)
        with open_store(self.corpus.store, self.corpus.opening) as store:
            reading = _read_store(store, fields, self.limit, self.asking is not None)
        documents = reading.documents
        if self.asking is not None:
            self.vectors = _compare(reading, self.asking(), template)
            documents = self.vectors.documents
        elif template is not None:
            documents = _joined(documents, template)
        self._reading = replace(reading, documents=documents, vectors=np.zeros((0, 0), np.float32))
        return documents

    def describe(self) -> InputFile:
        """Return name, records and hash for a manifest, once the documents are read."""
        assert self._reading is not None
        read = len(self._reading.documents)
        return {"file": str(self), "records": read, "sha256": self._reading.sha256}

    @property
    def facts(self) -> StoredVectorsFacts:
        """The vectors' part of a summary, once they are read."""
        assert self.vectors is not None and self._reading is not None
        reading, agreement, store = self._reading, self.vectors.agreement, self._reading.facts
        norms = reading.norms[reading.norms > 0]
        return {
            "store": str(self),
            "vector_field": store.vector_field,
            "metric": str(store.metric),
            "ranking": str(self.vectors.ranking),
            "index": store.index,
            "records": reading.expected,
            "read": len(reading.documents),
            "broken": dict(Counter(self.vectors.broken.values())),
            "shortest": round(float(norms.min()), 4) if len(norms) else None,
            "longest": round(float(norms.max()), 4) if len(norms) else None,
            "template": describe_template(agreement.template),
            "agreement": agreement.median,
            "least": agreement.least,
            "compared": len(agreement.cosines),
            "sha256": reading.sha256,
        }


Origin = Path | StoredCorpus
"""A file or store, as it stands for a corpus in a manifest."""


class OfStore(TypedDict, total=False):
    """The part of a summary about vectors of a store; missing where they are not of one."""

    stored_vectors: StoredVectorsFacts


def remarks(facts: StoredVectorsFacts) -> Iterator[str]:
    """Yield which vectors were taken and how well the encoder agrees, then doubts."""
    yield (
        f"vectors: those of {facts['store']} ({facts['metric']}), of title and text joined as "
        f"'{facts['template']}': the encoder agrees at a median cosine of "
        f"{facts['agreement']:.4f} (least {facts['least']:.4f}, {facts['compared']} texts)"
    )
    if facts["read"] != facts["records"]:
        yield (
            f"WARNING: {facts['read']:,} records were read, and it said {facts['records']:,}: does "
            "it change?"
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
            read = [
                record_document(records.ids[row], payload, fields, name)
                for row, payload in zip(rows, payloads, strict=True)
            ]
            if not first and read and not any(one.text.strip() for one in read):
                raise _textless(payloads, fields, name)
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
    after, n = store.describe().records, len(documents)
    if after != facts.records:
        raise InputError(
            f"it held {facts.records:,} records before it was read, and {after:,} after",
            expected="a store that stays as it is while it is read",
            fix="Run this again when nothing is written to it.",
            where=name,
        )
    if not n:
        fix = "Check the collection's name."
        raise InputError("no record in it", expected="at least one", fix=fix, where=name)
    if repeated := n - len({document.id for document in documents}):
        raise InputError(
            f"{repeated:,} of {n:,} records have an id that another has",
            expected="one record per id",
            fix="Name the field of the records' own ids (--store-id, --id-field); or run this "
            "again when nothing is written to the store.",
            where=name,
        )
    whole_documents(tuple(documents))
    expected = min(facts.records - of_remedies, expected)
    sha256 = hashlib.sha256(b"".join(sorted(hashes))).hexdigest()
    return _Reading(
        name, facts, expected, documents, vectors[:n], np.concatenate(lengths), broken, sha256
    )


def record_document(id_: str, payload: Payload, fields: FieldNames, store: str) -> Document:
    """Return a record of a store as a document; without a text its text is empty.

    fields: those that are named, by dotted paths too. store: its name, for errors. Raises
    InputError for a title or text that is none, and an id that is no text.
    """
    values, inner = dict(payload), set[str]()
    for name in OBJECTS:
        if isinstance(held := values.get(name), Mapping):
            del values[name]
            own = {k for k in held if k not in values}
            values |= {k if k in own else f"{name}.{k}": v for k, v in held.items()}
            inner |= own
    title_field, text_field = (
        name or next((usual for usual in usuals if isinstance(values.get(usual), str)), None)
        for name, usuals in ((fields.title, TITLE_FIELDS), (fields.text, TEXTS))
    )
    title, text, own_id = (
        _value(name, payload, values) if name else None
        for name in (title_field, text_field, fields.id)
    )
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
    inside = tuple(f"{name}." for name in OBJECTS)
    used |= {name.partition(".")[2] for name in used if name.startswith(inside)}
    return Document(
        id=id_ if fields.id is None else str(own_id),
        title=title or "",
        text=(text or "") if text_field else _node_text(values),
        metadata={name: value for name, value in values.items() if name not in used},
        fields=_record_fields(fields.id or "id", title_field, frozenset(inner), text_field),
    )


def _value(name: str, payload: Payload, values: Payload) -> Any:
    """Return the value of a field, named as it is or by a dotted path; None where it has none."""
    for there in (payload, values):
        if name in there:
            return there[name]
    value: Any = payload
    for step in name.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _node_text(values: Payload) -> str:
    try:
        text = json.loads(values[NODE])["text"]
    except (KeyError, TypeError, ValueError):
        return ""
    return text if isinstance(text, str) else ""


def _textless(payloads: Sequence[Payload], fields: FieldNames, store: str) -> InputError:
    """Return the error of records of which not one has a text."""

    def paths(payload: Payload) -> Iterator[str]:
        for name, value in payload.items():
            if isinstance(value, Mapping) and value:
                yield from (f"{name}.{inner}" for inner in paths(value))
            else:
                yield name

    names = list(dict.fromkeys(name for payload in payloads for name in paths(payload)))
    more = " ..." if len(names) > MAX_FIELDS_SHOWN else ""
    return InputError(
        f"its records hold no text (fields: {', '.join(names[:MAX_FIELDS_SHOWN]) or 'none'}{more})",
        expected=f"the field {fields.text!r}" if fields.text else f"one of {', '.join(TEXTS)}",
        fix="Name the field of the texts with --text-field, such as metadata.body; where they "
        "are kept elsewhere, give those as the corpus.",
        where=store,
    )


def _compare(reading: _Reading, encoder: Embeds, template: str | None) -> StoredVectors:
    """Find how title and text were joined; raise InputError where `encoder` made no vector."""
    documents, vectors = reading.documents, reading.vectors
    unclear = {*reading.broken, *_confused(documents, reading)}
    usable = [
        row for row, one in enumerate(documents) if row not in unclear and one.content.strip()
    ]
    if not usable:
        raise InputError(
            f"not one of {len(documents):,} records has a text and a whole vector",
            expected="records with both",
            fix="See what is in it: argus reach STORE.",
            where=reading.name,
        )
    if encoder.dim != (dim := vectors.shape[1]):
        raise InputError(
            f"vectors of {dim} dimensions; {encoder.fingerprint} makes {encoder.dim}",
            expected="the encoder that made the store's vectors",
            fix="Name it with --encoder, or another field of vectors with --vector-field.",
            where=reading.name,
        )
    agreement = find_template(documents, vectors, usable, encoder, template=template)
    if not agreement.holds:
        odd = [agreement.rows[i] for i in np.flatnonzero(agreement.cosines < AGREEMENT)]
        if agreement.median >= SAME:  # most are the same: the odd ones are of older texts, perhaps
            ids = ", ".join(repr(documents[row].id) for row in odd[:5])
            raise InputError(
                f"{len(odd)} of {len(agreement.rows)} records compared hold vectors of other texts "
                f"({ids}; {agreement})",
                expected=f"a least cosine of {AGREEMENT} to what {encoder.fingerprint} makes",
                fix="Write these records again, and others that changed since they were embedded; "
                r"or name how title and text were joined (--template '{title}\n{text}').",
                where=reading.name,
            )
        raise InputError(
            f"its vectors are not what {encoder.fingerprint} makes of its texts (at best "
            f"{agreement})",
            expected=f"the encoder that made them: a least cosine of {AGREEMENT}",
            fix="Name it with --encoder, with the prompt that documents had; or name how title and "
            r"text were joined (--template '{title}\n{text}'), or their fields (--title-field, "
            "--text-field).",
            where=reading.name,
        )
    documents = _joined(documents, agreement.template)
    sample = documents[agreement.rows[0]].content
    length = float(np.linalg.norm(encoder.encode_documents([sample])[0]))
    broken = dict.fromkeys(_confused(documents, reading), SHARED) | reading.broken
    if abs(length - 1) <= UNIT:
        return StoredVectors(documents, vectors, broken, agreement, Metric.COSINE)
    own = vectors * reading.norms[:, None]
    return StoredVectors(documents, own, broken, agreement, Metric.DOT)


def _confused(documents: Sequence[Document], reading: _Reading) -> list[int]:
    """Return the rows of texts that several records share, but not their vectors.

    A text finds its vector, so nobody could tell such vectors apart.
    """
    sharing: dict[bytes, list[int]] = defaultdict(list)
    for row, document in enumerate(documents):
        if document.content.strip() and row not in reading.broken:
            sharing[content_hash(document.content)].append(row)
    groups = [rows for rows in sharing.values() if len(rows) > 1]
    vectors = reading.vectors
    return [
        row
        for rows in groups
        if bool((vectors[rows] @ vectors[rows[0]] < AGREEMENT).any())
        for row in rows
    ]


def _joined(documents: Sequence[Document], template: str | None) -> list[Document]:
    return [replace(document, template=template) for document in documents]
