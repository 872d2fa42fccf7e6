"""Controlling-authority retrieval: what supersedes what, and what to serve instead."""
