"""Measure systems on judged queries, compare them, and hold them to bounds."""
