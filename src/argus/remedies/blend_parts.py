"""Make the parts of a blend: a vector per sentence, a hubness per document, smoothed vectors.

`make_blend`: documents, their vectors and an encoder -> views (texts to index) and numbers, for an
index (`argus.remedies.blend`) or a vector store (`argus.remedies.store_blend`). Hubness is how near
a document lies to sentences of other documents. `argus.indexes.blend` has the formula of the score.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import Document, FloatArray, IntArray, View
from argus.encoders import EmbeddingStore, Encoder, embed
from argus.encoders import documents as as_documents
from argus.encoders.protocol import unit_rows
from argus.errors import ArgusError, InputError
from argus.indexes.blend import BLEND, SENTENCE, Blend
from argus.indexes.dense import search
from argus.indexes.recipe import DocumentNumbers
from argus.remedies.config import SentenceSettings
from argus.retrievability.sentences import split_sentences

MAX_SENTENCE_CHARS = 600  # longer text has no marks of sentences, and is cut at line ends
HUB_SENTENCES = 10  # highest cosines whose mean is a document's hubness
HUB_SAMPLE = 3_000  # sentences that hubness is measured on
SMOOTHING_NEIGHBOURS = 5
BLOCK_BYTES = 64 << 20
_WORD = re.compile(r"\w")
_SPACELESS_END = re.compile(r"(?<=[。！？｡])(?=\S)")  # of sentences in scripts without spaces


@dataclass(frozen=True)
class SentenceViews:
    """Views of title and sentence, and the documents that have fewer than they could."""

    views: list[View]
    holders: list[list[int]]  # positions of the documents that contain each view's sentence
    whole: dict[int, list[int]]  # document of one sentence to the holders of that sentence
    counts: dict[str, int]  # documents that are `without` a view, or whose sentences are `joined`


@dataclass(frozen=True)
class BlendParts:
    """Views and numbers of a blend. Views are those with a vector."""

    views: list[View]
    vectors: FloatArray  # (n_views, dim), unit rows
    sentences: SentenceViews
    failed: int  # sentences that could not be embedded
    numbers: DocumentNumbers | None  # None if the blend has no numbers per document


def blend_id(
    blend: Blend,
    settings: SentenceSettings,
    documents: Sequence[Document],
    parents: Mapping[str, str],
) -> str:
    """Return the remedy's id, shared by equal blends of equal documents.

    parents: the document of each chunk. Raises InputError for a blend with every part off.
    """
    if not (blend.sentences or blend.per_document or blend.bm25):
        got = "a blend with every part off"
        expected = "one part at least: λ below 1, or hubs, BM25 or smoothing above 0"
        fix = "Leave the options out for λ = 0.7, hubs 0.1, BM25 0.2."
        raise InputError(got, expected=expected, fix=fix, where="--lambda")
    parts = [repr(blend), repr(settings)]
    for d in documents:
        parts += [d.id, d.text, d.title, str(d.metadata.get("added", ""))]
    for chunk, parent in parents.items():
        parts += [chunk, parent]
    return f"{BLEND}-{content_hash(*parts, size=4).hex()}"


def make_blend(
    blend: Blend,
    settings: SentenceSettings,
    remedy: str,
    documents: Sequence[Document],
    vectors: FloatArray,
    encoder: Encoder,
    cache: EmbeddingStore,
    parents: Mapping[str, str],
) -> BlendParts:
    """Make the views and numbers of a blend. The cache keeps vectors of sentences.

    vectors: (n_documents, dim), unit rows, the documents' own. parents: the document of each chunk.
    Sentences of its siblings make a chunk no hub. Raises ArgusError if no sentence can be embedded.
    """
    found = sentence_views(documents, remedy, settings.max_views)
    texts = [view.text for view in found.views] if blend.sentences else []
    embedded = embed(as_documents(texts), encoder, cache, what="sentences")
    if texts and not embedded.ok.any():
        raise ArgusError(
            f"none of {len(texts):,} sentences could be embedded "
            f"({next(iter(embedded.failures.values()))}), so nothing was added."
        )
    views = [view for view, ok in zip(found.views, embedded.ok, strict=False) if ok]
    failed = len(embedded.failures)
    if not blend.per_document:
        return BlendParts(views, embedded.vectors, found, failed, None)
    hubs = np.zeros(len(documents), np.float32)
    if blend.hubs:
        # Draw from the views, and from the documents of one sentence by their own vectors.
        n_views, whole = len(found.views), list(found.whole)
        drawn = np.arange(n_views + len(whole))
        if len(drawn) > HUB_SAMPLE:
            drawn = np.sort(np.random.default_rng(settings.seed).permutation(drawn)[:HUB_SAMPLE])
        of_views = drawn[drawn < n_views].tolist()
        single = [whole[i - n_views] for i in drawn[drawn >= n_views]]
        texts = [found.views[i].text for i in of_views]
        sampled = embed(as_documents(texts), encoder, cache, what="sentences")
        sentences = np.concatenate([sampled.vectors, vectors[single]])
        holders = [found.holders[i] for i, ok in zip(of_views, sampled.ok, strict=True) if ok]
        holders += [found.whole[position] for position in single]
        if parents:
            chunks: dict[str, list[int]] = {}
            of_chunk = [parents.get(d.id, d.id) for d in documents]
            for position, parent in enumerate(of_chunk):
                chunks.setdefault(parent, []).append(position)
            holders = [sorted({i for p in held for i in chunks[of_chunk[p]]}) for held in holders]
        hubs = hubness(vectors, sentences, holders)
    moved = smooth(vectors, blend.smoothing) if blend.smoothing else None
    commits = None  # that each document came with, if an index says it
    if all("added" in d.metadata for d in documents):
        commits = np.array([d.metadata["added"] for d in documents], np.int64)
    numbers = DocumentNumbers([d.id for d in documents], hubs, moved, commits)
    return BlendParts(views, embedded.vectors, found, failed, numbers)


def sentence_views(documents: Sequence[Document], remedy: str, max_views: int) -> SentenceViews:
    """Return a view of title and sentence for every sentence of documents that have several.

    A document of one sentence, or without a word, is without a view. Ids are `doc#remedy-i`.
    Neighbours are joined if a document has more than `max_views` sentences, so that all of its text
    is in a view. The encoder reads as much of it as its window holds.
    """
    views: list[View] = []
    contained: list[str] = []
    whole: dict[int, str] = {}
    holders: dict[str, list[int]] = {}
    without = joined = 0
    for position, document in enumerate(documents):
        sentences = list(dict.fromkeys(split_document(document)))
        is_whole = len(sentences) < 2
        if len(sentences) > max_views:
            joined += 1
            bounds = [round(i * len(sentences) / max_views) for i in range(max_views + 1)]
            sentences = [" ".join(sentences[a:b]) for a, b in pairwise(bounds)]
        for sentence in sentences:
            holders.setdefault(sentence, []).append(position)
        if is_whole:
            without += 1
            whole.update((position, sentence) for sentence in sentences)
            continue
        contained += sentences
        for i, sentence in enumerate(sentences):
            text = replace(document, text=sentence).content
            views.append(View(f"{document.id}#{remedy}-{i}", document.id, SENTENCE, text))
    of_views = [holders[sentence] for sentence in contained]
    of_whole = {position: holders[sentence] for position, sentence in whole.items()}
    return SentenceViews(views, of_views, of_whole, {"without": without, "joined": joined})


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


def hubness(
    documents: FloatArray, sentences: FloatArray, holders: Sequence[Sequence[int] | IntArray]
) -> FloatArray:
    """Return r(d): the mean of the ten highest cosines of a document and sentences of others.

    documents: (n, dim), sentences: (m, dim), unit rows. holders[j]: positions of the documents that
    contain sentence j, which does not count for them. Copies of a document contain the same ones.
    Shape (n,). The score is 0 if no other document has a sentence. Fewer than ten all count.
    """
    n, m = len(documents), len(sentences)
    scores = np.zeros(n, np.float32)
    if not m:
        return scores
    document = np.concatenate([np.asarray(of, np.int64) for of in holders])
    sentence = np.repeat(np.arange(m), [len(of) for of in holders])
    order = np.argsort(document, kind="stable")
    document, sentence = document[order], sentence[order]
    k, step = min(HUB_SENTENCES, m), max(1, BLOCK_BYTES // (4 * m))
    for start in range(0, n, step):
        block = documents[start : start + step] @ sentences.T
        own = slice(*np.searchsorted(document, [start, start + step]))
        block[document[own] - start, sentence[own]] = -np.inf
        highest = np.partition(block, -k, axis=1)[:, -k:]
        there = np.isfinite(highest)
        total = np.where(there, highest, 0).sum(axis=1)
        scores[start : start + step] = total / np.maximum(there.sum(axis=1), 1)
    return scores


def smooth(documents: FloatArray, weight: float) -> FloatArray:
    """Return unit rows of `d + weight · mean of the 5 nearest others`.

    documents: (n, dim), unit rows. A single document stays as it is.
    """
    n = len(documents)
    k = min(SMOOTHING_NEIGHBOURS, n - 1)
    if k < 1:
        return documents.copy()
    top = search(documents, documents, k + 1)
    others = top.rows != np.arange(n)[:, None]
    others &= np.cumsum(others, axis=1) <= k
    mean = np.zeros_like(documents)
    for column in range(k + 1):
        mean += np.where(others[:, column, None], documents[top.rows[:, column]], 0)
    return unit_rows((documents + np.float32(weight) * mean / np.float32(k)).astype(np.float32))
