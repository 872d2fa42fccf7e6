"""Answers to the questions of which the log does not say what came: asked for, and kept."""

from __future__ import annotations

from collections.abc import Sequence

from argus.data.artifacts import ArtifactFolder
from argus.data.types import Document, Query
from argus.jobs.workspace import Record
from argus.retrievers.asking import Answerer, answers_of
from argus.retrievers.protocol import Answers, RetrieverNote, note_of
from argus.traffic.exchange import Passage
from argus.traffic.log.book import LogBook
from argus.traffic.questions.sample import LookedAt, put_answer


def ask_missing(
    questions: Sequence[LookedAt],
    source: Answerer,
    documents: Sequence[Document],
    k: int,
    folder: ArtifactFolder,
    record: Record,
) -> tuple[RetrieverNote | None, list[LookedAt], Answers | None]:
    """Ask the retriever, if one is named, for every question without a list.

    Of nearly equal ones it is asked the first alone. Returns what a summary says of the retriever,
    the questions that were sent, and the answers.
    """
    asking = [one for one in questions if one.results is None and one.alike is None and one.text]
    if not asking or not source.is_named:
        return None, [], None
    queries = [Query(one.name, one.text or "") for one in asking]
    with record.timed("asking"):
        name, answers = answers_of(
            source, queries, k, documents=documents, folder=folder, record=record
        )
    return note_of(name, answers), asking, answers


def keep_answers(
    book: LogBook, questions: Sequence[LookedAt], asking: Sequence[LookedAt], answers: Answers
) -> None:
    """Put answers into the log, those of nearly equal questions too."""
    lists: dict[int, tuple[int, LookedAt]] = {}
    for one in asking:
        if one.name in answers.run:
            one.results = list(answers.run[one.name].items())
            list_ = book.put_list(Passage(id_, score) for id_, score in one.results)
            lists[one.id] = list_, one
        else:
            one.failure = answers.failed.get(one.name, "not answered")
    book.flush()
    book.do("BEGIN")
    for one in questions:
        list_, first = lists.get(one.alike or one.id, (0, one))
        if list_:
            one.results = one.results if one.results is not None else first.results
            put_answer(book, one, list_)
    book.do("COMMIT")
