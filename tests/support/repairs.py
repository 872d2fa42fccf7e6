"""What tests of repairs look at."""

import pyarrow.parquet as pq

from argus.indexes.views import ViewIndex


def receipt(result):
    return pq.read_table(result.folder / "receipt.parquet").to_pylist()


def remedies(index):
    return [r.id for r in ViewIndex.open(index).remedies()]


def rank(scores, doc_id):
    """How many documents come before, ties by id, and 1."""
    own = scores[doc_id]
    return 1 + sum((-s, d) < (-own, doc_id) for d, s in scores.items())


def top(scores, k):
    return set(sorted(scores, key=lambda d: (-scores[d], d))[:k])


def scored(views, vectors, query):
    """Document -> best score of its views."""
    scores = {}
    for view, vector in zip(views, vectors, strict=True):
        scores[view.doc_id] = max(scores.get(view.doc_id, -1.0), float(vector @ query))
    return scores
