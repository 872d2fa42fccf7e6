"""The need audit: which documents are not brought back by their needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, EmbeddingStore, Encoder, EncoderConfig, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.encoders.embed import Embedded
from argus.evaluation.judged import ParentFold
from argus.indexes.blend import DOCUMENTS_ALONE
from argus.jobs.recorded_model import require_answers
from argus.jobs.result import Result
from argus.jobs.workspace import (
    Record,
    open_encoder,
    require_some,
    texts_cut,
)
from argus.progress import progress
from argus.reports import write_report
from argus.scenarios.ablation.grid import Documents, embed_scenarios
from argus.scenarios.document_types import type_slicings
from argus.scenarios.needs.config import NeedsConfig, PoolSetting
from argus.scenarios.needs.findings import (
    Findings,
    Need,
    Vectors,
    audit_slices,
    documents_table,
    needs_table,
)
from argus.scenarios.needs.ranks import NeedRanks, held_out_ranks, held_out_rows
from argus.scenarios.needs.risk import JudgedFiles, judged_questions, measure_risk
from argus.scenarios.needs.search import VectorSearch
from argus.scenarios.needs.section import headline
from argus.scenarios.needs.source import NeedSource
from argus.scenarios.openings import in_form
from argus.scenarios.profile import Component, Profiled
from argus.scenarios.profile import needs as needs_of
from argus.scenarios.profiles.config import ProfileConfig

JOB = "needs"


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
    source = NeedSource.read(
        corpus, profiles, fields or FieldNames(), limit, encoder, writes=model is not None
    )
    questions = judged_questions(judged, source, config.parent_field)
    slices = type_slicings(source.documents, config.by)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    settings = {
        "components": list(map(str, config.components)), "lambda": list(config.weights),
        "k": config.k, "pool": config.pool, "seed": config.seed, "limit": limit,
        "by": list(config.by), "form": str(config.form), **config.drawing,
        "model": model.described() if model else None,
    }  # fmt: skip
    files = questions.files if questions else {}
    inputs = {"corpus": source.path, "profiles": source.profiles_path, **files}
    record = Record(JOB, settings, inputs)
    sample = [d.content for d in source.usable]
    with (
        open_encoder(folder, encoder, record, sample=sample, store=store) as (loaded, opened),
        record.timed("embedding"),
    ):
        own = embed(as_documents(sample), loaded, opened, what="documents")
        ids = [d.id for d, ok in zip(source.usable, own.ok, strict=True) if ok]
        fold = ParentFold.of(config.parent_field, source.documents)
        search = VectorSearch.of(ids, own.vectors, loaded, opened, fold)
        measured = measure_risk(source, config, search, questions, model, folder, "need_risk")
        source = measured.source
        source = replace(source, profiles=in_form(source.profiles, config.form))
        vectors, window = _embed(source, config, own, loaded, opened), texts_cut(loaded, sample)
    failures = [*vectors.document_failures.values(), *vectors.need_failures.values()]
    why, n = next(iter(failures), ""), len(vectors.documents.ids)
    require_some(int(n > 1), "two documents have a vector", why)
    require_some(len(vectors.queries), "need has a vector", why)
    with record.timed("ranking"):
        ranks = rank_needs(vectors, config.components, (DOCUMENTS_ALONE, *config.weights))
    with record.timed("scoring"):
        findings = Findings(
            source.documents, source.profiles, vectors, ranks, config.cells, config.fitting(n),
            PoolSetting(config.k, config.pool), config.seed, source.drawn,
        )  # fmt: skip
        table, needs = documents_table(findings), needs_table(findings)
        summary: dict[str, Any] = {
            **findings.summary(),
            **measured.figures,
            **record.of_store(),
            "text_window": window,
            "profiles_elsewhere": source.elsewhere,
            **audit_slices(folder, findings, slices),
        }
    with record.timed("writing"):
        folder.write_table("need_audit", table, csv=True)
        folder.write_table("needs", needs, csv=True)
        folder.write_results(JOB, summary, record.manifest(summary["documents"]))
    report = write_report(folder.path)
    if model is not None and measured.model is not None:
        require_answers(measured.model, accept=model.accept_unanswered)
    return NeedsResult(folder.path, report, summary, table, needs, measured.table)


def _embed(
    source: NeedSource, config: NeedsConfig, own: Embedded, model: Encoder, store: EmbeddingStore
) -> Vectors:
    usable = source.usable
    ids = [d.id for d, ok in zip(usable, own.ok, strict=True) if ok]
    profiles = {id_: source.profiles[id_] for id_ in ids if id_ in source.profiles}
    asking = source.asking
    needs = [Need(*n) for n in needs_of({i: p for i, p in profiles.items() if i in asking})]
    queries = embed(as_queries([n.text for n in needs]), model, store, what="needs")
    texts = embed_scenarios(
        profiles.values(),
        config.components,
        lambda texts: embed(as_documents(texts), model, store, what="scenarios"),
    )
    return Vectors(
        documents=Documents(ids, own.vectors, profiles),
        document_failures={usable[i].id: why for i, why in own.failures.items()},
        texts=texts,
        needs=needs,
        embedded=queries.ok,
        queries=queries.vectors,
        need_failures=queries.failures,
    )


def rank_needs(
    vectors: Vectors, components: Sequence[Component], weights: Sequence[float]
) -> dict[Component, NeedRanks]:
    """Rank every document for its needs, by every component and λ."""
    needs = [(need.doc_id, need.position, need.text) for need in vectors.with_vector]
    documents = vectors.documents
    ranks = {}
    with progress("searching", len(needs) * len(components)) as advance:
        for component in components:
            snapshot = documents.with_scenarios(component, vectors.texts)
            rows = held_out_rows(snapshot, documents.profiles, needs, component)
            ranks[component] = held_out_ranks(
                vectors.queries, vectors.targets, rows, snapshot, weights, advance=advance
            )
    return ranks
