"""`BlendedRetriever`: a blend in two lines, in the place of the retriever that was there.

retriever = argus.BlendedRetriever("qdrant:http://127.0.0.1:6333/docs_argus", "index/")
documents = retriever.invoke("how do I reset it?")
"""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.arguments import check_unique
from argus.data.types import Document, Query, RecordFields, Run
from argus.encoders import Encoder, EncoderConfig
from argus.errors import InputError
from argus.indexes.correction import QueryCorrection, find_correction, read_correction
from argus.indexes.header import CorpusFields
from argus.indexes.retriever import FUSED_DEPTH, IndexRetriever, open_retriever
from argus.indexes.snapshot import check_k
from argus.indexes.spec import IndexSpec
from argus.indexes.views import ORIGINAL
from argus.retrievers.blended.candidates import open_candidates
from argus.retrievers.blended.fields import PARENT
from argus.retrievers.blended.pages import Passage, langchain_pages, llama_nodes, passages
from argus.retrievers.blended.ranking import CandidateRanking, Ranked, Ranking, RecordRanking
from argus.retrievers.blended.records import MOST, PAGE, check_filter, open_records
from argus.settings import TOP_K
from argus.stores.opening import open_store
from argus.stores.protocol import Store
from argus.stores.records import check_dimension, typed
from argus.stores.spec import StoreConfig, is_store

if TYPE_CHECKING:
    from langchain_core.documents import Document as Page
    from langchain_core.retrievers import BaseRetriever as LangChain
    from llama_index.core.retrievers import BaseRetriever as LlamaIndex
    from llama_index.core.schema import NodeWithScore

AnyEncoder = Encoder | EncoderConfig | str


class BlendedRetriever:
    """A blend, served where documents live, in the shapes of Argus, LangChain and LlamaIndex.

    source: a store that holds the records of a blend, by its name (`qdrant:PLACE/docs_argus`) or
    opened; or a retriever of your own, as an object, class, function or name: its first `depth`
    results are ranked anew, and nothing else is ever returned. index: the Argus index with the
    blend, its path or an `IndexRetriever`; a retriever of your own needs it, a store takes BM25,
    query correction and encoder from it. encoder: of the queries, where no index names it.
    k: how many `invoke` and `retrieve` return. depth: how many documents are fused with BM25.

    Of a store alone: `where`, the filter that every result must pass (`{"tenant": 7}`); `remedy`,
    which blend, where it holds several; `correction`, where no index has it; `exact`, True to
    compare every vector, where the store can; False to take what comes; None to compare all only
    where the first k are otherwise uncertain; `most`, records asked for at most; `opening`, what
    its name does not say. `id_field`: the field that holds the ids of the index, where a record's
    own id does not. text_field: the field of a result's text, if it has none of the usual names.
    An index remembers both, as its corpus had them.

    It holds its source open: use it in a `with`, or call `close`. Calls are made one at a time,
    from whatever thread. Raises InputError for a source that is neither, a store without such
    records, no encoder, or settings that the source does not take; FingerprintMismatch for records
    that another encoder made.
    """

    def __init__(
        self,
        source: Any,
        index: IndexRetriever | IndexSpec | str | Path | None = None,
        *,
        encoder: AnyEncoder | None = None,
        k: int = TOP_K,
        depth: int = FUSED_DEPTH,
        where: Mapping[str, Any] | None = None,
        remedy: str | None = None,
        correction: QueryCorrection | Path | str | None = None,
        exact: bool | None = None,
        most: int = MOST,
        id_field: str | None = None,
        text_field: str | None = None,
        opening: StoreConfig | None = None,
    ) -> None:
        check_k(k)
        check_k(depth)
        check_k(most)
        self.k = k
        self._held, self._lock, self._told = ExitStack(), threading.RLock(), set[str]()
        is_records = _is_store(source)
        own = {"where": where, "remedy": remedy, "correction": correction, "exact": exact,
               "opening": opening}  # fmt: skip
        _check(source, index, own, is_records=is_records)
        self.index = (
            index if isinstance(index, IndexRetriever) or index is None
            else open_retriever(index, encoder)
        )  # fmt: skip
        self._fields = _corpus_fields(self.index)
        self.text_field = text_field or self._fields["text"]
        with self._held:
            self._ranking: Ranking
            if is_records:
                named = _encoder(self.index, encoder)
                usual = (name for name in (self._fields["id"], PARENT) if name)
                id_fields = (id_field,) if id_field else tuple(usual)
                self._ranking = self._of_store(source, named, depth, own, most, id_fields)
            else:
                assert self.index is not None
                own_documents = list(self._documents.values())
                candidates = self._held.enter_context(
                    open_candidates(source, own_documents, id_field, self.index.encoder)
                )
                self._ranking = CandidateRanking(candidates, self.index, depth)
            self._held = self._held.pop_all()

    def _of_store(
        self,
        source: Any,
        named: AnyEncoder,
        depth: int,
        own: Mapping[str, Any],
        most: int,
        id_fields: Sequence[str],
    ) -> RecordRanking:
        store = self._held.enter_context(open_store(source, own["opening"]))
        _check_asked(store, own)
        where = typed(own["where"], store, PAGE) if own["where"] else None
        records = open_records(
            store,
            own["remedy"],
            where,
            own=_remedy(self.index),
            id_fields=id_fields,
            exact=own["exact"],
            most=most,
        )
        encoder = records.loaded_encoder(named)
        check_dimension(encoder.dim, store.describe(), store.name)
        correction = own["correction"]
        if isinstance(correction, str | Path):
            correction = read_correction(find_correction(Path(correction)))
        if correction is None and self.index is not None:
            correction = self.index.recipe.correction
        if correction is not None:
            correction.check_fingerprint(encoder.fingerprint, Path(store.name))
        return RecordRanking(records, encoder, depth, self.index, correction)

    @property
    def name(self) -> str:
        """What reports call it."""
        return self._ranking.name

    def search(self, queries: Sequence[Query], k: int) -> Run:
        """Return the k best documents per query; a query without text finds none."""
        check_k(k)
        run: Run = {query.id: {} for query in queries}
        check_unique(queries)
        with_text = [query for query in queries if query.text.strip()]
        answers = self._rank([query.text for query in with_text], k) if with_text else []
        for query, ranked in zip(with_text, answers, strict=True):
            run[query.id] = {document.id: document.score for document in ranked}
        return run

    def invoke(self, query: str, config: Any = None, **_: Any) -> list[Page]:
        """Return LangChain documents, as a retriever of LangChain does."""
        return langchain_pages(self._passages(query))

    def __call__(self, query: str) -> list[Page]:
        """Return LangChain documents: so its `|` and dictionaries of runnables take it."""
        return self.invoke(query)

    def batch(self, queries: Sequence[str], config: Any = None, **_: Any) -> list[list[Page]]:
        """Return LangChain documents per query."""
        return [self.invoke(query) for query in queries]

    async def ainvoke(self, query: str, config: Any = None, **_: Any) -> list[Page]:
        """Return LangChain documents, without blocking the loop."""
        return await asyncio.to_thread(self.invoke, query)

    def retrieve(self, query: Any) -> list[NodeWithScore]:
        """Return LlamaIndex nodes with scores. query: text, or a `QueryBundle`."""
        return llama_nodes(self._passages(getattr(query, "query_str", query)))

    async def aretrieve(self, query: Any) -> list[NodeWithScore]:
        """Return LlamaIndex nodes with scores, without blocking the loop."""
        return await asyncio.to_thread(self.retrieve, query)

    def as_langchain(self, **options: Any) -> LangChain:
        """Return a `BaseRetriever` of LangChain. options: its own, such as tags and metadata."""
        from argus.retrievers.blended.langchain import BlendedLangChainRetriever

        return BlendedLangChainRetriever(blended=self, **options)

    def as_llama_index(self, **options: Any) -> LlamaIndex:
        """Return a `BaseRetriever` of LlamaIndex. options: its own."""
        from argus.retrievers.blended.llama_index import BlendedLlamaIndexRetriever

        return BlendedLlamaIndexRetriever(self, **options)

    def refresh(self) -> None:
        """Read the index, and what the records of a store count, as they are now."""
        with self._lock:
            if self.index is not None:
                self.index.index.refresh()
            self.__dict__.pop("_documents", None)
            if isinstance(self._ranking, RecordRanking):
                self._ranking.records.refresh()

    def close(self) -> None:
        """Let go of the store, or of the retriever's connections."""
        self._held.close()

    def __enter__(self) -> BlendedRetriever:
        """Return itself; it is closed with the context."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _rank(self, texts: Sequence[str], k: int) -> list[list[Ranked]]:
        with self._lock:
            answers = self._ranking.rank(texts, k)
            self._tell()
        return answers

    def _tell(self) -> None:
        """Warn of what is doubtful about the results, each kind once."""
        ranking = self._ranking
        if isinstance(ranking, CandidateRanking):
            unknown, doubt = list(ranking.unknown), (
                "{} results are not in the index, such as {!r}: they keep their order, after those "
                "that are"
            )  # fmt: skip
            self._warn("unknown", doubt.format(len(unknown), unknown[0]) if unknown else "")
        elif isinstance(ranking, RecordRanking) and ranking.records.uncertain:
            records = ranking.records
            fix = ", or exact=True" * (records.exact is None and records.store.can_search_exactly)
            self._warn(
                "uncertain",
                f"after {records.most:,} records a document that was not seen might still be among "
                f"the first: give a larger most={fix}",
            )

    def _warn(self, kind: str, text: str) -> None:
        if text and kind not in self._told:
            self._told.add(kind)
            warnings.warn(f"{self.name}: {text} (told once)", stacklevel=5)

    def _passages(self, text: str) -> list[Passage]:
        if not text.strip():
            return []
        ranked = self._rank([text], self.k)[0]
        pages = list(passages(ranked, self._text, self.k, self.text_field))
        empty = next((page for page in pages if not page.text), None)
        if empty is not None:
            fields = ", ".join(empty.metadata)
            self._warn("text", f"{empty.id!r} has no text; name its field (text_field=): {fields}")
        return pages

    def _text(self, document: str) -> tuple[str, str]:
        known = self._documents.get(document)
        return (known.text, known.title) if known is not None else ("", "")

    @cached_property
    def _documents(self) -> dict[str, Document]:
        """The documents of the index, with their texts."""
        if self.index is None:
            return {}
        rows = self.index.index.rows(self.index.as_of)
        columns = [rows[name].to_pylist() for name in ("doc_id", "kind", "text", "source")]
        own = self._fields["id"]
        fields = None if own is None else RecordFields(own)
        return {
            doc: Document(doc, text.removeprefix(title).strip(), title, fields=fields)
            for doc, kind, text, title in zip(*columns, strict=True)
            if kind == ORIGINAL
        }


def _is_store(source: Any) -> bool:
    if isinstance(source, str | Path):
        return is_store(str(source))
    return hasattr(source, "can_search_exactly")  # of `argus.Store`, and nothing else


def _corpus_fields(index: IndexRetriever | None) -> CorpusFields:
    """Return where the records of the index's corpus hold ids and texts, as far as it says so."""
    known = None if index is None else index.index.header.corpus_fields
    return known or {"id": None, "text": None}


def _remedy(index: IndexRetriever | None) -> str | None:
    """Return which remedy brought the index its blend."""
    if index is None or index.recipe.blend is None:
        return None
    return index.recipe.remedies[0]


def _encoder(index: IndexRetriever | None, encoder: AnyEncoder | None) -> AnyEncoder:
    if index is not None:
        return index.encoder
    if encoder is None:
        raise InputError(
            "a store, and neither an index nor an encoder",
            expected="what embeds queries for its vectors", fix="Give index= or encoder=.",
            where="encoder",
        )  # fmt: skip
    return encoder


def _check_asked(store: Store, own: Mapping[str, Any]) -> None:
    """Raise InputError for a search that a store cannot make, or that no record would pass."""
    if own["exact"] and not (store.can_search_exactly or store.describe().is_exact):
        raise InputError(
            "cannot compare every vector", expected="one that can, or exact= left out",
            fix="Leave it out, and give a larger most= where results are told to be uncertain.",
            where=store.name,
        )  # fmt: skip
    check_filter(own["where"] or {})


def _check(source: Any, index: object, own: Mapping[str, Any], *, is_records: bool) -> None:
    """Raise InputError for what a retriever of the user's own does not take, or lacks."""
    if is_records:
        return
    if index is None:
        raise InputError(
            "a retriever, and no index",
            expected="the Argus index with the blend, by which its results are ranked",
            fix="Give index=.", where="index",
        )  # fmt: skip
    named = [name for name, value in own.items() if value is not None]
    if named:
        raise InputError(
            "is said of a store, and the source is a retriever", expected="a store as the source",
            fix="Leave it out: the retriever filters and searches as it does.", where=named[0],
        )  # fmt: skip
