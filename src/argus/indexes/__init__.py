"""Where documents are searched."""

from argus.indexes.dense import KnownItemRanks, TopK, known_item_search, search

__all__ = ["KnownItemRanks", "TopK", "known_item_search", "search"]
