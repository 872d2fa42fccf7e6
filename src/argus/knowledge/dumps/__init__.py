"""Dumps of Wikipedia and Wikidata, read in pieces that any worker can take (docs/dumps.md)."""

SPLIT_SIZE = 16 << 20
"""Bytes of a split of a dump (as they are in the file), or of a chunk's text."""
