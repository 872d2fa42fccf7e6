"""Contents of the context of every question, arm by arm: two rankings of one index, and gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.types import FloatArray, Qrels, Query, Run, State
from argus.encoders import EmbeddingStore, embed
from argus.encoders import queries as as_queries
from argus.errors import InputError
from argus.evaluation.systems import System, judge, missing_gold
from argus.indexes.blend import DOCUMENTS_ALONE
from argus.indexes.retriever import IndexRetriever
from argus.indexes.snapshot import Snapshot, rows_to_views
from argus.indexes.views import matched_scenario, served
from argus.measures import evaluate
from argus.scenarios.context import ContextHit, build_context
from argus.scenarios.qa.compare import Arm, Case, Question
from argus.scenarios.qa.config import MEASURE

DEPTH = 10  # How deep MEASURE looks. Rankings are as deep, or as the context where that is more.


@dataclass(frozen=True)
class Gold:
    """Relevant documents of the questions that can have an oracle.

    documents: question id to its relevant documents in the index, best grade first.
    qrels: judgements of the questions, whether the index holds their documents or not.
    missing: gold that the index lacks (see `systems.missing_gold`).
    """

    documents: dict[str, list[str]]
    qrels: Qrels
    missing: dict[str, Any] | None


@dataclass(frozen=True)
class Retrieved:
    """Both rankings of each question, and the vectors that they were made with.

    vectors: question id to the vector of the searched text, shape (dim,).
    runs: runs of DOCUMENTS and FUSED, in rank order.
    failed: question id to why nothing could be searched for.
    """

    vectors: dict[str, FloatArray]
    runs: dict[Arm, Run]
    failed: dict[str, str]


def scenarios_in(snapshot: Snapshot, name: str) -> int:
    """Return how many scenarios there are. InputError where there is none."""
    if snapshot.scenario_rows is None:
        raise InputError(
            "holds no scenarios in this state",
            expected="an index with views of kind scenario",
            fix="Add them with argus tune apply scenarios, or name another state.",
            where=name,
        )
    return int(snapshot.scenario_rows.sum())


def gold_of(questions: Sequence[Question], qrels: Qrels, snapshot: Snapshot, name: str) -> Gold:
    """Return the relevant documents of questions.

    Raises InputError when no question is judged, and when the index holds no relevant document.
    """
    judged = judge([Query(q.id, q.text) for q in questions], qrels)
    missing = missing_gold(System(name, {}, documents=frozenset(snapshot.doc_ids)), judged)
    documents = {}
    for query, grades in judged.qrels.items():
        relevant = [d for d in judged.relevant(query) if d in snapshot]
        if relevant:
            documents[query] = sorted(relevant, key=lambda d, g=grades: (-g[d], d))  # type: ignore[misc]
    return Gold(documents, judged.qrels, missing)


def retrieve(
    texts: Mapping[str, str],
    failed: Mapping[str, str],
    retriever: IndexRetriever,
    snapshot: Snapshot,
    store: Path,
    *,
    k: int,
) -> Retrieved:
    """Search with the text of each question, by documents alone and with scenarios, exactly.

    texts: question id to the searched text: itself, or its reformulation. failed: those that
    have none. store: folder for their vectors. Raises EncodingError when the encoder is in trouble,
    or rejects all.
    """
    ids, encoder = list(texts), retriever.encoder
    with EmbeddingStore(store, fingerprint=encoder.fingerprint, dim=encoder.dim) as opened:
        embedded = embed(as_queries(list(texts.values())), encoder, opened, what="queries")
    rejected = {ids[i]: why for i, why in embedded.failures.items()}
    ids = [id_ for id_ in ids if id_ not in rejected]
    vectors = np.asarray(embedded.vectors, np.float32)
    depth = max(k, DEPTH)
    weights = {Arm.DOCUMENTS: DOCUMENTS_ALONE, Arm.FUSED: retriever.weight}
    runs = {arm: snapshot.search(vectors, depth, w).run(ids) for arm, w in weights.items()}
    return Retrieved(dict(zip(ids, vectors, strict=True)), runs, {**failed, **rejected})


def cases(
    questions: Sequence[Question],
    retrieved: Retrieved,
    gold: Gold | None,
    snapshot: Snapshot,
    *,
    k: int,
    max_chars: int,
) -> Iterator[Case]:
    """Yield every question in every arm, question by question. No oracles without `gold`."""
    for question in questions:
        failed = retrieved.failed.get(question.id)
        hits: dict[str, ContextHit] = {}  # arms share documents
        for arm in Arm:
            if arm.is_oracle and gold is None:
                continue
            if failed is not None:
                yield Case(question, arm, state=State.FAILED, reason=failed)
                continue
            if arm.is_oracle and gold is not None:
                ids = gold.documents.get(question.id, [])
                nothing = "no relevant document is known, or none is in the index"
            else:
                ranked_by = Arm.DOCUMENTS if arm is Arm.DOCUMENTS else Arm.FUSED
                ids = list(retrieved.runs[ranked_by][question.id])[:k]
                nothing = "nothing was retrieved"
            if not ids:
                state = State.NOT_APPLICABLE if arm.is_oracle else State.FAILED
                yield Case(question, arm, state=state, reason=nothing)
                continue
            for doc_id in ids:
                if doc_id not in hits:
                    hits[doc_id] = context_hit(snapshot, doc_id, retrieved.vectors[question.id])
            shown = [hits[doc_id] for doc_id in ids]
            block = build_context(shown, with_scenarios=arm.shows_scenarios, max_chars=max_chars)
            if not block.text:
                why = f"no document fits into {max_chars:,} characters"
                yield Case(question, arm, state=State.FAILED, reason=why)
                continue
            cut, left_out = len(block.cut), len(block.left_out)
            documents = tuple(ids[: len(ids) - left_out])
            yield Case(question, arm, block.text, documents, cut, left_out)


def ranking_measures(retrieved: Retrieved, gold: Gold | None) -> dict[Arm, dict[str, float]]:
    """Return MEASURE per arm with a ranking and question that is judged and was searched for."""
    judged = gold.qrels if gold is not None else {}
    qrels = {q: grades for q, grades in judged.items() if q in retrieved.vectors}
    if not qrels:
        return {}
    measures = {
        arm: {q: values[MEASURE] for q, values in evaluate(run, qrels, [MEASURE]).per_query.items()}
        for arm, run in retrieved.runs.items()
    }
    return measures | {Arm.FUSED_SCENARIOS: measures[Arm.FUSED]}


def context_hit(snapshot: Snapshot, doc_id: str, vector: FloatArray) -> ContextHit:
    """Return a document as it is shown: its text, and its scenario that is nearest to a query.

    vector: (dim,), of the query. Of equal scenarios the smaller id. None where there is none.
    Raises InputError for an unknown document and for one without an original view.
    """
    rows = snapshot.rows_of(doc_id)
    views = {v.id: v for v in rows_to_views(snapshot.columns.slice(rows.start, len(rows)))}
    text, best = served(list(views.values())).text, snapshot.best_scenario(vector, doc_id)
    return ContextHit(doc_id, text, (matched_scenario(views[best]),) if best else ())
