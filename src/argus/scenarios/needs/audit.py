"""Ask for every document by its own information needs, with and without scenarios in the index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.tables import read_table
from argus.data.types import Query, State, View
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.indexes.blend import DOCUMENTS_ALONE
from argus.indexes.fold import ORIGINAL
from argus.indexes.snapshot import Snapshot
from argus.jobs.recorded_model import require_answers
from argus.jobs.result import Result
from argus.jobs.workspace import Record, open_encoder, require_some
from argus.measures import LEAST_RESAMPLES, RESAMPLES
from argus.measures.significance import UNCHANGED, with_interval
from argus.measures.slices import Trials, slice_lines, slicings
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, Table, naming, slices_table, table
from argus.retrievability.rps import Scores, band, count_bands, score
from argus.scenarios.ablation.grid import Documents, usual_cell
from argus.scenarios.config import Cell, NeedsConfig, ProfileConfig
from argus.scenarios.needs.ranks import (
    NeedRanks,
    NeedVectors,
    mean_change,
    mean_share,
    pair_ranks,
)
from argus.scenarios.needs.risk import (
    JudgedFiles,
    draw,
    measure_risk,
    read_source,
    risk_lines,
    risk_table,
    write_slices,
)
from argus.scenarios.profile import Profiled, needs
from argus.scenarios.tables import headings, schema

JOB = "needs"
RISK = "need_risk"
RESAMPLED = 20_000_000  # Values that are drawn for one interval: fewer resamples of many documents.
# One row per document. Null where there is no score.
#
# rps: RPS over its needs, from 0 to 1.
# rps_fused: the same in the index with scenarios, each need's own held out.
# worst_need: need with the worst rank.
# worst_rank: that rank, from 1.
# worst_rank_fused: rank of the worst need with scenarios.
_DOCUMENTS = schema(
    ("id label", str), ("needs", int), ("rps low high", float), ("band", str),
    ("rps_fused", float), ("worst_need", str), ("worst_rank worst_rank_fused", int),
    ("state reason", str),
)  # fmt: skip
# One row per need of a document that has a vector. Null where it could not be asked.
#
# rank_alone: rank of its document in the index of documents alone.
# rank_fused: its rank with the other needs' scenarios.
_NEEDS = schema(
    ("document", str), ("scenario", int), ("need", str), ("rank_alone rank_fused", int),
    ("state reason", str),
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
    alone.bands: documents by bands of RPS.
    alone.unreached: documents that none of their needs finds in the top k.
    alone.found_at_k: share of a document's needs that find it in the top k.
    alone.rps: RPS over a document's needs.
    fused.found_at_k: share of a document's needs that find it in the top k.
    fused.rps: RPS over a document's needs.
    fused.bands: documents by bands of RPS.
    fused.unreached: documents that none of their needs finds in the top k.
    grid: the index at each component and λ.
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
        summary = self.summary
        documents, rps, nominal = summary["documents"], summary["rps"], summary["wanted"]
        if rps != nominal:
            yield (
                f"only {documents['indexed']:,} documents: RPS at k={rps['k']}, N={rps['pool']:,} "
                f"instead of k={nominal['k']}, N={nominal['pool']:,}"
            )
        yield brief(summary)
        alone, fused = (summary[name]["found_at_k"] for name in ("alone", "fused"))
        yield (
            f"found in the top {summary['k']} of {documents['indexed']:,}: {alone['mean']:.1%} of "
            f"a document's needs, {fused['mean']:.1%} with scenarios "
            f"({_change_words(fused['difference'])})"
        )
        if slices := summary.get("slices"):
            yield from slice_lines(slices)
        yield from risk_lines(summary)


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
    `read_profiles` reads. model: writes those that are missing of the documents that are drawn.
    judged: questions that the risk is compared with. In the index with scenarios every need is held
    out: see `argus.scenarios.needs.ranks`. Raises InputError for bad input, among it profiles of
    other documents alone, and ArgusError when nothing can be measured.
    """
    config = config or NeedsConfig()
    source = read_source(
        corpus, profiles, config, fields=fields, limit=limit, encoder=encoder, judged=judged,
        writes=model is not None,
    )  # fmt: skip
    slices = slicings(source.documents, config.by)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    described = {"limit": limit, "model": model.described() if model else None}
    record = Record(JOB, {**asdict(config), **described}, source.inputs)
    usable = source.usable
    texts = [d.content for d in usable]
    with open_encoder(folder, encoder, record, sample=texts, store=store) as (loaded, opened):
        with record.timed("embedding"):
            own = embed(as_documents(texts), loaded, opened, what="documents")
            ids = [d.id for d, ok in zip(usable, own.ok, strict=True) if ok]
            source, writer = draw(source, config, model, folder)
            known = {id_: source.profiles[id_] for id_ in ids if id_ in source.profiles}
            asking = needs({id_: p for id_, p in known.items() if id_ in source.asking})
            documents = Documents(ids, own.vectors, known)
            vectors = NeedVectors.embed(documents, asking, config.components, loaded, opened)
        failed = {usable[i].id: why for i, why in own.failures.items()}
        why = next(iter([*failed.values(), *vectors.queries.failures.values()]), "")
        require_some(int(len(ids) > 1), "two documents have a vector", why)
        require_some(len(vectors.targets), "need has a vector", why)
        parents = [source.parent(id_) for id_ in ids]
        views = [View(id_, parent, ORIGINAL, "") for id_, parent in zip(ids, parents, strict=True)]
        snapshot = Snapshot.of(views, own.vectors)

        def lists(questions: Sequence[Query], depth: int) -> dict[str, list[str]]:
            asked = as_queries([question.text for question in questions])
            found = embed(asked, loaded, opened, what="questions")
            with_vector = [q.id for q, ok in zip(questions, found.ok, strict=True) if ok]
            top = snapshot.search(found.vectors, depth).doc_ids
            return dict(zip(with_vector, top, strict=True))

        with record.timed("ranking"):
            targets = [source.parent(need.doc_id) for need in vectors.with_vector]
            folded = snapshot.ranks(vectors.queries.vectors, targets).tolist()
            places = list(zip(vectors.with_vector, folded, strict=True))
            risk, risk_rows = measure_risk(source, config, places, lists, folder, RISK)
            ranks = vectors.ranks(config.components, (DOCUMENTS_ALONE, *config.weights))
    with record.timed("scoring"):
        k, n = min(config.k, len(ids)), len(ids)
        rps_k, rps_pool = config.fitting(n)

        def scores(of: NeedRanks, row: int) -> dict[str, Scores]:
            pairs, pools = pair_ranks(of, row, vectors.targets, n), {"rps": (rps_k, rps_pool)}
            pools = {"found_at_k": (k, n), **pools}
            return {name: score(pairs, n, k=k, pool=pool) for name, (k, pool) in pools.items()}

        alone = scores(next(iter(ranks.values())), 0)
        rows = {weight: row for row, weight in enumerate(config.weights, start=1)}
        cells = {cell: scores(ranks[cell.component], rows[cell.weight]) for cell in config.cells}
        usual = usual_cell(config.cells)  # told of each document
        fused = cells[usual]
        asked = _needs_rows(vectors, ranks, usual, rows[usual.weight])
        failures = [(vectors.needs[i], why) for i, why in vectors.queries.failures.items()]
        table, counts = source.states(failed, failures, {need.doc_id for need, _ in places})
        _add_scores(table, vectors, alone["rps"], fused["rps"], asked)
        at = {row["id"]: i for i, row in enumerate(table)}
        measured = alone["rps"].measured
        places_of = np.array([at[id_] for id_ in ids], np.int64)[measured]
        trials = [
            Trials(
                f"found in the top {k} by their needs, {where}",
                places_of, of["found_at_k"].rps[measured],
            )
            for where, of in (("documents alone", alone), ("with scenarios", fused))
        ]  # fmt: skip
        grid = [_cell(cell, alone, after, config.seed) for cell, after in cells.items()]
        summary: dict[str, Any] = {
            "k": k,
            "rps": {"k": rps_k, "pool": rps_pool},
            "wanted": {"k": config.k, "pool": config.pool},
            "documents": {
                **counts,
                "indexed": n,
                "with_scenarios": sum(p.profile is not None for p in known.values()),
            },
            "needs": {
                "total": len(asked), "measured": len(places), "failed": len(failures),
            },
            "alone": {
                **{name: mean_share(of.rps[of.measured]) for name, of in alone.items()},
                **_reach(alone),
            },
            "fused": {**grid[config.cells.index(usual)], **_reach(fused)},
            "grid": grid,
            "risk": risk,
            **({"language_model": writer.summary()} if writer is not None else {}),
            **record.of_store(),
            "profiles_elsewhere": source.elsewhere,
            **write_slices(folder, "needs_slices", slices, trials),
        }  # fmt: skip
    by_document = pa.Table.from_pylist(table, schema=_DOCUMENTS)
    by_need = pa.Table.from_pylist(asked, schema=_NEEDS)
    folder.write_table("need_audit", by_document, csv=True)
    folder.write_table("needs", by_need, csv=True)
    folder.write_results(JOB, summary, record.manifest(summary["documents"]))
    report = write_report(folder.path)
    if model is not None and writer is not None:
        require_answers(writer, accept=model.accept_unanswered)
    return NeedsResult(folder.path, report, summary, by_document, by_need, risk_rows)


def _needs_rows(
    vectors: NeedVectors, ranks: Mapping[Any, NeedRanks], usual: Cell, row: int
) -> list[dict[str, Any]]:
    """Return one row per need, with its ranks in documents alone and in the usual cell."""
    alone = iter(next(iter(ranks.values())).rank[0].tolist())
    fused = iter(ranks[usual.component].rank[row].tolist())
    rows = []
    for i, need in enumerate(vectors.needs):
        found: dict[str, Any] = {"state": str(State.FAILED)}
        if vectors.queries.ok[i]:
            found = {"state": str(State.MEASURED), "rank_alone": next(alone)}
            found["rank_fused"] = next(fused)
        rows.append({
            "document": need.doc_id, "scenario": need.position + 1, "need": need.text,
            "reason": vectors.queries.failures.get(i, ""), **found,
        })  # fmt: skip
    return rows


def _add_scores(
    table: Sequence[dict[str, Any]],
    vectors: NeedVectors,
    alone: Scores,
    fused: Scores,
    asked: Sequence[dict[str, Any]],
) -> None:
    """Add scores, and the need of the worst rank, to the rows of documents that have some."""
    worst: dict[str, dict[str, Any]] = {}
    for need in asked:
        if need["state"] == State.MEASURED:
            first = worst.setdefault(need["document"], need)
            if need["rank_alone"] > first["rank_alone"]:
                worst[need["document"]] = need
    position = {id_: i for i, id_ in enumerate(vectors.documents.ids)}
    bands = band(alone.rps)
    for row in table:
        if row["id"] in worst and row["state"] == State.MEASURED:
            need, i = worst[row["id"]], position[row["id"]]
            row |= {
                "needs": int(alone.related[i]), "rps": float(alone.rps[i]),
                "low": float(alone.low[i]), "high": float(alone.high[i]), "band": str(bands[i]),
                "rps_fused": float(fused.rps[i]), "worst_need": need["need"],
                "worst_rank": need["rank_alone"], "worst_rank_fused": need["rank_fused"],
            }  # fmt: skip


def _reach(scores: Mapping[str, Scores]) -> dict[str, Any]:
    return {
        "bands": count_bands(band(scores["rps"].rps)),
        "unreached": int((scores["found_at_k"].rps == 0).sum()),
    }


def _cell(
    cell: Cell, alone: Mapping[str, Scores], after: Mapping[str, Scores], seed: int
) -> dict[str, Any]:
    """Return means over documents, and their paired differences from documents alone."""
    figures: dict[str, Any] = {"component": str(cell.component), "lambda": cell.weight}
    for name, of in after.items():
        values = of.rps[of.measured]
        change = values - alone[name].rps[of.measured]
        change[np.abs(change) <= UNCHANGED] = 0.0
        resamples = max(LEAST_RESAMPLES, min(RESAMPLES, RESAMPLED // len(change)))
        difference = mean_change(change, seed=seed, resamples=resamples)
        figures[name] = {**mean_share(values), "difference": difference}
    return figures


def _change_words(change: Mapping[str, Any]) -> str:
    if change["low"] is None:
        return f"{change['mean']:+.3f}; no interval: fewer than 6 documents changed"
    return with_interval({**change, "mean_difference": change["mean"]})


def brief(summary: Mapping[str, Any]) -> str:
    """Return the result in one line."""
    low, rps, fused = summary["alone"]["bands"]["low"], summary["rps"], summary["fused"]
    return (
        f"{low:,} of {summary['documents']['measured']:,} documents cannot be reached by what they "
        f"are for (RPS below 0.33 at k={rps['k']}, N={rps['pool']:,}); with scenarios "
        f"({fused['component']}, λ = {fused['lambda']:g}; each need's own held out) "
        f"{fused['bands']['low']:,}"
    )


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the report's section of need_audit.parquet, documents out of reach first."""
    rows = read_table(folder / "need_audit.parquet").to_pylist()
    measured = [row for row in rows if row["state"] == State.MEASURED]
    measured.sort(key=lambda row: (row["high"], row["rps"], row["id"]))
    columns = headings(
        "document: text; RPS: share; 95% interval: interval; band: band; RPS with: share; the need "
        "that fails it most: text; rank: count; rank with: count"
    )
    shown = [
        [
            naming(row["label"], row["id"]), row["rps"], [row["low"], row["high"]], row["band"],
            row["rps_fused"], row["worst_need"], row["worst_rank"], row["worst_rank_fused"],
        ]
        for row in measured[:MAX_ROWS]
    ]  # fmt: skip
    tables = {
        "needs_documents": table(columns, shown, total=len(measured)),
        "needs_grid": _grid(summary),
        RISK: risk_table(folder, RISK),
    }
    if "slices" in summary:
        tables["needs_slices"] = slices_table(folder, "needs_slices")
    return Section({}, tables, brief(summary))


def _grid(summary: Mapping[str, Any]) -> Table:
    names = {"found_at_k": f"top {summary['k']}", "rps": "RPS"}
    columns = {"indexed": "text", "λ": "text"}
    for name in names.values():
        columns |= {name: "share", f"change ({name})": "text"}
    columns |= {"better": "count", "worse": "count"}
    alone = [value for name in names for value in (summary["alone"][name]["mean"], "")]
    rows: list[list[str | float | None]] = [["documents alone", "", *alone, None, None]]
    for cell in summary["grid"]:
        row: list[str | float | None] = [cell["component"], f"{cell['lambda']:g}"]
        for name in names:
            words = _change_words(cell[name]["difference"])
            row += [cell[name]["mean"], words]
        moved = cell["rps"]["difference"]
        rows.append([*row, moved["improved"], moved["harmed"]])
    return table(columns, rows)
