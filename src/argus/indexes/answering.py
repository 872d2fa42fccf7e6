"""What an index answers questions with: documents, their own texts, and what found each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np

from argus.data.types import FloatArray, Query, View
from argus.encoders import Encoder, EncoderConfig
from argus.indexes.fold import SCENARIO
from argus.indexes.retriever import IndexRetriever, open_retriever
from argus.indexes.snapshot import check_k, rows_to_views
from argus.indexes.sources import matched_scenario
from argus.indexes.spec import IndexSpec, parse_index_spec
from argus.indexes.summary import Hit, MatchedScenario, SearchAnswer
from argus.indexes.views import served
from argus.indexes.words import check_query
from argus.settings import TOP_K

Ranked = tuple[str, float, str, str]
"""Document, score, best view and best scenario; "" for one that is not known."""


def search_index(
    query: str,
    spec: str | Path | IndexSpec,
    *,
    k: int = TOP_K,
    hybrid: str | None = None,
    weight: float | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    device: str | None = None,
) -> SearchAnswer:
    """Answer one question: the k best documents, each with its own text and what found it.

    `view` and `kind` name the best view that is no scenario; a hybrid ranking has no single one
    (None). `scenario` is the view, main topic, need and explanation of the scenario that matched
    best, None for a document without. `warning` is as `IndexRetriever.warning`.
    """
    check_k(k)
    check_query(query)
    retriever = open_retriever(spec, encoder, hybrid=hybrid, device=device, weight=weight)
    (hits,) = hits_of(retriever, [query], k)
    return {"query": query, "index": str(parse_index_spec(spec)), "ranked_by": retriever.name,
            "warning": retriever.warning, "results": hits}  # fmt: skip


def hits_of(retriever: IndexRetriever, questions: Sequence[str], k: int) -> list[list[Hit]]:
    """Return the k best documents of each question: embedded at once, and searched at once.

    questions: texts with words in them. What is asked beside a question does not change its answer.
    """
    if not questions:
        return []
    vectors = np.asarray(retriever.encoder.encode_queries(list(questions)), np.float32)
    rankings = list(_ranked(retriever, questions, vectors, k))
    views = _views_of(retriever, {doc for ranking in rankings for doc, *_ in ranking})
    return [
        [_hit(views[ranked[0]], rank, ranked) for rank, ranked in enumerate(ranking, 1)]
        for ranking in rankings
    ]


def _ranked(
    retriever: IndexRetriever, questions: Sequence[str], vectors: FloatArray, k: int
) -> Iterator[list[Ranked]]:
    """Yield the ranking of each question; vectors: (n_questions, dim)."""
    if retriever.hybrid is None:
        top = retriever.nearest(vectors, k)
        for i, doc_ids in enumerate(top.doc_ids):
            scenarios = top.scenario_ids[i] if top.scenario_ids else [""] * len(doc_ids)
            yield list(zip(doc_ids, top.scores[i], top.view_ids[i], scenarios, strict=True))
        return
    numbered = [Query(str(i), text) for i, text in enumerate(questions)]
    run = retriever.rank(numbered, vectors, k)
    for i, query in enumerate(numbered):
        results = run[query.id]
        scenarios = _best_scenarios(retriever, vectors[i : i + 1], list(results))
        yield [
            (doc, score, "", scenario)
            for (doc, score), scenario in zip(results.items(), scenarios, strict=True)
        ]


def _best_scenarios(retriever: IndexRetriever, vector: FloatArray, docs: list[str]) -> list[str]:
    """Return what `Snapshot.best_scenario` does of each document; (1, dim) is what was asked."""
    if not retriever.index.holds(SCENARIO, retriever.as_of):
        return [""] * len(docs)
    snapshot = retriever.index.snapshot(retriever.as_of)
    searched = retriever.recipe.correct(vector)[0]
    return [snapshot.best_scenario(searched, doc) for doc in docs]


def _views_of(retriever: IndexRetriever, docs: Collection[str]) -> dict[str, list[View]]:
    """Return the views of documents: from memory, where what was searched lies there."""
    if not retriever.searches_exactly():
        return retriever.index.views_of_all(docs)
    snapshot = retriever.index.snapshot(retriever.as_of)
    rows = {doc: snapshot.rows_of(doc) for doc in docs}
    return {
        doc: list(rows_to_views(snapshot.columns.slice(span.start, len(span))))
        for doc, span in rows.items()
    }


def _hit(of_document: Sequence[View], rank: int, ranked: Ranked) -> Hit:
    doc_id, score, view_id, scenario_id = ranked
    views = {view.id: view for view in of_document}
    view, scenario, own = views.get(view_id), views.get(scenario_id), served(of_document)
    return {
        "rank": rank,
        "id": doc_id,
        "score": score,
        "view": view_id or None,
        "kind": view.kind if view else None,
        "text": own.text,
        "title": own.source,
        "scenario": None if scenario is None else _scenario(scenario),
    }


def _scenario(view: View) -> MatchedScenario:
    parts = matched_scenario(view)
    return {
        "view": view.id,
        "main_topic": parts.main_topic,
        "information_need": parts.information_need,
        "explanation": parts.explanation,
    }


def own_texts(retriever: IndexRetriever, docs: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return title and own text of documents, of those that the index holds."""
    if retriever.searches_exactly():
        snapshot = retriever.index.snapshot(retriever.as_of)
        docs = [doc for doc in docs if doc in snapshot]
    own = {doc: served(views) for doc, views in _views_of(retriever, docs).items()}
    return {doc: (view.source, view.text) for doc, view in own.items()}
