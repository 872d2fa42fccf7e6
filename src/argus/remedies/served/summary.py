"""The receipt of a retriever in summary.json."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired

from typing_extensions import TypedDict

from argus.evaluation.summary import change_of
from argus.measures.significance import DifferenceFigures
from argus.retrievers.protocol import RetrieverNote, note_lines

PROBES, JUDGED = "probes", "judged"
"""What asks: titles and sentences, or questions of people."""


class ServedState(RetrieverNote):
    """One of the two times that a retriever was asked.

    at: when its last answer came.
    queries: queries that it was asked.
    unknown: results that are no document of the corpus.
    """

    at: str
    queries: int
    unknown: int


class ServedShare(TypedDict):
    """(query, relevant document) pairs in the top k.

    found: pairs whose document is in the top k.
    share: these as a share of all pairs.
    low, high: 95% Wilson interval of that share, over queries or documents, whichever are fewer.
    """

    found: int
    share: float
    low: float
    high: float


class ServedMoves(TypedDict):
    """(query, relevant document) pairs: of queries that were answered both times.

    pairs: such pairs.
    rose, fell: pairs whose document stands higher, or lower; beyond the top k is lowest.
    recovered, lost: pairs whose document came into, or left the top k.
    """

    pairs: int
    rose: int
    fell: int
    recovered: int
    lost: int


class FallenDocument(TypedDict):
    """A document that gave way to others.

    lists: lists that it left.
    gained: lists that it came into.
    """

    doc_id: str
    lists: int
    gained: int


class ServedReceiptSummary(TypedDict):
    """What a repair changed in what is served.

    asked_by: "judged" questions, or "probes": titles and sentences.
    sample: documents that probes ask for, and of how many; absent where they ask for all.
    compared: queries that were answered both times.
    difference: of nDCG@k, paired by query.
    after: absent until it was asked again; then the rest is, too.
    neighbours_fallen: documents that left a list of a query that is not theirs.
    places_lost: lists that they left.
    neighbours: the first of them.
    """

    k: int
    asked_by: str
    sample: NotRequired[list[int]]
    before: ServedState
    after: NotRequired[ServedState]
    compared: NotRequired[int]
    found_before: NotRequired[ServedShare]
    found_after: NotRequired[ServedShare]
    difference: NotRequired[DifferenceFigures]
    moves: NotRequired[ServedMoves]
    neighbours_fallen: NotRequired[int]
    places_lost: NotRequired[int]
    neighbours: NotRequired[list[FallenDocument]]


class ServedRow(TypedDict):
    """One row per query and document that is relevant for it.

    query: text of the query.
    rank_before, rank_after: place in the list; null where it is not in the top k.
    """

    query_id: str
    query: str
    doc_id: str
    grade: int
    rank_before: int | None
    rank_after: int | None
    state: str
    reason: str


def headline(summary: ServedReceiptSummary, then: str) -> Iterator[str]:
    """Yield what was gained, and who paid for it. then: what asks again after the repair."""
    before = summary["before"]
    yield from _asked("before", before)
    if "after" not in summary:
        yield f"repair it, then run: {then}"
        return
    yield from _asked("after", summary["after"])
    unit = "titles and sentences" if summary["asked_by"] == PROBES else "judged questions"
    if (sample := summary.get("sample")) is not None:
        unit += f" of {sample[0]:,} of {sample[1]:,} documents, drawn at random"
    yield f"compared: {summary['compared']:,} {unit}, top {summary['k']}"
    shares = (summary["found_before"], summary["found_after"])
    words = [f"{s['share']:.1%} ({s['low']:.1%} to {s['high']:.1%})" for s in shares]
    moves = summary["moves"]
    yield (
        f"relevant documents found: {words[0]} → {words[1]}; {moves['recovered']:,} came into the "
        f"top {summary['k']}, {moves['lost']:,} left it, {moves['rose']:,} rose, "
        f"{moves['fell']:,} fell"
    )
    yield change_of(f"nDCG@{summary['k']} of a query", summary["difference"])
    yield (
        f"who gave way: {summary['neighbours_fallen']:,} documents left "
        f"{summary['places_lost']:,} lists of queries that are not theirs"
    )


def _asked(when: str, state: ServedState) -> Iterator[str]:
    yield f"{when}: {state['name']}, {state['queries']:,} queries, {state['at']}"
    yield from note_lines(state, state["queries"])
    if state["unknown"]:
        yield (
            f"WARNING: {state['unknown']:,} results are no document of the corpus: name where "
            "their id stands with --result-id, or give the corpus that was indexed"
        )
