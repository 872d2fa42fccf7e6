"""Benchmarks of controlling-authority retrieval: making, reading and scoring."""
