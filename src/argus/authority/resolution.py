"""Replace the superseded documents of a ranking by the documents in force (CAR Theorem 3).

`resolve`: a run and an `Authority` -> a run in which the active documents of its closure stand in
the place of each superseded one. `trace` gives the chain to each, too. `AuthorityRetriever` does so
around a retriever of LangChain's, LlamaIndex' or CAR's shape, without importing a library: a
replacement has the class of the retrieved item, or is an id like it.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice
from numbers import Integral
from typing import TYPE_CHECKING, Any

from argus.authority.config import CHAINS, Chains
from argus.authority.relation import Authority, Link
from argus.authority.rules import corpus_of
from argus.data.runs import finite_scores, ranking
from argus.data.types import Run
from argus.errors import InputError
from argus.settings import TOP_K

if TYPE_CHECKING:
    from argus.retrievers.python_retriever import Call


@dataclass(frozen=True, slots=True)
class Hit:
    """One document to serve, and the chain that led to it.

    rank: from 1.
    score: its anchor's, lowered by the least possible if it would tie with the hit before it.
    anchor: the retrieved document that it controls: itself, where that is active.
    chain: from anchor to document, oldest first. Empty where they are one.
    """

    id: str
    rank: int
    score: float
    anchor: str
    anchor_rank: int
    chain: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    """Resolution of one query's ranking.

    anchors: documents that were retrieved and looked at, best first.
    retired: superseded anchor in force -> its controllers.
    unknown: retrieved documents of which there is no record. They are served as they are.
    """

    anchors: tuple[str, ...]
    hits: tuple[Hit, ...]
    retired: Mapping[str, tuple[str, ...]]
    unknown: tuple[str, ...]

    @property
    def run(self) -> dict[str, float]:
        """The hits as a ranking: document -> score."""
        return {hit.id: hit.score for hit in self.hits}


def resolve(
    run: Mapping[str, Mapping[str, float]],
    authority: Authority,
    *,
    k: int | None = None,
    anchors: int | None = None,
    chains: Chains | str = CHAINS,
) -> Run:
    """Return a run in which no superseded document stands in for its controllers.

    run: by query, scores by document. k: documents per query to return. anchors: how many of each
    ranking are looked at (all). Both None: everything. chains: see there. Raises InputError for
    scores that are no finite numbers.
    """
    return {
        query: trace(scores, authority, k=k, anchors=anchors, chains=chains).run
        for query, scores in finite_scores(run, "run").items()
    }


def trace(
    scores: Mapping[str, float],
    authority: Authority,
    *,
    k: int | None = None,
    anchors: int | None = None,
    chains: Chains | str = CHAINS,
) -> Resolution:
    """Resolve one ranking and give the chain to every hit. Parameters as for `resolve`."""
    chains = Chains(chains)
    retrieved = ranking(dict(scores))[:anchors]
    unknown = tuple(id_ for id_ in retrieved if id_ not in authority)
    found: dict[str, Hit] = {}
    retired: dict[str, tuple[str, ...]] = {}
    leading: dict[frozenset[tuple[str, str]], Set[str]] = {}  # chains of the best anchor, by scope
    for rank, anchor in enumerate(retrieved, 1):
        is_known = anchor in authority
        if is_known and not authority.in_force(anchor):
            continue
        controlling = authority.controlling_chains([anchor]) if is_known else {anchor: ()}
        if anchor not in controlling:
            retired[anchor] = tuple(controlling)
        scope = authority.records[anchor].entities if is_known and chains is Chains.FIRST else None
        if scope and not controlling.keys() <= leading.setdefault(scope, controlling.keys()):
            continue
        for id_, chain in controlling.items():
            found.setdefault(id_, Hit(id_, 0, scores[anchor], anchor, rank, chain))
    hits: list[Hit] = []
    last = math.inf
    for rank, hit in enumerate(islice(found.values(), k), 1):
        last = hit.score if hit.score < last else math.nextafter(last, -math.inf)  # none tie
        hits.append(replace(hit, rank=rank, score=last))
    return Resolution(tuple(retrieved), tuple(hits), retired, unknown)


# Where an id is looked for in an item's metadata.
ID_KEYS = ("id", "_id", "doc_id", "document_id", "source")
NOTE = "supersedes"  # Metadata of what was put in: the chain that led to it, oldest first


class AuthorityRetriever:
    """A retriever that never returns superseded documents, of the shape of the one it wraps.

    retriever: has `invoke(query)` that returns documents with `page_content` and `metadata`
    (LangChain), `retrieve(query)` that returns nodes with scores (LlamaIndex), or CAR's own
    `retrieve(query, corpus, k)` that returns ids. You can also use a function of that signature, or
    a class, which is made with the records as its corpus if it takes one. k: items to return at
    most.
    id_of: an item's record id; by default a plain id itself, else the metadata's id, its own `id`,
    or the node's `ref_doc_id` or `node_id`, whichever is a record. Whole numbers count as their
    text. Items of which there is no record are returned as they are, with a warning. Chunks of a
    superseded document make room for one item of each controller, with the whole text of that
    record. Raises InputError for a retriever of another shape.
    """

    def __init__(
        self,
        retriever: Any,
        authority: Authority,
        *,
        k: int | None = None,
        id_of: Callable[[Any], str | None] | None = None,
    ) -> None:
        from argus.retrievers.python_retriever import call_of, call_of_method, corpus_rows, instance

        self._corpus = corpus_rows(corpus_of(authority.records.values()))
        if inspect.isclass(retriever):
            retriever = instance(retriever, self._corpus)
        self._retrieve: Call | None = None
        if callable(getattr(retriever, "retrieve", None)):
            self._retrieve = call_of_method(retriever, "retrieve")
        elif inspect.isroutine(retriever):
            self._retrieve = call_of(retriever)
        if self._retrieve is None and not hasattr(retriever, "invoke"):
            raise InputError(
                f"a {type(retriever).__name__} without invoke or retrieve",
                expected="a retriever as in LangChain (invoke), LlamaIndex (retrieve) or CAR "
                "(retrieve(query, corpus, k))",
                fix="For anything else call argus.authority.resolve on its run.",
            )
        self.retriever, self.authority, self.k = retriever, authority, k
        self.id_of = id_of or self._find_id
        self.name = f"authority({getattr(retriever, 'name', None) or type(retriever).__name__})"

    def invoke(self, query: Any, config: Any = None, **options: Any) -> list[Any]:
        """Return documents, as a LangChain retriever does. For another one do as `retrieve`."""
        if not hasattr(self.retriever, "invoke"):
            return self.retrieve(query, k=options.get("k"))
        return self.resolve(self.retriever.invoke(query, config, **options))

    def __call__(self, query: Any) -> list[Any]:
        """Return documents: so LangChain's `|` and dictionaries of runnables take it."""
        return self.invoke(query)

    async def ainvoke(self, query: Any, config: Any = None, **options: Any) -> list[Any]:
        """Return documents, as a LangChain retriever does."""
        return await asyncio.to_thread(self.invoke, query, config, **options)

    def retrieve(
        self, query: Any, corpus: Sequence[Any] | None = None, k: int | None = None
    ) -> list[Any]:
        """Return nodes with scores, as a LlamaIndex retriever does, or ids, as CAR's do.

        corpus, k: handed on to a retriever that takes them. Without them it is given the records,
        and asked for its own k, or 10. At most k items are returned.
        """
        if self._retrieve is None:
            return self.invoke(query)[:k]
        call = self._retrieve
        rows = (corpus or self._corpus) if call.corpus_name else ()
        items: Any = call.ask(query, k or self.k or TOP_K, rows)
        return self.resolve(items)[:k]

    async def aretrieve(self, query: Any) -> list[Any]:
        """Return nodes with scores, as a LlamaIndex retriever does."""
        return await asyncio.to_thread(self.retrieve, query)

    def resolve(self, items: Iterable[Any]) -> list[Any]:
        """Return items with every superseded one replaced by its controllers, in its place."""
        found = [(_id_text(self.id_of(item)), item) for item in items]
        retrieved: dict[str | None, list[Any]] = {}
        for id_, item in found:
            retrieved.setdefault(id_, []).append(item)
        without = sum(id_ not in self.authority for id_, _ in found)
        if without:
            warnings.warn(
                f"no record of {without} of the {len(found)} retrieved items: they are returned as "
                "they are; if their ids are elsewhere, say so with id_of",
                stacklevel=3,
            )
        served: list[Any] = []
        placed: set[str] = set()
        for id_, item in found:
            if id_ is None or id_ not in self.authority:
                served.append(item)
            elif self.authority.in_force(id_):
                for controlling, chain in self.authority.controlling_chains([id_]).items():
                    if controlling not in placed:
                        placed.add(controlling)
                        same = retrieved.get(controlling)
                        served += same or [self._like(item, controlling, chain)]
        return served[: self.k]

    def _find_id(self, item: Any) -> str | None:
        first = item[0] if isinstance(item, tuple) and len(item) == 2 else item
        if (plain := _id_text(first)) is not None:
            return plain
        inner = getattr(item, "node", item)
        metadata = getattr(inner, "metadata", None) or {}
        values = [metadata.get(key) for key in ID_KEYS]
        values += [getattr(inner, name, None) for name in ("ref_doc_id", "node_id", "id")]
        return next((text for text in map(_id_text, values) if text in self.authority), None)

    def _like(self, item: Any, id_: str, chain: Sequence[Link]) -> Any:
        """Return an item of the class of `item` for a record that was not retrieved."""
        if _id_text(item) is not None:
            return id_
        if isinstance(item, tuple):
            return (id_, *item[1:])
        record = self.authority.record(id_)
        text = record.document.content
        steps = [f"{one.superseded} superseded by {one.superseder} ({one.rule})" for one in chain]
        metadata = {**record.metadata, "id": record.id, "title": record.title, NOTE: steps}
        node = getattr(item, "node", None)
        if node is not None:
            return type(item)(
                node=type(node)(text=text, id_=id_, metadata=metadata),
                score=getattr(item, "score", None),
            )
        return type(item)(page_content=text, metadata=metadata, id=id_)


def _id_text(value: object) -> str | None:
    """Return an id as the records have them. None where it is none."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else None
