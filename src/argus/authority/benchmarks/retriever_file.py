"""A retriever from a Python file: `class X: def retrieve(self, query, corpus, k) -> list[doc_id]`.

That is CAR's own interface. A constructor may take the corpus, as its scorer gives it. You can also
use functions, `invoke` and documents instead of ids, as in the Python files of other commands. The
file is run as it is: it may do anything a program may. Its folder can be imported from while the
retriever is in use.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.benchmarks.judging import Outcome
from argus.authority.records import CorpusDocument, Record, corpus_of
from argus.data.types import Query
from argus.errors import ArgusError, InputError, first_line
from argus.python_file import USER_CODE_CWD, module_of, refusing_what_raises, split_spec
from argus.retrievers import python_retriever as python
from argus.retrievers.protocol import RetrievalError
from argus.retrievers.python_retriever import METHODS, Call
from argus.retrievers.results import Known, ranked

METHOD = "retrieve"
RETRIEVER = "Retriever"  # The class that CAR's scorer looks for; it counts where a file has several
_EXPECTED = "a class with retrieve(self, query, corpus, k) that returns a list of doc_id"


@dataclass(frozen=True)
class LoadedRetriever:
    """The retriever of a file, and how it is called."""

    name: str
    call: Call

    @property
    def shape(self) -> str:
        """For messages, such as "Mine.retrieve"."""
        return self.call.shape


@contextmanager
def retriever_of(spec: str | Path, records: Sequence[Record] = ()) -> Iterator[LoadedRetriever]:
    """Load `FILE.py` or `FILE.py:NAME`, and make the retriever, with the corpus if it takes one.

    Without a name it is the only class that the file defines with that method, the one called
    `Retriever` of several, or the file's function of one of these names. Raises InputError for no
    file, one that cannot be run, nothing that retrieves or several, and a constructor that fails.
    """
    path, name = split_spec(str(spec))
    with module_of(path, _EXPECTED) as module:
        with refusing_what_raises(spec), USER_CODE_CWD.entered():
            thing: Any = _named(module, name, path) if name else _only(module, path)
            if inspect.isclass(thing) or python.takes_corpus_alone(thing):
                thing = python.instance(thing, corpus_of(records), path)
            is_car = _has(thing, METHOD)
            call = python.call_of_method(thing, METHOD) if is_car else python.call_of(thing)
            own = getattr(thing, "name", None)
            kind = getattr(thing, "__name__", type(thing).__name__)
            _prepare(call, records)
        yield LoadedRetriever(own if isinstance(own, str) and own else kind, call)


def _prepare(call: Call, records: Sequence[Record]) -> None:
    """Let a retriever index the corpus if it wants to. Raise ArgusError if it raises."""
    if call.prepare is None:
        return
    try:
        call.prepare(corpus_of(records))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a stranger's code raises
        raise ArgusError(
            f"{call.shape} could not be given the corpus: indexing it raised "
            f"{type(error).__name__}: {first_line(error)}"
        ) from error


def retriever_file(spec: str | Path) -> Path:
    """Return the file of `FILE.py` or `FILE.py:ClassName`. Raise InputError if there is none."""
    return split_spec(str(spec))[0]


def retrieve_all(retriever: LoadedRetriever, benchmark: Benchmark, *, k: int) -> dict[str, Outcome]:
    """Ask every question. A question that raised, or was answered with nonsense, is a failure.

    Every call gets a list of its own, of the same documents. The next call does not see its
    changes. Of a longer list the first k count, as in CAR's scorer. Raises ArgusError where all
    questions failed.
    """
    corpus = corpus_of(benchmark.records)
    known = Known.of(record.document for record in benchmark.records)
    questions, call = benchmark.questions, retriever.call
    with USER_CODE_CWD.entered():
        outcomes = {q.id: _ask(call, q, list(corpus), known, k) for q in questions}
    failures = [outcome.failure for outcome in outcomes.values()]
    if failures and all(failures):
        raise ArgusError(
            f"All {len(failures)} questions failed; the first: {failures[0]}. "
            f"{retriever.shape} must return a list of ids of the corpus, each once."
        )
    return outcomes


def _ask(
    call: Call, question: Question, corpus: list[CorpusDocument], known: Known, k: int
) -> Outcome:
    try:
        answer = _answer(call, question.text, corpus, k)
        ids = _ids(answer, known)
    except RetrievalError as error:
        return Outcome(failure=str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a stranger's code raises
        return Outcome(failure=f"raised {type(error).__name__}: {first_line(error)}")
    wrong = _wrong(ids, known.ids, k)
    if wrong or not isinstance(ids, list):
        return Outcome(failure=wrong)
    return Outcome(tuple(ids[:k]), longer=len(ids) > k)


def _answer(call: Call, text: str, corpus: Sequence[CorpusDocument], k: int) -> object:
    if call.batched:
        return call.all([Query(text, text)], k, corpus)[text]
    answer = call.one(text, k, corpus)
    return asyncio.run(_awaited(answer)) if inspect.isawaitable(answer) else answer


async def _awaited(answer: object) -> object:
    return await answer if inspect.isawaitable(answer) else answer


def _ids(answer: object, known: Known) -> object:
    """Return the ids of documents, nodes, pairs or a run, and a plain list of ids as it is."""
    items = answer if isinstance(answer, list) else ()
    if isinstance(answer, Mapping) or any(_is_item(item) for item in items):
        return list(ranked(answer, max(len(items), len(known.ids)), known))
    return answer


def _is_item(item: object) -> bool:
    return isinstance(item, Mapping | tuple) or hasattr(item, "metadata") or hasattr(item, "node")


def _wrong(answer: object, known: frozenset[str], k: int) -> str:
    """Return the fault of the first k ids of a list, or ""."""
    if not isinstance(answer, list):
        return f"returned {type(answer).__name__}, not a list"
    for id_ in answer:
        if not isinstance(id_, str):
            return f"returned {type(id_).__name__} in the list, not the text of an id"
    top = answer[:k]
    if len(set(top)) < len(top):
        return "returned an id twice"
    strange = next((id_ for id_ in top if id_ not in known), None)
    return "" if strange is None else f"returned {strange!r}, which is no document's id"


def _has(thing: object, method: str) -> bool:
    return callable(getattr(thing, method, None))


def _retrieves(thing: object) -> bool:
    return any(_has(thing, method) for method in METHODS)


def _named(module: ModuleType, name: str, path: Path) -> object:
    """Return the object of a name. Raise InputError if it does not retrieve."""
    thing: object = getattr(module, name, None)
    if thing is None:
        raise InputError(f"no {name} in it", expected=_EXPECTED, fix="Check the name.", where=path)
    if not _retrieves(thing) and not inspect.isfunction(thing):
        problem = f"{name} has no method {METHOD}" if inspect.isclass(thing) else ""
        raise InputError(
            problem or f"{name} is no class", expected=_EXPECTED, fix="Check the name.", where=path
        )
    return thing


def _only(module: ModuleType, path: Path) -> object:
    """Return the only class that retrieves, the one of CAR's name, or a function of such a name."""
    own = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__ and _retrieves(value)
        if not inspect.isabstract(value) and not getattr(value, "_is_protocol", False)
    ]
    classes = [class_ for class_ in own if _has(class_, METHOD)] or own
    named = [class_ for class_ in classes if class_.__name__ == RETRIEVER]
    functions = (getattr(module, name, None) for name in (RETRIEVER, METHOD))
    function = next((f for f in functions if inspect.isfunction(f)), None)
    if not classes and function is not None:
        return function
    if len(classes) != 1 and len(named) != 1:
        names = ", ".join(c.__name__ for c in classes)
        raise InputError(
            f"{len(classes)} classes with {METHOD} ({names})"
            if classes
            else f"no class with {METHOD}",
            expected="one" if classes else _EXPECTED,
            fix=f"Name one: {path}:{classes[0].__name__}" if classes else "Write one.",
            where=path,
        )
    return (named or classes)[0]
