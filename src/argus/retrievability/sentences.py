"""Split documents into sentences, and take some out as queries for the rest of the document.

`hold_out`: documents -> sentences, each with its document less that sentence. `argus check` asks
for documents by them (`argus.retrievability.exposure`), or by what `without_rare_words` leaves of
them. `tune apply blend` makes views of sentences.
"""

from __future__ import annotations

import re
from collections import Counter
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
LONGEST_ABBREVIATION = len("Prof.")


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A sentence taken out of the document at a position of a list, and the rest of it."""

    position: int
    sentence: str
    rest: str


def split_sentences(text: str) -> list[Span]:
    """Return the spans of the sentences of `text`, without surrounding white space."""
    spans: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        last_word = text[max(start, match.start() - LONGEST_ABBREVIATION - 1) : match.start()]
        if _ABBREVIATION.search(last_word) and "\n\n" not in match.group():
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
    if not per_document:
        return sentences, reasons
    for position, document in enumerate(documents):
        text = document.text
        spans = split_sentences(text)
        if len(spans) < 2:
            reasons[position] = "fewer than two sentences"
            continue
        texts = [text[span.start : span.end] for span in spans]
        times = Counter(texts)
        once = [i for i, t in enumerate(texts) if times[t] == 1 and len(t.split()) >= MIN_WORDS]
        own = int.from_bytes(content_hash(document.id, size=8), "little")
        held: dict[int, HeldOut] = {}
        for place in np.random.default_rng([seed, own]).permutation(len(once)):
            i = once[place]
            before, after = text[: spans[i].start].rstrip(), text[spans[i].end :].lstrip()
            rest = replace(document, text=f"{before} {after}".strip()).content
            if texts[i] not in rest:
                held[i] = HeldOut(position, texts[i], rest)
            if len(held) == per_document:
                break
        if not held:
            reasons[position] = f"no sentence of at least {MIN_WORDS} words that stands once"
        sentences += [held[i] for i in sorted(held)]
    return sentences, reasons


def without_rare_words(sentences: Sequence[str], documents: Sequence[Document]) -> list[str]:
    """Return sentences without the half of their words that the fewest documents hold."""
    times = Counter(word for d in documents for word in set(d.content.lower().split()))
    reworded = []
    for words in (sentence.split() for sentence in sentences):
        rarest = sorted(range(len(words)), key=lambda i: times[words[i].lower()])
        reworded.append(" ".join(words[i] for i in sorted(rarest[len(words) // 2 :])))
    return reworded


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    size = len(piece.strip())
    return Span(start + lead, start + lead + max(size, 1))
