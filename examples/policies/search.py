"""What serves the policies: plain BM25, and the same behind the second stage."""

import json
from pathlib import Path

import bm25s

import argus

rows = [json.loads(line) for line in Path("policies.jsonl").read_text("utf-8").splitlines()]
words = bm25s.BM25()
tokens = bm25s.tokenize([f"{r['title']} {r['text']}" for r in rows], show_progress=False)
words.index(tokens, show_progress=False)


def plain(query: str, k: int) -> list[tuple[str, float]]:
    """The k best policies by BM25, whatever has replaced them."""
    asked = bm25s.tokenize(query, show_progress=False)
    places, scores = words.retrieve(asked, k=min(k, len(rows)), show_progress=False)
    pairs = zip(places[0], scores[0], strict=True)
    return [(rows[place]["_id"], float(score)) for place, score in pairs if score > 0]


domain = argus.authority.load_domain("rules.yaml")
authority = argus.Authority(domain.read(Path("policies.jsonl")), domain.rules)
in_force = argus.authority.AuthorityRetriever(plain, authority)
