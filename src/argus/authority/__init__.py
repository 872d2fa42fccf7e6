"""Controlling-authority retrieval: find superseded documents, and serve their superseders."""
