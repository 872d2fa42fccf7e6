"""The receipt of a remedy, from the two states of its index: what it gained, and at whose cost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

import numpy as np
import pyarrow as pa
from typing_extensions import TypeVar

from argus.data.corpus import corpus_file, read_queries
from argus.data.qrels import read_qrels
from argus.data.types import Qrels, Query, Span, State, View
from argus.encoders import EmbeddingStore, Item, Role, embed
from argus.encoders import queries as as_queries
from argus.errors import InputError
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.job import evaluate
from argus.evaluation.systems import judge
from argus.indexes.snapshot import Snapshot
from argus.indexes.views import BEFORE, ViewIndex
from argus.remedies.diagnosis.diagnose import Risk, beyond_window, score_items
from argus.remedies.expand import is_about_own_subject
from argus.remedies.receipts import Receipt, write_receipt
from argus.remedies.repair.receipt_judged import TABLE as JUDGED
from argus.remedies.repair.receipt_judged import judged_documents, summarise_judged
from argus.remedies.repair.reference import open_probe
from argus.remedies.repair.remedy import MADE, Applied
from argus.reports import write_report
from argus.retrievability.probes import Probe

S = TypeVar("S", default=dict[str, Any])
NEIGHBOURS = 200
"""Documents named in the summary among those that fell."""


@dataclass(frozen=True)
class RemedyResult(Generic[S]):
    """What a repair did; everything in it is also in `folder`."""

    remedy: str
    folder: Path
    report: Path
    index: ViewIndex
    summary: S
    evaluation: dict[str, Any] | None = None
    """What the judged questions say, where there are any; see `argus.evaluate`."""


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
    folder, index = applied.folder, applied.index
    judged_by = None if queries is None or qrels is None else _read_judged(queries, qrels)
    model, vectors = applied.encoder, index.path / "embeddings"
    with (
        applied.record.timed("writing the receipt"),
        EmbeddingStore(vectors, fingerprint=model.fingerprint, dim=model.dim) as store,
    ):
        before, after = states(index, applied.remedy)
        views = views_of(after, applied.remedy)
        table, receipt = _measured(applied, store, before, after, views, probe, k)
        relevant = judged_by and judged_documents(*judged_by, before, after, model, store, views)
    folder.write_table("receipt", table, csv=True)
    named = f"{BEFORE}{applied.remedy}"
    summary = _summary(applied, receipt, table, views) | {"before": named}
    if relevant is not None:
        folder.write_table(JUDGED, relevant, csv=True)
        summary["judged_documents"] = summarise_judged(relevant, k)
    folder.write_section("summary.json", "remedy", summary)
    folder.write_section("manifest.json", "remedy", applied.record.manifest(summary["counts"]))
    report = write_report(folder.path)  # the receipt is readable whatever comes of the queries
    judged = None
    if queries is not None and qrels is not None:  # as given: the manifest names the files
        judged = evaluate(
            queries, qrels, out=folder.path, corpus=corpus, encoder=applied.encoder,
            indexes=(f"{index.path}@{named}", f"{index.path}@{applied.remedy}"),
            diagnosis=folder.path, config=EvaluateConfig(),
        ).summary  # fmt: skip
    return RemedyResult(applied.remedy, folder.path, report, index, summary, judged)


def _measured(
    applied: Applied,
    store: EmbeddingStore,
    before: Snapshot,
    after: Snapshot,
    views: dict[str, list[View]],
    probe: Path | str | Probe | None,
    k: int,
) -> tuple[pa.Table, Receipt]:
    """Return the ranks for every risk query, and the table of them and what is predicted."""
    risks = [risk for group in applied.diagnosis.flagged().values() for risk in group]
    entities = list(dict.fromkeys(risk.entity for risk in risks))
    model = applied.encoder
    asked = embed(as_queries(entities), model, store, what="risk queries")
    known = (entity for entity, ok in zip(entities, asked.ok, strict=True) if ok)
    names = dict(zip(known, asked.vectors, strict=True))
    receipt = write_receipt(risks, names, before, after, k=k)
    found = rps_in_views(risks, views, applied, store, open_probe(probe, model))
    reasons = {entities[i]: why for i, why in asked.failures.items()}
    return receipt_table(receipt, views, found, reasons), receipt


def check_judged(
    queries: Path | str | Sequence[Query] | None,
    qrels: Path | str | Qrels | None,
    corpus: Path | None = None,
) -> None:
    """Raise InputError, before an index is changed, for queries that cannot be evaluated on it."""
    if (queries is None) != (qrels is None):
        given, missing = ("--queries", "--qrels") if qrels is None else ("--qrels", "--queries")
        raise InputError(
            f"{given} without {missing}",
            expected="both, or neither",
            fix=f"Give {missing}, or leave out {given} for a receipt without judged queries.",
            where=missing,
        )
    if corpus is not None:
        corpus_file(corpus)
    if queries is not None and qrels is not None:
        judge(*_read_judged(queries, qrels))


def _read_judged(
    queries: Path | str | Sequence[Query], qrels: Path | str | Qrels
) -> tuple[Sequence[Query], Qrels]:
    asked = read_queries(Path(queries)) if isinstance(queries, (str, Path)) else queries
    return asked, read_qrels(Path(qrels)) if isinstance(qrels, (str, Path)) else qrels


def states(index: ViewIndex, remedy: str) -> tuple[Snapshot, Snapshot]:
    """Return the index right before a remedy and right after it: the same, less its views."""
    after = index.snapshot(remedy)
    earlier = after.columns["remedy"].to_numpy() != remedy
    return Snapshot(after.columns.filter(pa.array(earlier)), after.vectors[earlier]), after


def views_of(after: Snapshot, remedy: str) -> dict[str, list[View]]:
    """Return the views that a remedy added, by document."""
    added = after.columns["remedy"].to_pylist()
    found: dict[str, list[View]] = {}
    for view, by in zip(after.views, added, strict=True):
        if by == remedy:
            found.setdefault(view.doc_id, []).append(view)
    return found


def rps_in_views(
    risks: Sequence[Risk],
    views: dict[str, list[View]],
    applied: Applied,
    store: EmbeddingStore,
    probe: Probe,
) -> list[list[float]]:
    """Return what the probe predicts for each entity, once per view of its document that is read.

    The entity is read at its first mention in the view's text, whatever the white space in it; not
    in front of where the document mentions it, where the name is part of another word, and not
    beyond what the encoder reads of the view.
    """
    owners: list[int] = []
    texts: list[str] = []
    places: list[Span] = []
    for i, risk in enumerate(risks):
        name = re.compile(r"\s+".join(map(re.escape, risk.entity.split())))
        for view in views.get(risk.doc_id, ()):
            found = name.search(view.text, risk.spans[0].start) or name.search(view.text)
            if found:
                owners.append(i)
                texts.append(view.text)
                places.append(Span(*found.span()))
    read = ~beyond_window(texts, list(enumerate(places)), applied.encoder)
    spans = applied.encoder.pools_spans
    items = [
        Item(texts[j], Role.SPAN, places[j]) if spans else Item(texts[j], Role.DOCUMENT)
        for j in np.flatnonzero(read)
    ]
    predicted: list[list[float]] = [[] for _ in risks]
    results = score_items(items, applied.encoder, store, probe)
    for j, scored in zip(np.flatnonzero(read), results, strict=True):
        if scored.rps is not None:
            predicted[owners[j]].append(scored.rps)
    return predicted


def receipt_table(
    receipt: Receipt,
    views: dict[str, list[View]],
    in_views: Sequence[Sequence[float]],
    reasons: dict[str, str],
) -> pa.Table:
    """Return one row per (document, entity at risk).

    Ranks are null where the risk query failed; `reasons` says why, by entity. rps_after: best of
    original (which stays indexed) and views; rps_views: mean of the views, null where none is read.
    """
    risks, not_asked = receipt.risks, ~receipt.asked
    states = [State.MEASURED if asked else State.FAILED for asked in receipt.asked]
    best = [max([*([] if r.rps is None else [r.rps]), *found], default=None)
            for r, found in zip(risks, in_views, strict=True)]  # fmt: skip
    return pa.table(
        {
            "doc_id": [r.doc_id for r in risks],
            "entity": [r.entity for r in risks],
            "rank_before": pa.array(receipt.before, mask=not_asked),
            "rank_after": pa.array(receipt.after, mask=not_asked),
            "rps_before": pa.array([r.rps for r in risks], pa.float64()),
            "rps_after": pa.array(best, pa.float64()),
            "rps_views": pa.array(
                [float(np.mean(found)) if found else None for found in in_views], pa.float64()
            ),
            "views": [len(views.get(r.doc_id, ())) for r in risks],
            "fell_from_lists": [receipt.fell.get(r.doc_id, 0) for r in risks],
            "state": [str(state) for state in states],
            "reason": [reasons.get(r.entity, "") for r in risks],
        }
    )


def _summary(
    applied: Applied, receipt: Receipt, table: pa.Table, views: dict[str, list[View]]
) -> dict[str, Any]:
    repaired = np.array([risk.doc_id in views for risk in receipt.risks], bool)
    added = [view for group in views.values() for view in group]
    text_bytes = sum(len(view.text.encode("utf-8", "surrogatepass")) for view in added)
    fell = sorted(receipt.fell.items(), key=lambda item: (-item[1], item[0]))
    made = applied.folder.read_json(MADE)
    return {
        "remedy": applied.remedy,
        "index": str(applied.index.path),
        "added": applied.added,
        "made": made,
        "k": receipt.k,
        "counts": {
            "documents": applied.diagnosis.documents,
            "documents_at_risk": len(applied.diagnosis.flagged()),
            "documents_repaired": len(views),
            "entities_at_risk": len(receipt.risks),
            "views": len(added),
            "views_about_own_subject": sum(map(is_about_own_subject, added)),
            "bytes": text_bytes + 4 * applied.index.dim * len(added),
        },
        "risk_queries": _ranks(receipt),
        "of_repaired": _ranks(receipt.of(repaired)),
        "rps": _rps(table, repaired),
        "neighbours_fallen": len(fell),
        "places_lost": sum(receipt.fell.values()),
        "neighbours": [
            {"doc_id": doc, "lists": n, "gained": receipt.rose.get(doc, 0)}
            for doc, n in fell[:NEIGHBOURS]
        ],
        "seconds": round(sum(applied.record.timings_s.values()), 1),
    }


def _ranks(receipt: Receipt) -> dict[str, Any]:
    """Return what the risk queries say; `queries` are those that could be asked."""
    failed = int((~receipt.asked).sum())
    before, after = receipt.before[receipt.asked], receipt.after[receipt.asked]
    if not len(before):
        return {"queries": 0, "failed": failed}
    return {
        "queries": len(before),
        "failed": failed,
        "found_before": _rounded(receipt.found(receipt.before)),
        "found_after": _rounded(receipt.found(receipt.after)),
        "recovered": len(receipt.recovered),
        "lost": len(receipt.lost),
        "median_rank_before": float(np.median(before)),
        "median_rank_after": float(np.median(after)),
    }


def _rps(table: pa.Table, repaired: np.ndarray) -> dict[str, Any] | None:
    """Return means over the repaired entities.

    before: of the diagnosis. after: best of original and views, so never below. views: of the views
    alone, over those of the entities that could be read in one (`entities_in_views`).
    """
    if not repaired.any():
        return None
    names = ("rps_before", "rps_after", "rps_views")
    before, after, views = (table[n].to_numpy().astype(np.float64)[repaired] for n in names)
    read = views[np.isfinite(views)]
    return {
        "entities": len(before),
        "before": _rounded(before.mean()),
        "after": _rounded(after.mean()),
        "entities_in_views": len(read),
        "views": _rounded(read.mean()) if len(read) else None,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 6)
