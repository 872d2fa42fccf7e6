"""Benchmarks of controlling-authority retrieval: made, read, and what is scored on them."""
