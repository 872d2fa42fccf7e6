"""Which documents are asked for, where a sample is drawn: the whole corpus is searched."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from argus.data.fields import read_parents
from argus.data.provenance import content_hash
from argus.data.types import Document, IntArray
from argus.retrievability.exposure.config import ExposureConfig

NOT_DRAWN = "not drawn"
"""Why nothing is known of a document that another was asked for in the place of."""


def drawn_rows(documents: Sequence[Document], config: ExposureConfig) -> IntArray | None:
    """Return the rows of `config.sample` documents in rising order. None where all are asked for.

    Drawn by a hash of ids and seed, so that the same are drawn whatever else the corpus holds or
    in which order. Of chunks, documents are drawn, each with all of its chunks.
    """
    if config.sample is None:
        return None
    units = [document.id for document in documents]
    if config.parent_field is not None:
        of_chunk = read_parents(documents, config.parent_field)
        units = [of_chunk[id_] for id_ in units]
    distinct = set(units)
    if config.sample >= len(distinct):
        return None
    seed = str(config.seed)
    lowest = heapq.nsmallest(
        config.sample, distinct, key=lambda id_: (content_hash(seed, id_, size=8), id_)
    )
    drawn = set(lowest)
    return np.array([row for row, unit in enumerate(units) if unit in drawn], np.int64)
