"""Ask for every document by its own information needs, with and without scenarios in the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.types import FloatArray, Query, State, View, count_states
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.indexes.blend import DOCUMENTS_ALONE
from argus.indexes.fold import ORIGINAL
from argus.indexes.snapshot import Snapshot
from argus.jobs.recorded_model import require_answers
from argus.jobs.result import Result
from argus.jobs.workspace import Record, open_encoder, require_some, texts_cut
from argus.measures import LEAST_RESAMPLES, RESAMPLES
from argus.measures.intervals import wilson
from argus.measures.significance import UNCHANGED
from argus.measures.slices import Trials
from argus.reports import write_report
from argus.retrievability.rps import HISTOGRAM_EDGES, Scores, band, count_bands, score
from argus.scenarios.ablation.grid import Cell, Documents, usual_cell
from argus.scenarios.document_types import type_slicings, write_slices
from argus.scenarios.needs.config import NeedsConfig, PoolSetting
from argus.scenarios.needs.ranks import NeedRanks, NeedVectors, mean_change, pair_ranks
from argus.scenarios.needs.risk import measure_risk
from argus.scenarios.needs.section import headline
from argus.scenarios.needs.source import JudgedFiles, NeedSource, read_source
from argus.scenarios.openings import in_form
from argus.scenarios.profile import Need, Profiled, needs
from argus.scenarios.profiles.config import ProfileConfig
from argus.scenarios.tables import schema

JOB = "needs"
# Documents that are named of those before a document, for the need that fails it most.
DISPLACERS = 3
RESAMPLED = 20_000_000  # Values that are drawn for one interval: fewer resamples of many documents.
# One row per document. Null where there is no score.
#
# rps: RPS over its needs, from 0 to 1.
# rps_fused: the same in the index with scenarios, each need's own held out.
# low_fused, high_fused: its 95% interval.
# best_need, worst_need: need with the best, the worst rank.
# best_rank, worst_rank: that rank, from 1.
# worst_rank_fused: rank of the worst need with scenarios.
# displaced_by: documents before it for the worst need, at most three.
_DOCUMENTS = schema(
    ("id label", str), ("needs", int), ("rps low high", float), ("band", str),
    ("rps_fused low_fused high_fused", float), ("best_need", str), ("best_rank", int),
    ("worst_need", str), ("worst_rank worst_rank_fused", int), ("displaced_by state reason", str),
)  # fmt: skip
# One row per need of a document that has a vector. Null where it could not be asked.
#
# rank_alone: rank of its document in the index of documents alone.
# ties_before: of those before it, documents of equal score.
# rank_fused: its rank with the other needs' scenarios.
_NEEDS = schema(
    ("document", str), ("scenario", int), ("need", str),
    ("rank_alone ties_before rank_fused", int), ("state reason", str),
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class NeedsResult(Result):
    """Result of the need audit. Everything in it is also in `folder`.

    table: one row per document.
    needs: one row per need of a document that could be searched.
    risk: one row per document that its needs were asked for, the greatest risk first.

    Keys of `summary`:

    k: how far down the corpus is read.
    rps: k and N that RPS is of, fewer candidates in a small corpus.
    rps.pool: size N of the pool of candidates.
    wanted: k and N as they were set.
    wanted.pool: size N of the pool of candidates.
    documents: documents by outcome.
    documents.indexed: documents that have a vector.
    documents.with_scenarios: of these, documents with a profile.
    needs.total: needs of documents that have a vector.
    needs.measured: needs that were asked.
    needs.failed: needs that could not be embedded.
    scenarios_failed: scenarios that could not be embedded.
    alone.bands: documents by bands of RPS.
    alone.unreached: documents that none of their needs finds in the top k.
    alone.found_at_1: share of a document's needs that find it first.
    alone.found_at_k: share of a document's needs that find it in the top k.
    alone.rps: RPS over a document's needs.
    fused.found_at_1: share of a document's needs that find it first.
    fused.found_at_k: share of a document's needs that find it in the top k.
    fused.rps: RPS over a document's needs.
    fused.bands: documents by bands of RPS.
    fused.unreached: documents that none of their needs finds in the top k.
    recovered: documents that only the index with scenarios brings back in the top k, for any need.
    lost: documents that only the index without them does.
    grid: the index at each component and λ.
    histogram.edges: borders of the intervals of RPS.
    histogram.alone: documents per interval, in the index of documents alone.
    histogram.fused: documents per interval, with scenarios.
    text_window: how much of the documents the encoder reads.
    profiles_elsewhere: profiles of documents that the corpus lacks.
    risk: see `argus.scenarios.needs.risk.measure_risk`.
    """

    TABLES = ("table", "needs", "risk")
    folder: Path
    report: Path
    summary: dict[str, Any]
    table: pa.Table
    needs: pa.Table
    risk: pa.Table

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def audit_needs(
    corpus: Corpus,
    profiles: Path | str | Mapping[str, Profiled] | None = None,
    *,
    out: Path | str,
    encoder: Encoder | EncoderConfig | str = DEFAULT_MODEL,
    config: NeedsConfig | None = None,
    model: ProfileConfig | None = None,
    judged: JudgedFiles | None = None,
    fields: FieldNames | None = None,
    store: Path | None = None,
    limit: int | None = None,
    fresh: bool = False,
) -> NeedsResult:
    """Ask for every document by its information needs, with and without scenarios in the index.

    corpus, out, encoder, store: as for `argus.audit`. profiles: by document id, or what
    `read_profiles` reads. model: writes those that are missing of the documents that are drawn, and
    further needs of those that only some of theirs find. judged: questions that the risk is
    compared with. In the index with scenarios every need is held out: see
    `argus.scenarios.needs.ranks`. Further needs count for the risk alone. Raises InputError for bad
    input, among it profiles of other documents alone, and ArgusError when nothing can be measured.
    """
    config = config or NeedsConfig()
    source = read_source(
        corpus, profiles, config, fields=fields, limit=limit, encoder=encoder, judged=judged,
        writes=model is not None,
    )  # fmt: skip
    slices = type_slicings(source.documents, config.by)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    settings = {
        "components": list(map(str, config.components)),
        "lambda": list(config.weights),
        "pool": config.pool,
        "seed": config.seed,
        "form": str(config.form),
        **config.drawing,
        "limit": limit,
        "model": model.described() if model else None,
    }
    record = Record(JOB, settings, source.inputs)
    usable = source.usable
    texts = [d.content for d in usable]
    with (
        open_encoder(folder, encoder, record, sample=texts, store=store) as (loaded, opened),
        record.timed("embedding"),
    ):
        own = embed(as_documents(texts), loaded, opened, what="documents")
        ids = [d.id for d, ok in zip(usable, own.ok, strict=True) if ok]
        search = VectorSearch(source, ids, own.vectors, loaded, opened)
        source, figures, risk, writer = measure_risk(
            source, config, search, model, folder, "need_risk"
        )
        source = replace(source, profiles=in_form(source.profiles, config.form))
        known = {id_: source.profiles[id_] for id_ in ids if id_ in source.profiles}
        asking = needs({id_: p for id_, p in known.items() if id_ in source.asking})
        documents = Documents(ids, own.vectors, known)
        vectors = NeedVectors.embed(documents, asking, config.components, loaded, opened)
        window = texts_cut(loaded, texts)
    failed = {usable[i].id: why for i, why in own.failures.items()}
    why = next(iter([*failed.values(), *vectors.queries.failures.values()]), "")
    require_some(int(len(ids) > 1), "two documents have a vector", why)
    require_some(len(vectors.targets), "need has a vector", why)
    with record.timed("ranking"):
        audit = _Audit(source, vectors, failed, config)
    with record.timed("scoring"):
        table, asked = audit.documents_table(), audit.needs_table()
        summary: dict[str, Any] = {
            **audit.summary(),
            **figures,
            **record.of_store(),
            "text_window": window,
            "profiles_elsewhere": source.elsewhere,
            **write_slices(folder, "needs_slices", slices, audit.trials()),
        }
    with record.timed("writing"):
        folder.write_table("need_audit", table, csv=True)
        folder.write_table("needs", asked, csv=True)
        folder.write_results(JOB, summary, record.manifest(summary["documents"]))
    report = write_report(folder.path)
    if model is not None and writer is not None:
        require_answers(writer, accept=model.accept_unanswered)
    return NeedsResult(folder.path, report, summary, table, asked, risk)


class VectorSearch:
    """Search an index of documents alone, in memory. See `NeedSearch`.

    vectors: (n_documents, dim), unit rows, of the documents `ids`.
    """

    def __init__(
        self,
        source: NeedSource,
        ids: Sequence[str],
        vectors: FloatArray,
        model: Encoder,
        store: EmbeddingStore,
    ) -> None:
        views = [View(id_, source.parent(id_), ORIGINAL, "") for id_ in ids]
        self.snapshot = Snapshot.of(views, vectors)
        self.source, self.model, self.store = source, model, store

    def ranks(self, needs: Sequence[Need]) -> list[int | None]:
        """Return the rank of each need's document among all of them."""
        names = [self.source.parent(need.doc_id) for need in needs]
        rows = [i for i, name in enumerate(names) if name in self.snapshot]
        texts = as_queries([needs[i].text for i in rows])
        queries = embed(texts, self.model, self.store, what="needs")
        rows = [i for i, ok in zip(rows, queries.ok, strict=True) if ok]
        found = self.snapshot.ranks(queries.vectors, [names[i] for i in rows]).tolist()
        by_need: dict[int, int] = dict(zip(rows, found, strict=True))
        return [by_need.get(i) for i in range(len(needs))]

    def lists(self, questions: Sequence[Query], depth: int) -> dict[str, list[str]]:
        """Return the first documents for each question that has a vector."""
        texts = as_queries([question.text for question in questions])
        queries = embed(texts, self.model, self.store, what="questions")
        ids = [q.id for q, ok in zip(questions, queries.ok, strict=True) if ok]
        return dict(zip(ids, self.snapshot.search(queries.vectors, depth).doc_ids, strict=True))


class _Audit:
    """Ranks and scores of every document at every cell, and of documents alone.

    failed: document id to why it has no vector.
    """

    def __init__(
        self,
        source: NeedSource,
        vectors: NeedVectors,
        failed: Mapping[str, str],
        config: NeedsConfig,
    ) -> None:
        self.source, self.vectors, self.failed, self.seed = source, vectors, failed, config.seed
        ids = vectors.documents.ids
        self.rps, self.nominal = config.fitting(len(ids)), PoolSetting(config.k, config.pool)
        self.k = min(config.k, len(ids))
        self.cell = usual_cell(config.cells)  # told of each document
        weights = (DOCUMENTS_ALONE, *config.weights)
        ranks = vectors.ranks(config.components, weights)
        first = next(iter(ranks.values()))
        fused, row = ranks[self.cell.component], weights.index(self.cell.weight, 1)
        self.rank, self.above, self.rank_fused = first.rank[0], first.above[0], fused.rank[row]
        self.alone = self._scores(first, 0)
        self.fused = {
            cell: self._scores(ranks[cell.component], weights.index(cell.weight, 1))
            for cell in config.cells
        }

    def _scores(self, ranks: NeedRanks, row: int) -> dict[str, Scores]:
        n = len(self.vectors.documents.ids)
        pairs = pair_ranks(ranks, row, self.vectors.targets, n)
        settings = {"found_at_1": (1, n), "found_at_k": (self.k, n), "rps": self.rps}
        return {name: score(pairs, n, k=k, pool=pool) for name, (k, pool) in settings.items()}

    def states(self) -> dict[str, tuple[State, str, str]]:
        """Return the state of every document, why it was not measured, and further facts."""
        failures: dict[str, list[str]] = {}
        for i, why in self.vectors.queries.failures.items():
            failures.setdefault(self.vectors.needs[i].doc_id, []).append(why)
        measured = {need.doc_id for need in self.vectors.with_vector}
        states = {}
        for document in self.source.documents:
            own = failures.get(document.id, [])
            if document.id in self.failed:
                states[document.id] = State.FAILED, "no vector", self.failed[document.id]
            elif why := self.source.why_unmeasured(document):
                profiled = self.source.profiles.get(document.id)
                detail = profiled.reason if profiled and document.content.strip() else ""
                states[document.id] = State.NOT_APPLICABLE, why, detail
            elif document.id not in measured:
                states[document.id] = State.FAILED, "no need has a vector", own[0]
            else:
                partly = f"{len(own)} of its needs without a vector" if own else ""
                states[document.id] = State.MEASURED, partly, ""
        return states

    def summary(self) -> dict[str, Any]:
        """Return the figures of the report. No value in it is NaN."""
        alone, fused, vectors = self.alone, self.fused[self.cell], self.vectors
        found, found_fused = alone["found_at_k"].rps > 0, fused["found_at_k"].rps > 0
        states = self.states().values()
        reasons = Counter(why for state, why, _ in states if state is not State.MEASURED)
        profiles = vectors.documents.profiles.values()
        return {
            "k": self.k,
            "rps": self.rps._asdict(),
            "wanted": self.nominal._asdict(),
            "documents": {
                **count_states(Counter(state for state, _, _ in states), reasons),
                "indexed": len(vectors.documents.ids),
                "with_scenarios": sum(p.profile is not None for p in profiles),
            },
            "needs": {
                "total": len(vectors.needs),
                "measured": len(vectors.with_vector),
                "failed": len(vectors.queries.failures),
            },
            "scenarios_failed": len(vectors.texts.failures),
            "alone": {
                **{name: mean_share(of.rps[of.measured]) for name, of in alone.items()},
                **_reach(alone),
            },
            "fused": {**self._cell(self.cell), **_reach(fused)},
            "recovered": int((found_fused & ~found).sum()),
            "lost": int((found & ~found_fused).sum()),
            "grid": [self._cell(cell) for cell in self.fused],
            "histogram": {
                "edges": HISTOGRAM_EDGES,
                "alone": _histogram(alone["rps"]),
                "fused": _histogram(fused["rps"]),
            },
        }

    def _cell(self, cell: Cell) -> dict[str, Any]:
        """Return means over documents, and their paired differences from documents alone."""
        figures: dict[str, Any] = {"component": str(cell.component), "lambda": cell.weight}
        for name, after in self.fused[cell].items():
            values = after.rps[after.measured]
            change = values - self.alone[name].rps[after.measured]
            change[np.abs(change) <= UNCHANGED] = 0.0
            resamples = max(LEAST_RESAMPLES, min(RESAMPLES, RESAMPLED // len(change)))
            difference = mean_change(change, seed=self.seed, resamples=resamples)
            figures[name] = {**mean_share(values), "difference": difference}
        return figures

    def trials(self) -> list[Trials]:
        """Return the shares of needs that find their documents, by row of the source."""
        rows = {document.id: row for row, document in enumerate(self.source.documents)}
        places = np.array([rows[id_] for id_ in self.vectors.documents.ids], np.int64)
        top = f"found in the top {self.k} by their needs"
        alone, fused = self.alone["found_at_k"], self.fused[self.cell]["found_at_k"]
        of = alone.measured
        return [
            Trials(f"{top}, documents alone", places[of], alone.rps[of]),
            Trials(f"{top}, with scenarios", places[of], fused.rps[of]),
        ]

    def needs_table(self) -> pa.Table:
        """Return one row per need."""
        queries, place, rows = self.vectors.queries, 0, []
        for i, need in enumerate(self.vectors.needs):
            row: dict[str, Any] = {
                "document": need.doc_id, "scenario": need.position + 1, "need": need.text,
                "state": str(State.FAILED), "reason": queries.failures.get(i, ""),
            }  # fmt: skip
            if queries.ok[i]:
                rank = int(self.rank[place])
                row |= {
                    "rank_alone": rank, "ties_before": rank - 1 - int(self.above[place]),
                    "rank_fused": int(self.rank_fused[place]), "state": str(State.MEASURED),
                }  # fmt: skip
                place += 1
            rows.append(row)
        return pa.Table.from_pylist(rows, schema=_NEEDS)

    def documents_table(self) -> pa.Table:
        """Return one row per document, with its needs of best and worst rank, the first of equals.

        Documents before it for the worst need are named by title where no other one has it.
        """
        alone, fused, rank = self.alone["rps"], self.fused[self.cell]["rps"], self.rank
        needs, bands, documents = self.vectors.with_vector, band(alone.rps), self.source.documents
        best: dict[int, int] = {}
        worst: dict[int, int] = {}
        for need, document in enumerate(self.vectors.targets.tolist()):
            if rank[need] < rank[best.setdefault(document, need)]:
                best[document] = need
            if rank[need] > rank[worst.setdefault(document, need)]:
                worst[document] = need
        queries = self.vectors.queries.vectors[list(worst.values())]
        top = self.vectors.documents.alone().search(queries, DISPLACERS)
        titles = Counter(d.title for d in documents)
        names = {d.id: d.title if d.title and titles[d.title] == 1 else d.id for d in documents}
        measured: dict[str, dict[str, Any]] = {}
        for (at, need), ids in zip(worst.items(), top.doc_ids, strict=True):
            before = ids[: max(0, int(rank[need]) - 1)]
            measured[self.vectors.documents.ids[at]] = {
                "needs": int(alone.related[at]), "rps": float(alone.rps[at]),
                "low": float(alone.low[at]), "high": float(alone.high[at]), "band": str(bands[at]),
                "rps_fused": float(fused.rps[at]), "low_fused": float(fused.low[at]),
                "high_fused": float(fused.high[at]),
                "best_need": needs[best[at]].text, "best_rank": int(rank[best[at]]),
                "worst_need": needs[need].text, "worst_rank": int(rank[need]),
                "worst_rank_fused": int(self.rank_fused[need]),
                "displaced_by": "; ".join(names[id_] for id_ in before),
            }  # fmt: skip
        states = self.states()
        rows = []
        for d in documents:
            state, why, detail = states[d.id]
            reason = f"{why}: {detail}" if detail else why
            row = {"id": d.id, "label": d.title, "state": str(state), "reason": reason}
            rows.append({**row, **measured.get(d.id, {})})
        return pa.Table.from_pylist(rows, schema=_DOCUMENTS)


def _reach(scores: Mapping[str, Scores]) -> dict[str, Any]:
    return {
        "bands": count_bands(band(scores["rps"].rps)),
        "unreached": int((scores["found_at_k"].rps == 0).sum()),
    }


def _histogram(scores: Scores) -> list[int]:
    counts: list[int] = np.histogram(scores.rps[scores.measured], HISTOGRAM_EDGES)[0].tolist()
    return counts


def mean_share(values: npt.NDArray[np.float64]) -> dict[str, float]:
    """Return the mean over documents and its interval (Wilson's: conservative for values)."""
    low, high = wilson(values.mean(), len(values))
    return {"mean": float(values.mean()), "low": float(low), "high": float(high)}
