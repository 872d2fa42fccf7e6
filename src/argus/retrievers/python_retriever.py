"""Call a Python object, class or function that retrieves, whichever library it is written for.

The kind `--retriever FILE.py:NAME`, and objects passed in Python. No library is imported. The names
of an object's methods and of their parameters tell how to call it: LangChain retrievers (`invoke`)
and vector stores (`similarity_search_with_score`), LlamaIndex (`retrieve`), Haystack (`run`), txtai
(`search`), CAR's scorer (`retrieve(query, corpus, k)`), Argus (`search(queries, k)`) and plain
functions, async or not. `argus.retrievers.results` reads the answers.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from argus.data.provenance import content_hash
from argus.data.types import Document, Query, Run
from argus.errors import InputError, first_line
from argus.python_file import file_hash, module_of, split_spec
from argus.retrievers.config import AskingConfig
from argus.retrievers.protocol import RetrievalError
from argus.retrievers.results import Known, listed, ranked
from argus.retrievers.session import BATCH, Source, in_a_thread, raised

Corpus = Sequence[Mapping[str, Any]]
# Tried in this order. The async twin has an `a` before its name. Then the object itself.
METHODS = (
    "similarity_search_with_score", "invoke", "retrieve", "search", "run", "get_relevant_documents",
)  # fmt: skip
QUERY = ("query", "queries", "input", "question", "text", "q", "str_or_query_bundle", "search_term")
DEPTH = ("k", "top_k", "topk", "limit", "n", "n_results", "num_results", "max_results", "size")
CORPUS = ("corpus", "documents", "docs")
EXPECTED = (
    "a function, or an object with retrieve, search, invoke, run or similarity_search_with_score, "
    "that takes a query"
)


@dataclass(frozen=True)
class Call:
    """Call that asks a retriever one query, or several at once if it is `batched`."""

    method: Callable[..., Any]
    # Such as "HybridRetriever.invoke", for messages and manifests.
    shape: str
    query_name: str | None
    # None: it returns as many results as it is set to.
    depth_name: str | None
    corpus_name: str | None
    needs_corpus: bool = False
    # Whether it takes several `Query`s at once, as Argus does.
    batched: bool = False

    def ask(self, query: Any, k: int, corpus: Corpus) -> Any:
        """Ask one query, or several if `batched`. The result may have to be awaited."""
        named: dict[str, Any] = {self.depth_name: k} if self.depth_name else {}
        if self.corpus_name and corpus:
            named[self.corpus_name] = corpus
        if self.query_name is None:
            return self.method(query, **named)
        return self.method(**{self.query_name: query}, **named)


def call_of(retriever: Any) -> Call:
    """Return how to ask an object or function. Raises InputError if it has no known shape."""
    search = _method(retriever, "search")
    if search and [p.name for p in _signature(search) or ()] == ["queries", "k"]:  # Argus's own
        return call_of_method(retriever, "search")
    for name in METHODS:
        if _method(retriever, name) is None:
            continue
        twin = _method(retriever, f"a{name}")
        if twin is not None and not any(
            p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in _signature(twin) or ()
        ):
            twin = None  # inherited: it takes whatever comes
        return call_of_method(retriever, name, twin)
    if callable(retriever) and not inspect.isclass(retriever):
        return _bound(retriever, getattr(retriever, "__name__", _kind(retriever)))
    got = f"a {_kind(retriever)} without a method that retrieves"
    fix = "Give it one, or write a function retrieve(query, k) around it."
    raise InputError(got, expected=EXPECTED, fix=fix, where="retriever")


def call_of_method(retriever: Any, name: str, method: Callable[..., Any] | None = None) -> Call:
    """Return how to ask one method of an object. Raises InputError if it needs more than a query.

    method: called instead, such as the async twin of the named one.
    """
    return _bound(method or getattr(retriever, name), f"{_kind(retriever)}.{name}")


def _bound(method: Callable[..., Any], shape: str) -> Call:
    """Assign a method's parameters by their names: query, depth, corpus."""
    signature = _signature(method)
    if signature is None:
        got = f"{shape} does not tell its parameters"
        fix = "Write a function retrieve(query, k) around it."
        raise InputError(got, expected=EXPECTED, fix=fix, where="retriever")
    parameters = [p for p in signature if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    names = [p.name for p in parameters]
    depth = next((name for name in DEPTH if name in names), None)
    corpus = next((name for name in CORPUS if name in names), None)
    first = next((n for n in names if n not in {depth, corpus}), None)
    query = next((name for name in QUERY if name in names), first)
    required = [p.name for p in parameters if p.default is p.empty]
    missing = [name for name in required if name not in {query, depth, corpus}]
    if query is None or missing:
        got = f"{shape} needs {', '.join(missing)}" if missing else f"{shape} takes no query"
        expected = "a query, and beside it at most k and the corpus"
        fix = "Write a function retrieve(query, k) around it that gives the rest."
        raise InputError(got, expected=expected, fix=fix, where="retriever")
    by_name = any(p.name == query and p.kind != p.POSITIONAL_ONLY for p in parameters)
    return Call(
        method,
        shape,
        query if by_name else None,
        depth,
        corpus,
        corpus in required,
        query == "queries",
    )


def _signature(method: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """Return all parameters. None if the method does not tell them."""
    try:
        return list(inspect.signature(method).parameters.values())
    except (TypeError, ValueError):
        return None


def _method(thing: Any, name: str) -> Callable[..., Any] | None:
    method = getattr(thing, name, None)
    return method if callable(method) else None


def _kind(value: Any) -> str:
    return value.__name__ if inspect.isclass(value) else type(value).__name__


@dataclass(frozen=True)
class PythonRetriever(Source):
    """Asks an object. Whatever it raises fails that query.

    in_threads: make blocking calls in threads, so that several run at once and one that hangs can
    be given up. Otherwise in the caller's own thread, one by one.
    """

    call: Call
    name: str
    known: Known = field(default_factory=Known, repr=False)
    corpus: Corpus = field(default=(), repr=False)
    id_field: str | None = None
    in_threads: bool = False
    batch: int = 1

    async def answer(self, queries: Sequence[Query], k: int) -> Run:
        """Return documents with decreasing scores per query. See `Source`."""
        if not self.call.batched:
            run: Run = {}
            for query in queries:
                answer = await self._called(partial(self.call.ask, query.text, k, self.corpus))
                run[query.id] = ranked(answer, k, self.known, self.id_field)
            return run
        answers = await self._called(partial(self.call.ask, list(queries), k, self.corpus))
        if not isinstance(answers, Mapping):
            raise RetrievalError(f"returned {type(answers).__name__}, not {{query: documents}}")
        absent = next((q.id for q in queries if q.id not in answers), None)
        if absent is not None:
            raise RetrievalError(f"returned no answer to query {absent!r}")
        return {q.id: ranked(answers[q.id], k, self.known, self.id_field) for q in queries}

    async def _called(self, call: Callable[[], Any]) -> Any:
        """Return the result of user code. Whatever it raises becomes a RetrievalError."""

        def work() -> Any:
            try:
                answer = call()
                return answer if type(answer) is list else listed(answer)  # runs a generator
            except (asyncio.CancelledError, GeneratorExit) as error:  # user code is no coroutine
                raise RetrievalError(raised(error)) from error

        try:
            is_async = inspect.iscoroutinefunction(self.call.method)
            answer = await in_a_thread(work) if self.in_threads and not is_async else work()
            if type(answer) is list:  # the usual type; isawaitable costs as much as all the rest
                return answer
            return listed(await answer) if inspect.isawaitable(answer) else answer
        except RetrievalError:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():  # by our own timeout
                raise
            raise RetrievalError(raised(error)) from error
        except (Exception, SystemExit) as error:
            raise RetrievalError(raised(error)) from error


def python_retriever(
    thing: Any, documents: Sequence[Document], name: str, config: AskingConfig
) -> PythonRetriever:
    """Return the source of an object, function or class. Raises InputError for unknown shapes."""
    call = call_of(made(thing, documents))
    if call.needs_corpus and not documents:
        raise _no_corpus(call.shape)
    return PythonRetriever(
        call,
        name or call.shape,
        known=Known.of(documents),
        corpus=corpus_rows(documents) if call.corpus_name else (),
        id_field=config.id_field,
        in_threads=(config.at_once or 1) > 1 or config.timeout_s is not None,
        batch=BATCH if call.batched else 1,
    )


def corpus_rows(documents: Sequence[Document]) -> list[Mapping[str, Any]]:
    """Return the corpus as dictionaries, for a retriever that takes it."""
    return [
        {**d.metadata, "doc_id": d.id, "_id": d.id, "title": d.title, "text": d.text}
        for d in documents
    ]


def made(thing: Any, documents: Sequence[Document]) -> Any:
    """Return an object that retrieves: an instance of a class, anything else as it is."""
    return instance(thing, corpus_rows(documents)) if inspect.isclass(thing) else thing


def instance(maker: Callable[..., Any], corpus: Corpus, where: Path | str = "retriever") -> Any:
    """Call a class, or a function that makes an object, with the corpus if it takes one.

    Raises InputError if it raises, and if it needs a corpus and there is none.
    """
    parameters = inspect.signature(maker).parameters
    names = [name for name in CORPUS if name in parameters]
    if not corpus and any(parameters[n].default is inspect.Parameter.empty for n in names):
        raise _no_corpus(maker.__name__)
    try:
        return maker(**{name: corpus for name in names if corpus})
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # user code
        got = f"{maker.__name__}() raised {type(error).__name__}: {first_line(error)}"
        expected = "a class that can be made without arguments, or with the corpus alone"
        fix = "Give its parameters defaults; call the one that takes the corpus `corpus`."
        raise InputError(got, expected=expected, fix=fix, where=where) from error


def _no_corpus(shape: str) -> InputError:
    got, fix = f"{shape} is given the corpus, and there is none", "Give --corpus."
    return InputError(got, expected="the documents that it searches", fix=fix, where="retriever")


@contextmanager
def named_in_file(spec: str) -> Iterator[tuple[Any, str]]:
    """Run `FILE.py` or `FILE.py:NAME`. Yield the named object, or the only one that retrieves.

    With it comes a hash of the file, its neighbours and the name: the identity of its answers.
    Raises InputError if there is no such object.
    """
    path, name = split_spec(spec)
    with module_of(path, EXPECTED) as module:
        found = {n: thing for n, thing in vars(module).items() if n == name and thing is not None}
        got, expected, fix = f"no {name} in it", EXPECTED, "Check the name."
        if not name:
            found = {
                n: thing for n, thing in vars(module).items()
                if not n.startswith("_") and _retrieves(thing, module)
            }  # fmt: skip
            got, fix = "nothing in it that retrieves", "Write one."
        if len(found) > 1:
            got, expected = f"{len(found)} things in it that retrieve ({', '.join(found)})", "one"
            fix = f"Name one: {path}:{next(iter(found))}"
        if len(found) != 1:
            raise InputError(got, expected=expected, fix=fix, where=path)
        yield next(iter(found.values())), content_hash(file_hash(path), name).hex()


def _retrieves(value: Any, module: ModuleType) -> bool:
    """Return whether a file defines this and it retrieves, by the names of methods."""
    if inspect.ismodule(value) or inspect.isabstract(value):
        return False
    has_method = any(callable(getattr(value, name, None)) for name in METHODS)
    if inspect.isclass(value) or inspect.isfunction(value):
        is_named = inspect.isfunction(value) and value.__name__ in METHODS
        return value.__module__ == module.__name__ and (is_named or has_method)
    return has_method and type(value).__module__.partition(".")[0] not in sys.stdlib_module_names
