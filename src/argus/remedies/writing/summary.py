"""What the writing of a remedy into a store, and its rollback, say as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.corpora.stored import OfStore
from argus.indexes.recipes import BlendRecord
from argus.reach import Reached, UnreachedRecord
from argus.remedies.blend.summary import BlendDocuments, joined_line


class WrittenCounts(TypedDict):
    """Records of a remedy.

    documents: documents that have records.
    views: records that are not a document's own vector, by kind of view.
    records: records of the remedy.
    written: records that were written now.
    there_before: records that were there: of a run that was stopped, or of the same command.
    bytes: bytes of their vectors.
    """

    documents: int
    views: dict[str, int]
    records: int
    written: int
    there_before: int
    bytes: int


class WrittenReach(TypedDict):
    """What the store brings back of the records, asked for by their own vectors.

    causes: records that did not come back, by cause.
    examples: the first records that did not come back.
    """

    k: int
    reached: Reached
    causes: dict[str, int]
    examples: list[UnreachedRecord]


class WrittenSentences(TypedDict):
    """What was made of the texts of a store's documents.

    max_views: sentence views of a document, at most.
    failed: sentences that could not be embedded.
    """

    max_views: int
    documents: BlendDocuments
    failed: int


class Delivered(TypedDict):
    """Records that are in a store.

    store: store of the documents.
    collection: collection of the records.
    others: remedies whose records are in the collection as well.
    """

    remedy: str
    store: str
    collection: str
    counts: WrittenCounts
    others: list[str]
    reach: WrittenReach


class WrittenSummary(Delivered, OfStore):
    """A remedy's records in a store: a blend of its own documents, or what an index holds.

    index: index whose state it is; None without one.
    remedies: remedies of the index that the records hold.
    settings: settings of the blend; None where an index was written.
    weight: weight λ of documents against scenarios; None without.
    left_out: documents without a whole vector, or that the store lacks.
    sentences: what became of the sentences; None where an index was written.
    """

    index: str | None
    remedies: list[str]
    settings: BlendRecord | None
    weight: float | None
    left_out: int
    sentences: WrittenSentences | None
    seconds: float


class StoreRollback(TypedDict):
    """What a rollback took out of a store.

    collection: collection of the records.
    records_removed: records that were removed.
    collection_removed: Argus made it, and it was empty.
    """

    remedy: str
    collection: str
    records_removed: int
    collection_removed: bool
    at: str


def headline(summary: WrittenSummary) -> Iterator[str]:
    """Yield what the command prints; what cannot be reached comes last."""
    counts, settings = summary["counts"], summary["settings"]
    views = "".join(f", {n:,} {kind} views" for kind, n in counts["views"].items())
    mixed = f", λ = {settings['weight']:g}, hubs {settings['hubs']:g}" if settings else ""
    yield (
        f"{summary['remedy']}: {counts['records']:,} records in {summary['collection']} "
        f"({counts['documents']:,} documents{views}; {counts['bytes'] / 1e6:,.1f} MB){mixed}"
    )
    if summary["index"] is not None:
        remedies = ", ".join(summary["remedies"]) or "no remedy: the documents alone"
        yield f"what {summary['index']} holds: {remedies}"
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
    sentences = summary["sentences"]
    if n := summary["left_out"]:
        why = "that are not in the store" if sentences is None else "without a whole vector"
        yield f"left out: {n:,} documents {why}"
    if sentences is None:
        return
    if n := sentences["documents"]["without"]:
        yield f"{n:,} documents have one sentence or none, and are found by their own vector"
    if n := sentences["documents"]["joined"]:
        yield joined_line(n, sentences["max_views"])
    if n := sentences["failed"]:
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
