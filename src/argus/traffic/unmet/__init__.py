"""Demand that nobody meets: which questions, in which clusters, and how these are called."""
