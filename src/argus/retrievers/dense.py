"""Search an Argus index or a vector store by query vectors, as a retriever that commands can ask.

An index is `index:PATH[@STATE]` or its folder alone. Settings of the search follow after commas,
since several retrievers of one command may be indexes:
`index:PATH@original,hybrid=min-max,lambda=0.5`. A store is `KIND:PLACE/COLLECTION`, with `blended:`
before it for the records that `argus tune apply blend --store` wrote. These rank documents by
sentences as the blend does, without BM25, which needs `argus.BlendedRetriever`.
`argus.retrievers.opening` opens either by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import FloatArray, Query, Run
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig, as_config, load_encoder
from argus.errors import ArgusError, EncodingError, EndpointRefusal, InputError
from argus.indexes.header import IndexSpec, parse_index_spec
from argus.indexes.lexical import STEMMED
from argus.indexes.recipe import QueryCorrection, find_correction, read_correction
from argus.indexes.retriever import IndexRetriever, encoder_of
from argus.indexes.views import ViewIndex
from argus.retrievers.blend_records import BlendRecords, check_filter
from argus.retrievers.config import AskingConfig
from argus.retrievers.names import INDEX
from argus.retrievers.protocol import RetrievalError
from argus.retrievers.results import Known, hit_id, ranked
from argus.retrievers.session import BATCH, Blocking, Source
from argus.stores.protocol import PARENT, Hits, Interruptible, Records, Store
from argus.stores.spec import BLENDED, check_dimension, conditions, open_store, typed

AnyEncoder = Encoder | EncoderConfig | str
Search = Callable[[FloatArray, int], list[Hits]]
# Suffix of the name of a retriever whose queries are corrected.
CORRECTED = " corrected"
# Records in one reading of a store.
PAGE = 1000
# Records whose vectors are compared with those that the encoder makes of their texts.
SAMPLE = 16
# Least median cosine of vectors that the encoder may have made, from title and text somehow.
ALIKE = 0.5
TINY = 1e-12


@dataclass(frozen=True)
class IndexSource(Source):
    """An Argus index. A query that its encoder rejects has failed."""

    retriever: IndexRetriever
    name: str
    blocking: Blocking = field(default_factory=Blocking, repr=False)
    batch = BATCH

    @property
    def fingerprint(self) -> str | None:
        """Fingerprint of the encoder of its queries."""
        return self.retriever.encoder.fingerprint

    @property
    def identity(self) -> str:
        """Hash of the index as it is now, and of how it is searched."""
        retriever, index = self.retriever, self.retriever.index
        ways = (
            retriever.as_of, retriever.hybrid, retriever.weight,
            STEMMED.name, index.header.recipes,
        )  # fmt: skip
        parts = [str(index.path.resolve()), retriever.encoder.fingerprint, str(index.version)]
        parts += [index.made] if index.made else []
        return content_hash("index", *parts, repr(ways)).hex()

    async def answer(self, queries: Sequence[Query], k: int) -> Run:
        """Return documents with decreasing scores per query. See `Source`."""
        numbered = [Query(str(i), query.text) for i, query in enumerate(queries)]
        try:
            run = await self.blocking.call(lambda: self.retriever.search(numbered, k))
        except EndpointRefusal:
            raise
        except EncodingError as error:
            raise RetrievalError(str(error)) from error
        return {query.id: run[str(i)] for i, query in enumerate(queries)}


def parse_index(name: str) -> tuple[IndexSpec, dict[str, Any]]:
    """Split `[index:]PATH[@STATE][,SETTING=VALUE ...]`. Raises InputError for an unknown setting.

    Returns the index, and settings as arguments of `IndexRetriever`.
    """
    path, *parts = name.removeprefix(INDEX).split(",")
    while parts and "=" not in parts[0]:  # a comma of the path's own
        path += "," + parts.pop(0)
    settings: dict[str, Any] = {}
    for part in parts:
        key, _, value = part.partition("=")
        try:
            if key == "hybrid":
                settings["hybrid"] = value
            elif key == "lambda":
                settings["weight"] = float(value)
            else:
                raise ValueError(key)
        except ValueError:
            expected = "hybrid=min-max or lambda=0.5"
            fix = "Correct it, or leave it out."
            raise InputError(repr(part), expected=expected, fix=fix, where=name) from None
    return parse_index_spec(path), settings


def open_index(name: str, encoder: AnyEncoder | None = None) -> IndexRetriever:
    """Open a named index.

    encoder: for an index that names none. One that is not the option's default replaces the index's
    own, and its device holds for both. Raises InputError for a folder without an index and for one
    without an encoder, EncoderMismatch for an encoder that did not make it.
    """
    spec, settings = parse_index(name)
    index = ViewIndex.open(spec.path)
    index.condition(spec.as_of)  # before the encoder is loaded
    config = None if encoder is None else as_config(encoder)
    is_default = isinstance(config, EncoderConfig) and config.model == DEFAULT_MODEL
    if isinstance(config, EncoderConfig) and is_default and index.header.encoder.get("model"):
        loaded = encoder_of(index, None, config.device)
    else:
        loaded = encoder_of(index, config)
    return IndexRetriever(index, loaded, spec.as_of, **settings)


def correction_of(config: AskingConfig, encoder: Encoder) -> QueryCorrection | None:
    """Read the correction of queries that `argus tune apply adapt` learnt, if one is configured.

    Raises EncoderMismatch if it was learnt for another encoder.
    """
    if config.correction is None:
        return None
    file = find_correction(config.correction)
    correction = read_correction(file)
    correction.check_fingerprint(encoder.fingerprint, file)
    return correction


@dataclass(frozen=True)
class StoreSource(Source):
    """A vector store. A query that the encoder or the store rejects has failed.

    rank: returns at most k documents of each of (n, dim) queries, best first. warning: a doubt
    about all answers. ids: documents of records whose own ids are others. ways: how else the store
    can rank, each by what is other.
    """

    name: str
    identity: str
    encoder: Encoder
    rank: Search
    warning: str | None
    ids: Mapping[str, str] = field(default_factory=dict, repr=False)
    correction: QueryCorrection | None = None
    blocking: Blocking = field(default_factory=Blocking, repr=False)
    ways: Mapping[str, Search] = field(default_factory=dict, repr=False)
    batch = BATCH

    @property
    def fingerprint(self) -> str | None:
        """Fingerprint of the encoder of its queries."""
        return self.encoder.fingerprint

    async def answer(self, queries: Sequence[Query], k: int) -> Run:
        """Return documents with decreasing scores per query. See `Source`."""
        try:
            answers = await self.blocking.call(lambda: self._search(queries, k))
        except (EndpointRefusal, InputError):
            raise
        except ArgusError as error:  # EncodingError, and whatever the store's client raises
            raise RetrievalError(str(error)) from error
        return {
            query.id: ranked([(self.ids.get(id_, id_), score) for id_, score in hits], k, Known())
            for query, hits in zip(queries, answers, strict=True)
        }

    def _search(self, queries: Sequence[Query], k: int) -> list[Hits]:
        vectors = np.asarray(self.encoder.encode_queries([q.text for q in queries]), np.float32)
        if self.correction is not None:
            vectors = self.correction.apply(vectors)
        return self.rank(vectors, k)


@contextmanager
def open_store_source(
    store: str | Store,
    known: Known,
    config: AskingConfig,
    encoder: AnyEncoder | None,
    *,
    is_blend: bool = False,
) -> Iterator[StoreSource]:
    """Open a store, and the encoder of its queries.

    known: the documents of the corpus. Where the records' ids are not theirs, `config.id_field` or
    fields and texts tell. is_blend: the records are those of a blend. Raises InputError without an
    encoder, for one of another dimension, for a filter of fields or values that no record holds,
    and unless there is exactly one blend. Raises EncoderMismatch if
    another encoder made the blend.
    """
    if encoder is None:
        got, expected = "a store, and no encoder", "the model that embeds queries for it"
        raise InputError(got, expected=expected, fix="Name it with --encoder.", where="--encoder")
    with open_store(store, config.opening) as opened:
        facts, fields = opened.describe(), conditions(config.where)
        matching = typed(fields, opened, PAGE) if fields else None
        blend: BlendRecords | None = None
        if is_blend:
            check_filter(matching or {})
            blend = BlendRecords(opened, None, matching, id_fields=(config.id_field or PARENT,))
        model = blend.loaded_encoder(encoder) if blend is not None else load_encoder(encoder)
        check_dimension(model.dim, facts, opened.name)
        correction = correction_of(config, model)
        parts = [model.fingerprint, repr((facts, config.opening, config.id_field, matching))]
        name = f"{BLENDED if is_blend else ''}{opened.name}"
        name += f" where {', '.join(config.where)}" if config.where else ""
        if correction is not None:
            parts.append(correction.identity)
            name += CORRECTED
        identity = content_hash("blend" if is_blend else "store", opened.name, *parts).hex()

        rank: Search
        ways: dict[str, Search] = {}
        if blend is None:
            ids = _document_ids(opened.iterate(PAGE), known, config.id_field, opened.name)
            foreign = _foreign_vectors(opened, model, known, ids)
            rank = partial(opened.search, matching=matching)
            if opened.can_search_exactly and not facts.is_exact:
                ways["exact"] = partial(rank, exact=True)
            if matching:
                ways["without its filter"] = opened.search
        else:
            documents = blend.numbers.fields
            empty = np.empty((len(documents), 0), np.float32)
            page = Records(list(documents), empty, list(documents.values()))
            ids = _document_ids([page], known, None, opened.name)
            rank, foreign = partial(_rank_documents, blend), None
        interrupt = opened.interrupt if isinstance(opened, Interruptible) else None
        blocking = Blocking(config.timeout_s is not None, interrupt)
        try:
            yield StoreSource(name, identity, model, rank, foreign, ids, correction, blocking, ways)
        finally:
            blocking.finish()


def _rank_documents(blend: BlendRecords, vectors: FloatArray, k: int) -> list[Hits]:
    return [list(scores.items()) for scores in blend.search(vectors, k)]


def _document_ids(
    pages: Iterable[Records], known: Known, id_field: str | None, store: str
) -> dict[str, str]:
    """Return the document of every record whose own id is another.

    Without `id_field` the first page with known documents decides between the records' own ids, and
    their fields and texts, which win a draw: numbers may be ids of both by chance. All records are
    read unless their own ids count. A record whose own id is by chance that of a document has the
    id of its fields, known or not. Raises InputError if no record holds `id_field`.
    """
    if id_field is None and not known.ids:
        return {}
    ids: dict[str, str] = {}
    is_decided = id_field is not None
    for page in pages:
        named: dict[str, str] = {}
        for id_, payload in zip(page.ids, page.payloads, strict=True):
            item: dict[str, Any] = {"payload": payload} | ({"id": id_} if id_field else {})
            with suppress(RetrievalError):  # a record without the field keeps its own id
                document = hit_id(item, known, id_field)
                if id_field is not None or document in known.ids or id_ in known.ids:
                    named[id_] = document
        if not is_decided:
            by_id, by_field = (known.ids.intersection(i) for i in (page.ids, named.values()))
            if not by_id and not by_field:
                continue
            if len(by_field) < len(by_id) or all(id_ == doc for id_, doc in named.items()):
                return {}
            is_decided = True
        ids |= named
    if not ids and id_field is not None:
        got = f"no record of {store} holds {id_field!r}"
        expected = "a field that holds the ids of documents"
        fix = "Check the name; a field inside another is written with a dot."
        raise InputError(got, expected=expected, fix=fix, where="--result-id")
    return ids


def _foreign_vectors(
    store: Store, encoder: Encoder, known: Known, ids: Mapping[str, str]
) -> str | None:
    """Say if the vectors of records are not those that the encoder makes of their texts.

    A document may have been embedded with its title or without: the nearer of both counts. Nothing
    is said of an encoder that embeds queries alone.
    """
    page = next(store.iterate(SAMPLE), None)
    if page is None or not known.by_text:
        return None
    texts: dict[str, list[str]] = {}
    for text, id_ in known.by_text.items():
        if id_:
            texts.setdefault(id_, []).append(text)
    cosines = []
    for id_, vector, _ in page.rows():
        own = texts.get(ids.get(id_, id_))
        if own and np.isfinite(vector).all() and vector.any():
            try:
                made = np.asarray(encoder.encode_documents(own), np.float64)
            except ArgusError:
                return None
            lengths = np.linalg.norm(made, axis=1) * np.linalg.norm(vector)
            cosines.append(float(np.max(made @ vector / np.maximum(lengths, TINY))))
    middle = float(np.median(cosines)) if cosines else 1.0
    if middle >= ALIKE:
        return None
    return (
        f"the vectors of {store.name} are not what {encoder.fingerprint} makes of their texts "
        f"(median cosine {middle:.2f} of {len(cosines)}): results mean something only if they were "
        "made for queries of that encoder"
    )
