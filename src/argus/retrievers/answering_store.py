"""A vector store as a retriever: queries are embedded, and the store's own search answers them.

Behind `blended:` stand the records that `argus remedy blend --store` wrote; then documents are
ranked as the blend has it (`argus.retrievers.blended.records`), of sentences and hubs. BM25 needs
an index beside it: that is `argus.BlendedRetriever`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import FloatArray, Query, Run
from argus.encoders import Encoder, EncoderConfig, loaded_encoder
from argus.errors import ArgusError, EndpointRefusal, InputError
from argus.indexes.correction import QueryCorrection
from argus.retrievers.blended.fields import PARENT
from argus.retrievers.blended.records import BlendRecords, check_filter, open_records
from argus.retrievers.blocking import Blocking
from argus.retrievers.config import AskingConfig
from argus.retrievers.correcting import CORRECTED, correction_of
from argus.retrievers.protocol import RetrievalError
from argus.retrievers.results import Known, hit_id, ranked
from argus.retrievers.session import Answer
from argus.stores.opening import open_store
from argus.stores.protocol import Filter, Hits, Interruptible, Records, Store
from argus.stores.records import check_dimension, typed
from argus.stores.spec import BLENDED, conditions

PAGE = 1000
"""Records read at a time."""
SAMPLE = 16
"""Records whose vectors are compared with what the encoder makes of their texts."""
ALIKE = 0.5
"""Cosine of a vector that some way of joining title and text may have made."""
TINY = 1e-12


class Ranking(Protocol):
    """Ranks documents of a store by vectors of queries."""

    def rank(self, vectors: FloatArray, k: int) -> list[Hits]:
        """Return at most k documents of each of (n, dim) queries, best first."""

    @property
    def warning(self) -> str | None:
        """What is doubtful about what was answered so far."""


@dataclass(frozen=True)
class OwnSearch:
    """The store's own search of its records."""

    store: Store
    matching: Filter | None
    warning: str | None
    """What is doubtful about asking it with this encoder."""

    def rank(self, vectors: FloatArray, k: int) -> list[Hits]:
        """Return at most k documents of each of (n, dim) queries, best first."""
        return self.store.search(vectors, k, matching=self.matching)


@dataclass(frozen=True)
class BlendSearch:
    """Documents, out of the records of a blend."""

    records: BlendRecords

    def rank(self, vectors: FloatArray, k: int) -> list[Hits]:
        """Return at most k documents of each of (n, dim) queries, best first."""
        return [list(scores.items()) for scores in self.records.search(vectors, k)]

    @property
    def warning(self) -> str | None:
        """What the store did not give enough records for."""
        if not self.records.uncertain:
            return None
        return (
            f"{self.records.uncertain:,} queries may lack a document among the first: "
            f"{self.records.store.name} gave too few records to be certain"
        )


@dataclass(frozen=True)
class AnsweringStore:
    """Asks a store. A query that the encoder rejects, or the store, has failed.

    ids: of records whose documents are called otherwise.
    """

    ranking: Ranking
    encoder: Encoder
    name: str
    identity: str
    ids: Mapping[str, str] = field(default_factory=dict, repr=False)
    correction: QueryCorrection | None = None
    blocking: Blocking = field(default_factory=Blocking, repr=False)

    @property
    def warning(self) -> str | None:
        """What is doubtful about its answers, as far as it is known."""
        return self.ranking.warning

    @property
    def takes_all(self) -> bool:
        """Batches will do."""
        return False

    def session(self) -> AbstractAsyncContextManager[None]:
        """Hold nothing: the store is open."""
        return nullcontext()

    async def answer(self, text: str, k: int) -> Answer:
        """Return documents with falling scores; raises RetrievalError."""
        return (await self.answer_many([Query("query", text)], k))["query"]

    async def answer_many(self, queries: Sequence[Query], k: int) -> Run:
        """Return an answer to every query; raises RetrievalError where any fails."""
        texts = [query.text for query in queries]
        try:
            answers = await self.blocking.call(lambda: self._search(texts, k))
        except (EndpointRefusal, InputError):
            raise
        except ArgusError as error:  # EncodingError, and whatever the store's client raises
            raise RetrievalError(str(error)) from error
        return {
            query.id: ranked([(self.ids.get(id_, id_), score) for id_, score in hits], k, Known())
            for query, hits in zip(queries, answers, strict=True)
        }

    def _search(self, texts: list[str], k: int) -> list[Hits]:
        vectors = np.asarray(self.encoder.encode_queries(texts), np.float32)
        if self.correction is not None:
            vectors = self.correction.apply(vectors)
        return self.ranking.rank(vectors, k)


@contextmanager
def open_answering_store(
    store: str | Store,
    known: Known,
    config: AskingConfig,
    encoder: Encoder | EncoderConfig | str | None,
    *,
    is_blend: bool = False,
) -> Iterator[AnsweringStore]:
    """Open a store, and the encoder of its queries.

    known: the documents that are looked for; where the records' own ids are not theirs, their
    fields and texts tell, or `config.id_field`. is_blend: its records are those of a blend. Raises
    InputError without an encoder, for one of another dimension, for a filter of fields or values
    that no record holds, and for a blend of which there is no record, or more than one;
    FingerprintMismatch for a blend that another encoder made.
    """
    if encoder is None:
        raise InputError(
            "a store, and no encoder",
            expected="the model that embeds queries for it",
            fix="Name it with --encoder.",
            where="--encoder",
        )
    with open_store(store, config.opening) as opened:
        facts = opened.describe()
        fields = conditions(config.where)
        matching = typed(fields, opened, PAGE) if fields else None
        blend = _blend(opened, config.id_field, matching) if is_blend else None
        model = blend.loaded_encoder(encoder) if blend else loaded_encoder(encoder)
        check_dimension(model.dim, facts, opened.name)
        correction = correction_of(config, model)
        parts = [model.fingerprint, repr((facts, config.opening, config.id_field, matching))]
        if correction is not None:
            parts.append(correction.identity)
        where = f" where {', '.join(config.where)}" if config.where else ""
        where += CORRECTED if correction is not None else ""
        interrupt = opened.interrupt if isinstance(opened, Interruptible) else None
        blocking = Blocking(config.timeout_s is not None, interrupt)
        ranking: Ranking
        if blend is not None:
            ranking, ids = BlendSearch(blend), _ids_of_blend(blend, known)
        else:
            ids = _document_ids(opened.iterate(PAGE), known, config.id_field, opened.name)
            ranking = OwnSearch(opened, matching, _doubt(opened, model, known, ids))
        kind = "blend" if is_blend else "store"
        identity = content_hash(kind, opened.name, *parts).hex()
        name = f"{BLENDED if is_blend else ''}{opened.name}{where}"
        try:
            yield AnsweringStore(ranking, model, name, identity, ids, correction, blocking)
        finally:
            blocking.finish()


def _blend(store: Store, id_field: str | None, matching: Filter | None) -> BlendRecords:
    """Return the records of a store's blend."""
    check_filter(matching or {})
    return open_records(store, None, matching, id_fields=(id_field or PARENT,))


def _ids_of_blend(records: BlendRecords, known: Known) -> dict[str, str]:
    """Return the ids of documents that are called otherwise."""
    fields = records.numbers.fields
    page = Records(list(fields), np.empty((len(fields), 0), np.float32), list(fields.values()))
    return _document_ids([page], known, None, records.store.name)


def _document_ids(
    pages: Iterable[Records], known: Known, id_field: str | None, store: str
) -> dict[str, str]:
    """Return the document of every record whose own id is another.

    The first page with known documents tells where their ids stand: in the records' own ids, or in
    their fields and texts, which count first where they tell as many. Then, or where `id_field` is
    named, all records are read. Raises InputError where no record holds `id_field`.
    """
    if id_field is None and not known.ids:
        return {}
    ids: dict[str, str] = {}
    are_own: bool | None = None if id_field is None else False
    for page in pages:
        if are_own is None:
            are_own = _are_own(page, known)
        if are_own:
            return {}
        if are_own is not None:
            ids |= _ids_of(page, known, id_field)
    if not ids and id_field is not None:
        raise InputError(
            f"no record of {store} holds {id_field!r}",
            expected="a field that holds the ids of documents",
            fix="Check the name; a field inside another is written with a dot.",
            where="--result-id",
        )
    return ids


def _are_own(page: Records, known: Known) -> bool | None:
    """Return whether the records' ids are their documents'; None for a page that cannot tell.

    Numbers may be ids of both by chance: then more documents are known by the fields.
    """
    own = known.ids.intersection(page.ids)
    ids = _ids_of(page, known, None)
    named = known.ids.intersection(ids.values())
    if not own and not named:
        return None
    return len(named) < len(own) or all(id_ == document for id_, document in ids.items())


def _ids_of(page: Records, known: Known, id_field: str | None) -> dict[str, str]:
    """Return the documents of a page's records, where their fields or texts tell.

    A record whose own id is by chance a document's keeps what its fields say, known or not.
    """
    ids = {}
    for id_, payload in zip(page.ids, page.payloads, strict=True):
        item: dict[str, Any] = {"payload": payload} | ({"id": id_} if id_field else {})
        try:
            document = hit_id(item, known, id_field)
        except RetrievalError:
            continue  # a record without the field keeps its own id
        if id_field is not None or document in known.ids or id_ in known.ids:
            ids[id_] = document
    return ids


def _doubt(store: Store, encoder: Encoder, known: Known, ids: Mapping[str, str]) -> str | None:
    """Return what is doubtful: vectors of records that are not what the encoder makes of them.

    A document may have been embedded with its title or without: the nearer of both counts. An
    encoder of queries alone, of two, cannot be told so; then nothing is said.
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
