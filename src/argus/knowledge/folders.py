"""Names of what stands beside the shards of a knowledge base."""

from __future__ import annotations

WORDS = "words"
"""Folder of the BM25 index over a knowledge base, beside its shards."""
