"""The receipt of a remedy, from the two states of its index: what it gained, and at whose cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.data.types import Qrels, Query, Span, View
from argus.encoders import EmbeddingStore, Item, Role, embed
from argus.encoders import queries as as_queries
from argus.indexes.views import ORIGINAL, ViewIndex
from argus.remedies.diagnose import Risk, score_items
from argus.remedies.receipts import Receipt, write_receipt
from argus.reports import write_report
from argus.retrievability.probes import Probe
from argus.workflows.evaluate import EvaluateConfig, evaluate
from argus.workflows.reference import open_probe
from argus.workflows.remedy import Applied

NEIGHBOURS = 200
"""Documents named in the summary among those that fell."""


@dataclass(frozen=True)
class RemedyResult:
    """What a repair did; everything in it is also in `folder`."""

    remedy: str
    folder: Path
    report: Path
    index: ViewIndex
    summary: dict[str, Any]


def settle(
    applied: Applied,
    *,
    probe: Path | str | Probe | None = None,
    queries: Path | str | Sequence[Query] | None = None,
    qrels: Path | str | Qrels | None = None,
    corpus: Path | None = None,
    k: int = 10,
) -> RemedyResult:
    """Compare the index before and after a remedy; write receipt, evaluation and report.

    Needs only the index and the diagnosis, so a run that was killed after its views were added
    finds its receipt when it is started again. queries, qrels: judged queries to evaluate on, both
    or neither; corpus: where their titles are.
    """
    folder, index, record = applied.folder, applied.index, applied.record
    before = state_before(index, applied.remedy)
    risks = [risk for group in applied.diagnosis.flagged().values() for risk in group]
    vectors = index.path / "embeddings"
    model = applied.encoder
    with (
        EmbeddingStore(vectors, fingerprint=model.fingerprint, dim=model.dim) as store,
        record.timed("writing the receipt"),
    ):
        entities = list(dict.fromkeys(risk.entity for risk in risks))
        asked = embed(as_queries(entities), model, store, what="risk queries")
        named = (entity for entity, ok in zip(entities, asked.ok, strict=True) if ok)
        names = dict(zip(named, asked.vectors, strict=True))
        views = views_of(index, applied.remedy)
        receipt = write_receipt(
            risks, names, index.snapshot(before), index.snapshot(applied.remedy), k=k
        )
        rps_after = best_rps(receipt.risks, views, applied, store, open_probe(probe, model))
    table = receipt_table(receipt, views, rps_after)
    folder.write_table("receipt", table, csv=True)
    summary = _summary(applied, receipt, table, views)
    folder.write_section("summary.json", "remedy", summary)
    folder.write_section("manifest.json", "remedy", record.manifest(summary["counts"]))
    if queries is not None and qrels is not None:
        evaluate(
            queries, qrels, out=folder.path, corpus=corpus, encoder=model,
            indexes=(f"{index.path}@{before}", f"{index.path}@{applied.remedy}"),
            diagnosis=folder.path, config=EvaluateConfig(),
        )  # fmt: skip
    return RemedyResult(applied.remedy, folder.path, write_report(folder.path), index, summary)


def state_before(index: ViewIndex, remedy: str) -> str:
    """Return the state of the index that a remedy was applied to, as `@STATE` names it."""
    order = [r.id for r in index.remedies()]
    position = order.index(remedy)
    return order[position - 1] if position else ORIGINAL


def views_of(index: ViewIndex, remedy: str) -> dict[str, list[View]]:
    """Return the views that a remedy added, by document."""
    snapshot = index.snapshot(remedy)
    added = snapshot.columns["remedy"].to_pylist()
    found: dict[str, list[View]] = {}
    for view, by in zip(snapshot.views, added, strict=True):
        if by == remedy:
            found.setdefault(view.doc_id, []).append(view)
    return found


def best_rps(
    risks: Sequence[Risk],
    views: dict[str, list[View]],
    applied: Applied,
    store: EmbeddingStore,
    probe: Probe,
) -> list[float | None]:
    """Return the highest RPS that the probe predicts for each entity in its document's views.

    The entity is read at its first mention in the view's text. The original counts with the
    prediction of the diagnosis, since it stays indexed.
    """
    owners: list[int] = []
    items: list[Item] = []
    for i, risk in enumerate(risks):
        surface = risk.entity
        for view in views.get(risk.doc_id, ()):
            at = view.text.find(surface)
            if at >= 0:
                role = Role.SPAN if applied.encoder.pools_spans else Role.DOCUMENT
                span = Span(at, at + len(surface)) if role is Role.SPAN else None
                owners.append(i)
                items.append(Item(view.text, role, span))
    best = [risk.rps for risk in risks]
    for i, scored in zip(owners, score_items(items, applied.encoder, store, probe), strict=True):
        if scored.rps is not None:
            best[i] = max(scored.rps, best[i] or 0.0)
    return best


def receipt_table(
    receipt: Receipt, views: dict[str, list[View]], rps_after: Sequence[float | None]
) -> pa.Table:
    """Return one row per (document, entity at risk)."""
    risks = receipt.risks
    return pa.table(
        {
            "doc_id": [r.doc_id for r in risks],
            "entity": [r.entity for r in risks],
            "rank_before": receipt.before,
            "rank_after": receipt.after,
            "rps_before": pa.array([r.rps for r in risks], pa.float64()),
            "rps_after": pa.array(list(rps_after), pa.float64()),
            "views": [len(views.get(r.doc_id, ())) for r in risks],
            "fell_from_lists": [receipt.fell.get(r.doc_id, 0) for r in risks],
        }
    )


def _summary(
    applied: Applied, receipt: Receipt, table: pa.Table, views: dict[str, list[View]]
) -> dict[str, Any]:
    repaired = np.array([risk.doc_id in views for risk in receipt.risks], bool)
    added = [view for group in views.values() for view in group]
    text_bytes = sum(len(view.text.encode("utf-8", "surrogatepass")) for view in added)
    fell = sorted(receipt.fell.items(), key=lambda item: (-item[1], item[0]))
    made = applied.folder.read_json("made.json")
    return {
        "remedy": applied.remedy,
        "index": str(applied.index.path),
        "before": state_before(applied.index, applied.remedy),
        "made": made,
        "k": receipt.k,
        "counts": {
            "documents": applied.diagnosis.documents,
            "documents_at_risk": len(applied.diagnosis.flagged()),
            "documents_repaired": len(views),
            "entities_at_risk": len(receipt.risks),
            "views": len(added),
            "bytes": text_bytes + 4 * applied.index.dim * len(added),
        },
        "risk_queries": _ranks(receipt, np.ones(len(repaired), bool)),
        "of_repaired": _ranks(receipt, repaired),
        "rps": _rps(table, repaired),
        "neighbours_fallen": len(fell),
        "places_lost": sum(receipt.fell.values()),
        "neighbours": [
            {"doc_id": doc, "lists": n, "gained": receipt.rose.get(doc, 0)}
            for doc, n in fell[:NEIGHBOURS]
        ],
        "seconds": round(sum(applied.record.timings_s.values()), 1),
    }


def _ranks(receipt: Receipt, chosen: np.ndarray) -> dict[str, Any]:
    before, after = receipt.before[chosen], receipt.after[chosen]
    if not len(before):
        return {"queries": 0}
    return {
        "queries": len(before),
        "found_before": round(float((before <= receipt.k).mean()), 6),
        "found_after": round(float((after <= receipt.k).mean()), 6),
        "recovered": int(((before > receipt.k) & (after <= receipt.k)).sum()),
        "lost": int(((before <= receipt.k) & (after > receipt.k)).sum()),
        "median_rank_before": float(np.median(before)),
        "median_rank_after": float(np.median(after)),
    }


def _rps(table: pa.Table, repaired: np.ndarray) -> dict[str, Any] | None:
    before, after = (table[name].to_numpy()[repaired] for name in ("rps_before", "rps_after"))
    if not len(before):
        return None
    return {
        "entities": len(before),
        "before": round(float(before.mean()), 6),
        "after": round(float(after.mean()), 6),
    }
