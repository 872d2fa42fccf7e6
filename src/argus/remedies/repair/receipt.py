"""The receipt of a remedy, from the two states of its index: what it gained, and at whose cost."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.corpora import NamedCorpus
from argus.corpora.opening import open_corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.tables import read_table
from argus.data.types import Qrels, Query, State, View
from argus.encoders import EmbeddingStore, Encoder, embed
from argus.encoders import queries as as_queries
from argus.encoders.store import store_of
from argus.errors import InputError
from argus.evaluation.config import ChunkedCorpus, EvaluateConfig
from argus.evaluation.job import evaluate, evaluate_states
from argus.evaluation.judged import JudgedQueries, read_judged
from argus.evaluation.summary import EvaluationSummary, change
from argus.indexes.recipes import REMEDIES
from argus.indexes.retriever import before_and_after
from argus.indexes.snapshot import Snapshot
from argus.indexes.views import BEFORE, ViewIndex
from argus.jobs.result import Result
from argus.measures.coverage import Coverage, coverage_words
from argus.remedies.diagnosis.diagnose import rps_in_views
from argus.remedies.expand import is_about_own_subject
from argus.remedies.receipts import Receipt, write_receipt
from argus.remedies.repair.receipt_judged import TABLE as JUDGED
from argus.remedies.repair.receipt_judged import judged_documents, summarise_judged
from argus.remedies.repair.remedy import Applied, write_recorded
from argus.remedies.repair.summary import RemedySummary, RepairedRps, RiskQueries, headline
from argus.reports import write_report
from argus.settings import TOP_K

S = TypeVar("S", bound=Mapping[str, object], covariant=True)
NEIGHBOURS = 200
"""Documents named in the summary among those that fell."""


@dataclass(frozen=True, repr=False)
class RemedyResult(Result, Generic[S]):
    """What a remedy did to an index; everything in it is also in `folder`."""

    remedy: str
    folder: Path
    report: Path
    index: ViewIndex
    summary: S
    evaluation: EvaluationSummary | None = None
    """What the judged questions say, where there are any; see `argus.evaluate`."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        yield from self._receipt()
        if self.evaluation:
            covered = coverage_words(cast("Coverage | None", self.summary.get("coverage")))
            yield change(self.evaluation) + (f"; a gain where {covered}" if covered else "")

    @abstractmethod
    def _receipt(self) -> Iterator[str]:
        """Yield what the summary says."""


@dataclass(frozen=True, repr=False)
class RepairResult(RemedyResult[RemedySummary]):
    """What a repair did to documents at risk."""

    TABLES = ("table",)

    @property
    def table(self) -> pa.Table:
        """One row per entity at risk."""
        return read_table(self.folder / "receipt.parquet")

    def _receipt(self) -> Iterator[str]:
        return headline(self.summary)


@dataclass(frozen=True)
class _Findings:
    """What the two states of the index say."""

    views: Mapping[str, Sequence[View]]
    """Those that the remedy added, by document."""
    receipt: Receipt
    table: pa.Table
    """Of the entities at risk."""
    moves: pa.Table | None
    """Of the relevant documents of judged queries, where there are any."""


def settle(
    applied: Applied, questions: JudgedQueries | None = None, *, k: int = TOP_K
) -> RepairResult:
    """Compare the index before and after a remedy; write receipt, evaluation and report.

    Needs only the index and the diagnosis, so a run that was killed after its views were added
    finds its receipt when it is started again. questions: to evaluate on.
    """
    folder = applied.folder
    index = applied.opened.index
    encoder = applied.opened.encoder
    vectors = store_of(index.path)
    with (
        applied.record.timed("writing the receipt"),
        EmbeddingStore(vectors, fingerprint=encoder.fingerprint, dim=encoder.dim) as store,
    ):
        before, after = states(index, applied.remedy)
        findings = _measure(applied, questions, store, before, after, k)
    folder.write_table("receipt", findings.table, csv=True)
    summary = _summary(applied, findings)
    if findings.moves is not None:
        folder.write_table(JUDGED, findings.moves, csv=True)
        summary["judged_documents"] = summarise_judged(findings.moves, k)
    if questions is not None:
        documents = [document.id for document in applied.opened.documents]
        summary["coverage"] = questions.coverage(documents, findings.views)
    folder.write_results("remedy", summary, applied.record.manifest(summary["counts"]))
    report = write_report(folder.path)  # the receipt is readable whatever comes of the queries
    evaluation = None if questions is None else _evaluate(applied, questions)
    write_recorded(ArtifactFolder(index.path / REMEDIES / applied.remedy))
    return RepairResult(applied.remedy, folder.path, report, index, summary, evaluation)


def _measure(
    applied: Applied,
    questions: JudgedQueries | None,
    store: EmbeddingStore,
    before: Snapshot,
    after: Snapshot,
    k: int,
) -> _Findings:
    """Ask both states for entities at risk and judged queries; predict the RPS in the views."""
    encoder = applied.opened.encoder
    views = views_of(after, applied.remedy)
    risks = [risk for group in applied.diagnosis.flagged().values() for risk in group]
    entities = list(dict.fromkeys(risk.entity for risk in risks))
    embedded = embed(as_queries(entities), encoder, store, what="risk queries")
    moves = None
    if questions is not None:
        texts = as_queries([q.text for q in questions.with_judgements])
        vectors = embed(texts, encoder, store, what="judged queries")
        moves = judged_documents(questions, vectors, before, after, views)
    with_vector = (entity for entity, ok in zip(entities, embedded.ok, strict=True) if ok)
    names = dict(zip(with_vector, embedded.vectors, strict=True))
    receipt = write_receipt(risks, names, before, after, k=k)
    rps = rps_in_views(risks, views, encoder, store, applied.opened.probe)
    reasons = {entities[i]: why for i, why in embedded.failures.items()}
    return _Findings(views, receipt, receipt_table(receipt, views, rps, reasons), moves)


def _evaluate(applied: Applied, questions: JudgedQueries) -> EvaluationSummary:
    """Evaluate the index right before and right after the remedy, and write that beside it."""
    opened = applied.opened
    states = before_and_after(opened.index, opened.encoder, applied.remedy)
    folder = applied.folder.path
    return evaluate_states(questions, states, out=folder, diagnosis=folder).summary


def check_judged(
    queries: Path | str | Sequence[Query] | None,
    qrels: Path | str | Qrels | None,
    corpus: NamedCorpus | None = None,
    fields: FieldNames | None = None,
    parent_field: str | None = None,
) -> JudgedQueries | None:
    """Return the judged queries for the receipt, if there are any.

    fields, parent_field: of the corpus; judgements are then of the documents that chunks are of.

    Raises InputError, before an index is changed, for queries that cannot be evaluated on it.
    """
    if (queries is None) != (qrels is None):
        one, other = ("--queries", "--qrels") if qrels is None else ("--qrels", "--queries")
        raise InputError(
            f"{one} without {other}",
            expected="both, or neither",
            fix=f"Give {other}, or leave out {one} for a receipt without judged queries.",
            where=other,
        )
    if corpus is not None:
        open_corpus(corpus)
    if queries is None or qrels is None:
        return None
    return read_judged(queries, qrels, corpus, fields=fields).folded(parent_field)


def evaluate_remedy(
    index: ViewIndex,
    remedy: str,
    queries: Path | str | Sequence[Query] | None,
    qrels: Path | str | Qrels | None,
    *,
    chunks: ChunkedCorpus,
    encoder: Encoder,
    out: Path,
) -> EvaluationSummary | None:
    """Evaluate an index before a remedy and with it; None where no questions are judged."""
    if queries is None or qrels is None:
        return None
    return evaluate(
        queries, qrels, out=out, corpus=chunks.corpus, fields=chunks.fields, encoder=encoder,
        indexes=(f"{index.path}@{BEFORE}{remedy}", f"{index.path}@{remedy}"),
        config=EvaluateConfig(parent_field=chunks.parent_field),
    ).summary  # fmt: skip


def states(index: ViewIndex, remedy: str) -> tuple[Snapshot, Snapshot]:
    """Return the index right before a remedy and right after it: the same, less its views."""
    after = index.snapshot(remedy)
    earlier = after.columns["remedy"].to_numpy() != remedy
    return Snapshot(after.columns.filter(pa.array(earlier)), after.vectors[earlier]), after


def views_of(after: Snapshot, remedy: str) -> dict[str, list[View]]:
    """Return the views that a remedy added, by document."""
    views: dict[str, list[View]] = {}
    for view, by in zip(after.views, after.columns["remedy"].to_pylist(), strict=True):
        if by == remedy:
            views.setdefault(view.doc_id, []).append(view)
    return views


def receipt_table(
    receipt: Receipt,
    views: Mapping[str, Sequence[View]],
    in_views: Sequence[Sequence[float]],
    reasons: Mapping[str, str],
) -> pa.Table:
    """Return one row per document and entity at risk in it.

    Ranks are null where the risk query failed; `reasons` says why, by entity.

    entity: name at risk, which is the risk query.
    rank_before, rank_after: rank of the document for that name, without and with the remedy.
    rps_before: predicted RPS of the original.
    rps_after: best of original (which stays indexed) and views.
    rps_views: mean of the views, null where none is read.
    views: views that the remedy gave the document.
    fell_from_lists: risk queries of others from whose top k it fell.
    """
    risks, not_asked = receipt.risks, ~receipt.asked
    best = [
        max([*([] if r.rps is None else [r.rps]), *rps], default=None)
        for r, rps in zip(risks, in_views, strict=True)
    ]
    means = [float(np.mean(rps)) if rps else None for rps in in_views]
    return pa.table(
        {
            "doc_id": pa.array([r.doc_id for r in risks], pa.string()),
            "entity": pa.array([r.entity for r in risks], pa.string()),
            "rank_before": pa.array(receipt.before, pa.int64(), mask=not_asked),
            "rank_after": pa.array(receipt.after, pa.int64(), mask=not_asked),
            "rps_before": pa.array([r.rps for r in risks], pa.float64()),
            "rps_after": pa.array(best, pa.float64()),
            "rps_views": pa.array(means, pa.float64()),
            "views": pa.array([len(views.get(r.doc_id, ())) for r in risks], pa.int64()),
            "fell_from_lists": pa.array([receipt.fell.get(r.doc_id, 0) for r in risks], pa.int64()),
            "state": pa.array(
                [str(State.MEASURED if ok else State.FAILED) for ok in receipt.asked], pa.string()
            ),
            "reason": pa.array([reasons.get(r.entity, "") for r in risks], pa.string()),
        }
    )


def _summary(applied: Applied, findings: _Findings) -> RemedySummary:
    receipt = findings.receipt
    views = findings.views
    mask = np.array([risk.doc_id in views for risk in receipt.risks], bool)
    new = [view for group in views.values() for view in group]
    text_bytes = sum(len(view.text.encode("utf-8", "surrogatepass")) for view in new)
    fallen = sorted(receipt.fell.items(), key=lambda item: (-item[1], item[0]))
    index = applied.opened.index
    return {
        "remedy": applied.remedy,
        "index": str(index.path),
        "added": applied.added,
        "made": applied.origin,
        "k": receipt.k,
        "counts": {
            "documents": applied.diagnosis.documents,
            "documents_at_risk": len(applied.diagnosis.flagged()),
            "documents_repaired": len(views),
            "entities_at_risk": len(receipt.risks),
            "views": len(new),
            "views_about_own_subject": sum(map(is_about_own_subject, new)),
            "bytes": text_bytes + 4 * index.dim * len(new),
        },
        "risk_queries": _ranks(receipt),
        "of_repaired": _ranks(receipt.of(mask)),
        "rps": _rps(findings.table, mask),
        "neighbours_fallen": len(fallen),
        "places_lost": sum(receipt.fell.values()),
        "neighbours": [
            {"doc_id": doc, "lists": n, "gained": receipt.rose.get(doc, 0)}
            for doc, n in fallen[:NEIGHBOURS]
        ],
        "seconds": round(sum(applied.record.timings_s.values()), 1),
        "before": f"{BEFORE}{applied.remedy}",
    }


def _ranks(receipt: Receipt) -> RiskQueries:
    """Return what the risk queries say; `queries` are those that could be asked."""
    failed = int((~receipt.asked).sum())
    before, after = receipt.before[receipt.asked], receipt.after[receipt.asked]
    if not len(before):
        return {"queries": 0, "failed": failed}
    return {
        "queries": len(before),
        "failed": failed,
        "found_before": _rounded(receipt.share_in_top(receipt.before)),
        "found_after": _rounded(receipt.share_in_top(receipt.after)),
        "recovered": len(receipt.recovered),
        "lost": len(receipt.lost),
        "median_rank_before": float(np.median(before)),
        "median_rank_after": float(np.median(after)),
    }


def _rps(table: pa.Table, mask: npt.NDArray[np.bool_]) -> RepairedRps | None:
    """Return means over the repaired entities, those of the mask."""
    if not mask.any():
        return None
    names = ("rps_before", "rps_after", "rps_views")
    before, after, views = (table[n].to_numpy().astype(np.float64)[mask] for n in names)
    in_views = views[np.isfinite(views)]
    return {
        "entities": len(before),
        "before": round(float(before.mean()), 6),
        "after": round(float(after.mean()), 6),
        "entities_in_views": len(in_views),
        "views": round(float(in_views.mean()), 6) if len(in_views) else None,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
