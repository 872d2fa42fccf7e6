"""Put an authority relation around a retriever of LangChain's, LlamaIndex' or CAR's shape.

No library is imported. A replacement has the class of the retrieved item, or is an id like it. Two
lines:

    authority = Authority(records, rules)
    retriever = AuthorityRetriever(retriever, authority)
"""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from numbers import Integral
from typing import Any

from argus.authority.records import corpus_of
from argus.authority.relation import Authority, Link
from argus.authority.rules import require_count
from argus.errors import InputError
from argus.retrievers.python_retriever import Call, call_of, call_of_method, instance
from argus.settings import TOP_K

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
        if inspect.isclass(retriever):
            retriever = instance(retriever, corpus_of(authority.records.values()))
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
        require_count("k", k)
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

    def batch(self, queries: Sequence[Any], config: Any = None, **options: Any) -> list[list[Any]]:
        """Return documents per query, as a LangChain retriever does."""
        if not hasattr(self.retriever, "batch"):
            return [self.invoke(query, config, **options) for query in queries]
        lists = self.retriever.batch(list(queries), config, **options)
        return [self.resolve(items) for items in lists]

    async def ainvoke(self, query: Any, config: Any = None, **options: Any) -> list[Any]:
        """Return documents, as a LangChain retriever does."""
        if hasattr(self.retriever, "ainvoke"):
            return self.resolve(await self.retriever.ainvoke(query, config, **options))
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
        if hasattr(self.retriever, "aretrieve"):
            return self.resolve(await self.retriever.aretrieve(query))
        return await asyncio.to_thread(self.retrieve, query)

    @cached_property
    def _corpus(self) -> list[dict[str, Any]]:
        return corpus_of(self.authority.records.values())

    def resolve(self, items: Iterable[Any]) -> list[Any]:
        """Return items with every superseded one replaced by its controllers, in its place.

        items: of any kind that can be gone through. Raises InputError for any other.
        """
        if not isinstance(items, Iterable) or isinstance(items, str | bytes):
            expected = "a list of what it retrieved"
            fix = "Let it return a list, empty where it found nothing."
            raise InputError(f"{items!r:.80} from the retriever", expected=expected, fix=fix)
        items = list(items)
        ids = [self._id(item) for item in items]
        retrieved: dict[str, list[Any]] = {}
        for id_, item in zip(ids, items, strict=True):
            retrieved.setdefault(id_, []).append(item)
        without = sum(id_ not in self.authority for id_ in ids)
        if without:
            of_all = f"of the {len(items)} retrieved items"
            some = f"no record of {without} {of_all}"
            state = f"none {of_all} has a record" if without == len(items) else some
            warnings.warn(
                f"{state}: they are returned as they are; if their ids are elsewhere, say so with "
                "id_of",
                stacklevel=3,
            )
        served: list[Any] = []
        placed: set[str] = set()
        for id_, item in zip(ids, items, strict=True):
            if id_ not in self.authority:
                served.append(item)
                continue
            if not self.authority.in_force(id_):
                continue
            for controlling, chain in self.authority.controlling_chains([id_]).items():
                if controlling in placed:
                    continue
                placed.add(controlling)
                served += retrieved.get(controlling) or [self._like(item, controlling, chain)]
        return served[: self.k]

    def _id(self, item: Any) -> str:
        id_ = _id_text(self.id_of(item))
        return id_ if id_ is not None else f"{id(item)} without id"

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
