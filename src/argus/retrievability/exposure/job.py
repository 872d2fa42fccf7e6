"""Exposure: how reachable documents are for a retriever, with no graph and no questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from argus.corpora import Corpus
from argus.data.documents import BEIR_FILES, read_queries, write_beir
from argus.data.fields import FieldNames, read_parents
from argus.data.folders import ArtifactFolder
from argus.data.types import Query, Run
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig, Rows
from argus.engine import Engine, EngineConfig
from argus.errors import InputError
from argus.jobs.on_engine import opened as open_engine
from argus.jobs.on_engine import require_shared
from argus.jobs.result import Result
from argus.jobs.workspace import (
    Record,
    any_encoder,
    read_documents,
    require_some,
    texts_cut,
)
from argus.measures.slices import Slicing, slice_figures, slice_table, slicings, worst_first
from argus.reports import write_report
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.findings import DISPLACED, Findings, shares_by_slice
from argus.retrievability.exposure.parents import Parents
from argus.retrievability.exposure.retrievers import PlainProbes, ask_probes, probe_queries
from argus.retrievability.exposure.summary import (
    ExposureSummary,
    MoreFigures,
    SearchedFacts,
    headline,
)
from argus.retrievability.exposure.vectors import embed_documents, embed_probes, search_probes
from argus.retrievers.config import AskingConfig
from argus.retrievers.opening import Answerer


@dataclass(frozen=True, repr=False)
class ExposureResult(Result):
    """Result of the probes. Everything in it is also in `folder`."""

    TABLES = ("table", "misses")
    folder: Path
    report: Path
    summary: ExposureSummary
    table: pa.Table
    """One row per document."""
    misses: pa.Table
    """One row per probe that did not bring its document back within k."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def exposure(
    corpus: Corpus,
    *,
    out: Path | str,
    encoder: Encoder[Rows] | EncoderConfig | str = DEFAULT_MODEL,
    config: ExposureConfig | None = None,
    queries: Path | str | Sequence[Query] = (),
    fields: FieldNames | None = None,
    store: Path | None = None,
    limit: int | None = None,
    fresh: bool = False,
    engine: EngineConfig | Engine | None = None,
    retriever: Any = None,
    asking: AskingConfig | None = None,
    run: Path | Run | None = None,
) -> ExposureResult:
    """Ask for every document by its title and by sentences taken out of it.

    Reachability does not tell which real questions fail (docs/results/what-reachability-tells.md).

    corpus, out, encoder, store, engine: as for `argus.audit`. queries: real queries to add to the
    sample that hubs and never-retrieved documents are counted over. In a sentence probe the
    document is embedded without the sentence. Everything else is as in the index.

    Where `config.parent_field` names the document that a chunk is of, figures are told of chunks
    and of documents: a chunk's siblings are no rivals of it, and one that holds the sentence of a
    probe too is left out of its document for that probe. `config.by`: fields to slice shares by.

    retriever: asked in place of an encoder: a name (see `argus.retrievers.names`), or any
    object or function that retrieves (see `argus.retrievers.python_retriever`). asking: how.
    `encoder` then
    embeds the queries of a store. run: its answers to `export_probes`,
    made elsewhere. Sentences are then left in the documents: nothing can be taken out of an index
    that Argus did not build. A probe that the retriever fails on is failed, never a miss.
    """
    config = config or ExposureConfig()
    source = Answerer(retriever, run, asking, cast(Encoder | EncoderConfig | str, encoder))
    embedded_by = None if source.is_named else encoder
    documents, path = read_documents(corpus, fields or FieldNames(), limit, embedded_by)
    documents = sorted(documents, key=lambda d: d.id)
    extra = _real(queries)
    of_chunk = read_parents(documents, config.parent_field)
    slices = slicings(documents, config.by)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(
        "exposure",
        {**asdict(config), "queries": len(extra), "limit": limit},
        {"corpus": path, "run": run if isinstance(run, Path) else None},
    )
    if source.is_named:
        findings, facts = ask_probes(documents, extra, config, source, folder, record)
        return _keep(folder, record, findings, facts, slices)
    sample = [d.content for d in documents if d.content.strip()]
    require_some(len(sample), "document has text", "Check --text-field.")
    with (
        open_engine(engine) as running,
        any_encoder(folder, encoder, record, sample=sample, store=store, engine=running) as opened,
    ):
        model, vectors = opened
        require_shared(running, vectors.path, len(sample), vectors.mapped_dim)
        with record.timed("embedding documents"):
            index = embed_documents(documents, model, vectors)
            window = texts_cut(model, [d.content for d in index.documents])
        with record.timed("embedding probes"):
            searches = embed_probes(index, extra, config, model, vectors)
        with record.timed("searching"):
            field = config.parent_field
            parents = Parents.of(field, of_chunk, index.documents) if field is not None else None
            ranked, parts = search_probes(index, searches, parents, config.k, folder, running)
    findings = ranked.findings(documents, config.k)
    result = _keep(folder, record, findings, {"text_window": window}, slices)
    parts.remove()
    return result


@one_writer
def export_probes(
    corpus: Corpus,
    folder: Path | str,
    *,
    config: ExposureConfig | None = None,
    queries: Path | str | Sequence[Query] = (),
    fields: FieldNames | None = None,
    limit: int | None = None,
) -> PlainProbes:
    """Write corpus, probes and their targets as a BEIR collection, to be run elsewhere.

    `exposure(..., run=RUN)` with the same corpus, queries and settings reads the answers. Raises
    InputError for a folder that has a collection which Argus did not write.
    """
    collection = _collection(Path(folder))
    documents, _ = read_documents(corpus, fields or FieldNames(), limit, None)
    documents = sorted(documents, key=lambda d: d.id)
    probes = probe_queries(documents, _real(queries), config or ExposureConfig())
    collection.open()
    for file in BEIR_FILES:
        collection.own(Path(file).parts[0])
    write_beir(collection.path, documents, probes.queries, probes.qrels)
    return probes


def _collection(path: Path) -> ArtifactFolder:
    """Return a folder for a collection. Refuse one whose collection Argus did not write."""
    folder = ArtifactFolder(path)
    for file in BEIR_FILES:
        if (folder / file).exists() and Path(file).parts[0] not in folder.recorded():
            raise InputError(
                "is there, and Argus did not write it",
                expected="a folder without a collection, or one of earlier probes",
                fix="Name another folder: what is there would be lost.",
                where=folder / file,
            )
    return folder


def _real(queries: Path | str | Sequence[Query]) -> list[Query]:
    return read_queries(Path(queries)) if isinstance(queries, (str, Path)) else list(queries)


def _keep(
    folder: ArtifactFolder,
    record: Record,
    findings: Findings,
    facts: SearchedFacts,
    slices: Sequence[Slicing],
) -> ExposureResult:
    """Write tables, summary, manifest and report."""
    with record.timed("writing"):
        table, misses = findings.table, findings.misses()
        folder.write_table("exposure", table, csv=True)
        folder.write_table("misses", misses, csv=True)
        folder.write_table(DISPLACED, findings.displaced())
        more = _more(folder, findings, slices)
        summary: ExposureSummary = {
            **findings.summary(), **facts, **more, **record.of_store(),
        }  # fmt: skip
        folder.write_results("exposure", summary, record.manifest(summary["documents"]))
    return ExposureResult(folder.path, write_report(folder.path), summary, table, misses)


def _more(folder: ArtifactFolder, findings: Findings, slices: Sequence[Slicing]) -> MoreFigures:
    """Write the tables of documents and of slices. Return the summary's parts."""
    more: MoreFigures = {}
    if findings.parents is not None:
        more["parents"] = findings.parents.summary()
        folder.write_table("documents", findings.parents.table(), csv=True)
    if slices:
        shares = worst_first(shares_by_slice(findings, slices))
        more["slices"] = slice_figures(slices, shares)
        folder.write_table("slices", slice_table(shares), csv=True)
    return more
