"""What is at risk."""

from __future__ import annotations

TAU = 0.3
"""Predicted RPS below which an entity is at risk (ARGUS §5.1)."""
