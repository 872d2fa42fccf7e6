"""Figures over all of a log: documents, feedback, superseded ones, slices, windows."""
