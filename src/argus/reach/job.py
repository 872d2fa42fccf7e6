"""Reach: ask a store for its own records, and tell why some do not come back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.artifacts import ArtifactFolder
from argus.data.corpus import read_queries
from argus.data.locks import one_writer
from argus.data.types import FloatArray, Query
from argus.encoders import Encoder, EncoderConfig, loaded_encoder
from argus.errors import InputError
from argus.jobs.result import Result
from argus.jobs.workspace import NO_ENCODER, Record, require_some
from argus.reach.config import ReachConfig
from argus.reach.exact import exact_ranks
from argus.reach.findings import Findings
from argus.reach.self_queries import SelfQueries
from argus.reach.summary import ReachSummary, headline
from argus.reach.survey import Survey, survey
from argus.reach.tally import require_fields
from argus.reports import write_report
from argus.stores.config import StoreConfig
from argus.stores.errors import check_dimension
from argus.stores.filters import typed
from argus.stores.opening import open_store
from argus.stores.protocol import Filter, Store, StoreFacts


@dataclass(frozen=True, repr=False)
class ReachResult(Result):
    """What a store brings back of itself; everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: ReachSummary
    table: pa.Table
    """One row per record that does not come back, and why."""

    def headline(self) -> Iterator[str]:
        """Yield the figures that matter."""
        return headline(self.summary)


@one_writer
def reach(
    store: str | Store,
    *,
    out: Path | str,
    config: ReachConfig | None = None,
    opening: StoreConfig | None = None,
    matching: Filter | None = None,
    queries: Path | str | Sequence[Query] = (),
    encoder: Encoder | EncoderConfig | str | None = None,
    fresh: bool = False,
) -> ReachResult:
    """Ask for stored records by their own vectors, and find why some do not come back.

    store: `KIND:PLACE/COLLECTION` (see `argus.stores.spec`), or one that is opened. matching: field
    to value, as the team's own filter or tenant has it; a text stands for a number where the
    records hold numbers. queries, with the encoder that embeds them:
    recall against an exact search is told for them, too. Raises InputError for what names no store
    and for queries without an encoder, ArgusError where the store fails.
    """
    config = config or ReachConfig()
    questions = read_queries(Path(queries)) if isinstance(queries, (str, Path)) else list(queries)
    if questions and encoder is None:
        raise InputError(
            f"{len(questions):,} queries without an encoder",
            expected="the model that embeds queries for this store",
            fix="Name it with --encoder.",
            where="--encoder",
        )
    folder = ArtifactFolder(Path(out), fresh=fresh)
    with open_store(store, opening) as opened:
        facts = opened.describe()
        record = Record("reach", {**asdict(config), "store": opened.name, "matching": matching}, {})
        record.encoder["fingerprint"] = NO_ENCODER
        require_some(facts.records, "record in the store", "Check the collection's name.")
        shown = typed(matching, opened, config.batch) if matching else None
        vectors = _vectors(questions, encoder, facts, record)
        require_fields(opened, config.by, config.batch)
        record.open(folder)
        with record.timed("asking"):
            surveyed = survey(opened, facts, config, shown)
        with record.timed("comparing"):
            findings = _examined(opened, facts, config, shown or {}, surveyed, vectors)
    return _keep(folder, record, findings)


def _examined(
    store: Store,
    facts: StoreFacts,
    config: ReachConfig,
    matching: Filter,
    surveyed: Survey,
    vectors: FloatArray | None,
) -> Findings:
    """Compare exactly, in one reading: what did not come back, the recall sample, the queries."""
    together, k = SelfQueries(), config.k
    together.extend(surveyed.unreached)
    together.extend(surveyed.for_recall)
    if vectors is not None:
        together.extend(_queried(store, vectors, config, matching))
    empty: npt.NDArray[np.float64] = np.zeros(0)
    if not len(together):
        return Findings(store.name, facts, k, matching, surveyed, None, empty, None)
    ranks = exact_ranks(store, facts, together, k, matching)
    first = len(surveyed.unreached)
    then = first + len(surveyed.for_recall)
    queried = None if vectors is None else ranks.recall[then:]
    return Findings(
        store.name, facts, k, matching, surveyed, ranks, ranks.recall[first:then], queried
    )


def _queried(
    store: Store, vectors: FloatArray, config: ReachConfig, matching: Filter
) -> SelfQueries:
    """Ask for the queries; they have no record of their own."""
    queries = SelfQueries()
    for start in range(0, len(vectors), config.batch):
        part = vectors[start : start + config.batch]
        answers = store.search(part, config.k, matching=matching or None)
        for vector, hits in zip(part, answers, strict=True):
            queries.add("", vector, hits)
    return queries


def _vectors(
    questions: Sequence[Query],
    encoder: Encoder | EncoderConfig | str | None,
    facts: StoreFacts,
    record: Record,
) -> FloatArray | None:
    """Return the vectors of the queries that have text; InputError for another dimension."""
    texts = [query.text for query in questions if query.text.strip()]
    if not texts or encoder is None:
        return None
    encoder = loaded_encoder(encoder)
    record.encoder["fingerprint"] = encoder.fingerprint
    check_dimension(encoder.dim, facts, "the store")
    return np.asarray(encoder.encode_queries(texts), np.float32)


def _keep(folder: ArtifactFolder, record: Record, findings: Findings) -> ReachResult:
    """Write table, summary, manifest and report."""
    table, sliced = findings.table(), findings.survey.tally.write(folder)
    summary: ReachSummary = {**findings.summary(), **sliced}
    folder.write_table("unreached", table, csv=True)
    counts = {"read": summary["read"], **summary["reached"]}
    folder.write_results("reach", summary, record.manifest(counts))
    return ReachResult(folder.path, write_report(folder.path), summary, table)
