"""Dumps of Wikipedia and Wikidata, read in blocks that any worker can parse (docs/dumps.md)."""

SPLIT_SIZE = 16 << 20
"""Bytes of text that a worker gets at once."""
