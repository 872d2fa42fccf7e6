"""Write the receipt of a repair: its gains, and the documents that lost places to it.

The last step of `tune apply expand` and `synthesize`, after `argus.remedies.repair`. It searches
for every document at risk by the names of its entities at risk, in two states of the index: right
before the remedy and right after it. Ranks are exact over all documents. Out: receipt.parquet, the
judged evaluation if there are judged questions, and a section of the report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.data.tables import read_table
from argus.data.types import FloatArray, IntArray, State, View
from argus.encoders import EmbeddingStore, embed
from argus.encoders import queries as as_queries
from argus.encoders.store import store_of
from argus.evaluation.judged import JudgedQueries
from argus.indexes.snapshot import Snapshot
from argus.indexes.views import BEFORE
from argus.jobs.answers import spent
from argus.remedies.diagnosis import Risk
from argus.remedies.remedy_result import RemedyResult, evaluate_remedy
from argus.remedies.repair import Applied
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, table
from argus.settings import TOP_K

SCHEMA = pa.schema([
    ("doc_id", pa.string()), ("entity", pa.string()), ("rank_before", pa.int64()),
    ("rank_after", pa.int64()), ("rps", pa.float64()),
    ("views", pa.int64()), ("fell_from_lists", pa.int64()),
    ("state", pa.string()), ("reason", pa.string()),
])  # fmt: skip


@dataclass(frozen=True, repr=False)
class RepairResult(RemedyResult):
    """Result of a repair of documents at risk.

    Keys of its summary:

    added: false if the index had the remedy already.
    made: origin of the views (`argus.remedies.undo.read_origin`).
    counts: documents, those at risk and those repaired, entities at risk (once per document),
        views that were added, and bytes of texts (UTF-8) and vectors.
    risk_queries: documents at risk, searched for by the names of their entities: queries, those
        that failed, found_before and found_after (shares that bring their document into the top
        k), recovered and lost. No ranks if all failed.
    of_repaired: the same of the repaired documents alone.
    neighbours_fallen: documents that lost a place in the top k.
    places_lost: places that they lost.
    before: state of the index before the remedy, as `before:ID`.
    coverage: documents that have the remedy. Missing without judged questions.
    """

    TABLES = ("table",)

    @property
    def table(self) -> pa.Table:
        """One row per document and entity at risk in it.

        entity: name at risk, which is the risk query.
        rank_before, rank_after: rank of the document for that name, without and with the remedy.
            Null, with a reason, if the risk query failed.
        rps: predicted RPS of the original.
        views: views that the remedy gave the document.
        fell_from_lists: risk queries of others from whose top k it fell.
        """
        return read_table(self.folder / "receipt.parquet")

    def _receipt(self) -> Iterator[str]:
        return headline(self.summary)


def write_receipt(
    applied: Applied, questions: JudgedQueries | None = None, *, k: int = TOP_K
) -> RepairResult:
    """Compare the index before and after a remedy. Write receipt, evaluation and report.

    Needs only the index and the diagnosis, so that a run killed after its views were added gets its
    receipt when it is started again. questions: to evaluate on.
    """
    folder, index, encoder = applied.folder, applied.opened.index, applied.opened.encoder
    remedy, vectors = applied.remedy, store_of(index.path)
    with (
        applied.record.timed("writing the receipt"),
        EmbeddingStore(vectors, fingerprint=encoder.fingerprint, dim=encoder.dim) as cache,
    ):
        after = index.snapshot(remedy)
        added = np.array([of == remedy for of in after.columns["remedy"].to_pylist()], bool)
        before = Snapshot(after.columns.filter(pa.array(~added)), after.vectors[~added])
        views: dict[str, list[View]] = {}
        for view, is_new in zip(after.views, added, strict=True):
            if is_new:
                views.setdefault(view.doc_id, []).append(view)
        risks = [risk for group in applied.diagnosis.flagged().values() for risk in group]
        entities = list(dict.fromkeys(risk.entity for risk in risks))
        embedded = embed(as_queries(entities), encoder, cache, what="risk queries")
        able = (entity for entity, ok in zip(entities, embedded.ok, strict=True) if ok)
        names = dict(zip(able, embedded.vectors, strict=True))
        ranks, fell = rank_risks(risks, names, before, after, k)
        reasons = {entities[i]: why for i, why in embedded.failures.items()}
    cells = []
    for risk, earlier, later in zip(risks, *ranks.tolist(), strict=True):
        counts = (len(views.get(risk.doc_id, ())), fell.get(risk.doc_id, 0))
        state = str(State.MEASURED if earlier else State.FAILED), reasons.get(risk.entity, "")
        places = (earlier or None, later or None)
        cells.append((risk.doc_id, risk.entity, *places, risk.rps, *counts, *state))
    records = [dict(zip(SCHEMA.names, cell, strict=True)) for cell in cells]
    rows = pa.Table.from_pylist(records, schema=SCHEMA)
    folder.write_table("receipt", rows, csv=True)
    new = [view for group in views.values() for view in group]
    repaired = rows["views"].to_numpy() > 0
    summary: dict[str, Any] = {
        "remedy": remedy,
        "index": str(index.path),
        "added": applied.added,
        "made": applied.origin,
        "k": k,
        "counts": {
            "documents": applied.diagnosis.documents,
            "documents_at_risk": len(applied.diagnosis.flagged()),
            "documents_repaired": len(views),
            "entities_at_risk": rows.num_rows,
            "views": len(new),
            "bytes": sum(len(view.text.encode()) for view in new) + 4 * index.dim * len(new),
        },
        "risk_queries": _count_ranks(ranks, k),
        "of_repaired": _count_ranks(ranks[:, repaired], k),
        "neighbours_fallen": len(fell),
        "places_lost": fell.total(),
        "seconds": round(sum(applied.record.timings_s.values()), 1),
        "before": f"{BEFORE}{remedy}",
    }
    if questions is not None:
        documents = [document.id for document in applied.opened.documents]
        summary["coverage"] = questions.coverage(documents, views)
    folder.write_results("remedy", summary, applied.record.manifest(summary["counts"]))
    report = write_report(folder.path)  # before the evaluation, which may fail
    evaluation = evaluate_remedy(
        index, remedy, questions, encoder=encoder, out=folder.path, diagnosis=folder.path
    )
    return RepairResult(remedy, folder.path, report, index, summary, evaluation)


def rank_risks(
    risks: Sequence[Risk],
    names: Mapping[str, FloatArray],
    before: Snapshot,
    after: Snapshot,
    k: int,
) -> tuple[IntArray, Counter[str]]:
    """Rank every document at risk for its entity's name, in both states.

    names: entity to its vector as a query, shape (dim,). Returns the ranks before and after, shape
    (2, n_risks), 1-based, 0 for an entity without a vector. Also returns, by document, the number
    of names out of whose top k it fell. Raises InputError for a document that is not indexed.
    """
    able = [i for i, risk in enumerate(risks) if risk.entity in names]
    ranks = np.zeros((2, len(risks)), np.int64)
    fell = Counter[str]()
    if able:
        queries = np.stack([names[risks[i].entity] for i in able])
        targets = [risks[i].doc_id for i in able]
        ranks[:, able] = before.ranks(queries, targets), after.ranks(queries, targets)
        entities = dict.fromkeys(risks[i].entity for i in able)
        distinct = np.stack([names[entity] for entity in entities])
        lists = (state.search(distinct, k).doc_ids for state in (before, after))
        for earlier, later in zip(*lists, strict=True):
            fell.update(set(earlier) - set(later))
    return ranks, fell


def _count_ranks(ranks: IntArray, k: int) -> dict[str, float]:
    """Count risk queries by their ranks before and after, (2, n), 0 where a query failed."""
    before, after = ranks[:, ranks[0] > 0]
    failed = ranks.shape[1] - len(before)
    if not len(before):
        return {"queries": 0, "failed": failed}
    return {
        "queries": len(before),
        "failed": failed,
        "found_before": round(float((before <= k).mean()), 6),
        "found_after": round(float((after <= k).mean()), 6),
        "recovered": int(((before > k) & (after <= k)).sum()),
        "lost": int(((before <= k) & (after > k)).sum()),
    }


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the views that were added and left out, and the gain in rank."""
    counts, made, repaired = summary["counts"], summary["made"], summary["of_repaired"]
    if not summary["added"]:
        yield f"{summary['remedy']} was in the index already; nothing added"
    yield (
        f"{summary['remedy']}: {counts['views']:,} views ({counts['bytes'] / 2**20:.1f} MiB) for "
        f"{counts['documents_repaired']:,} of {counts['documents_at_risk']:,} documents at risk"
    )
    others = ", ".join(made.get("relied_on", ()))
    if known := made.get("views_known"):
        yield f"{known:,} more were in the index already ({others})"
    if beyond := made.get("views_beyond_cap"):
        yield f"{beyond:,} were left out: their documents have as many as they may ({others})"
    if failed := made.get("views_failed"):
        yield f"{failed:,} views could not be embedded and were left out"
    if back := sum(made.get("fallen_back", {}).values()):
        yield (
            f"{back:,} documents keep their original alone, rejected or not answered: "
            "see synthesis.parquet"
        )
    if "language_model" in made:
        yield spent(made["language_model"])
    if failed := summary["risk_queries"]["failed"]:
        yield f"{failed:,} risk queries failed and have no rank: see receipt.parquet"
    if repaired["queries"]:
        yield (
            f"asked for by the names of their entities at risk, top {summary['k']}: "
            f"{repaired['found_before']:.1%} → {repaired['found_after']:.1%} come back "
            f"({repaired['recovered']:,} recovered, {repaired['lost']:,} lost); "
            f"{summary['neighbours_fallen']:,} documents lost a place to them"
        )


def section(folder: Path, remedy: Mapping[str, Any]) -> Section:
    """Build the report's section from the tables of the receipt. Failed risk queries come last."""
    repaired = [row for row in read_table(folder / "receipt.parquet").to_pylist() if row["views"]]
    ranked = [row for row in repaired if row["rank_after"] is not None]
    ranked.sort(key=lambda row: (row["rank_after"] - row["rank_before"], row["doc_id"]))
    failed = [row for row in repaired if row["rank_after"] is None]
    kinds = {
        "asked for": "text", "document": "text", "rank before": "count", "rank after": "count",
        "predicted RPS": "share", "views": "count",
    }  # fmt: skip
    names = ("entity", "doc_id", *SCHEMA.names[2:6])
    cells = [[row[name] for name in names] for row in [*ranked, *failed][:MAX_ROWS]]
    tables = {"receipt": table(kinds, cells, total=len(repaired))}
    counts, ranks = remedy["counts"], remedy["of_repaired"]
    brief = f"{counts['views']:,} views for {counts['documents_repaired']:,} documents"
    if ranks["queries"]:
        brief += (
            f"; asked for by names at risk, {ranks['found_before']:.1%} → "
            f"{ranks['found_after']:.1%} come back in the top {remedy['k']}, and "
            f"{remedy['neighbours_fallen']:,} others lost a place"
        )
    return Section({}, tables, brief)
