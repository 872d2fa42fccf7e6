"""Measures by slice: documents by what their payload holds, queries by their relevant ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from argus.data.types import Document
from argus.errors import InputError
from argus.evaluation.findings import EvaluationFindings
from argus.evaluation.judged import JudgedQueries
from argus.evaluation.parents import ParentFold
from argus.measures.slices import SliceShare, Slicing, Trials, slice_shares, slicings, worst_first

FILE = "evaluation_slices"
"""The table of means."""


@dataclass(frozen=True)
class Slicer:
    """Tells the slices of documents. rows: of each document, its own and its chunks' positions."""

    slicings: Sequence[Slicing]
    rows: Mapping[str, Sequence[int]]

    @classmethod
    def by(
        cls, fields: Sequence[str], corpus: Sequence[Document] | None, fold: ParentFold | None
    ) -> Slicer | None:
        """Return what slices by fields of a corpus; None where none is named.

        fold: a document is in the slices of all of its chunks. Raises InputError without a corpus,
        and as `argus.data.payload.payload_values` does.
        """
        if not fields:
            return None
        if corpus is None:
            raise InputError(
                f"{fields[0]!r} without a corpus",
                expected="the corpus, whose payload tells it",
                fix="Give it with --corpus.",
                where="--by",
            )
        of_chunk = {} if fold is None else fold.of_chunk
        rows: dict[str, list[int]] = {}
        for row, document in enumerate(corpus):
            rows.setdefault(of_chunk.get(document.id, document.id), []).append(row)
        return cls(slicings(corpus, fields), rows)

    def of(self, groups: Iterable[Iterable[str]]) -> list[Slicing]:
        """Return the slices of groups of documents: of each, those of all of its documents."""
        members = [[row for id_ in ids for row in self.rows.get(id_, ())] for ids in groups]
        return [slicing.of(members) for slicing in self.slicings]


def means_by_slice(
    findings: EvaluationFindings, questions: JudgedQueries
) -> tuple[list[Slicing], list[SliceShare]]:
    """Return the mean of the headline measure by slice, the worst first; of two systems, of both.

    A query is in the slices of all of its relevant documents, and of their chunks where these are
    folded. Raises InputError for a measure beyond 0 to 1, and as `Slicer.by` does.
    """
    slicer = Slicer.by(findings.config.by, questions.documents, questions.fold)
    if slicer is None:
        return [], []
    judged, measure = findings.judged, findings.config.headline
    slices = slicer.of(judged.relevant(query) for query in judged.queries)
    shares: list[SliceShare] = []
    for evaluation, suffix in zip(findings.scored, findings.suffixes, strict=True):
        values = np.array([evaluation.per_query[q][measure] for q in judged.queries])
        if values.min() < 0 or values.max() > 1:
            raise InputError(
                f"{measure} goes beyond 0 to 1",
                expected="a headline measure that is a share",
                fix="Name another with --headline, such as nDCG@10.",
                where="--by",
            )
        trials = Trials(f"{measure}{suffix}", np.arange(len(values)), values)
        shares += slice_shares(slices, trials)
    return slices, worst_first(shares)
