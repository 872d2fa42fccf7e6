"""Reach: whether a store brings back its own records, asked for by their own vectors."""
