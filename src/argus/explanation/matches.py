"""What of a query a document was matched by: terms of a sparse encoder, tokens of a late one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from argus.data.types import IntArray
from argus.encoders.rows import Rows, SparseRows, TokenRows
from argus.explanation.evidence import MatchedTerm, MatchEvidence
from argus.explanation.types import Cause, Finding, Verdict
from argus.explanation.words import quoted

NAMED = 3
SHOWN = 20
"""Matches that are listed, the strongest first."""


@runtime_checkable
class NamesTerms(Protocol):
    """A sparse encoder that can say which terms its columns are."""

    def terms(self, columns: IntArray) -> list[str]:
        """Return the terms of some columns."""


@runtime_checkable
class NamesTokens(Protocol):
    """An encoder of tokens that can say which ones its vectors are of."""

    def query_tokens(self, text: str) -> list[str]:
        """Return the tokens behind the vectors of a query."""

    def document_tokens(self, text: str) -> list[str]:
        """Return the tokens behind the vectors of a document."""


@dataclass(frozen=True)
class Matched:
    """One document under the query. row: of one text; score: as the encoder compares them."""

    rank: int
    id: str
    score: float
    text: str
    row: Rows


def matched_terms(
    encoder: object, query: str, query_row: Rows, document: Matched
) -> list[MatchedTerm] | None:
    """Return what each term or token of the query adds to the score, in the query's order.

    query_row: of its one row. None for vectors, of which no part is a word.
    """
    row = document.row
    if isinstance(query_row, SparseRows) and isinstance(row, SparseRows):
        return _terms(encoder, query_row, row)
    if isinstance(query_row, TokenRows) and isinstance(row, TokenRows):
        return _tokens(encoder, query, document.text, query_row, row)
    return None


def _terms(encoder: object, query_row: SparseRows, row: SparseRows) -> list[MatchedTerm]:
    columns, weights = query_row.terms(0)
    own = dict(zip(*(part.tolist() for part in row.terms(0)), strict=True))
    names = (
        encoder.terms(columns)
        if isinstance(encoder, NamesTerms)
        else [f"#{column}" for column in columns.tolist()]
    )
    return [
        {
            "query": name,
            "document": name if column in own else None,
            "query_weight": round(float(weight), 4),
            "document_weight": round(own.get(column, 0.0), 4),
            "score": round(float(weight) * own.get(column, 0.0), 4),
        }
        for name, column, weight in zip(names, columns.tolist(), weights, strict=True)
    ]


def _tokens(
    encoder: object, query: str, text: str, query_row: TokenRows, row: TokenRows
) -> list[MatchedTerm]:
    similarity = query_row.tokens(0) @ row.tokens(0).T  # (query tokens, document tokens)
    best = similarity.argmax(axis=1)
    if isinstance(encoder, NamesTokens):
        asking, held = encoder.query_tokens(query), encoder.document_tokens(text)
    else:
        asking, held = ([f"#{i}" for i in range(n)] for n in similarity.shape)
    return [
        {
            "query": asking[i],
            "document": held[at],
            "query_weight": None,
            "document_weight": None,
            "score": round(float(similarity[i, at]), 4),
        }
        for i, at in enumerate(best.tolist())
    ]


def check_matches(
    own: Sequence[MatchedTerm],
    score: float,
    rival: Matched | None,
    theirs: Sequence[MatchedTerm],
    *,
    came_back: bool,
) -> Finding[MatchEvidence]:
    """Set what a document was matched by against what the k-th, or the first within k, was.

    own, theirs: of the same query terms, in one order.
    """
    evidence: MatchEvidence = {
        "score": round(score, 4),
        "query_terms": len(own),
        "matches": _strongest(own),
        "rival": None,
    }
    text = f"it is matched by {_in_words(own)}"
    if rival is not None:
        gaps = [b["score"] - a["score"] for a, b in zip(own, theirs, strict=True)]
        order = np.argsort(-np.array(gaps), kind="stable").tolist()
        lacking = [own[i]["query"] for i in order if gaps[i] > 0][:SHOWN]
        evidence["rival"] = {
            "rank": rival.rank, "id": rival.id, "score": round(rival.score, 4),
            "matches": _strongest(theirs),
        }  # fmt: skip
        evidence["stronger_there"] = lacking
        text += f"; {rival.id}, at rank {rival.rank}, by {_in_words(theirs)}"
        if lacking:
            text += f", most beyond it by {quoted(lacking[:NAMED])}"
    if came_back:
        return Finding(Cause.MATCHES, Verdict.RULED_OUT, text, evidence)
    return Finding(
        Cause.MATCHES, Verdict.FOUND, text, evidence,
        "Say in the document what the question asks for in these terms, or fuse with BM25.",
    )  # fmt: skip


def _strongest(terms: Sequence[MatchedTerm]) -> list[MatchedTerm]:
    matches = [term for term in terms if term["score"] > 0]
    return sorted(matches, key=lambda term: -term["score"])[:SHOWN]


def _in_words(terms: Sequence[MatchedTerm]) -> str:
    matches = [term for term in terms if term["score"] > 0]
    best = ", ".join(_match(term) for term in _strongest(terms)[:NAMED])
    more = ", ..." if len(matches) > NAMED else ""
    return f"{len(matches)} of {len(terms)} query terms ({best}{more})" if matches else "no term"


def _match(term: MatchedTerm) -> str:
    if term["document"] == term["query"]:
        return f"{term['query']!r} {term['score']:.2f}"
    return f"{term['query']!r} by {term['document']!r} {term['score']:.2f}"
