"""A retriever of the team's own: an object, class or function, here or in `FILE.py:NAME`."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from argus.data.provenance import content_hash
from argus.data.types import Document, Query, Run
from argus.errors import ArgusError, InputError
from argus.retrievers.config import AskingConfig
from argus.retrievers.protocol import RetrievalError
from argus.retrievers.python_file import file_hash, first_line, module_of, split_spec
from argus.retrievers.results import Known, listed, ranked
from argus.retrievers.session import Answer, in_a_thread, raised
from argus.retrievers.shapes import CORPUS, EXPECTED, METHODS, Call, call_of

Corpus = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class PythonRetriever:
    """Asks an object one query at a time. What it raises makes that query failed.

    in_threads: calls that block are made in threads, so that several run at once and one that
    hangs can be given up; without it they are made in the caller's own thread, one by one.
    """

    call: Call
    name: str
    known: Known = field(default_factory=Known, repr=False)
    corpus: Corpus = field(default=(), repr=False)
    id_field: str | None = None
    in_threads: bool = False

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Let it index the corpus where it wants to; what cannot be indexed cannot be asked."""
        if self.call.prepare is not None:
            try:
                await self._called(lambda: self.call.prepare and self.call.prepare(self.corpus))
            except RetrievalError as error:
                raise ArgusError(f"{self.name} could not index the corpus: it {error}") from error
        yield

    async def answer(self, text: str, k: int) -> Answer:
        """Return documents with falling scores; raises RetrievalError."""
        answer = await self._called(lambda: self.call.one(text, k, self.corpus))
        return self._ranked(answer, k)

    def _ranked(self, answer: Any, k: int) -> Answer:
        return ranked(answer, k, self.known, self.id_field)

    async def _called(self, call: Callable[[], Any]) -> Any:
        """Return what a call of a stranger's code returns; whatever it raises is a failure."""
        try:
            threaded = self.in_threads and not self.call.is_async
            work = partial(_collected, call)
            answer = await in_a_thread(work) if threaded else work()
            if type(answer) is list:  # most are; to ask what else it is costs as much as the rest
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


@dataclass(frozen=True)
class PythonBatchRetriever(PythonRetriever):
    """Asks an object that takes several queries at once, and answers with a run."""

    async def answer(self, text: str, k: int) -> Answer:
        """Return documents with falling scores; raises RetrievalError."""
        return (await self.answer_many([Query("query", text)], k))["query"]

    @property
    def takes_all(self) -> bool:
        """See `AnsweringMany`: BEIR's and mteb's searches go through the whole corpus each time."""
        return self.call.batched in ("beir", "mteb")

    async def answer_many(self, queries: Sequence[Query], k: int) -> Run:
        """Return an answer to every query; raises RetrievalError where any lacks one."""
        answers = await self._called(lambda: self.call.all(queries, k, self.corpus))
        if not isinstance(answers, Mapping):
            raise RetrievalError(f"returned {type(answers).__name__}, not {{query: documents}}")
        absent = next((q.id for q in queries if q.id not in answers), None)
        if absent is not None:
            raise RetrievalError(f"returned no answer to query {absent!r}")
        return {q.id: self._ranked(answers[q.id], k) for q in queries}


def python_retriever(
    thing: Any, documents: Sequence[Document], name: str, config: AskingConfig
) -> PythonRetriever:
    """Return what asks an object, function or class. Raises InputError for an unknown shape."""
    call = call_of(made(thing, documents))
    if call.needs_corpus and not documents:
        raise _no_corpus(call.shape)
    several = (config.at_once or 1) > 1 or config.timeout_s is not None
    kind = PythonBatchRetriever if call.batched else PythonRetriever
    return kind(
        call,
        name or call.shape,
        known=Known.of(documents),
        corpus=corpus_rows(documents) if call.corpus_name or call.prepare else (),
        id_field=config.id_field,
        in_threads=several,
    )


def corpus_rows(documents: Sequence[Document]) -> list[Mapping[str, Any]]:
    """Return the corpus as a retriever is given it that asks for one."""
    return [
        {"doc_id": d.id, "_id": d.id, "title": d.title, "text": d.text, **_free(d.metadata)}
        for d in documents
    ]


def made(thing: Any, documents: Sequence[Document]) -> Any:
    """Return an object that retrieves: of a class, one made with the corpus, or without.

    Raises InputError where the class cannot be made so.
    """
    return instance(thing, corpus_rows(documents)) if inspect.isclass(thing) else thing


def instance(maker: Callable[..., Any], corpus: Corpus, where: Path | str = "retriever") -> Any:
    """Call a class, or a function that makes an object, with the corpus where it takes one.

    Raises InputError where it raises, and where it needs a corpus and there is none.
    """
    parameters = inspect.signature(maker).parameters
    names = [name for name in CORPUS if name in parameters]
    if not corpus and any(parameters[n].default is inspect.Parameter.empty for n in names):
        raise _no_corpus(maker.__name__)
    arguments = {name: corpus for name in names if corpus}
    try:
        return maker(**arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a stranger's code raises
        raise InputError(
            f"{maker.__name__}() raised {type(error).__name__}: {first_line(error)}",
            expected="a class that can be made without arguments, or with the corpus alone",
            fix="Give its parameters defaults; call the one that takes the corpus `corpus`.",
            where=where,
        ) from error


def _no_corpus(shape: str) -> InputError:
    return InputError(
        f"{shape} is given the corpus, and there is none",
        expected="the documents that it searches",
        fix="Give --corpus.",
        where="retriever",
    )


@contextmanager
def named_in_file(spec: str) -> Iterator[tuple[Any, str]]:
    """Run `FILE.py` or `FILE.py:NAME`; yield what is named, or the only thing there that retrieves.

    And a hash of the file and its neighbours, which tells its answers from another's. Raises
    InputError.
    """
    path, name = split_spec(spec)
    with module_of(path, EXPECTED) as module:
        yield _named(module, name, path), content_hash(file_hash(path), name).hex()


def _collected(call: Callable[[], Any]) -> Any:
    """Make a call and run a generator to its end: that is where its work is done."""
    try:
        answer = call()
        return answer if type(answer) is list else listed(answer)
    except (asyncio.CancelledError, GeneratorExit) as error:  # nobody cancels what is no coroutine
        raise RetrievalError(raised(error)) from error


def _named(module: ModuleType, name: str, path: Path) -> Any:
    if name:
        thing = getattr(module, name, None)
        if thing is None:
            raise InputError(
                f"no {name} in it", expected=EXPECTED, fix="Check the name.", where=path
            )
        return thing
    own = {n: v for n, v in vars(module).items() if not n.startswith("_") and _retrieves(v, module)}
    if len(own) != 1:
        raise InputError(
            f"{len(own)} things in it that retrieve ({', '.join(own)})" if own
            else "nothing in it that retrieves",
            expected="one" if own else EXPECTED,
            fix=f"Name one: {path}:{next(iter(own))}" if own else "Write one.",
            where=path,
        )  # fmt: skip
    return next(iter(own.values()))


def _retrieves(value: Any, module: ModuleType) -> bool:
    """Return whether a file defines this and it retrieves, by the names of methods."""
    if inspect.ismodule(value) or inspect.isabstract(value):
        return False
    if inspect.isclass(value) or inspect.isfunction(value):
        if value.__module__ != module.__name__:
            return False
        return (inspect.isfunction(value) and value.__name__ in METHODS) or _has_method(value)
    return _has_method(value) and not _is_from_python(value) and _can_be_asked(value)


def _is_from_python(value: Any) -> bool:
    """Return whether a value's class is Python's own, such as a compiled pattern's."""
    return type(value).__module__.partition(".")[0] in sys.stdlib_module_names


def _can_be_asked(value: Any) -> bool:
    try:
        call_of(value)
    except InputError:
        return False
    return True


def _has_method(value: Any) -> bool:
    return any(callable(getattr(value, name, None)) for name in METHODS)


def _free(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    return {k: v for k, v in metadata.items() if k not in ("doc_id", "_id", "title", "text")}
