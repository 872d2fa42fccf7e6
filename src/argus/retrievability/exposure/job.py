"""Exposure: what a retriever cannot bring back of a corpus, with no graph and no questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from argus.data.artifacts import ArtifactFolder
from argus.data.corpus import read_queries
from argus.data.fields import FieldNames
from argus.data.types import Document, Query
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig
from argus.engine import Engine, EngineConfig
from argus.jobs.on_engine import opened as open_engine
from argus.jobs.on_engine import require_shared
from argus.jobs.result import Result
from argus.jobs.workspace import (
    Record,
    TextWindow,
    open_encoder,
    read_documents,
    require_some,
    texts_cut,
)
from argus.reports import write_report
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.embedding import embed_documents, embed_probes
from argus.retrievability.exposure.findings import Findings
from argus.retrievability.exposure.probes import Probes, summarise_probes
from argus.retrievability.exposure.search import ProbeQueries, search_in_parts
from argus.retrievability.exposure.summary import ExposureSummary, headline


@dataclass(frozen=True, repr=False)
class ExposureResult(Result):
    """What the probes tell; everything in it is also in `folder`."""

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


def exposure(
    corpus: Path | str | Sequence[Document],
    *,
    out: Path | str,
    encoder: Encoder | EncoderConfig | str = DEFAULT_MODEL,
    config: ExposureConfig | None = None,
    queries: Path | str | Sequence[Query] = (),
    fields: FieldNames | None = None,
    store: Path | None = None,
    limit: int | None = None,
    fresh: bool = False,
    engine: EngineConfig | Engine | None = None,
) -> ExposureResult:
    """Ask for every document by its title and by sentences taken out of it.

    corpus, out, encoder, store, engine: as for `argus.audit`. queries: real queries to add to the
    sample that hubs and never-retrieved documents are counted over. In a sentence probe the
    document is embedded without the sentence; everything else is as in the index.
    """
    config = config or ExposureConfig()
    documents, path = read_documents(corpus, fields or FieldNames(), limit)
    documents = sorted(documents, key=lambda d: d.id)
    extra = read_queries(Path(queries)) if isinstance(queries, (str, Path)) else list(queries)
    sample = [d.content for d in documents if d.content.strip()]
    require_some(len(sample), "document has text", "Check --text-field.")
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(
        "exposure",
        {**asdict(config), "queries": len(extra), "limit": limit},
        {"corpus": path},
    )
    with (
        open_engine(engine) as running,
        open_encoder(
            folder, encoder, record, sample=sample, store=store, engine=running
        ) as (model, opened),
    ):  # fmt: skip
        require_shared(running, opened.path, len(sample), model.dim)
        with record.timed("embedding documents"):
            index = embed_documents(documents, model, opened)
            window = texts_cut(model, [d.content for d in index.documents])
        with record.timed("embedding probes"):
            searches = embed_probes(index, extra, config, model, opened)
        with record.timed("searching"):
            vectors = ProbeQueries(searches.vectors, searches.target, searches.stand_in)
            ranks, parts = search_in_parts(index.vectors, vectors, config.k, folder, running)
            probes = Probes(searches.kind, searches.target, searches.text, ranks.rank, ranks.top)
            exposed = summarise_probes(probes, len(index.documents), k=config.k)
    findings = Findings(documents, index, searches, probes, exposed)
    result = _keep(folder, record, findings, window)
    parts.remove()
    return result


def _keep(
    folder: ArtifactFolder, record: Record, findings: Findings, window: TextWindow | None
) -> ExposureResult:
    """Write tables, summary, manifest and report."""
    with record.timed("writing"):
        table, misses = findings.table, findings.misses()
        summary: ExposureSummary = {**findings.summary(), "text_window": window}
        folder.write_table("exposure", table, csv=True)
        folder.write_table("misses", misses, csv=True)
        folder.write_section("summary.json", "exposure", summary)
        folder.write_section("manifest.json", "exposure", record.manifest(summary["documents"]))
    return ExposureResult(folder.path, write_report(folder.path), summary, table, misses)
