"""Hold sentences out of documents, to ask for a document by what it no longer says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import Document, Span

MIN_WORDS = 5
_END = re.compile(r"""(?<=[.!?。！？])(?P<closing>["'”’)\]]*)\s+(?=["'“‘(\[]?\w)|\n{2,}""")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|Inc|Ltd|Co|No|Fig|Eq|al|cf|e\.g|i\.e|U\.S)|\b[A-Z])\.$"
)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A sentence taken out of a document, and what is left of the document."""

    position: int
    """Of the document in its list."""
    sentence: str
    rest: str


def split_sentences(text: str) -> list[Span]:
    """Return the spans of the sentences of `text`, without surrounding white space."""
    spans: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        if _ABBREVIATION.search(text[start : match.start()]) and "\n\n" not in match.group():
            continue
        spans.append(_trimmed(text, start, match.start() + len(match["closing"] or "")))
        start = match.end()
    if text[start:].strip():
        spans.append(_trimmed(text, start, len(text)))
    return [span for span in spans if text[span.start : span.end].strip()]


def hold_out(
    documents: Sequence[Document], *, per_document: int, seed: int = 0
) -> tuple[list[HeldOut], dict[int, str]]:
    """Take up to `per_document` sentences out of each document, each on its own.

    Only sentences of at least MIN_WORDS words that leave text behind, and that the rest does not
    repeat. Which ones is drawn from the seed and the document's id. Returns the held-out
    sentences and, for documents that have none, why.
    """
    sentences: list[HeldOut] = []
    reasons: dict[int, str] = {}
    for position, document in enumerate(documents):
        text = document.text
        spans = split_sentences(text)
        if len(spans) < 2:
            reasons[position] = "fewer than two sentences"
            continue
        usable = []
        for span in spans:
            sentence = text[span.start : span.end]
            rest = _without(document, span)
            if len(sentence.split()) >= MIN_WORDS and sentence not in rest:
                usable.append(HeldOut(position, sentence, rest))
        if not usable:
            reasons[position] = f"no sentence of at least {MIN_WORDS} words that stands once"
            continue
        rng = np.random.default_rng(
            [seed, int.from_bytes(content_hash(document.id, size=8), "little")]
        )
        drawn = rng.permutation(len(usable))[:per_document]
        sentences += [usable[i] for i in sorted(drawn)]
    return sentences, reasons


def _without(document: Document, span: Span) -> str:
    before, after = document.text[: span.start].rstrip(), document.text[span.end :].lstrip()
    rest = f"{before} {after}".strip()
    return replace(document, text=rest).content


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    size = len(piece.strip())
    return Span(start + lead, start + lead + max(size, 1))
