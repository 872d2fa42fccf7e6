"""The need audit: which documents are not brought back by their needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

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
    TextWindow,
    open_encoder,
    require_some,
    texts_cut,
)
from argus.measures.slices import Slicing
from argus.progress import progress
from argus.reports import write_report
from argus.scenarios.ablation.grid import Documents, embed_scenarios
from argus.scenarios.document_types import type_slicings
from argus.scenarios.needs.config import NeedsConfig, PoolSetting
from argus.scenarios.needs.findings import Findings, Need, Vectors
from argus.scenarios.needs.measuring import JudgedFiles, Measured, judged_questions, measure_risk
from argus.scenarios.needs.ranks import NeedRanks, held_out_ranks, held_out_rows
from argus.scenarios.needs.search import VectorSearch
from argus.scenarios.needs.slices import audit_slices
from argus.scenarios.needs.source import NeedSource
from argus.scenarios.needs.summary import NeedsSummary, headline
from argus.scenarios.needs.tables import documents_table, needs_table
from argus.scenarios.openings import in_form
from argus.scenarios.profile import Component, Profiled
from argus.scenarios.profile import needs as needs_of
from argus.scenarios.profiles.config import ProfileConfig

JOB = "needs"


@dataclass(frozen=True, repr=False)
class NeedsResult(Result):
    """Result of the need audit. Everything in it is also in `folder`."""

    TABLES = ("table", "needs", "risk")
    folder: Path
    report: Path
    summary: NeedsSummary
    table: pa.Table
    """One row per document."""
    needs: pa.Table
    """One row per need of a document that could be searched."""
    risk: pa.Table
    """One row per document that its needs were asked for, the greatest risk first."""

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
        measured = measure_risk(source, config, search, questions, model, folder, JOB)
        source = measured.source
        source = replace(source, profiles=in_form(source.profiles, config.form))
        vectors, window = _embed(source, config, own, loaded, opened), texts_cut(loaded, sample)
    _check(vectors)
    with record.timed("ranking"):
        ranks = rank_needs(vectors, config.components, (DOCUMENTS_ALONE, *config.weights))
    result = _finish(folder, record, source, vectors, ranks, config, window, slices, measured)
    if model is not None and measured.model is not None:
        require_answers(measured.model, accept=model.accept_unanswered)
    return result


def _finish(
    folder: ArtifactFolder,
    record: Record,
    source: NeedSource,
    vectors: Vectors,
    ranks: Mapping[Component, NeedRanks],
    config: NeedsConfig,
    window: TextWindow | None,
    slices: Sequence[Slicing],
    measured: Measured,
) -> NeedsResult:
    """Score, write the results, and return them."""
    with record.timed("scoring"):
        findings = Findings(
            source.documents, source.profiles, vectors, ranks, config.cells,
            config.fitting(len(vectors.documents.ids)), PoolSetting(config.k, config.pool),
            config.seed, source.drawn,
        )  # fmt: skip
        table, needs = documents_table(findings), needs_table(findings)
        summary: NeedsSummary = {
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
    return NeedsResult(
        folder.path, write_report(folder.path), summary, table, needs, measured.table
    )


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


def _check(vectors: Vectors) -> None:
    """Raise ArgusError where there is nothing to search, or to search with."""
    failures = [*vectors.document_failures.values(), *vectors.need_failures.values()]
    why = failures[0] if failures else ""
    require_some(int(len(vectors.documents.ids) > 1), "two documents have a vector", why)
    require_some(len(vectors.queries), "need has a vector", why)


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
