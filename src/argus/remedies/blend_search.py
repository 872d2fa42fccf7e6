"""Search an index under any blend: measure the cost and gain of each part, preview one question.

Nothing is written. `measure_parts` adds part after part to the vectors alone, and `measure_rivals`
compares fixed fusions with BM25. `preview_blend` embeds the sentences of a few documents to rank
one document for one question.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.types import Document, FloatArray, Qrels, Query, Run, View
from argus.encoders.config import COSINE
from argus.errors import InputError
from argus.evaluation.judged import ParentFold, deeper
from argus.indexes.blend import RELEVANCE_WEIGHT, Blend
from argus.indexes.fold import ORIGINAL
from argus.indexes.fusion import FUSION, RIVALS, fuse_with_bm25, question_weights
from argus.indexes.lexical import LexicalIndex
from argus.indexes.retriever import FUSED_DEPTH, IndexRetriever
from argus.indexes.snapshot import Snapshot, rows_to_views
from argus.indexes.views import titled
from argus.measures import evaluate, paired_difference
from argus.measures.significance import with_interval
from argus.remedies.blend_parts import sentence_views
from argus.remedies.config import SentenceSettings

NDCG, RECALL = "nDCG@10", "R@10"
K = 10
DENSE = Blend(weight=1, hubs=0, bm25=0)
ALONE, SENTENCES, HUBS, BM25 = "vectors alone", "+ sentences", "+ hubs", "+ BM25"
SMOOTHING = "+ smoothing"
PREVIEW_DOCUMENTS = 20  # first results whose sentences are embedded beside the wanted document's
PREVIEW_SENTENCES = 400  # most sentences of a preview: a second or two per question


@dataclass(frozen=True)
class Searched:
    """A state of an index and BM25 over its documents, searched under any blend."""

    snapshot: Snapshot
    lexical: LexicalIndex
    weight: float = RELEVANCE_WEIGHT  # λ of scenarios, if there are any
    smoothed: Snapshot | None = None  # the state with smoothed vectors, if a blend smooths

    def run(self, queries: Sequence[Query], vectors: FloatArray, k: int, blend: Blend) -> Run:
        """Return the k best documents under a blend. vectors: (n_queries, dim)."""
        of = self.smoothed if blend.smoothing and self.smoothed is not None else self.snapshot
        ids = [query.id for query in queries]
        depth = max(k, FUSED_DEPTH) if blend.bm25 else k
        dense = of.blended(blend).search(vectors, depth, self.weight).run(ids)
        if not blend.bm25:
            return dense
        words = self.lexical.search([query.text for query in queries], depth)
        weights = question_weights(blend.bm25, ids, words.coverage)
        return fuse_with_bm25(dense, words.run(ids), k, FUSION, weights)


@dataclass(frozen=True)
class JudgedVectors:
    """Judged questions with their query vectors, (n_queries, dim)."""

    queries: Sequence[Query]
    vectors: FloatArray
    qrels: Qrels
    fold: ParentFold | None = None  # of chunks to the documents that were judged

    @property
    def depth(self) -> int:
        """Number of results that make ten documents."""
        return deeper(K, self.fold)

    def measure(self, run: Run, *measures: str) -> Mapping[str, Mapping[str, float]]:
        """Return each query's measures of a run, folded to judged documents."""
        run = run if self.fold is None else self.fold.run(run)
        return evaluate(run, self.qrels, list(measures)).per_query


def steps(blend: Blend) -> dict[str, Blend]:
    """Return the blend part after part, by the name of each. Parts that are off are left out."""
    built, arms = DENSE, {ALONE: DENSE}
    fields = {SENTENCES: "weight", HUBS: "hubs", BM25: "bm25", SMOOTHING: "smoothing"}
    for name, field in fields.items():
        if blend.sentences if name == SENTENCES else getattr(blend, field):
            built = arms[name] = replace(built, **{field: getattr(blend, field)})
    return arms


def measure_parts(
    searched: Searched,
    blend: Blend,
    texts: Sequence[str],
    vectors: FloatArray,
    stored: Mapping[str, int],
    judged: JudgedVectors | None,
) -> list[dict[str, Any]]:
    """Measure cost and gain of the blend, part after part.

    texts, vectors: questions for the timing, one at a time and all parts by turns. stored: bytes
    that each part stores, by its name. Returns for each part:

    part: part up to which the blend is searched.
    bytes: bytes that the part stores: texts and vectors of sentences, numbers, postings.
    milliseconds: median of one query at a time, without its embedding.
    times_dense: the same as a multiple of the vectors alone.
    ndcg10: nDCG@10 against the vectors alone. None without judged questions.
    recall10: recall@10 against the vectors alone. None without judged questions.
    """
    arms = steps(blend)
    queries = [Query(str(i), text) for i, text in enumerate(texts)]
    seconds: dict[str, list[float]] = {name: [] for name in arms}
    for arm in arms.values():  # compiles, lays out
        searched.run(queries[:1], vectors[:1], K, arm)
    for i, query in enumerate(queries):
        for name, arm in arms.items():
            start = time.perf_counter()
            searched.run([query], vectors[i : i + 1], K, arm)
            seconds[name].append(time.perf_counter() - start)
    milliseconds = {name: 1000 * statistics.median(values) for name, values in seconds.items()}
    gains = {}
    if judged is not None:
        values = {}
        for name, arm in arms.items():
            run = searched.run(judged.queries, judged.vectors, judged.depth, arm)
            per_query = judged.measure(run, NDCG, RECALL)
            for m in (NDCG, RECALL):
                values[name, m] = {q: v[m] for q, v in per_query.items()}
                difference = paired_difference(values[ALONE, m], values[name, m], seed=0)
                gains[name, m] = difference.figures()
    return [
        {
            "part": name,
            "bytes": stored.get(name, 0),
            "milliseconds": round(median, 3),
            "times_dense": round(median / milliseconds[ALONE], 2),
            "ndcg10": gains.get((name, NDCG)),
            "recall10": gains.get((name, RECALL)),
        }
        for name, median in milliseconds.items()
    ]


def measure_rivals(
    searched: Searched,
    judged: JudgedVectors,
    before: Mapping[str, float] | None = None,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Return the gain of the vectors fused with BM25 by each of `RIVALS`: fusion and ndcg10.

    before: nDCG@10 of each query that they are compared with. None is that of the vectors alone.
    """
    if before is None:
        plain = searched.run(judged.queries, judged.vectors, judged.depth, DENSE)
        before = {query: of[NDCG] for query, of in judged.measure(plain, NDCG).items()}
    dense = searched.run(judged.queries, judged.vectors, FUSED_DEPTH, DENSE)
    texts, ids = [q.text for q in judged.queries], [q.id for q in judged.queries]
    words = searched.lexical.search(texts, FUSED_DEPTH).run(ids)
    gains = []
    for name, (method, weight) in RIVALS.items():
        fused = judged.measure(fuse_with_bm25(dense, words, judged.depth, method, weight), NDCG)
        after = {query: of[NDCG] for query, of in fused.items()}
        figures = paired_difference(before, after, seed=seed).figures()
        gains.append({"fusion": name, "ndcg10": figures})
    return gains


def describe_rivals(rivals: Sequence[Mapping[str, Any]]) -> str:
    """Return the gains of fixed fusions in one line."""
    changes = (f"{r['fusion']} {with_interval(r['ndcg10'])}" for r in rivals)
    return f"fixed fusions of the same vectors and BM25: {', '.join(changes)}"


def check_cosine(similarity: str, index: Path) -> None:
    """Raise InputError unless an index ranks by cosine. similarity: as in its header."""
    if similarity != COSINE:
        got = f"an index that ranks by {similarity}"
        expected = "one that ranks by cosine: a blend's weights hold for cosines"
        fix = "Build it with an encoder that ranks by cosine."
        raise InputError(got, expected=expected, fix=fix, where=index)


@dataclass(frozen=True, slots=True)
class BlendPreview:
    """Rank of a document under a blend.

    rank: None beyond `depth`, the number of documents of each ranking that are fused. documents:
    those whose sentences count, the wanted one among them. sentences: number that was embedded. A
    document of one sentence has none beside its own text.
    """

    rank: int | None
    depth: int
    documents: int
    sentences: int


def can_preview(retriever: IndexRetriever) -> bool:
    """Return whether the search has no blend and could have one."""
    return retriever.recipe.blend is None and retriever.index.header.similarity == COSINE


def preview_blend(
    query: str, doc_id: str, retriever: IndexRetriever, k: int = K
) -> BlendPreview | None:
    """Rank one document for one question under a blend. Returns None if the search has one.

    The blend is the default one without hubs, which need the sentences of the whole corpus.

    Sentences of the document and of the first 20 results count. All others are scored by the views
    in the index. A document far behind may rise, too, so a rank can be too good. Candidates are the
    first FUSED_DEPTH (or k) by vectors. Raises InputError for a document that is not in the index.
    """
    if not can_preview(retriever):
        return None
    snapshot, depth = retriever.index.snapshot(retriever.as_of), max(k, FUSED_DEPTH)
    snapshot.positions([doc_id])  # raises for an unknown document
    question = [Query("query", query)]
    vector = np.asarray(retriever.encoder.encode_queries([query]), np.float32)
    corrected = retriever.recipe.correct(vector)
    near = snapshot.search(corrected, depth, retriever.weight).doc_ids[0]
    ranked = retriever.rank(question, vector, PREVIEW_DOCUMENTS)["query"]
    first = dict.fromkeys([doc_id, *ranked])
    sentences: list[View] = []
    n_documents = 0
    for one in first:
        own = [view for _, view in _views_of(snapshot, [one]) if view.kind == ORIGINAL]
        documents = [titled(Document(one, v.text, v.source or "")) for v in own[:1]]
        views = sentence_views(documents, "preview", SentenceSettings().max_views).views
        if sentences and len(sentences) + len(views) > PREVIEW_SENTENCES:
            break
        sentences += views
        n_documents += 1
    candidates = _views_of(snapshot, dict.fromkeys([*first, *near]))
    vectors = snapshot.vectors[[row for row, _ in candidates]]
    if sentences:
        embedded = retriever.encoder.encode_documents([view.text for view in sentences])
        vectors = np.concatenate([vectors, np.asarray(embedded, np.float32)])
    blend = Blend(hubs=0)
    small = Snapshot.of([*(view for _, view in candidates), *sentences], vectors).blended(blend)
    searched = Searched(small, retriever.lexical(), retriever.weight)
    order = list(searched.run(question, corrected, depth, blend)["query"])
    rank = order.index(doc_id) + 1 if doc_id in order else None
    return BlendPreview(rank, depth, n_documents, len(sentences))


def _views_of(snapshot: Snapshot, doc_ids: Iterable[str]) -> list[tuple[int, View]]:
    """Return the views of documents with their rows."""
    found: list[tuple[int, View]] = []
    for rows in map(snapshot.rows_of, doc_ids):
        views = rows_to_views(snapshot.columns.slice(rows.start, len(rows)))
        found += zip(rows, views, strict=True)
    return found
