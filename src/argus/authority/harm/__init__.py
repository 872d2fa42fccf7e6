"""Harm of stale context: what a model answers from superseded and from controlling documents."""
