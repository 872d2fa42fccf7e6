"""A retriever from a Python file: `class X: def retrieve(self, query, corpus, k) -> list[doc_id]`.

The file is run as it is: it may do whatever a program may. Its folder can be imported from while
the retriever is in use.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Protocol

from typing_extensions import TypedDict

from argus.authority.benchmarks.outcomes import Outcome
from argus.authority.benchmarks.types import Benchmark, Question
from argus.authority.records import Record
from argus.errors import ArgusError, InputError
from argus.retrievers.python_file import first_line, module_of, split_spec

METHOD = "retrieve"
_EXPECTED = "a class with retrieve(self, query, corpus, k) that returns a list of doc_id"


class CorpusDocument(TypedDict):
    """A document as a retriever is given it. Other metadata is kept back: it may tell the gold."""

    doc_id: str
    _id: str
    """The same."""
    type: str
    timestamp: str | None
    entities: dict[str, str | list[str]]
    title: str
    text: str


class Retriever(Protocol):
    """What a file provides (CAR Appendix D)."""

    def retrieve(self, query: str, corpus: list[CorpusDocument], k: int) -> list[str]:
        """Return ids of at most k documents, best first."""


@contextmanager
def retriever_of(spec: str | Path) -> Iterator[Retriever]:
    """Load `FILE.py` or `FILE.py:ClassName`, and make the retriever without arguments.

    Without a name it is the only class that the file defines with that method. Raises InputError
    for no file, one that cannot be run, no class or several, and a constructor that fails.
    """
    path, name = split_spec(str(spec))
    with module_of(path, _EXPECTED) as module:
        yield _instance(_class(module, name, path), path)


def retriever_file(spec: str | Path) -> Path:
    """Return the file of `FILE.py` or `FILE.py:ClassName`; InputError where there is none."""
    return split_spec(str(spec))[0]


def corpus_of(records: Sequence[Record]) -> list[CorpusDocument]:
    """Return the corpus as a retriever is given it, ordered by id."""
    return [
        {
            "doc_id": r.id,
            "_id": r.id,
            "type": r.type,
            "timestamp": None if r.time is None else str(r.time),
            "entities": {key: _plain(value) for key, value in r.scope.items()},
            "title": r.title,
            "text": r.text,
        }
        for r in sorted(records, key=lambda r: r.id)
    ]


def retrieve_all(retriever: Retriever, benchmark: Benchmark, *, k: int) -> dict[str, Outcome]:
    """Ask every question. A question that raised, or was answered with nonsense, is a failure.

    Every call is given a list of its own, of the same documents: what it does to the list, the next
    does not see. Raises ArgusError where all questions failed.
    """
    corpus = corpus_of(benchmark.records)
    known = {record.id for record in benchmark.records}
    outcomes = {q.id: _ask(retriever, q, list(corpus), known, k) for q in benchmark.questions}
    failures = [outcome.failure for outcome in outcomes.values()]
    if failures and all(failures):
        raise ArgusError(
            f"All {len(failures)} questions failed; the first: {failures[0]}. "
            f"{type(retriever).__name__}.retrieve must return a list of at most {k} ids of the "
            "corpus, each once."
        )
    return outcomes


def _ask(
    retriever: Retriever,
    question: Question,
    corpus: list[CorpusDocument],
    known: set[str],
    k: int,
) -> Outcome:
    try:
        answer = retriever.retrieve(question.text, corpus, k)
    except (Exception, SystemExit) as error:  # whatever a stranger's code raises
        return Outcome(failure=f"raised {type(error).__name__}: {first_line(error)}")
    wrong = _wrong(answer, known, k)
    return Outcome(failure=wrong) if wrong else Outcome(tuple(answer))


def _wrong(answer: object, known: set[str], k: int) -> str:
    """Return what is wrong with an answer, "" where nothing is."""
    if not isinstance(answer, list):
        return f"returned {type(answer).__name__}, not a list"
    for id_ in answer:
        if not isinstance(id_, str):
            return f"returned {type(id_).__name__} in the list, not the text of an id"
    if len(answer) > k:
        return f"returned more than k={k} ids"
    if len(set(answer)) < len(answer):
        return "returned an id twice"
    strange = next((id_ for id_ in answer if id_ not in known), None)
    return "" if strange is None else f"returned {strange!r}, which is no document's id"


def _class(module: ModuleType, name: str, path: Path) -> type:
    if name:
        named: object = getattr(module, name, None)
        if not inspect.isclass(named) or not callable(getattr(named, METHOD, None)):
            problem = f"{name} is no class" if named is not None else f"no {name} in it"
            if inspect.isclass(named):
                problem = f"{name} has no method {METHOD}"
            raise InputError(problem, expected=_EXPECTED, fix="Check the name.", where=path)
        return named
    classes = [
        value
        for value in vars(module).values()
        if inspect.isclass(value)
        and value.__module__ == module.__name__
        and callable(getattr(value, METHOD, None))
        and not inspect.isabstract(value)
        and not getattr(value, "_is_protocol", False)
    ]
    if len(classes) != 1:
        names = ", ".join(c.__name__ for c in classes)
        raise InputError(
            f"{len(classes)} classes with {METHOD} ({names})"
            if classes
            else f"no class with {METHOD}",
            expected="one" if classes else _EXPECTED,
            fix=f"Name one: {path}:{classes[0].__name__}" if classes else "Write one.",
            where=path,
        )
    return classes[0]


def _instance(class_: type, path: Path) -> Retriever:
    try:
        retriever: Retriever = class_()
    except (Exception, SystemExit) as error:  # whatever a stranger's code raises
        raise InputError(
            f"{class_.__name__}() raised {type(error).__name__}: {first_line(error)}",
            expected="a class that can be made without arguments",
            fix="Give its parameters defaults.",
            where=path,
        ) from error
    return retriever


def _plain(value: str | tuple[str, ...]) -> str | list[str]:
    return value if isinstance(value, str) else list(value)
