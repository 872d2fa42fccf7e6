"""Scenario profiles: written by a language model, added to an index."""
