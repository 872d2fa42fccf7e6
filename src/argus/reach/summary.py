"""The part of summary.json that tells what a store brings back of itself."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.measures.slices import Sliced, slice_lines


class StoreRecord(TypedDict):
    """The store as it described itself when the run began."""

    name: str
    records: int
    dim: int
    metric: str
    index: str
    vector_field: str
    is_exact: bool


class Reached(TypedDict):
    """Records that were asked for by their own vectors; the 95% interval is Wilson's."""

    asked: int
    reached: int
    share: float
    low: float
    high: float
    first: int
    """That came first."""


class Recall(TypedDict):
    """Mean recall@k of what the store serves, against an exact search; 95% interval."""

    queries: int
    recall: float
    low: float
    high: float


class UnreachedRecord(TypedDict):
    """A record that did not come back, and why; cause as in `argus.reach.causes.Cause`."""

    id: str
    cause: str
    detail: str


class ReachSummary(Sliced):
    """What a store brings back of itself."""

    k: int
    store: StoreRecord
    read: int
    """Records that were read; `store.records` is what it said before."""
    hidden: int
    """Records that the filter does not match."""
    matching: dict[str, str | int | float | bool]
    reached: Reached
    broken: dict[str, int]
    """Records without a vector to be found by, by reason."""
    causes: dict[str, int]
    """Records that did not come back, by cause; `broken` ones among them."""
    reachable: int
    """Records that could be asked for: shown by the filter, with a whole vector."""
    shortest: float | None
    longest: float | None
    """Norms of the vectors; None where none is whole."""
    recall: Recall | None
    """Of records by their own vectors; None where none was compared."""
    recall_of_queries: Recall | None
    """Of the queries that were given."""
    examples: list[UnreachedRecord]


def headline(summary: ReachSummary) -> Iterator[str]:
    """Yield what the command prints."""
    store, reached, k = summary["store"], summary["reached"], summary["k"]
    yield (
        f"{store['name']}: {summary['read']:,} records of {store['dim']:,} dimensions, "
        f"{store['metric']}, {store['index']}"
    )
    if summary["read"] != store["records"]:
        yield f"WARNING: it said {store['records']:,} before: it changes while it is read"
    if summary["hidden"]:
        yield f"hidden by the filter: {summary['hidden']:,}"
    if reached["asked"]:
        yield (
            f"asked for by their own vectors: {reached['reached']:,} of {reached['asked']:,} come "
            f"back in the top {k}: {reached['share']:.2%} ({reached['low']:.2%} to "
            f"{reached['high']:.2%}); {reached['first']:,} come first"
        )
    for name, recall in (("records", summary["recall"]), ("queries", summary["recall_of_queries"])):
        if recall is not None:
            yield (
                f"recall@{k} against an exact search, of {recall['queries']:,} {name}: "
                f"{recall['recall']:.4f} ({recall['low']:.4f} to {recall['high']:.4f})"
            )
    for cause, n in summary["causes"].items():
        yield f"  {n:,} {cause}"
    for record in summary["examples"][:5]:
        detail = f" ({record['detail']})" if record["detail"] else ""
        yield f"  {record['id']}: {record['cause']}{detail}"
    if reached["asked"] < summary["reachable"]:
        yield f"asked for {reached['asked']:,} of {summary['reachable']:,}, drawn at random"
    if slices := summary.get("slices"):
        yield from slice_lines(slices)
    yield _meaning(summary)


NEXT = {
    "lost": "Write the lost records again (delete, then add), or search deeper; then run this "
    "command again: a rebuild is no proof.",
    "broken": "Write the vectors of the broken records again.",
    "equal": "A list holds only so many of equal vectors: remove copies, or search deeper.",
    "outscored": "Longer vectors win by dot product: store unit vectors, or rank by cosine.",
    "changed": "Run it again when nothing is written to the store.",
}
"""What to do next, by how a cause begins; the first that there is."""


def _meaning(summary: ReachSummary) -> str:
    """Return what it comes to, and what to do next."""
    causes = summary["causes"]
    if not causes:
        return "Every record that was asked for comes back for its own vector."
    return next(
        (text for start, text in NEXT.items() if any(c.startswith(start) for c in causes)),
        "unreached.csv names them.",
    )
