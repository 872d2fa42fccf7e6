"""Why a document does not come back when an encoder searches a corpus, with no index of it.

Every encoder will do, sparse and late ones too, which no index holds. The search is exact, so its
explanation is that of the run which it makes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

from argus.data.types import Document
from argus.encoders import (
    Encoder,
    EncoderConfig,
    Rows,
    Scoring,
    Store,
    TokenCounter,
    as_config,
    embed,
    load_any_encoder,
    open_store,
    scoring_of,
    stored_fingerprint,
)
from argus.encoders import documents as as_documents
from argus.encoders.embed import encode_batch, queries
from argus.encoders.rows import family_of
from argus.errors import InputError
from argus.evaluation.parents import ParentFold
from argus.explanation.config import RunConfig
from argus.explanation.evidence import Evidence, MatchEvidence, WindowEvidence
from argus.explanation.matches import Matched, check_matches, matched_terms
from argus.explanation.of_retriever import question_of
from argus.explanation.run import (
    RunCase,
    RunExplanation,
    check_ids,
    explained,
    fold_of,
    folded,
)
from argus.explanation.types import Cause, Finding, Verdict
from argus.explanation.vectors import beyond_the_window, window_of
from argus.indexes.words import check_query
from argus.jobs.workspace import Record, corpus_for, require_some, take_stored
from argus.progress import announce


@dataclass(frozen=True)
class CorpusExplanation(RunExplanation):
    """Why an encoder brought a document back, or did not; `run` is its fingerprint."""

    source: ClassVar[str] = "encoder"


@dataclass(frozen=True)
class _Search:
    """One query over the documents that have a row, ordered by id."""

    encoder: Encoder[Rows]
    documents: Sequence[Document]
    scoring: Scoring[Any]
    query: str
    row: Rows
    """Of the query."""
    scores: np.ndarray
    """Exact, shape (n_documents,)."""
    failures: Mapping[str, str]
    """Document to why it has no row."""
    fold: ParentFold | None = None
    """Of the documents, where they are chunks of those that count."""

    def ranking(self) -> dict[str, float]:
        """Return the scores of all documents, best first, ties by id."""
        order = np.argsort(-self.scores, kind="stable").tolist()
        return {self.documents[i].id: float(self.scores[i]) for i in order}

    def rows_of(self, doc_id: str) -> list[int]:
        """Return the rows of a document: its own, or those of its chunks."""
        ids = [doc_id] if self.fold is None else self.fold.chunks_of(doc_id)
        return [row for row, document in enumerate(self.documents) if document.id in ids]

    def matched(self, rank: int, doc_id: str) -> Matched:
        """Return one document as the query sees it."""
        at = max(self.rows_of(doc_id), key=lambda row: (self.scores[row], -row))
        row = self.scoring.documents[at : at + 1]
        document = self.documents[at]
        return Matched(rank, doc_id, float(self.scores[at]), document.content, row)


def explain_corpus(
    query: str,
    doc_id: str,
    encoder: Encoder[Rows] | EncoderConfig | str,
    config: RunConfig,
    *,
    store: Path | None = None,
) -> CorpusExplanation:
    """Say where an encoder ranks `doc_id` of `config.corpus` for `query`, and what keeps it there.

    query: its text, or with `config.queries` its id. store: where vectors are kept and read again,
    as an exposure run leaves them in `OUT/embeddings`; None keeps nothing. A corpus that is a store
    is searched by its own vectors. Raises InputError for an empty query or id, k below 1, an
    unknown query id, a query that the encoder can make no row of, a corpus without text, a store
    whose vectors are another encoder's, broken files.
    """
    check_ids(query, doc_id, config.k)
    question = question_of(query, config.queries)
    check_query(question.text)
    documents, record = _documents(config, encoder)
    with _encoder_and_store(encoder, store) as (model, opened):
        take_stored(record, opened)
        search = _searched(model, opened, sorted(documents.values(), key=_id), question.text)
    search = replace(search, fold=fold_of(config, documents))
    name = CorpusExplanation.source
    chunked = RunCase(question.text, doc_id, config.k, search.ranking(), documents, name)
    case = folded(chunked, search.fold)
    more = list(_of_encoder(case, search))
    return explained(CorpusExplanation, case, question.id, model.fingerprint, config, more)


def _id(document: Document) -> str:
    return document.id


def _documents(
    config: RunConfig, encoder: Encoder[Rows] | EncoderConfig | str
) -> tuple[dict[str, Document], Record]:
    """Return the documents by id, and the record that knows the vectors of a store."""
    if config.corpus is None:
        raise InputError(
            "no corpus",
            expected="what the encoder is to search",
            fix="Give --corpus.",
            where="--corpus",
        )
    source = corpus_for(config.corpus, encoder, None)
    documents = source.documents(config.fields)
    require_some(sum(bool(d.content.strip()) for d in documents), "document has text", "Check it.")
    return {d.id: d for d in documents}, Record("explain", {}, {"corpus": source.origin})


@contextmanager
def _encoder_and_store(
    encoder: Encoder[Rows] | EncoderConfig | str, store: Path | None
) -> Iterator[tuple[Encoder[Rows], Store[Rows]]]:
    """Open the encoder, and the store or one that goes when it is closed."""
    with TemporaryDirectory(prefix="argus-explain-") as passing:
        path = store or Path(passing)
        encoder = as_config(encoder)
        if isinstance(encoder, EncoderConfig):
            encoder = load_any_encoder(encoder, stored=stored_fingerprint(path)).encoder
        with open_store(
            family_of(encoder), path, fingerprint=encoder.fingerprint, dim=encoder.dim
        ) as opened:
            yield encoder, opened


def _searched(
    model: Encoder[Rows], store: Store[Rows], documents: Sequence[Document], query: str
) -> _Search:
    announce("explain: embedding documents")
    usable = [d for d in documents if d.content.strip()]
    embedded = embed(as_documents([d.content for d in usable]), model, store, what="documents")
    indexed = [d for d, ok in zip(usable, embedded.ok, strict=True) if ok]
    failures = {usable[i].id: why for i, why in embedded.failures.items()}
    row = _row(model, query)
    scoring: Scoring[Any] = scoring_of(embedded.vectors)
    scores = scoring.against(row, np.arange(len(indexed)))
    return _Search(model, indexed, scoring, query, row, scores, failures)


def _row(model: Encoder[Rows], query: str) -> Rows:
    """Return the row of the query; raises InputError where it has none that can be compared."""
    encoded = encode_batch(model, queries([query]))
    for why in encoded.failures.values():
        raise InputError(
            f"no search with {query!r}: {why}",
            expected=f"a query that {model.fingerprint} can embed",
            fix="Word it otherwise, or name another encoder.",
            where="QUERY",
        )
    return encoded.vectors


def _of_encoder(case: RunCase, search: _Search) -> Iterator[Finding[Evidence]]:
    """Yield what can be told of a document: its matches and its window, or why it has no row."""
    rank = case.rank(case.doc_id)
    if rank is None:
        if why := search.failures.get(case.doc_id):
            text, advice = f"nothing finds it: {why}", "Mend it, and embed it again."
            yield Finding(Cause.ABSENT, Verdict.FOUND, text, {}, advice)
        return
    own = search.matched(rank, case.doc_id)
    for finding in (_matches(case, search, own), _window(case, search, own)):
        if finding is not None:
            yield finding


def _matches(case: RunCase, search: _Search, own: Matched) -> Finding[MatchEvidence] | None:
    terms = matched_terms(search.encoder, search.query, search.row, own)
    if terms is None:
        return None
    came_back = own.rank <= case.k
    at = 1 if came_back else case.k
    rival = search.matched(at, case.ranked[at - 1]) if own.rank != at else None
    theirs = [] if rival is None else matched_terms(search.encoder, search.query, search.row, rival)
    return check_matches(terms, own.score, rival, theirs or [], came_back=came_back)


def _window(case: RunCase, search: _Search, own: Matched) -> Finding[WindowEvidence] | None:
    """Say how much of the document was never read, and where that would rank by itself."""
    encoder = search.encoder
    if not isinstance(encoder, TokenCounter) or encoder.max_tokens is None:
        return None
    tokens = int(encoder.count_tokens([own.text])[0])
    if tokens <= encoder.max_tokens:
        evidence: WindowEvidence = {"tokens": tokens, "window": encoder.max_tokens}
        text = f"all of its {tokens} tokens were read (window {encoder.max_tokens})"
        return Finding(Cause.WINDOW, Verdict.RULED_OUT, text, evidence)
    pieces, evidence = window_of(encoder, own.text, search.query)
    scores = scoring_of(search.encoder.encode_documents(pieces)).against(
        search.row, np.arange(len(pieces))
    )
    best = float(scores.max())
    others = np.delete(search.scores, search.rows_of(case.doc_id))
    evidence |= {
        "tokens": tokens,
        "window": encoder.max_tokens,
        "tokens_unread": tokens - encoder.max_tokens,
        "best_unread_score": round(best, 4),
        "rank_of_unread_part": 1 + int((others > best).sum()),
    }
    return beyond_the_window(case.k, own.score, evidence)
