"""From documents and a search to the needs that ask, and the risk that they tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from argus.data.folders import ArtifactFolder
from argus.data.types import Qrels, Query
from argus.errors import InputError
from argus.evaluation.judged import JudgedQueries, ParentFold, read_judged
from argus.jobs.recorded_model import RecordedModel
from argus.scenarios.files import write_profiles
from argus.scenarios.needs.config import NeedsConfig
from argus.scenarios.needs.drawing import draw, draw_order
from argus.scenarios.needs.risk import DocumentRisks, judged_risk, table_name
from argus.scenarios.needs.risk_summary import WithRisk
from argus.scenarios.needs.search import NeedSearch
from argus.scenarios.needs.source import NeedSource
from argus.scenarios.needs.writing import open_writer, with_further
from argus.scenarios.profiles.config import ProfileConfig

WRITTEN = "need_profiles.jsonl"
"""Profiles of the documents that were drawn, where a model wrote some of them."""


@dataclass(frozen=True)
class JudgedFiles:
    """Judged questions that the risk is compared with, or none."""

    queries: Path | str | Sequence[Query] | None = None
    qrels: Path | str | Qrels | None = None


def judged_questions(
    files: JudgedFiles | None, source: NeedSource, field: str | None
) -> JudgedQueries | None:
    """Return them, of documents where chunks are folded. InputError for one of the two."""
    if files is None or (files.queries is None and files.qrels is None):
        return None
    if files.queries is None or files.qrels is None:
        lacking = "--queries" if files.queries is None else "--qrels"
        raise InputError(
            f"judged questions without {lacking}",
            expected="both: --queries, and --qrels that say what is relevant to each",
            fix="Name the other file, too.",
            where=lacking,
        )
    judged = read_judged(files.queries, files.qrels)
    return replace(judged, documents=source.documents).folded(field)


@dataclass(frozen=True)
class Measured:
    """The source with the documents that were drawn, and their figures."""

    source: NeedSource
    figures: WithRisk
    model: RecordedModel | None
    table: pa.Table


def measure_risk(
    source: NeedSource,
    config: NeedsConfig,
    search: NeedSearch,
    questions: JudgedQueries | None,
    writing: ProfileConfig | None,
    folder: ArtifactFolder,
    job: str,
) -> Measured:
    """Draw documents, ask for them by their needs, and write need_risk.

    questions: judged ones, folded as the search is. writing: the model that writes missing needs.
    job: whose section of summary.json it is of.
    """
    k = min(config.k, len(source.usable))
    order = draw_order(source, config, writes=writing is not None)
    with open_writer(writing, order, source.profiles, folder) as writer:
        drawn = draw(source, config, writer, search, k)
    fold = ParentFold.of(config.parent_field, source.documents)
    risks = DocumentRisks(drawn, source.documents, k, fold)
    written = 0
    if writer is not None:
        written = len(drawn.profiles.keys() - source.profiles.keys())
        write_profiles(
            folder.own(WRITTEN),
            (with_further(p, drawn.further.get(id_, ())) for id_, p in drawn.profiles.items()),
        )
    figures: WithRisk = {
        "risk": risks.summary(config, written, judged_risk(risks, questions, search))
    }
    if writer is not None:
        figures["language_model"] = writer.model.summary()
    table = risks.table()
    folder.write_table(table_name(job), table, csv=True)
    is_part = config.sample is not None or config.until_width is not None
    whole = replace(
        source,
        profiles={**source.profiles, **drawn.profiles},
        drawn=frozenset(drawn.profiles) if is_part else None,
    )
    return Measured(whole, figures, writer.model if writer is not None else None, table)
