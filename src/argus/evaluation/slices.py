"""A measure by slice: queries by what the payload of their relevant documents holds."""

from __future__ import annotations

import numpy as np

from argus.errors import InputError
from argus.evaluation.findings import EvaluationFindings
from argus.evaluation.judged import JudgedQueries
from argus.measures.slices import SliceShare, Slicing, Trials, slice_shares, slicings, worst_first

FILE = "evaluation_slices"
"""The table of means."""


def means_by_slice(
    findings: EvaluationFindings, questions: JudgedQueries
) -> tuple[list[Slicing], list[SliceShare]]:
    """Return the mean of the headline measure by slice, the worst first; of two systems, of both.

    A query is in the slices of all of its relevant documents, and of their chunks where these are
    folded. Raises InputError without a corpus, for a measure beyond 0 to 1, and as
    `argus.data.payload.payload_values` does.
    """
    fields, corpus = findings.config.by, questions.documents
    if not fields:
        return [], []
    if corpus is None:
        raise InputError(
            f"{fields[0]!r} without a corpus",
            expected="the corpus, whose payload tells it",
            fix="Give it with --corpus.",
            where="--by",
        )
    of_chunk = {} if questions.fold is None else questions.fold.of_chunk
    rows: dict[str, list[int]] = {}
    for row, document in enumerate(corpus):
        rows.setdefault(of_chunk.get(document.id, document.id), []).append(row)
    judged, measure = findings.judged, findings.config.headline
    relevant = [[r for d in judged.relevant(q) for r in rows.get(d, ())] for q in judged.queries]
    slices = [one.of(relevant) for one in slicings(corpus, fields)]
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
