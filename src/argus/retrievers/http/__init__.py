"""Retrievers behind an HTTP endpoint, described by data: a new engine needs no Python."""
