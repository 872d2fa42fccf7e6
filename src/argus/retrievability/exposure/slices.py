"""Figures of an exposure run by slice of the payload."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from argus.measures.slices import SliceShare, Slicing, Trials, slice_shares
from argus.retrievability.exposure.findings import Findings
from argus.retrievability.exposure.probes import SENTENCE, TITLE


def shares_by_slice(findings: Findings, slicings: Sequence[Slicing]) -> list[SliceShare]:
    """Return every share by slice. slicings: of the findings' documents.

    Where these are chunks, a document is in the slices of all of its chunks.
    """
    places = {document.id: place for place, document in enumerate(findings.documents)}
    rows = [[places[document.id]] for document in findings.searched.documents]
    parents = findings.parents
    shares = _shares(findings, [s.of(rows) for s in slicings], "chunks " if parents else "")
    if parents is not None:
        groups: list[list[int]] = [[] for _ in parents.findings.searched.documents]
        for group, row in zip(parents.of.tolist(), rows, strict=True):
            groups[group] += row
        shares += _shares(parents.findings, [s.of(groups) for s in slicings], "documents ")
    return shares


def _shares(findings: Findings, slicings: Sequence[Slicing], unit: str) -> list[SliceShare]:
    """Return the shares of one kind of thing. slicings: of searched things."""
    probes, known = findings.probes, np.flatnonzero(findings.known)
    names = {TITLE: "their title", SENTENCE: "a sentence of their own"}
    trials = []
    for kind, name in names.items():
        own = probes.kind == kind
        hits = (probes.rank[own] <= findings.exposure.k).astype(np.float64)
        trials.append(Trials(f"{unit}found by {name}", probes.target[own], hits))
    never = findings.exposure.never[known].astype(np.float64)
    trials.append(Trials(f"{unit}never retrieved", known, never, is_bad=True))
    return [share for one in trials for share in slice_shares(slicings, one)]
