"""Why a document does not come back when an encoder searches a corpus, with no index of it.

Every encoder will do, sparse and late ones too, which no index holds. The search is exact, so its
explanation is that of the run which it makes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

from argus.authority.edges import read_authority
from argus.data.corpus import read_corpus
from argus.data.types import Document
from argus.encoders import (
    Encoder,
    EncoderConfig,
    Rows,
    Scoring,
    Store,
    TokenCounter,
    embed,
    load_any_encoder,
    open_store,
    scoring_of,
    stored_fingerprint,
)
from argus.encoders import documents as as_documents
from argus.encoders.rows import family_of
from argus.errors import InputError
from argus.evaluation.queries import unknown_query
from argus.explanation.config import RunConfig
from argus.explanation.evidence import Evidence, MatchEvidence, WindowEvidence
from argus.explanation.matches import Matched, check_matches, matched_terms
from argus.explanation.rivals import superseded
from argus.explanation.run import (
    RunCase,
    RunExplanation,
    RunStanding,
    check_corpus,
    check_words,
    conclude,
    run_standing,
)
from argus.explanation.types import Cause, Finding, Verdict
from argus.explanation.vectors import beyond_the_window, window_of
from argus.indexes.snapshot import check_k
from argus.indexes.words import check_query
from argus.progress import announce


@dataclass(frozen=True)
class CorpusExplanation(RunExplanation):
    """Why an encoder brought a document back, or did not; `run` is its fingerprint."""

    what: ClassVar[str] = "encoder"


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

    def ranking(self) -> dict[str, float]:
        """Return the scores of all documents, best first, ties by id."""
        order = np.argsort(-self.scores, kind="stable").tolist()
        return {self.documents[i].id: float(self.scores[i]) for i in order}

    def matched(self, rank: int, doc_id: str) -> Matched:
        """Return one document as the query sees it."""
        at = [document.id for document in self.documents].index(doc_id)
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
    as an exposure run leaves them in `OUT/embeddings`; None keeps nothing. Raises InputError for an
    empty query or id, k below 1, an unknown query id, a corpus without text, broken files.
    """
    check_k(config.k)
    query_id, text = _question(query, config.queries)
    if not doc_id.strip():
        raise InputError("an empty document id", expected="the id of a document", fix="Name one.")
    authority = read_authority(config.supersedes) if config.supersedes is not None else None
    documents = sorted(_documents(config.corpus), key=lambda d: d.id)
    with _encoder_and_store(encoder, store) as (model, opened):
        search = _searched(model, opened, documents, text)
    case = RunCase(text, doc_id, config.k, search.ranking(), {d.id: d for d in documents})
    place = run_standing(case)
    superseders = superseded(doc_id, case.k, place.rank, authority, case.rank, "corpus")
    findings: list[Finding[Evidence]] = [
        check_corpus(case, config.corpus),
        *_of_encoder(case, place, search),
        check_words(case, place),
        superseders,
    ]
    findings = [f.harmless() if place.came_back else f for f in findings]
    cause, verdict = conclude(case.k, place, findings, superseders.evidence)
    return CorpusExplanation(
        text, query_id, doc_id, model.fingerprint, str(config.corpus), case.k, verdict, cause,
        place.came_back, place, findings,
    )  # fmt: skip


def _question(query: str, file: Path | None) -> tuple[str, str]:
    """Return id and text."""
    from argus.data.corpus import read_queries

    check_query(query)
    if file is None:
        return "query", query
    queries = {each.id: each.text for each in read_queries(file)}
    if not queries.get(query, "").strip():
        otherwise = "Check the id, or leave out --queries to give the query's text."
        raise unknown_query(query, queries, file, otherwise)
    return query, queries[query]


def _documents(corpus: Path | None) -> list[Document]:
    if corpus is None:
        raise InputError(
            "no corpus",
            expected="what the encoder is to search",
            fix="Give --corpus.",
            where="--corpus",
        )
    documents = read_corpus(corpus)
    if not any(d.content.strip() for d in documents):
        raise InputError(
            "no document has text",
            expected="documents to search",
            fix="Check the file.",
            where=corpus,
        )
    return documents


@contextmanager
def _encoder_and_store(
    encoder: Encoder[Rows] | EncoderConfig | str, store: Path | None
) -> Iterator[tuple[Encoder[Rows], Store[Rows]]]:
    """Open the encoder, and the store or one that goes when it is closed."""
    with TemporaryDirectory(prefix="argus-explain-") as passing:
        path = store or Path(passing)
        if isinstance(encoder, str):
            encoder = EncoderConfig(model=encoder)
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
    row = model.encode_queries([query])
    scoring: Scoring[Any] = scoring_of(embedded.vectors)
    scores = scoring.against(row, np.arange(len(indexed)))
    return _Search(model, indexed, scoring, query, row, scores)


def _of_encoder(case: RunCase, place: RunStanding, search: _Search) -> Iterator[Finding[Evidence]]:
    """Yield what can be told of a document that was searched: its matches, and its window."""
    if place.rank is None:
        return
    own = search.matched(place.rank, case.doc_id)
    matches = _matches(case, place, search, own)
    if matches is not None:
        yield matches
    window = _window(case, place, search, own)
    if window is not None:
        yield window


def _matches(
    case: RunCase, place: RunStanding, search: _Search, own: Matched
) -> Finding[MatchEvidence] | None:
    terms = matched_terms(search.encoder, search.query, search.row, own)
    if terms is None:
        return None
    at = 1 if place.came_back else case.k
    rival = search.matched(at, case.ranked[at - 1]) if own.rank != at else None
    theirs = [] if rival is None else matched_terms(search.encoder, search.query, search.row, rival)
    return check_matches(terms, own.score, rival, theirs or [], came_back=place.came_back)


def _window(
    case: RunCase, place: RunStanding, search: _Search, own: Matched
) -> Finding[WindowEvidence] | None:
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
    others = search.scores[[document.id != case.doc_id for document in search.documents]]
    evidence |= {
        "tokens": tokens,
        "window": encoder.max_tokens,
        "tokens_unread": tokens - encoder.max_tokens,
        "best_unread_score": round(best, 4),
        "rank_of_unread_part": 1 + int((others > best).sum()),
    }
    return beyond_the_window(case.k, own.score, evidence)
