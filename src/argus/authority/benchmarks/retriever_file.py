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
from pathlib import Path
from types import ModuleType
from typing import Any

from argus.authority.benchmarks.collection import Benchmark
from argus.authority.benchmarks.judging import Outcome
from argus.authority.records import Record, corpus_of
from argus.data.types import Query
from argus.errors import ArgusError, InputError, first_line
from argus.python_file import USER_CODE_CWD, module_of, refusing_what_raises, split_spec
from argus.retrievers.protocol import RetrievalError
from argus.retrievers.python_retriever import (
    METHODS,
    Call,
    call_of,
    call_of_method,
    instance,
    takes_corpus_alone,
)
from argus.retrievers.results import Known, ranked

METHOD = "retrieve"
RETRIEVER = "Retriever"  # The class that CAR's scorer looks for; it counts where a file has several
_EXPECTED = "a class with retrieve(self, query, corpus, k) that returns a list of doc_id"


@contextmanager
def retriever_of(spec: str | Path, records: Sequence[Record] = ()) -> Iterator[tuple[str, Call]]:
    """Load `FILE.py` or `FILE.py:NAME`, and make the retriever, with the corpus if it takes one.

    Yields its name and how it is called. Without a name it is the only class that the file defines
    with that method, the one called `Retriever` of several, or the file's function of one of these
    names. Raises InputError for no file, one that cannot be run, nothing that retrieves or several,
    and a constructor that fails.
    """
    path, name = split_spec(str(spec))
    with module_of(path, _EXPECTED) as module:
        with refusing_what_raises(spec), USER_CODE_CWD.entered():
            thing: Any = _named(module, name, path) if name else _only(module, path)
            if inspect.isclass(thing) or takes_corpus_alone(thing):
                thing = instance(thing, corpus_of(records), path)
            call = call_of_method(thing, METHOD) if _has(thing, METHOD) else call_of(thing)
            own = getattr(thing, "name", None)
            kind = getattr(thing, "__name__", type(thing).__name__)
        yield own if isinstance(own, str) and own else kind, call


def retrieve_all(call: Call, benchmark: Benchmark, *, k: int) -> dict[str, Outcome]:
    """Ask every question. A question that raised, or was answered with nonsense, is a failure.

    Every call gets a list of its own, of the same documents. The next call does not see its
    changes. Of a longer list the first k count, as in CAR's scorer. Raises ArgusError where all
    questions failed.
    """
    corpus = corpus_of(benchmark.records)
    known = Known.of(record.document for record in benchmark.records)
    with USER_CODE_CWD.entered():
        outcomes = {q.id: _ask(call, q.text, list(corpus), known, k) for q in benchmark.questions}
    failures = [outcome.failure for outcome in outcomes.values()]
    if failures and all(failures):
        raise ArgusError(
            f"All {len(failures)} questions failed; the first: {failures[0]}. "
            f"{call.shape} must return a list of ids of the corpus, each once."
        )
    return outcomes


def _ask(call: Call, text: str, corpus: Sequence[Any], known: Known, k: int) -> Outcome:
    async def awaited(answer: Any) -> object:
        return await answer

    try:
        if call.batched:
            answer: Any = call.ask([Query(text, text)], k, corpus)[text]
        else:
            answer = call.ask(text, k, corpus)
            answer = asyncio.run(awaited(answer)) if inspect.isawaitable(answer) else answer
        items = answer if isinstance(answer, list) else ()
        if isinstance(answer, Mapping) or any(map(_is_item, items)):
            answer = list(ranked(answer, max(len(items), len(known.ids)), known))
    except RetrievalError as error:
        return Outcome(failure=str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a stranger's code raises
        return Outcome(failure=f"raised {type(error).__name__}: {first_line(error)}")
    if not isinstance(answer, list):
        return Outcome(failure=f"returned {type(answer).__name__}, not a list")
    for id_ in answer:
        if not isinstance(id_, str):
            what = f"{type(id_).__name__} in the list, not the text of an id"
            return Outcome(failure=f"returned {what}")
    top = answer[:k]
    if len(set(top)) < len(top):
        return Outcome(failure="returned an id twice")
    strange = next((id_ for id_ in top if id_ not in known.ids), None)
    if strange is not None:
        return Outcome(failure=f"returned {strange!r}, which is no document's id")
    return Outcome(tuple(top), longer=len(answer) > k)


def _is_item(item: object) -> bool:
    """Return whether this is a document, a node, a pair or a row, and no plain id."""
    return isinstance(item, Mapping | tuple) or hasattr(item, "metadata") or hasattr(item, "node")


def _has(thing: object, *methods: str) -> bool:
    return any(callable(getattr(thing, method, None)) for method in methods)


def _named(module: ModuleType, name: str, path: Path) -> object:
    """Return the object of a name. Raise InputError if it does not retrieve."""
    thing: object = getattr(module, name, None)
    got = "" if thing is not None else f"no {name} in it"
    if not got and not _has(thing, *METHODS) and not inspect.isfunction(thing):
        is_class = inspect.isclass(thing)
        got = f"{name} has no method {METHOD}" if is_class else f"{name} is no class"
    if got:
        raise InputError(got, expected=_EXPECTED, fix="Check the name.", where=path)
    return thing


def _only(module: ModuleType, path: Path) -> object:
    """Return the only class that retrieves, the one of CAR's name, or a function of such a name."""
    own = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__
        if _has(value, *METHODS)
        if not inspect.isabstract(value) and not getattr(value, "_is_protocol", False)
    ]
    classes = [class_ for class_ in own if _has(class_, METHOD)] or own
    named = [class_ for class_ in classes if class_.__name__ == RETRIEVER]
    functions = (getattr(module, name, None) for name in (RETRIEVER, METHOD))
    function = next((f for f in functions if inspect.isfunction(f)), None)
    if not classes and function is not None:
        return function
    if len(classes) == 1 or len(named) == 1:
        return (named or classes)[0]
    got, expected, fix = f"no class with {METHOD}", _EXPECTED, "Write one."
    if classes:
        names = ", ".join(c.__name__ for c in classes)
        got, expected = f"{len(classes)} classes with {METHOD} ({names})", "one"
        fix = f"Name one: {path}:{classes[0].__name__}"
    raise InputError(got, expected=expected, fix=fix, where=path)
