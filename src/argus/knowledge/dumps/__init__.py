"""Dumps of Wikipedia and Wikidata, read in pieces that any worker can take (docs/knowledge.md)."""
