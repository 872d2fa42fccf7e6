"""`argus research scenarios needs`: search for every document by the needs that its profile lists.

In: corpus and profiles, perhaps a retriever and judged questions. Out: need_audit.parquet, with the
share of each document's needs that find it, with and without scenarios in the index, and a ranking
of documents by risk. In the index each need is held out (`argus.scenarios.needs.ranks`). A
retriever is asked as it is: scenarios are in its index or they are not, and a document beyond its
list comes next after it. `argus.scenarios.needs.risk` orders documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa

from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.runs import ranking
from argus.data.types import Query, State, View
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.indexes.blend import DOCUMENTS_ALONE
from argus.indexes.fold import ORIGINAL
from argus.indexes.snapshot import Snapshot
from argus.jobs import options as o
from argus.jobs.result import TableResult
from argus.jobs.workspace import Record, check_folder, open_encoder, require_some
from argus.measures import LEAST_RESAMPLES, RESAMPLES
from argus.measures.significance import UNCHANGED, with_interval
from argus.measures.slices import Trials, rank_slices, slice_lines, slice_shares, slicings
from argus.reports import write_report
from argus.reports.section import Section, slices_table, table
from argus.retrievers.config import PANEL, AskingConfig
from argus.retrievers.names import NAMES
from argus.retrievers.opening import Answerer, answers_of, require_known
from argus.retrievers.protocol import Answers, note_lines, note_of
from argus.scenarios.ablation.grid import Documents, usual_cell
from argus.scenarios.config import NeedsConfig
from argus.scenarios.needs.ranks import NeedVectors, by_document, mean_change, mean_share
from argus.scenarios.needs.risk import (
    RISK,
    RISK_SCHEMA,
    NeedSource,
    measure_risk,
    read_source,
    risk_lines,
    risk_table,
)
from argus.scenarios.profile import Need, Profiled, needs
from argus.scenarios.tables import schema
from argus.settings import Doc, Option

JOB = "needs"
SLICES = "needs_slices"
# One row per document. Null where there is no share.
#
# found: share of its needs that bring it into the top k.
# found_fused: the same in the index with scenarios, each need's own held out.
_DOCUMENTS = schema(
    ("id label", str), ("needs", int), ("found found_fused", float), ("state reason", str)
)
# One row per need. Null where it could not be asked, and beyond a retriever's k.
#
# rank: rank of its document.
# rank_fused: its rank with the other needs' scenarios.
_NEEDS = schema(
    ("document", str), ("scenario", int), ("need", str), ("rank rank_fused", int),
    ("state reason", str),
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class NeedsResult(TableResult):
    """Result of the need audit. Everything in it is also in `folder`.

    table: one row per document.
    needs: one row per need.
    risk: one row per document that its needs were asked for, the greatest risk first.

    Keys of `summary`:

    k: how far down the corpus, or the retriever's list, is read.
    documents: documents by outcome.
    needs.total: needs of documents.
    needs.measured: needs that were asked.
    needs.failed: needs that could not be.
    found_at_k: share of a document's needs that find it in the top k, documents alone.
    unreached: documents that none of their needs finds in the top k.
    indexed: documents that have a vector.
    with_scenarios: of these, documents with a profile.
    fused: the index with scenarios at the usual cell. None of a retriever.
    fused.unreached: documents that none of their needs finds in the top k.
    grid: the index at each component and λ.
    grid.difference: change from documents alone, over documents.
    retriever: the retriever that was asked, if one was.
    profiles_elsewhere: profiles of documents that the corpus lacks.
    risk: see `argus.scenarios.needs.risk.measure_risk`.
    """

    TABLES = ("table", "needs", "risk")
    needs: pa.Table
    risk: pa.Table

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        summary = self.summary
        yield brief(summary)
        share, fused = summary["found_at_k"], ""
        if "fused" in summary:
            change = _change_words(summary["fused"]["difference"])
            fused = f", {summary['fused']['mean']:.1%} with scenarios ({change})"
        yield (
            f"found in the top {summary['k']}: {share['mean']:.1%} of a document's needs "
            f"({share['low']:.1%} to {share['high']:.1%}){fused}"
        )
        if "retriever" in summary:
            yield from note_lines(summary["retriever"], summary["needs"]["total"])
        if cut := summary.get("slices"):
            yield from slice_lines(cut)
        yield from risk_lines(summary)


@one_writer
def audit_needs(
    corpus: o.Corpus,
    profiles: Path | str | Mapping[str, Profiled],
    *,
    out: o.Out = o.OUT,
    config: NeedsConfig | None = None,
    queries: o.MaybeQueries = None,
    qrels: o.MaybeQrels = None,
    retriever: Annotated[
        Any, Doc(f"What is asked in place of an encoder: {NAMES}."), Option(panel=PANEL)
    ] = None,
    asking: AskingConfig | None = None,
    encoder: o.Encoder = DEFAULT_MODEL,
    store: o.Store = None,
    fields: FieldNames | None = None,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
) -> NeedsResult:
    """Ask for every document by its own information needs: the risk of documents.

    Twice: in an index of documents alone, and in one with scenarios, where each need is held out:
    it searches without the scenario that it comes from. Writes need_risk.parquet and .csv (a
    document's typical rank under its needs, the riskiest first), need_audit, needs, summary.json,
    manifest.json and report.html. A retriever is asked once, as it is. --queries and --qrels
    measure what the risk tells of real questions.

    profiles: by document id, or what `read_profiles` reads. Raises InputError for bad input, among
    it profiles of other documents alone, and ArgusError when nothing can be measured.

    Args:
        profiles: Profiles of its documents, or a folder with them (argus research scenarios write).
    """
    config = config or NeedsConfig()
    source = read_source(
        corpus, profiles, config, fields=fields, limit=limit, queries=queries, qrels=qrels,
        encoder=encoder if retriever is None else None,
    )  # fmt: skip
    cut = slicings(source.documents, config.by)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    settings = {**asdict(config), "limit": limit, "served": retriever is not None}
    record = Record(JOB, settings, source.inputs)
    if retriever is None:
        asked = ask_index(source, config, folder, record, encoder, store)
    else:
        check_folder(folder, record)
        to = Answerer(retriever, None, asking, encoder)
        asked = ask_retriever(source, config, folder, record, to)
    k = min(config.k, len(source.usable))
    documents, counts = source.document_rows(asked.failed, asked.rows, k)
    risk, risk_rows = measure_risk(source, config, asked.places, asked.lists)
    measured = [i for i, row in enumerate(documents) if row["state"] == State.MEASURED]
    found = np.array([documents[i]["found"] for i in measured])
    failed = sum(row["state"] == State.FAILED for row in asked.rows)
    summary: dict[str, Any] = {
        "k": k,
        "documents": counts,
        "needs": {
            "total": len(asked.rows), "measured": len(asked.rows) - failed, "failed": failed,
        },
        "found_at_k": mean_share(found),
        "unreached": int((found == 0).sum()),
        "risk": risk,
        "profiles_elsewhere": source.elsewhere,
        **asked.figures,
    }  # fmt: skip
    if cut:
        names = {"found": "documents alone", "found_fused": "with scenarios"}
        trials = [
            Trials(
                f"found in the top {k} by their needs, {where}", np.array(measured, np.int64),
                np.array([documents[i][name] for i in measured]),
            )
            for name, where in names.items() if name in documents[measured[0]]
        ]  # fmt: skip
        fields_cut = [one.figures for one in cut]
        summary["slices"], shares = rank_slices(fields_cut, slice_shares(cut, trials))
        folder.write_table(SLICES, shares, csv=True)
    tables = {
        "need_audit": pa.Table.from_pylist(documents, schema=_DOCUMENTS),
        "needs": pa.Table.from_pylist(asked.rows, schema=_NEEDS),
        RISK: pa.Table.from_pylist(risk_rows, schema=RISK_SCHEMA),
    }
    for name, written in tables.items():
        folder.write_table(name, written, csv=True)
    folder.write_results(JOB, summary, record.manifest(summary["documents"]))
    return NeedsResult(folder.path, write_report(folder.path), summary, *tables.values())


def _change_words(change: Mapping[str, Any]) -> str:
    if change["low"] is None:
        return f"{change['mean']:+.3f}; no interval: fewer than 6 documents changed"
    return with_interval({**change, "mean_difference": change["mean"]})


def brief(summary: Mapping[str, Any]) -> str:
    """Return the result in one line."""
    where, fused = "", ""
    if "retriever" in summary:
        where = f" from {summary['retriever']['name']}"
    if cell := summary.get("fused"):
        named = f"{cell['component']}, λ = {cell['lambda']:g}"
        fused = f"; with scenarios ({named}; each need's own held out) {cell['unreached']:,}"
    return (
        f"{summary['unreached']:,} of {summary['documents']['measured']:,} documents come back"
        f"{where} for none of their needs (top {summary['k']}){fused}"
    )


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the report's section: the risk of documents, and the cells of the grid."""
    tables = {RISK: risk_table(folder)}
    if "grid" in summary:
        rows: list[list[object]] = [
            ["documents alone", "", summary["found_at_k"]["mean"], "", None, None]
        ]
        for cell in summary["grid"]:
            change = cell["difference"]
            moved = change["improved"], change["harmed"]
            named = cell["component"], f"{cell['lambda']:g}", cell["mean"]
            rows.append([*named, _change_words(change), *moved])
        kinds = ["text", "text", "share", "text", "count", "count"]
        heads = ["indexed", "λ", f"top {summary['k']}", "change", "better", "worse"]
        tables["needs_grid"] = table(dict(zip(heads, kinds, strict=True)), rows)
    if "slices" in summary:
        tables[SLICES] = slices_table(folder, SLICES)
    return Section({}, tables, brief(summary))


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
