"""Serve a blend (vectors, sentences, BM25) in an application, in place of the retriever it had.

    retriever = argus.BlendedRetriever("qdrant:http://127.0.0.1:6333/docs_argus", "index/")
    documents = retriever.invoke("how do I reset it?")

The Python API after `argus tune apply blend`, with the methods of LangChain and LlamaIndex, which
are imported when they are needed. `RecordRanking` ranks by the records of a blend in a vector store
(`argus.retrievers.blend_records`). `CandidateRanking` reranks the results of your own retriever.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from argus.data.documents import check_unique
from argus.data.types import Document, Query, Run
from argus.encoders import Encoder, EncoderConfig
from argus.errors import InputError
from argus.indexes.fold import ORIGINAL
from argus.indexes.fold import exact as exact_scores
from argus.indexes.fusion import fuse_with_bm25
from argus.indexes.header import IndexSpec
from argus.indexes.recipe import QueryCorrection, find_correction, read_correction
from argus.indexes.retriever import FUSED_DEPTH, IndexRetriever, open_retriever
from argus.indexes.snapshot import check_k
from argus.python_file import USER_CODE_CWD, refusing_what_raises
from argus.retrievers.blend_records import PAGE, BlendRecords, Scores, check_filter
from argus.retrievers.config import AskingConfig
from argus.retrievers.names import check_python_file, http_file, is_index
from argus.retrievers.opening import opened
from argus.retrievers.python_retriever import call_of, made, named_in_file
from argus.retrievers.results import TEXT_NAMES, Known, items_of, listed
from argus.retrievers.session import AskingLoop
from argus.settings import TOP_K
from argus.stores.protocol import PARENT, values_of
from argus.stores.spec import StoreConfig, check_dimension, is_store, open_store, typed

if TYPE_CHECKING:
    from langchain_core.documents import Document as Page
    from langchain_core.retrievers import BaseRetriever as LangChain
    from llama_index.core.retrievers import BaseRetriever as LlamaIndex
    from llama_index.core.schema import NodeWithScore

AnyEncoder = Encoder | EncoderConfig | str
QUERY = "query"


class Ranked(NamedTuple):
    """One document of a ranking. items: of the user's retriever. fields: of a store."""

    id: str
    score: float
    items: Sequence[Any] = ()
    fields: Mapping[str, Any] | None = None


class BlendedRetriever:
    """A blend, served where documents live, in the shapes of Argus, LangChain and LlamaIndex.

    source: a store that holds the records of a blend, by its name (`qdrant:PLACE/docs_argus`) or
    opened; or a retriever of your own, as an object, class, function or name: its first `depth`
    results are ranked anew, and nothing else is ever returned. index: the Argus index with the
    blend, its path or an `IndexRetriever`. A retriever of your own needs it, a store takes BM25,
    query correction and encoder from it. encoder: of the queries, where no index names it.
    k: how many `invoke` and `retrieve` return. depth: how many documents are fused with BM25.

    Of a store alone: `where`, the filter that every result must pass (`{"tenant": 7}`); `remedy`,
    which blend, where it holds several; `correction`, where no index has it; `exact`, to compare
    every vector, where the store can; `opening`, settings that its name does not hold. `id_field`:
    the field that holds the ids of the index, where a record's own id does not. text_field: the
    field of a result's text, if it has none of the usual names. An index remembers both, as its
    corpus had them.

    It holds its source open: use it in a `with`, or call `close`. Calls are made one at a time,
    from any thread. Raises InputError for a source that is neither, a store without such records,
    no encoder, or settings that the source does not take. Raises EncoderMismatch for
    records that another encoder made.
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
        exact: bool = False,
        id_field: str | None = None,
        text_field: str | None = None,
        opening: StoreConfig | None = None,
    ) -> None:
        for number in (k, depth):
            check_k(number)
        self.k = k
        self._lock, self._told = threading.RLock(), set[str]()
        is_named = isinstance(source, str | Path)
        of_store = is_store(str(source)) if is_named else hasattr(source, "can_search_exactly")
        if not of_store:
            if index is None:
                got = "a retriever, and no index"
                expected = "the Argus index with the blend, by which its results are ranked"
                raise InputError(got, expected=expected, fix="Give index=.", where="index")
            of_stores = {
                "where": where, "remedy": remedy, "correction": correction, "exact": exact or None,
                "opening": opening,
            }  # fmt: skip
            if named := [name for name, value in of_stores.items() if value is not None]:
                got = "is said of a store, and the source is a retriever"
                fix = "Leave it out: the retriever filters and searches as it does."
                raise InputError(got, expected="a store as the source", fix=fix, where=named[0])
        if index is not None and not isinstance(index, IndexRetriever):
            index = open_retriever(index, encoder)
        self.index = index
        known = None if self.index is None else self.index.index.header.corpus_fields
        self._id_field = known["id"] if known else None
        self.text_field = text_field or (known["text"] if known else None)
        with ExitStack() as stack:
            self._ranking: RecordRanking | CandidateRanking
            if of_store:
                if self.index is not None:
                    encoder = self.index.encoder
                if encoder is None:
                    got = "a store, and neither an index nor an encoder"
                    expected = "what embeds queries for its vectors"
                    fix = "Give index= or encoder=."
                    raise InputError(got, expected=expected, fix=fix, where="encoder")
                store = stack.enter_context(open_store(source, opening))
                check_filter(where or {})
                recipe = None if self.index is None else self.index.recipe
                own = recipe.remedies[0] if recipe and recipe.blend else None
                id_fields = (id_field,) if id_field else (self._id_field, PARENT)
                records = BlendRecords(
                    store, remedy, typed(where, store, PAGE) if where else None, own=own,
                    id_fields=[name for name in id_fields if name], exact=exact,
                )  # fmt: skip
                self._ranking = RecordRanking(records, encoder, depth, self.index, correction)
            else:
                assert self.index is not None
                documents = list(self._documents.values())
                candidates = open_candidates(source, documents, id_field, self.index.encoder)
                name, ask = stack.enter_context(candidates)
                self._ranking = CandidateRanking(name, ask, self.index, depth)
            self._held = stack.pop_all()

    @property
    def name(self) -> str:
        """Name in reports."""
        return self._ranking.name

    def search(self, queries: Sequence[Query], k: int) -> Run:
        """Return the k best documents per query. A query without text finds none."""
        check_k(k)
        check_unique(queries)
        run: Run = {query.id: {} for query in queries}
        if with_text := [query for query in queries if query.text.strip()]:
            answers = self._rank([query.text for query in with_text], k)
            for query, ranked in zip(with_text, answers, strict=True):
                run[query.id] = {document.id: document.score for document in ranked}
        return run

    def invoke(self, query: str, config: Any = None, **_: Any) -> list[Page]:
        """Return LangChain documents, as a retriever of LangChain does.

        Documents that the user's own retriever returned are the same objects.
        """
        from langchain_core.documents import Document

        pages = []
        for ranked, item, text, metadata in self._passages(query):
            page = item[0] if isinstance(item, tuple) else item
            if not isinstance(page, Document):
                page = Document(page_content=text, metadata=metadata, id=ranked.id)
            pages.append(page)
        return pages

    def __call__(self, query: str) -> list[Page]:
        """Return LangChain documents, so that `|` and dictionaries of runnables accept it."""
        return self.invoke(query)

    def retrieve(self, query: Any) -> list[NodeWithScore]:
        """Return LlamaIndex nodes with the blend's scores. query: text, or a `QueryBundle`.

        Nodes that the user's own retriever returned are the same objects.
        """
        from llama_index.core.schema import NodeWithScore, TextNode

        nodes = []
        for ranked, item, text, metadata in self._passages(getattr(query, "query_str", query)):
            if isinstance(item, NodeWithScore):
                node = item.node
            else:
                node = TextNode(text=text, id_=ranked.id, metadata=metadata)
            nodes.append(NodeWithScore(node=node, score=ranked.score))
        return nodes

    def as_langchain(self, **options: Any) -> LangChain:
        """Return a `BaseRetriever` of LangChain. options: its own, such as tags and metadata."""
        from langchain_core.retrievers import BaseRetriever

        class BlendedLangChainRetriever(BaseRetriever):
            blended: Any

            def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Page]:
                pages: list[Page] = self.blended.invoke(query)
                return pages

        return BlendedLangChainRetriever(blended=self, **options)

    def as_llama_index(self, **options: Any) -> LlamaIndex:
        """Return a `BaseRetriever` of LlamaIndex. options: its own."""
        from llama_index.core.retrievers import BaseRetriever

        class BlendedLlamaIndexRetriever(BaseRetriever):
            def __init__(self, blended: BlendedRetriever) -> None:
                super().__init__(**options)
                self.blended = blended

            def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
                return self.blended.retrieve(query_bundle)

        return BlendedLlamaIndexRetriever(self)

    def refresh(self) -> None:
        """Read the index and the records of a store as they are now."""
        with self._lock:
            if self.index is not None:
                self.index.index.refresh()
            self.__dict__.pop("_documents", None)
            if isinstance(self._ranking, RecordRanking):
                self._ranking.records.refresh()

    def close(self) -> None:
        """Close the store, or the retriever's connections."""
        self._held.close()

    def __enter__(self) -> BlendedRetriever:
        """Return itself. It is closed with the context."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _rank(self, texts: Sequence[str], k: int) -> list[list[Ranked]]:
        with self._lock:
            answers = self._ranking.rank(texts, k)
            if isinstance(self._ranking, CandidateRanking):
                self._warn("ranking", self._ranking.warning)
        return answers

    def _warn(self, kind: str, text: str | None) -> None:
        if text and kind not in self._told:
            self._told.add(kind)
            warnings.warn(f"{self.name}: {text} (told once)", stacklevel=4)

    def _passages(self, text: str) -> list[tuple[Ranked, Any, str, dict[str, Any]]]:
        """Return the k best items of a ranking, all chunks of a document together.

        With each its document, text and metadata. An item is as the user's own retriever returned
        it. Its metadata stay as they are. The id, score and title are added.
        """
        if not text.strip():
            return []
        ranked = self._rank([text], self.k)[0]
        items = [(document, item) for document in ranked for item in document.items or (None,)]
        names = (*filter(None, (self.text_field,)), *TEXT_NAMES, "document")  # the last is Chroma's
        passages: list[tuple[Ranked, Any, str, dict[str, Any]]] = []
        for document, item in items[: self.k]:
            fields = document.fields if document.fields is not None else _fields_of(item)
            values = ((name, next(iter(values_of(fields, name)), None)) for name in names)
            used, text_of = next(((n, v) for n, v in values if isinstance(v, str)), (None, None))
            title = ""
            if text_of is None:
                known = self._documents.get(document.id)
                text_of, title = (known.text, known.title) if known is not None else ("", "")
            metadata = fields.get("metadata")
            if not isinstance(metadata, Mapping):
                left_out = (*TEXT_NAMES, used)
                metadata = {name: v for name, v in fields.items() if name not in left_out}
            own = {"id": document.id, "score": document.score} | dict(metadata)
            if title:
                own.setdefault("title", title)
            if not text_of:
                why = f"{document.id!r} has no text; name its field (text_field=): {', '.join(own)}"
                self._warn("text", why)
            passages.append((document, item, text_of, own))
        return passages

    @cached_property
    def _documents(self) -> dict[str, Document]:
        """The documents of the index, with their texts."""
        if self.index is None:
            return {}
        rows = self.index.index.rows(self.index.as_of)
        columns = [rows[name].to_pylist() for name in ("doc_id", "kind", "text", "source")]
        return {
            doc: Document(doc, text.removeprefix(title).strip(), title, id_field=self._id_field)
            for doc, kind, text, title in zip(*columns, strict=True)
            if kind == ORIGINAL
        }


def _fields_of(item: Any) -> Mapping[str, Any]:
    """Return the fields of any retriever's item: a document, a node, a dictionary or an id."""
    if isinstance(item, tuple) and item:
        item = item[0]
    node = getattr(item, "node", item)
    if isinstance(node, Mapping):
        return node
    content = getattr(node, "get_content", None)
    text = getattr(node, "page_content", None) or (content() if callable(content) else None)
    metadata = getattr(node, "metadata", None)
    return {"page_content": text, "metadata": dict(metadata) if metadata else {}}


class RecordRanking:
    """Ranks by the records of a store, and by BM25 where there is an index."""

    def __init__(
        self,
        records: BlendRecords,
        encoder: AnyEncoder,
        depth: int,
        index: IndexRetriever | None = None,
        correction: QueryCorrection | Path | str | None = None,
    ) -> None:
        store = records.store
        self.records, self.depth, self.index = records, depth, index
        self.encoder = records.loaded_encoder(encoder)
        check_dimension(self.encoder.dim, store.describe(), store.name)
        if isinstance(correction, str | Path):
            correction = read_correction(find_correction(Path(correction)))
        if correction is None and index is not None:
            correction = index.recipe.correction
        if correction is not None:
            correction.check_fingerprint(self.encoder.fingerprint, Path(store.name))
        self.correction: QueryCorrection | None = correction

    @property
    def name(self) -> str:
        """Name in reports."""
        ranking = f"{self.records.remedy} in {self.records.store.name}"
        fusion = self.index.hybrid if self.index is not None else None
        return f"{fusion}({ranking}, bm25)" if fusion else ranking

    def rank(self, texts: Sequence[str], k: int) -> list[list[Ranked]]:
        """Return the k best documents of each text, best first."""
        vectors = np.asarray(self.encoder.encode_queries(texts), np.float32)
        if self.correction is not None:
            vectors = self.correction.apply(vectors)
        index = self.index
        if index is None or index.hybrid is None:
            answers = self.records.search(vectors, k)
        else:
            depth, answers = max(k, self.depth), []
            for text, scores in zip(texts, self.records.search(vectors, depth), strict=True):
                shown = scores if self.records.where else self.records.numbers.fields
                answers.append(_fuse(index, text, scores, shown, k, depth))
        fields = self.records.numbers.fields  # the search may have read them again
        return [[Ranked(id_, s, (), fields[id_]) for id_, s in one.items()] for one in answers]


class CandidateRanking:
    """Ranks the first results of the user's own retriever. Nothing else ever comes back.

    Results that the index does not know keep their order, after the others.
    """

    def __init__(self, name: str, ask: Ask, index: IndexRetriever, depth: int) -> None:
        self.name = f"{index.name} over {name}"
        self.ask, self.index, self.depth = ask, index, depth
        self.unknown: dict[str, None] = {}

    @property
    def warning(self) -> str | None:
        """A doubt about the results so far."""
        if not self.unknown:
            return None
        n, first = len(self.unknown), next(iter(self.unknown))
        return (
            f"{n} results are not in the index, such as {first!r}: they keep their order, after "
            "those that are"
        )

    def rank(self, texts: Sequence[str], k: int) -> list[list[Ranked]]:
        """Return the k best documents of each text, best first."""
        index = self.index
        vectors = np.asarray(index.encoder.encode_queries(texts), np.float32)
        ranked = []
        for text, vector in zip(texts, index.recipe.correct(vectors), strict=True):
            items = self.ask(text, max(k, self.depth))
            snapshot = index.index.snapshot(index.as_of)
            scores: Scores = {}
            if known := [id_ for id_ in items if id_ in snapshot]:
                layout, at = snapshot.layout(index.weight), snapshot.positions(known)
                rows = np.zeros_like(at)
                exactly = exact_scores(vector[None], snapshot.vectors, layout, rows, at)[1]
                scores = dict(zip(known, exactly.tolist(), strict=True))
                if index.hybrid is None:
                    scores = dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))
                else:
                    scores = _fuse(index, text, scores, scores, len(scores), len(scores))
            lowest = min(scores.values(), default=0.0)
            others = dict.fromkeys(id_ for id_ in items if id_ not in snapshot)
            self.unknown |= others
            scores |= {id_: lowest - place for place, id_ in enumerate(others, 1)}
            ranked.append([Ranked(id_, s, items[id_]) for id_, s in list(scores.items())[:k]])
        return ranked


def _fuse(
    index: IndexRetriever, text: str, scores: Scores, shown: Collection[str], k: int, depth: int
) -> Scores:
    """Return the k best of scores and BM25, which ranks the `depth` best that are shown."""
    assert index.hybrid is not None
    lexical = index.lexical()
    for n in (depth, len(lexical)):
        words = lexical.search([text], max(1, n))
        hits = words.run([QUERY])[QUERY]
        best = [pair for pair in hits.items() if pair[0] in shown][:depth]
        if len(best) == min(depth, len(hits)):
            break
    weights = index.bm25_weights(words, [QUERY])
    return fuse_with_bm25({QUERY: scores}, {QUERY: dict(best)}, k, index.hybrid, weights)[QUERY]


# Returns at most n documents for a text, in the order in which they came, each with its items: one,
# or those of its chunks. Raises whatever the retriever does.
Ask = Callable[[str, int], dict[str, list[Any]]]


@contextmanager
def open_candidates(
    source: Any, documents: Sequence[Document], id_field: str | None, encoder: Encoder
) -> Iterator[tuple[str, Ask]]:
    """Open a retriever: an object, class or function, or a name (see `argus.retrievers.names`).

    Items of an object or function are kept, so that they can be handed on. Of an endpoint, an
    index, or a batch search only ids come back. documents: of the index. Their ids and texts tell
    which field of a result is the id. Raises InputError if it cannot be opened.
    """
    name = str(source) if isinstance(source, str | Path) else ""
    is_file = bool(name) and not is_index(name) and not http_file(name)
    with ExitStack() as stack:
        if is_file or not name:
            if is_file:
                check_python_file(name)
                source, _ = stack.enter_context(named_in_file(name))
            folder = USER_CODE_CWD.entered if is_file else nullcontext
            with refusing_what_raises(name or "retriever"), folder():
                source = made(source, documents)
                call = call_of(source)
            if not (call.batched or call.needs_corpus):
                loop, known = AskingLoop(), Known.of(documents)
                stack.callback(loop.close)

                def ask(text: str, depth: int) -> dict[str, list[Any]]:
                    with folder():
                        answer = call.ask(text, depth, ())
                        if hasattr(answer, "__await__"):
                            answer = loop.run(lambda: _awaited(answer))
                        answer = listed(answer)
                    items: dict[str, list[Any]] = {}
                    for place, (id_, _, item) in enumerate(items_of(answer, known, id_field)):
                        if place < depth:
                            items.setdefault(id_, []).append(item)
                    return items

                yield call.shape, ask
                return
        config = AskingConfig(id_field=id_field)
        retriever = stack.enter_context(
            opened(source, documents=documents, config=config, encoder=encoder)
        )

        def ask_for_ids(text: str, depth: int) -> dict[str, list[Any]]:
            return {id_: [] for id_ in retriever.search([Query(QUERY, text)], depth)[QUERY]}

        yield retriever.name, ask_for_ids


async def _awaited(answer: Any) -> Any:
    return await answer
