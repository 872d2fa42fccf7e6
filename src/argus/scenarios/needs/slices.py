"""Figures of a need audit by slice of the payload."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from argus.data.folders import ArtifactFolder
from argus.measures.slices import (
    Sliced,
    Slicing,
    Trials,
    slice_figures,
    slice_shares,
    slice_table,
    worst_first,
)
from argus.retrievability.rps import Scores
from argus.scenarios.needs.findings import Findings
from argus.scenarios.needs.served import ServedNeeds

FILE, SERVED = "needs_slices", "needs_served_slices"
"""The tables of shares, of vectors and of a retriever."""


def audit_slices(folder: ArtifactFolder, findings: Findings, slices: Sequence[Slicing]) -> Sliced:
    """Write the shares of needs that find their documents. slices: of the findings' documents."""
    if not slices:
        return {}
    rows = {document.id: row for row, document in enumerate(findings.documents)}
    places = np.array([rows[id_] for id_ in findings.vectors.documents.ids], np.int64)
    top = f"found in the top {findings.k} by their needs"

    def trials(share_of: str, scores: Scores) -> Trials:
        of = scores.measured
        return Trials(share_of, places[of], scores.rps[of].astype(np.float64))

    alone, fused = findings.alone.top_k, findings.fused[findings.cell].top_k
    both = (trials(f"{top}, documents alone", alone), trials(f"{top}, with scenarios", fused))
    return _written(folder, FILE, slices, both)


def served_slices(folder: ArtifactFolder, served: ServedNeeds, slices: Sequence[Slicing]) -> Sliced:
    """Write the shares of needs that a retriever serves, by slice of all documents."""
    if not slices:
        return {}
    documents = served.source.documents
    rows = [row for row, document in enumerate(documents) if document.id in served.measured]
    shares = np.array([served.share(documents[row].id) for row in rows], np.float64)
    trials = Trials(f"found in the top {served.k} by their needs", np.array(rows, np.int64), shares)
    return _written(folder, SERVED, slices, [trials])


def _written(
    folder: ArtifactFolder, name: str, slices: Sequence[Slicing], trials: Sequence[Trials]
) -> Sliced:
    shares = worst_first([share for one in trials for share in slice_shares(slices, one)])
    folder.write_table(name, slice_table(shares), csv=True)
    return {"slices": slice_figures(slices, shares)}
