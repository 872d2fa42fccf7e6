"""The shapes in which retrievers are written, each reduced to a call with a query and k.

No library is imported: what counts is the method that an object has, and what the method's
parameters are called. LangChain retrievers (`invoke`) and vector stores
(`similarity_search_with_score`), LlamaIndex (`retrieve`), Haystack (`run`), txtai (`search`), CAR's
scorer (`retrieve(query, corpus, k)`), Argus itself (`search(queries, k)`), BEIR (`search(corpus,
queries, top_k)`), mteb (see `mteb_shape`) and plain functions are taken as they are, async or not.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeVar

from argus.data.types import Query, Run
from argus.errors import InputError
from argus.retrievers.mteb_shape import TASK, indexing, query_table, values_for

T = TypeVar("T")

METHODS = (
    "similarity_search_with_score", "invoke", "retrieve", "search", "run", "get_relevant_documents",
)  # fmt: skip
"""Looked for in this order; `a` and the name is its async twin. Then the object itself."""
QUERY = ("query", "queries", "input", "question", "text", "q", "str_or_query_bundle", "search_term")
DEPTH = ("k", "top_k", "topk", "limit", "n", "n_results", "num_results", "max_results", "size")
CORPUS = ("corpus", "documents", "docs")
EXPECTED = (
    "a function, or an object with retrieve, search, invoke, run or similarity_search_with_score, "
    "that takes a query"
)

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


Batched = Literal["", "argus", "beir", "mteb"]


@dataclass(frozen=True)
class Call:
    """How a retriever is asked one query, or all of them at once where `batched`."""

    method: Callable[..., Any]
    shape: str
    """Such as "HybridRetriever.invoke", for messages and manifests."""
    query_name: str | None
    depth_name: str | None
    """None: it returns as many as it is set to."""
    corpus_name: str | None
    needs_corpus: bool = False
    batched: Batched = ""
    """How several queries are taken at once: as `Query`s, a dictionary of texts, or a table."""
    prepare: Callable[[Sequence[Mapping[str, Any]]], None] | None = None
    """What indexes the corpus before anything is asked, once."""

    @property
    def is_async(self) -> bool:
        """Whether what the method returns is to be awaited."""
        return inspect.iscoroutinefunction(self.method)

    def one(self, text: str, k: int, corpus: Sequence[Mapping[str, Any]]) -> Any | Awaitable[Any]:
        """Ask one query."""
        return self._send(text, k, corpus)

    def all(self, queries: Sequence[Query], k: int, corpus: Sequence[Mapping[str, Any]]) -> Run:
        """Ask a batch; what comes back is a run as its own convention has it."""
        if self.batched == "argus":
            return self._send(list(queries), k, corpus)  # type: ignore[no-any-return]
        if self.batched == "mteb":
            return self._send(query_table(queries), k, ())  # type: ignore[no-any-return]
        texts = {query.id: query.text for query in queries}
        documents = {d["_id"]: {"title": d["title"], "text": d["text"]} for d in corpus}
        return self._send(texts, k, documents)  # type: ignore[no-any-return]

    def _send(self, query: Any, k: int, corpus: Any) -> Any:
        named = {self.depth_name: k} if self.depth_name else {}
        if self.corpus_name and corpus:
            named[self.corpus_name] = corpus
        if self.query_name is None:
            return self.method(query, **named)
        return self.method(**{self.query_name: query}, **named)


def call_of(retriever: Any) -> Call:
    """Return how an object or function is asked. Raises InputError where it has no known shape."""
    if (search := _public(retriever, "search")) is not None and _is_own(search):
        return _bound(search, f"{_kind(retriever)}.search")
    for name in METHODS:
        method = _public(retriever, name)
        if method is not None:
            twin = _public(retriever, f"a{name}")
            tells = twin is not None and _tells(twin)
            shape = f"{_kind(retriever)}.{name}"
            call = _bound(twin if twin and tells else method, shape)
            return call if call.batched != "mteb" else _with_index(call, retriever)
    if callable(retriever) and not inspect.isclass(retriever):
        return _bound(retriever, getattr(retriever, "__name__", _kind(retriever)))
    raise InputError(
        f"a {_kind(retriever)} without a method that retrieves",
        expected=EXPECTED,
        fix="Give it one, or write a function retrieve(query, k) around it.",
        where="retriever",
    )


def call_of_method(retriever: Any, name: str) -> Call:
    """Return how one method of an object is asked; InputError where it takes more than a query."""
    return _bound(getattr(retriever, name), f"{_kind(retriever)}.{name}")


def takes_corpus_alone(maker: Callable[..., Any]) -> bool:
    """Return whether a function takes the corpus and nothing else: it makes a retriever."""
    try:
        names = list(inspect.signature(maker).parameters)
    except (TypeError, ValueError):
        return False
    return len(names) == 1 and names[0] in CORPUS


def _is_own(search: Callable[..., Any]) -> bool:
    """Return whether a method is `search(queries, k)`: nobody's but Argus's, so it comes first."""
    try:
        names = inspect.signature(search).parameters
    except (TypeError, ValueError):
        return False
    return list(names) == ["queries", "k"]


def _with_index(call: Call, retriever: Any) -> Call:
    """Return the call of a search of mteb's, which is given the corpus by another method."""
    index = _public(retriever, "index")
    if index is None:
        return call
    names = [p.name for p in _parameters(index, f"{_kind(retriever)}.index")]
    return replace(call, needs_corpus=True, prepare=indexing(index, names))


def _public(retriever: Any, name: str) -> Callable[..., Any] | None:
    method = getattr(retriever, name, None)
    return method if callable(method) else None


def _tells(method: Callable[..., Any]) -> bool:
    """Return whether a method names a parameter; an inherited twin may take whatever comes."""
    try:
        parameters = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def _bound(method: Callable[..., Any], shape: str) -> Call:
    """Tell by its parameters' names what a method takes."""
    parameters = _parameters(method, shape)
    names = [p.name for p in parameters]
    depth = next((name for name in DEPTH if name in names), None)
    corpus = next((name for name in CORPUS if name in names), None)
    first = next((n for n in names if n not in {depth, corpus}), None)
    query = next((name for name in QUERY if name in names), first)
    by_name = [p for p in parameters if p.name == query and p.kind != p.POSITIONAL_ONLY]
    known = {query, depth, corpus}
    task = values_for(names) if TASK in names else {}
    missing = [
        p.name for p in parameters if p.default is p.empty and p.name not in known | task.keys()
    ]
    if query is None or missing:
        needs = f"needs {', '.join(missing)}" if missing else "takes no query"
        raise InputError(
            f"{shape} {needs}",
            expected="a query, and beside it at most k and the corpus",
            fix="Write a function retrieve(query, k) around it that gives the rest.",
            where="retriever",
        )
    batched: Batched = ""
    if query == "queries":
        batched = "mteb" if task else "beir" if corpus or depth == "top_k" else "argus"
        method = partial(method, **task) if task else method
    needs_corpus = any(p.name == corpus and p.default is p.empty for p in parameters)
    return Call(method, shape, query if by_name else None, depth, corpus, needs_corpus, batched)


def _parameters(method: Callable[..., Any], shape: str) -> list[inspect.Parameter]:
    try:
        parameters = inspect.signature(method).parameters.values()
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{shape} does not tell its parameters",
            expected=EXPECTED,
            fix="Write a function retrieve(query, k) around it.",
            where="retriever",
        ) from error
    return [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _kind(value: Any) -> str:
    return value.__name__ if inspect.isclass(value) else type(value).__name__
