"""Answers to the questions of which the log does not say what came: asked for, and kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from argus.data.artifacts import ArtifactFolder
from argus.data.types import Document, Query
from argus.encoders import Encoder, EncoderConfig, Rows, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.indexes import search
from argus.jobs.workspace import Record, open_encoder
from argus.retrievers.asking import Answerer, answers_of
from argus.retrievers.protocol import Answers, RetrieverNote, note_of
from argus.traffic.exchange import Passage
from argus.traffic.log.book import LogBook
from argus.traffic.questions.sample import LookedAt, put_answer

Model = Encoder[Rows] | EncoderConfig | str


def ask_missing(
    questions: Sequence[LookedAt],
    source: Answerer,
    documents: Sequence[Document],
    k: int,
    folder: ArtifactFolder,
    record: Record,
) -> tuple[RetrieverNote | None, list[LookedAt], Answers | None]:
    """Ask for every question without a list, of nearly equal ones the first alone.

    source: a retriever; where it names none, the documents are searched with its encoder. Returns
    what a summary says of the retriever, the questions that were sent, and the answers.
    """
    asking = [one for one in questions if one.results is None and one.alike is None and one.text]
    if not asking or not (source.is_named or documents):
        return None, [], None
    queries = [Query(one.name, one.text or "") for one in asking]
    with record.timed("asking"):
        if source.is_named:
            name, answers = answers_of(
                source, queries, k, documents=documents, folder=folder, record=record
            )
        else:
            name, answers = _search(
                queries, documents, cast(Model, source.encoder), k, folder, record
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


def _search(
    queries: Sequence[Query],
    documents: Sequence[Document],
    encoder: Model,
    k: int,
    folder: ArtifactFolder,
    record: Record,
) -> tuple[str, Answers]:
    """Search the corpus itself, exactly, with an encoder."""
    usable = sorted((d for d in documents if d.content.strip()), key=lambda d: d.id)
    texts = [document.content for document in usable]
    with open_encoder(folder, cast(Encoder, encoder), record, sample=texts) as (model, store):
        embedded = embed(as_documents(texts), model, store, what="documents")
        ids = [d.id for d, good in zip(usable, embedded.ok, strict=True) if good]
        sent = embed(as_queries([query.text for query in queries]), model, store, what="questions")
    top = search(np.asarray(sent.vectors), np.asarray(embedded.vectors), k)
    rows = iter(zip(top.rows.tolist(), top.scores.tolist(), strict=True))
    answers = Answers({}, {queries[i].id: why for i, why in sent.failures.items()})
    for query, good in zip(queries, sent.ok, strict=True):
        if good:
            own, scores = next(rows)
            answers.run[query.id] = {ids[row]: s for row, s in zip(own, scores, strict=True)}
    return f"the corpus by {record.encoder['fingerprint']}", answers
