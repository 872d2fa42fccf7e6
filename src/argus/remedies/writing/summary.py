"""What the writing of a remedy into a store, and its rollback, say as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.corpora.remarks import OfStore
from argus.indexes.recipes import BlendRecord
from argus.reach.summary import Reached, UnreachedRecord


class WrittenCounts(TypedDict):
    """Records of a remedy, and the documents and sentences that they are of."""

    documents: int
    documents_without_vector: int
    """Left out: there is nothing to mix."""
    sentences: int
    sentences_failed: int
    """That could not be embedded, or point against their documents."""
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
    blend: BlendRecord
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
    counts, blend = summary["counts"], summary["blend"]
    yield (
        f"{summary['remedy']}: {counts['records']:,} records in {summary['collection']} "
        f"({counts['documents']:,} documents, {counts['sentences']:,} sentences; "
        f"{counts['bytes'] / 1e6:,.1f} MB), lambda {blend['weight']:g}, hubs {blend['hubs']:g}"
    )
    if counts["there_before"]:
        yield f"{counts['there_before']:,} were there, {counts['written']:,} were written now"
    if counts["documents_without_vector"]:
        yield f"left out: {counts['documents_without_vector']:,} records without a whole vector"
    if counts["sentences_failed"]:
        yield f"failed: {counts['sentences_failed']:,} sentences"
    if summary["others"]:
        yield (
            f"WARNING: it holds records of {', '.join(summary['others'])} as well: ask for one "
            "remedy, by argus_remedy, or roll the others back"
        )
    reach = summary["reach"]
    share = reach["reached"]
    yield (
        f"asked for by their own vectors: {share['reached']:,} of {share['asked']:,} come back in "
        f"the top {reach['k']}: {share['share']:.2%} ({share['low']:.2%} to {share['high']:.2%})"
    )
    for cause, n in reach["causes"].items():
        yield f"WARNING: {n:,} records cannot be reached: {cause}"
    for record in reach["examples"][:5]:
        yield f"  {record['id']}: {record['cause']}"
