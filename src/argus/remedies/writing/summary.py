"""What the writing of a remedy into a store, and its rollback, say as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.corpora.remarks import OfStore
from argus.indexes.recipes import BlendRecord
from argus.reach.summary import Reached, UnreachedRecord
from argus.remedies.blend.summary import BlendDocuments


class WrittenCounts(TypedDict):
    """Records of a remedy, one for each document and for each of their sentences."""

    documents: int
    sentences: int
    records: int
    written: int
    there_before: int
    """Of a run that was stopped, or of the same command."""
    bytes: int
    """Of their vectors."""


class WrittenReach(TypedDict):
    """What the store brings back of the records, asked for by their own vectors."""

    k: int
    reached: Reached
    causes: dict[str, int]
    """Records that did not come back, by cause."""
    examples: list[UnreachedRecord]


class WrittenSummary(OfStore):
    """A remedy's records in a store."""

    remedy: str
    store: str
    """Of the documents."""
    collection: str
    """Of the records."""
    settings: BlendRecord
    max_views: int
    documents: BlendDocuments
    without_vector: int
    """Records of the user's that were left out: there is nothing to mix."""
    sentences_failed: int
    counts: WrittenCounts
    others: list[str]
    """Remedies whose records are in the collection as well."""
    reach: WrittenReach
    seconds: float


class StoreRollback(TypedDict):
    """What a rollback took out of a store."""

    remedy: str
    collection: str
    records_removed: int
    collection_removed: bool
    """Argus made it, and it was empty."""
    at: str


def headline(summary: WrittenSummary) -> Iterator[str]:
    """Yield what the command prints; what cannot be reached comes last."""
    counts, settings = summary["counts"], summary["settings"]
    yield (
        f"{summary['remedy']}: {counts['records']:,} records in {summary['collection']} "
        f"({counts['documents']:,} documents, {counts['sentences']:,} sentences; "
        f"{counts['bytes'] / 1e6:,.1f} MB), λ = {settings['weight']:g}, hubs {settings['hubs']:g}"
    )
    if counts["there_before"]:
        yield f"{counts['there_before']:,} were there, {counts['written']:,} were written now"
    yield from _left_out(summary)
    if summary["others"]:
        yield (
            f"WARNING: it holds records of {', '.join(summary['others'])} as well: ask for one "
            "remedy, by argus_remedy, or roll the others back"
        )
    yield from _reach(summary["reach"])


def _left_out(summary: WrittenSummary) -> Iterator[str]:
    documents = summary["documents"]
    if n := summary["without_vector"]:
        yield f"left out: {n:,} records without a whole vector of their own"
    if n := documents["without"]:
        yield f"{n:,} documents have one sentence or none, and are found by their own vector"
    if n := documents["joined"]:
        yield (
            f"{n:,} documents have more than {summary['max_views']:,} sentences: neighbours stand "
            "together (--max-views)"
        )
    if n := summary["sentences_failed"]:
        yield f"{n:,} sentences could not be embedded and are left out"


def _reach(reach: WrittenReach) -> Iterator[str]:
    share = reach["reached"]
    yield (
        f"asked for by their own vectors: {share['reached']:,} of {share['asked']:,} come back in "
        f"the top {reach['k']}: {share['share']:.2%} ({share['low']:.2%} to {share['high']:.2%})"
    )
    for cause, n in reach["causes"].items():
        yield f"WARNING: {n:,} records cannot be reached: {cause}"
    for record in reach["examples"][:5]:
        yield f"  {record['id']}: {record['cause']}"
