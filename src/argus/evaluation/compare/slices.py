"""What is gained and lost by slice of the corpus: of documents, and of those that are relevant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from argus.evaluation.compare.rows import GAINED, LOST, SAME, RelevantPair
from argus.evaluation.compare.summary import ComparisonRow
from argus.evaluation.slices import Slicer
from argus.measures.slices import (
    Sliced,
    SliceShare,
    Slicing,
    Trials,
    slice_figures,
    slice_shares,
    worst_first,
)

FILE = "comparison_slices"
"""The table of shares."""


@dataclass(frozen=True)
class ChangesBySlice:
    """shares: the worst first."""

    slicings: Sequence[Slicing] = ()
    shares: Sequence[SliceShare] = ()

    def figures(self) -> Sliced:
        """Return what the summary tells; nothing where no field was named."""
        return {"slices": slice_figures(self.slicings, self.shares)} if self.slicings else {}


NO_SLICES = ChangesBySlice()


def changes_by_slice(
    slicer: Slicer | None,
    rows: Sequence[ComparisonRow],
    pairs: Sequence[RelevantPair] = (),
) -> ChangesBySlice:
    """Return the shares of documents and of relevant documents that are lost and gained.

    rows: of which documents count that both sides could bring back. pairs: of a query and a
    relevant document; a document counts as often as it is relevant.
    """
    if slicer is None:
        return NO_SLICES
    verdicts = (LOST, GAINED, SAME)
    documents = [r for r in rows if r["kind"] == "document" and r["verdict"] in verdicts]
    ids = list(dict.fromkeys([r["id"] for r in documents] + [p.document for p in pairs]))
    slices = slicer.of([id_] for id_ in ids)
    place = {id_: i for i, id_ in enumerate(ids)}
    of_documents = [(place[r["id"]], r["verdict"]) for r in documents]
    of_pairs = [(place[p.document], p.verdict) for p in pairs]
    shares = [
        share
        for what, outcomes in (("documents", of_documents), ("relevant documents", of_pairs))
        for verdict in (LOST, GAINED)
        for share in slice_shares(slices, _trials(f"{what} {verdict}", outcomes, verdict))
    ]
    return ChangesBySlice(slices, worst_first(shares))


def _trials(share_of: str, outcomes: Sequence[tuple[int, str]], verdict: str) -> Trials:
    """Return one trial per outcome: whether it is the verdict."""
    items = np.array([item for item, _ in outcomes], dtype=np.int64)
    values = np.array([float(outcome == verdict) for _, outcome in outcomes])
    return Trials(share_of, items, values, is_bad=verdict == LOST)
