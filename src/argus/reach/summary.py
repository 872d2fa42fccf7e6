"""The part of summary.json that tells what a store brings back of itself."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.measures.slices import Sliced, slice_lines


class StoreRecord(TypedDict):
    """The store as it described itself when the run began.

    name: name of the store.
    records: records that it says to hold.
    metric: metric that it ranks by.
    index: kind of its index.
    vector_field: field that holds the vector.
    is_exact: whether its search is exact.
    """

    name: str
    records: int
    dim: int
    metric: str
    index: str
    vector_field: str
    is_exact: bool


class Reached(TypedDict):
    """Records that were asked for by their own vectors; the 95% interval is Wilson's.

    asked: records that were asked for.
    reached: of these, records in the top k.
    share: these as a share.
    first: records that came first.
    """

    asked: int
    reached: int
    share: float
    low: float
    high: float
    first: int


class Recall(TypedDict):
    """Mean recall@k of what the store serves, against an exact search; 95% interval.

    queries: queries that were compared.
    recall: mean recall@k, from 0 to 1.
    """

    queries: int
    recall: float
    low: float
    high: float


class UnreachedRecord(TypedDict):
    """One row per record that does not come back for its own vector.

    cause: why it does not come back, as in `argus.reach.causes.Cause`.
    detail: what shows the cause; empty where nothing more is known.
    """

    id: str
    cause: str
    detail: str


class ReachSummary(Sliced):
    """What a store brings back of itself.

    read: records that were read; `store.records` is what it said before.
    hidden: records that the filter does not match.
    matching: filter that records have to match.
    broken: records without a vector to be found by, by reason.
    causes: records that did not come back, by cause; `broken` ones among them.
    reachable: records that could be asked for: shown by the filter, with a whole vector.
    shortest: least norm of a vector; None where none is whole.
    longest: greatest norm of a vector; None where none is whole.
    recall: recall of records by their own vectors; None where none was compared.
    recall_of_queries: recall of the queries that were given; None without.
    examples: the first records that did not come back.
    """

    k: int
    store: StoreRecord
    read: int
    hidden: int
    matching: dict[str, str | int | float | bool]
    reached: Reached
    broken: dict[str, int]
    causes: dict[str, int]
    reachable: int
    shortest: float | None
    longest: float | None
    recall: Recall | None
    recall_of_queries: Recall | None
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
