"""Texts in pieces: what of them a question says, too."""

from __future__ import annotations

from dataclasses import dataclass

from argus.indexes.words import LONG_WORD, Analyzer


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text. is_match: whether the other text says it, too."""

    text: str
    is_match: bool


def marked(text: str, terms: frozenset[str], analyzer: Analyzer) -> list[Piece]:
    """Return a text in pieces, those apart whose words are among some terms.

    terms: as `analyzer.documents` makes them. Joined, the pieces are the text again.
    """
    pieces, end = [], 0
    for word in LONG_WORD.finditer(text):
        if terms.isdisjoint(analyzer.documents(word[0])):
            continue
        if word.start() > end:
            pieces.append(Piece(text[end : word.start()], False))
        pieces.append(Piece(word[0], True))
        end = word.end()
    if end < len(text):
        pieces.append(Piece(text[end:], False))
    return pieces


def shared_terms(question: str, texts: list[str], analyzer: Analyzer) -> frozenset[str]:
    """Return the terms of a question that one of some texts says."""
    vocabulary = {term for text in texts for term in analyzer.documents(text)}
    return frozenset(term for term in analyzer.query_forms(question) if term in vocabulary)
