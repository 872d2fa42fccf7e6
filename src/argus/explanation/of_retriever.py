"""Why a document does not come back from a retriever that is asked, whatever it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from argus.data.corpus import read_queries
from argus.data.types import Document, Query
from argus.errors import ArgusError
from argus.evaluation.parents import deeper
from argus.evaluation.queries import unknown_query
from argus.explanation.config import RunConfig
from argus.explanation.run import (
    RunCase,
    RunExplanation,
    check_corpus,
    check_ids,
    documents_of,
    explained,
    fold_of,
    folded,
)
from argus.explanation.standing import QUERY
from argus.indexes.retriever import FUSED_DEPTH
from argus.progress import announce
from argus.retrievers.asking import all_opened
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import OpenRetriever

if TYPE_CHECKING:
    from argus.authority.relation import Authority
    from argus.encoders import Encoder, EncoderConfig


class RetrieverExplanation(RunExplanation):
    """Why a document came back from a retriever, or did not; `run` is the retriever's name."""

    source: ClassVar[str] = "retriever"


def explain_retriever(
    query: str,
    doc_id: str,
    retriever: Any,
    config: RunConfig | None = None,
    *,
    asking: AskingConfig | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    authority: Authority | None = None,
) -> RetrieverExplanation:
    """Ask a retriever, and say where it ranks `doc_id` and what stands above it.

    query: the question, or with `config.queries` the id of one. It is asked at k, as people ask it;
    where the document is not among these, at 100, to learn how far it is. retriever, asking,
    encoder: as for `argus.compare_retrievers`. authority: what supersedes what, in place of a file.
    Raises InputError for an unknown query or name, a
    corpus that holds nothing of what came back; ArgusError where the retriever fails.
    """
    config = config or RunConfig()
    check_ids(query, doc_id, config.k)
    question = question_of(query, config.queries)
    documents = documents_of(config)
    known = list((documents or {}).values())
    with all_opened([retriever], known, asking or AskingConfig(), None, encoder) as (source,):
        return explain_among(documents, question, doc_id, source, config, authority)


def explain_served(
    query: str,
    doc_id: str,
    retriever: Any,
    documents: Sequence[Document],
    config: RunConfig,
    authority: Authority | None,
) -> RetrieverExplanation:
    """Explain as `explain_retriever` does, of documents that were read already.

    documents: those of `config.corpus`. A retriever may hold the store that they lie in, so they
    are not read again.
    """
    check_ids(query, doc_id, config.k)
    known = {document.id: document for document in documents} or None
    with all_opened([retriever], documents, AskingConfig(), None) as (source,):
        return explain_among(known, Query(QUERY, query), doc_id, source, config, authority)


def explain_among(
    documents: Mapping[str, Document] | None,
    question: Query,
    doc_id: str,
    source: OpenRetriever,
    config: RunConfig,
    authority: Authority | None,
) -> RetrieverExplanation:
    """Explain of what is open; documents: those of `config.corpus`, by id, where it is named."""
    fold = fold_of(config, documents)
    ids = frozenset([doc_id] if fold is None else fold.chunks_of(doc_id))
    scores = _scores(source, question.text, ids, deeper(config.k, fold))
    check_corpus(documents, list(scores), config.corpus, RetrieverExplanation.source)
    chunked = RunCase(
        question.text, doc_id, config.k, scores, documents, RetrieverExplanation.source
    )
    case = folded(chunked, fold)
    return explained(
        RetrieverExplanation, case, question.id, source.name, config, authority=authority
    )


def question_of(query: str, file: Path | None) -> Query:
    """Return the question that a text is, or with a file of queries the one of this id."""
    if file is None:
        return Query(QUERY, query)
    questions = {question.id: question for question in read_queries(file)}
    if query not in questions:
        otherwise = "Check the id, or leave out --queries to give the question itself."
        raise unknown_query(query, questions, file, otherwise)
    return questions[query]


def _scores(source: OpenRetriever, text: str, ids: Collection[str], k: int) -> dict[str, float]:
    """Return the ranking, best first: what comes back at k and, where need be, what follows it."""
    scores = _asked(source, text, k)
    if any(id_ in ids for id_ in scores) or k >= FUSED_DEPTH:
        return scores
    deeper = _asked(source, text, FUSED_DEPTH)
    both = [*scores, *(id_ for id_ in deeper if id_ not in scores)]
    if all(deeper.get(id_) == score for id_, score in scores.items()):
        return {id_: deeper[id_] for id_ in both}
    return {id_: 1 / place for place, id_ in enumerate(both, start=1)}


def _asked(source: OpenRetriever, text: str, k: int) -> dict[str, float]:
    answers = source.ask([Query(QUERY, text)], k)
    if answers.warning:
        announce(f"WARNING: {answers.warning}")
    if answers.failed:
        raise ArgusError(f"{source.name} failed the query: {answers.failed[QUERY]}")
    return answers.run[QUERY]
