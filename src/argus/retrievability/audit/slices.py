"""Figures of an audit by slice of the payload."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from argus.data.folders import ArtifactFolder
from argus.errors import InputError
from argus.knowledge.base import ids_of
from argus.knowledge.load import Knowledge
from argus.measures.slices import (
    Sliced,
    Slicing,
    Trials,
    slice_figures,
    slice_shares,
    slice_table,
    slicings,
    worst_first,
)
from argus.retrievability import rps
from argus.retrievability.audit.findings import Findings

FILE = "audit_slices"
"""The table of shares: an exposure in the same folder has one, too."""


def entity_slicings(knowledge: Knowledge, fields: Sequence[str]) -> list[Slicing]:
    """Return the slices of entities by fields of their documents. Of one without, "(none)".

    An entity's document is the one of its id. Raises InputError for fields of a knowledge base on
    disk, and as `argus.data.fields.payload_values` does.
    """
    if not fields:
        return []
    documents = sorted(knowledge.documents, key=lambda document: document.id)
    if not documents:
        raise InputError(
            "a knowledge base has no payload",
            expected="a corpus of documents",
            fix="Leave it out.",
            where="--by",
        )
    places = {document.id: place for place, document in enumerate(documents)}
    rows = [[places[id_]] if id_ in places else [] for id_ in ids_of(knowledge.base.entities)]
    return [one.of(rows) for one in slicings(documents, fields)]


def write_slices(folder: ArtifactFolder, findings: Findings, slices: Sequence[Slicing]) -> Sliced:
    """Write the table of shares by slice. Return the summary's part. slices: of all entities."""
    if not slices:
        return {}
    scores = findings.scores[0]
    items, values = findings.measured[scores.measured], scores.rps[scores.measured]
    low, high = (values < rps.LOW).astype(np.float64), (values > 0.5).astype(np.float64)
    trials = (
        Trials(f"RPS below {rps.LOW:g}", items, low, is_bad=True),
        Trials("RPS above 0.5", items, high),
        Trials("mean RPS", items, values.astype(np.float64)),
    )
    shares = worst_first([share for one in trials for share in slice_shares(slices, one)])
    folder.write_table(FILE, slice_table(shares), csv=True)
    return {"slices": slice_figures(slices, shares)}
