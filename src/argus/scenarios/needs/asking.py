"""Search for each document by its own needs, in an index with and without them, or a retriever.

The searching step of `argus research scenarios needs` (`argus.scenarios.needs.audit`). Needs are
questions that a profile lists for its document. In the index each need is held out (see
`argus.scenarios.needs.ranks`). A retriever is asked as it is: scenarios are in its index or they
are not, and a document beyond its list comes next after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.folders import ArtifactFolder
from argus.data.runs import ranking
from argus.data.types import Query, State, View
from argus.encoders import Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.indexes.blend import DOCUMENTS_ALONE
from argus.indexes.fold import ORIGINAL
from argus.indexes.snapshot import Snapshot
from argus.jobs.workspace import Record, open_encoder, require_some
from argus.measures import LEAST_RESAMPLES, RESAMPLES
from argus.measures.significance import UNCHANGED
from argus.retrievers.opening import Answerer, answers_of, require_known
from argus.retrievers.protocol import Answers, note_of
from argus.scenarios.ablation.grid import Documents, usual_cell
from argus.scenarios.config import NeedsConfig
from argus.scenarios.needs.ranks import NeedVectors, by_document, mean_change, mean_share
from argus.scenarios.needs.risk import NeedSource
from argus.scenarios.profile import Need, needs

RESAMPLED = 20_000_000  # Values that are drawn for one interval: fewer resamples of many documents.


@dataclass(frozen=True)
class Asked:
    """Answers to the needs.

    rows: a row per need. places: each need that was answered, with its document's rank, folded.
    lists: documents that came for each judged question. failed: documents without a vector, and
    why. figures: what the summary says besides.
    """

    rows: list[dict[str, Any]]
    places: list[tuple[Need, int]]
    lists: Mapping[str, Sequence[str]]
    failed: Mapping[str, str] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)


def ask_index(
    source: NeedSource,
    config: NeedsConfig,
    folder: ArtifactFolder,
    record: Record,
    encoder: Encoder | EncoderConfig | str,
    store: Path | None,
) -> Asked:
    """Rank documents for their needs in an index of documents alone and at every cell."""
    usable, (questions, depth) = source.usable, source.judged(config.k)
    texts = [d.content for d in usable]
    with (
        open_encoder(folder, encoder, record, store=store) as (model, opened),
        record.timed("embedding"),
    ):
        own = embed(as_documents(texts), model, opened, what="documents")
        ids = [d.id for d, ok in zip(usable, own.ok, strict=True) if ok]
        known = {id_: source.profiles[id_] for id_ in ids if id_ in source.profiles}
        documents, asked = Documents(ids, own.vectors, known), needs(known)
        vectors = NeedVectors.embed(documents, asked, config.components, model, opened)
        judged = embed(as_queries([q.text for q in questions]), model, opened, what="questions")
    failed = {usable[i].id: why for i, why in own.failures.items()}
    why = next(iter([*failed.values(), *vectors.queries.failures.values()]), "")
    require_some(int(len(ids) > 1), "two documents have a vector", why)
    require_some(len(vectors.targets), "need has a vector", why)
    with record.timed("ranking"):
        views = [View(id_, source.parent(id_), ORIGINAL, "") for id_ in ids]
        snapshot = Snapshot.of(views, own.vectors)
        parents = [source.parent(need.doc_id) for need in vectors.with_vector]
        folded = snapshot.ranks(vectors.queries.vectors, parents).tolist()
        with_vector = [q.id for q, ok in zip(questions, judged.ok, strict=True) if ok]
        found = snapshot.search(judged.vectors, depth).doc_ids if with_vector else []
        ranks = vectors.ranks(config.components, (DOCUMENTS_ALONE, *config.weights))
    usual, row_of = usual_cell(config.cells), {w: i for i, w in enumerate(config.weights, start=1)}
    first = next(iter(ranks.values()))[0]
    at_usual = ranks[usual.component][row_of[usual.weight]]
    pairs = iter(zip(first.tolist(), at_usual.tolist(), strict=True))
    rows: list[dict[str, Any]] = []
    for i, need in enumerate(asked):
        row = _row(need, vectors.queries.failures.get(i, ""))
        if vectors.queries.ok[i]:
            row["rank"], row["rank_fused"] = next(pairs)
        rows.append(row)
    k, grid = min(config.k, len(ids)), []
    alone = by_document(first <= k, vectors.targets)
    resamples = max(LEAST_RESAMPLES, min(RESAMPLES, RESAMPLED // len(alone)))
    for cell in config.cells:
        places = ranks[cell.component][row_of[cell.weight]]
        share = by_document(places <= k, vectors.targets)
        change = share - alone
        change[np.abs(change) <= UNCHANGED] = 0.0
        difference = mean_change(change, seed=config.seed, resamples=resamples)
        figures = {**mean_share(share), "difference": difference}
        grid.append({"component": str(cell.component), "lambda": cell.weight, **figures})
        if cell == usual:
            fused = {**grid[-1], "unreached": int((share == 0).sum())}
    scenarios = sum(profiled.profile is not None for profiled in known.values())
    return Asked(
        rows, list(zip(vectors.with_vector, folded, strict=True)),
        dict(zip(with_vector, found, strict=True)), failed,
        {"indexed": len(ids), "with_scenarios": scenarios, "fused": fused, "grid": grid,
         **record.of_store()},
    )  # fmt: skip


def ask_retriever(
    source: NeedSource, config: NeedsConfig, folder: ArtifactFolder, record: Record, to: Answerer
) -> Asked:
    """Ask a retriever every need for k results. Raises ArgusError where it fails on all."""
    k, asked = config.k, needs(source.asking)

    def ask(queries: Sequence[Query], depth: int, what: str) -> tuple[str, Answers]:
        return answers_of(
            to, queries, depth, documents=source.documents, folder=folder, record=record, what=what
        )

    def folded(scores: Mapping[str, float], depth: int) -> list[str]:
        return list(dict.fromkeys(map(source.parent, ranking(dict(scores))[:depth])))

    with record.timed("asking"):
        queries = [Query(f"need {i}", need.text) for i, need in enumerate(asked, start=1)]
        name, answers = ask(queries, k, "needs")
        require_known(answers.run, dict.fromkeys(d.id for d in source.documents), name)
        questions, depth = source.judged(k)
        judged = ask(questions, depth, "judged questions")[1].run if questions else {}
    rows, places = [], []
    for query, need in zip(queries, asked, strict=True):
        rows.append(row := _row(need, answers.failed.get(query.id, "")))
        if not row["reason"]:
            ids, parent = ranking(answers.run[query.id])[:k], source.parent(need.doc_id)
            row["rank"] = ids.index(need.doc_id) + 1 if need.doc_id in ids else None
            ids = folded(answers.run[query.id], k)
            places.append((need, ids.index(parent) + 1 if parent in ids else k + 1))
    lists = {query: folded(scores, depth) for query, scores in judged.items()}
    return Asked(rows, places, lists, figures={"retriever": note_of(name, answers)})


def _row(need: Need, failure: str) -> dict[str, Any]:
    state = State.FAILED if failure else State.MEASURED
    return {
        "document": need.doc_id, "scenario": need.position + 1, "need": need.text,
        "state": str(state), "reason": failure,
    }  # fmt: skip
