"""Ask a retriever for every document by its own information needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.corpora import Corpus
from argus.data.fields import FieldNames
from argus.data.folders import ArtifactFolder
from argus.data.writing import one_writer
from argus.encoders import Encoder, EncoderConfig
from argus.evaluation.judged import ParentFold
from argus.jobs.recorded_model import require_answers
from argus.jobs.result import Result
from argus.jobs.workspace import Record, check_folder, keep_input, require_some
from argus.measures.slices import Slicing
from argus.reports import write_report
from argus.retrievers.config import AskingConfig
from argus.retrievers.names import input_path
from argus.retrievers.opening import Answerer, require_known
from argus.retrievers.protocol import note_of
from argus.scenarios.document_types import type_slicings
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.needs.measuring import JudgedFiles, Measured, judged_questions, measure_risk
from argus.scenarios.needs.search import ServedSearch
from argus.scenarios.needs.served import ServedNeeds, need_queries
from argus.scenarios.needs.served_summary import ServedNeedsSummary, headline
from argus.scenarios.needs.slices import served_slices
from argus.scenarios.needs.source import NeedSource
from argus.scenarios.profile import Profiled
from argus.scenarios.profiles.config import ProfileConfig

JOB = "needs_served"


@dataclass(frozen=True, repr=False)
class ServedNeedsResult(Result):
    """Result of a need audit of a retriever. Everything in it is also in `folder`."""

    TABLES = ("table", "needs", "risk")
    folder: Path
    report: Path
    summary: ServedNeedsSummary
    table: pa.Table
    """One row per document."""
    needs: pa.Table
    """One row per need."""
    risk: pa.Table
    """As of `NeedsResult`."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def ask_needs(
    corpus: Corpus,
    profiles: Path | str | Mapping[str, Profiled] | None,
    retriever: Any,
    *,
    out: Path | str,
    config: NeedsConfig | None = None,
    model: ProfileConfig | None = None,
    judged: JudgedFiles | None = None,
    asking: AskingConfig | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    fields: FieldNames | None = None,
    limit: int | None = None,
    fresh: bool = False,
) -> ServedNeedsResult:
    """Ask a retriever for every document by its own information needs, as it serves them.

    corpus, profiles, out, model, judged: as for `argus.scenarios.audit_needs`. Of config, k, by
    and who is
    drawn count. retriever, asking, encoder: as for `argus.evaluation.compare_retrievers`. Raises
    InputError
    for bad input and where no result is a document of the corpus, ArgusError where the retriever
    fails on every need.
    """
    config = config or NeedsConfig()
    source = NeedSource.read(
        corpus, profiles, fields or FieldNames(), limit, None, writes=model is not None
    )
    questions = judged_questions(judged, source, config.parent_field)
    slices = type_slicings(source.documents, config.by)
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(
        JOB,
        {
            "k": config.k, "limit": limit, "by": list(config.by), **config.drawing,
            "model": model.described() if model else None,
        },
        {
            "corpus": source.path, "profiles": source.profiles_path,
            **(questions.files if questions else {}),
        },
    )  # fmt: skip
    check_folder(folder, record)
    if model is not None:  # its answers are kept before the retriever is opened
        keep_input(folder, [input_path(retriever)])
        record.open(folder)
    answerer = Answerer(retriever, None, asking, encoder)
    fold = ParentFold.of(config.parent_field, source.documents)
    search = ServedSearch(answerer, source.documents, folder, record, config.k, fold)
    with record.timed("asking"):
        measured = measure_risk(source, config, search, questions, model, folder, JOB)
        source = measured.source
        queries = need_queries(source)
        require_some(len(queries), "needs", "No profile of a document with text has some.")
        answers = search.answers([query for _, query in queries])
    require_known(answers.run, dict.fromkeys(d.id for d in source.documents), search.name)
    served = ServedNeeds.of(source, queries, answers, config.k)
    result = _finish(folder, record, served, search, measured, slices)
    if model is not None and measured.model is not None:
        require_answers(measured.model, accept=model.accept_unanswered)
    return result


def _finish(
    folder: ArtifactFolder,
    record: Record,
    served: ServedNeeds,
    search: ServedSearch,
    measured: Measured,
    slices: Sequence[Slicing],
) -> ServedNeedsResult:
    """Write the results, and return them."""
    table, needs = served.table(), served.needs_table()
    note = note_of(search.name, search.answers([query for _, query in need_queries(served.source)]))
    summary: ServedNeedsSummary = {
        **served.summary(),
        **measured.figures,
        "retriever": note,
        "profiles_elsewhere": served.source.elsewhere,
        **served_slices(folder, served, slices),
    }
    folder.write_table("needs_served", table, csv=True)
    folder.write_table("needs_served_queries", needs, csv=True)
    folder.write_results(JOB, summary, record.manifest(summary["documents"]))
    return ServedNeedsResult(
        folder.path, write_report(folder.path), summary, table, needs, measured.table
    )
