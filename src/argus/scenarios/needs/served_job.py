"""Ask a retriever for every document by its own information needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.corpora.names import Corpus
from argus.data.artifacts import ArtifactFolder
from argus.data.fields import FieldNames
from argus.data.locks import one_writer
from argus.encoders import Encoder, EncoderConfig
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder
from argus.reports import write_report
from argus.retrievers.asking import Answerer, answers_of
from argus.retrievers.config import AskingConfig
from argus.retrievers.protocol import note_of
from argus.scenarios.document_types import type_slicings
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.needs.served import ServedNeeds, need_queries
from argus.scenarios.needs.served_summary import ServedNeedsSummary, headline
from argus.scenarios.needs.slices import served_slices
from argus.scenarios.needs.source import NeedSource
from argus.scenarios.profile import Profiled

JOB = "needs_served"


@dataclass(frozen=True, repr=False)
class ServedNeedsResult(Result):
    """What a retriever brings back for the needs; everything in it is also in `folder`."""

    TABLES = ("table", "needs")
    folder: Path
    report: Path
    summary: ServedNeedsSummary
    table: pa.Table
    """One row per document."""
    needs: pa.Table
    """One row per need."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def ask_needs(
    corpus: Corpus,
    profiles: Path | str | Mapping[str, Profiled],
    retriever: Any,
    *,
    out: Path | str,
    config: NeedsConfig | None = None,
    asking: AskingConfig | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    fields: FieldNames | None = None,
    limit: int | None = None,
    fresh: bool = False,
) -> ServedNeedsResult:
    """Ask a retriever for every document by its own information needs, as it serves them.

    corpus, profiles, out: as for `argus.audit_needs`; of config, k and by count. retriever, asking,
    encoder: as for `argus.compare_retrievers`. Raises InputError for bad input, and ArgusError
    where the retriever fails on every need.
    """
    config = config or NeedsConfig()
    source = NeedSource.read(corpus, profiles, fields or FieldNames(), limit, None)
    slices = type_slicings(source.documents, config.by)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(
        JOB,
        {"k": config.k, "limit": limit, "by": list(config.by)},
        {"corpus": source.path, "profiles": source.profiles_path},
    )
    check_folder(folder, record)
    queries = need_queries(source)
    with record.timed("asking"):
        name, answers = answers_of(
            Answerer(retriever, None, asking, encoder), [query for _, query in queries],
            config.k, documents=source.documents, folder=folder, record=record, what="needs",
        )  # fmt: skip
    served = ServedNeeds.of(source, queries, answers, config.k)
    table, needs = served.table(), served.needs_table()
    summary: ServedNeedsSummary = {
        **served.summary(),
        "retriever": note_of(name, answers),
        "profiles_elsewhere": source.elsewhere,
        **served_slices(folder, served, slices),
    }
    folder.write_table("needs_served", table, csv=True)
    folder.write_table("needs_served_queries", needs, csv=True)
    folder.write_section("summary.json", JOB, summary)
    folder.write_section("manifest.json", JOB, record.manifest(summary["documents"]))
    return ServedNeedsResult(folder.path, write_report(folder.path), summary, table, needs)
