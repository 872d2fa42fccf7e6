"""Repairs of an index: expansion, synthesis, their receipts, and how one is undone."""
