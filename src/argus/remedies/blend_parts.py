"""Make the sentence views of a blend: a text and a vector for each sentence of a document.

`make_blend`: documents and an encoder -> views (texts to index), for an index
(`argus.remedies.blend`) or a vector store (`argus.remedies.store_blend`). `argus.indexes.blend` has
the formula of the score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from argus.data.provenance import content_hash
from argus.data.types import Document, FloatArray, View
from argus.encoders import EmbeddingStore, Encoder, embed
from argus.encoders import documents as as_documents
from argus.errors import ArgusError, InputError
from argus.indexes.blend import BLEND, SENTENCE, Blend
from argus.remedies.config import SentenceSettings
from argus.retrievability.sentences import split_sentences

MAX_SENTENCE_CHARS = 600  # longer text has no marks of sentences, and is cut at line ends
_WORD = re.compile(r"\w")
_SPACELESS_END = re.compile(r"(?<=[。！？｡])(?=\S)")  # of sentences in scripts without spaces


@dataclass(frozen=True)
class BlendParts:
    """Sentence views that have a vector, and the counts of `sentence_views`."""

    views: list[View]
    vectors: FloatArray  # (n_views, dim), unit rows
    counts: dict[str, int]
    failed: int  # sentences that could not be embedded


def blend_id(blend: Blend, settings: SentenceSettings, documents: Sequence[Document]) -> str:
    """Return the remedy's id, shared by equal blends of equal documents.

    Raises InputError for a blend with every part off.
    """
    if not (blend.sentences or blend.bm25):
        got = "a blend with every part off"
        expected = "λ below 1, or BM25 above 0; records of a store hold no BM25"
        fix = "Leave the options out for λ = 0.7, BM25 0.2."
        raise InputError(got, expected=expected, fix=fix, where="--lambda")
    parts = [repr(blend), repr(settings)]
    for d in documents:
        parts += [d.id, d.text, d.title, str(d.metadata.get("added", ""))]
    return f"{BLEND}-{content_hash(*parts, size=4).hex()}"


def make_blend(
    blend: Blend,
    settings: SentenceSettings,
    remedy: str,
    documents: Sequence[Document],
    encoder: Encoder,
    cache: EmbeddingStore,
) -> BlendParts:
    """Make the sentence views of a blend. The cache keeps their vectors.

    A blend without sentences has none. Raises ArgusError if no sentence can be embedded.
    """
    views, counts = sentence_views(documents, remedy, settings.max_views)
    if not blend.sentences:
        views = []
    embedded = embed(as_documents([view.text for view in views]), encoder, cache, what="sentences")
    if views and not embedded.ok.any():
        raise ArgusError(
            f"none of {len(views):,} sentences could be embedded "
            f"({next(iter(embedded.failures.values()))}), so nothing was added."
        )
    views = [view for view, ok in zip(views, embedded.ok, strict=True) if ok]
    return BlendParts(views, embedded.vectors, counts, len(embedded.failures))


def sentence_views(
    documents: Sequence[Document], remedy: str, max_views: int
) -> tuple[list[View], dict[str, int]]:
    """Return a view of title and sentence for every sentence of documents that have several.

    A document of one sentence, or without a word, is without a view. Ids are `doc#remedy-i`.
    Neighbours are joined if a document has more than `max_views` sentences, so that all of its text
    is in a view. The encoder reads as much of it as its window holds. Counted are the documents
    `without` a view, and those whose sentences are `joined`.
    """
    views: list[View] = []
    without = joined = 0
    for document in documents:
        sentences = list(dict.fromkeys(split_document(document)))
        if len(sentences) < 2:
            without += 1
            continue
        if len(sentences) > max_views:
            joined += 1
            bounds = [round(i * len(sentences) / max_views) for i in range(max_views + 1)]
            sentences = [" ".join(sentences[a:b]) for a, b in pairwise(bounds)]
        for i, sentence in enumerate(sentences):
            text = replace(document, text=sentence).content
            views.append(View(f"{document.id}#{remedy}-{i}", document.id, SENTENCE, text))
    return views, {"without": without, "joined": joined}


def split_document(document: Document) -> Iterator[str]:
    """Yield the sentences of a document's text without its title, those that have a word.

    Text without the marks of sentences (a table, code, a list) is cut at line ends, and a long line
    between words.
    """
    body = document.text.removeprefix(document.title) if document.title else document.text
    for span in split_sentences(body):
        for text in _SPACELESS_END.split(body[span.start : span.end]):
            for line in text.splitlines() if len(text) > MAX_SENTENCE_CHARS else [text]:
                rest = line.strip()
                while len(rest) > MAX_SENTENCE_CHARS:
                    end = rest.rfind(" ", 1, MAX_SENTENCE_CHARS)
                    end = MAX_SENTENCE_CHARS if end < 0 else end
                    yield from filter(_WORD.search, [rest[:end].strip()])
                    rest = rest[end:].strip()
                yield from filter(_WORD.search, [rest])
