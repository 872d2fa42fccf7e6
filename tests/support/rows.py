"""Random rows of encoders of each family, and their scores by definition."""

import math

import numpy as np
from scipy.sparse import csr_array

from argus.encoders.protocol import SparseRows, TokenRows

TERMS, DIM = 9, 3


def sparse_rows(rng, n, *, whole=True):
    """Rows of a few terms, at least one each; whole weights tie often."""
    dense = np.zeros((n, TERMS), np.float32)
    for row in dense:
        chosen = rng.choice(TERMS, rng.integers(1, 5), replace=False)
        row[chosen] = rng.integers(1, 4, len(chosen)) if whole else rng.random(len(chosen)) + 0.1
    return SparseRows(csr_array(dense))


def token_rows(rng, n, *, whole=True):
    """Texts of one to six tokens; whole numbers tie often."""
    texts = []
    for _ in range(n):
        shape = rng.integers(1, 7), DIM
        texts.append(rng.integers(-2, 3, shape) if whole else rng.normal(size=shape))
    return TokenRows.of([text.astype(np.float32) for text in texts], DIM)


def dense_rows(rng, n, *, whole=True):
    """Vectors; those of small integers tie often."""
    rows = rng.integers(-2, 3, (n, DIM)) if whole else rng.normal(size=(n, DIM))
    return rows.astype(np.float32)


KINDS = {"sparse": sparse_rows, "tokens": token_rows}
WITH_DENSE = {"dense": dense_rows, **KINDS}


def plain_score(queries, i, documents, j):
    """The score of query i and document j by its definition, one Python float at a time."""
    if isinstance(queries, SparseRows):
        rows = (rows.matrix.toarray()[row].tolist() for rows, row in ((queries, i), (documents, j)))
        return math.fsum(a * b for a, b in zip(*rows, strict=True))
    return math.fsum(
        max(
            math.fsum(a * b for a, b in zip(query, token, strict=True))
            for token in documents.tokens(j).tolist()
        )
        for query in queries.tokens(i).tolist()
    )


def plain_scores(queries, documents):
    if isinstance(queries, np.ndarray):
        return queries.astype(float) @ documents.T.astype(float)
    return np.array(
        [
            [plain_score(queries, i, documents, j) for j in range(len(documents))]
            for i in range(len(queries))
        ]
    )
