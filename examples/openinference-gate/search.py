"""The retriever of the service: BM25 over the handbook."""

import json
from pathlib import Path

import bm25s

K = 10
lines = Path("../data/chunks.jsonl").read_text("utf-8").splitlines()
rows = {row["id"]: row["text"] for row in map(json.loads, lines)}
words = bm25s.BM25()
words.index(bm25s.tokenize(list(rows.values()), show_progress=False), show_progress=False)


def search(query: str, k: int) -> list[tuple[str, float]]:
    """The k best chunks."""
    tokens = bm25s.tokenize(query, show_progress=False)
    places, scores = words.retrieve(tokens, k=k, show_progress=False)
    ids = list(rows)
    return [(ids[p], float(s)) for p, s in zip(places[0], scores[0], strict=True) if s > 0]
