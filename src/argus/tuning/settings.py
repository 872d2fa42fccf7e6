"""Vary the settings of the retriever that runs, one at a time, as arms.

Of a store: exact search, which is the most that a greater `ef` can bring, and no filter. Of any
retriever: fewer chunks fetched, where chunks are folded to documents, and a threshold of the score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from argus.data.types import Query, Run
from argus.evaluation.judged import ParentFold
from argus.retrievers.dense import StoreSource
from argus.retrievers.opening import OpenRetriever
from argus.tuning.arms import DEPTH, MINE, Tried


def store_arms(
    opened: OpenRetriever, queries: Sequence[Query], k: int
) -> Iterator[tuple[str, Tried]]:
    """Yield a store as it answers under other settings. Nothing of any other retriever."""
    source = opened.source
    if not isinstance(source, StoreSource):
        return
    for way, rank in source.ways.items():
        other = replace(opened, source=replace(source, rank=rank), identity="")
        answers = other.ask(queries, k)
        if not answers.failed:
            yield f"{MINE}, {way}", Tried(answers.run, [*answers.ms.values()])


def cut_arms(mine: Tried, fold: ParentFold | None) -> Iterator[tuple[str, Tried]]:
    """Yield what runs with less of its results: fewer chunks, or those above a threshold.

    The threshold is the median score of the tenth result, which no judgement has chosen.
    """
    deepest = max(map(len, mine.run.values()), default=0)
    for fetched in (DEPTH, 2 * DEPTH) if fold is not None else ():
        if fetched < deepest:
            run: Run = {q: dict([*found.items()][:fetched]) for q, found in mine.run.items()}
            yield f"{MINE}, {fetched} chunks fetched", replace(mine, run=run)
    tenth = [[*found.values()][DEPTH - 1] for found in mine.run.values() if len(found) >= DEPTH]
    if not tenth:
        return
    least = float(np.median(tenth))
    run = {q: {d: s for d, s in found.items() if s >= least} for q, found in mine.run.items()}
    left = np.mean([min(len(found), DEPTH) for found in run.values()])
    note = f"{left:.1f} of {DEPTH} documents are left"
    yield f"{MINE}, scores from {least:.3g}", replace(mine, run=run, note=note)
