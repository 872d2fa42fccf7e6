"""Search documents by cosine. `argus demo` copies this file: it stands for the retriever you run.

`write_index`: documents -> index.npz and indexed.jsonl beside this file. `Search` answers from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from argus.data.documents import as_rows
from argus.data.types import Document, Query, Run
from argus.data.writing import write_jsonl
from argus.encoders import DEFAULT_MODEL, load_encoder

INDEX, CHUNKS = "index.npz", "indexed.jsonl"


def write_index(folder: Path, documents: Sequence[Document]) -> None:
    """Embed documents, and write ids and vectors into a folder, and what is indexed."""
    vectors = load_encoder(DEFAULT_MODEL).encode_documents([d.content for d in documents])
    np.savez(folder / INDEX, ids=[d.id for d in documents], vectors=vectors)
    write_jsonl(folder / CHUNKS, as_rows(documents))


class Search:
    """An exact search. vectors: (n_documents, dim), unit rows."""

    def __init__(self) -> None:
        with np.load(Path(__file__).with_name(INDEX)) as index:
            self.ids, self.vectors = index["ids"].tolist(), index["vectors"]
        self.encoder = load_encoder(DEFAULT_MODEL)

    def search(self, queries: Sequence[Query], k: int) -> Run:
        """Return the k documents of each query with their cosines, best first."""
        scores = self.encoder.encode_queries([q.text for q in queries]) @ self.vectors.T
        best = np.argsort(-scores, axis=1)[:, :k]
        return {
            query.id: {self.ids[i]: float(row[i]) for i in top}
            for query, row, top in zip(queries, scores, best, strict=True)
        }
