"""What bounds the memory of a process that answers for days."""

from __future__ import annotations

import os

SHAPES = 128
"""Shapes of batches whose compiled code is kept; of 350 of MiniLM's three layers 1,024 keep 0.7 GB
more."""
CACHES = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")
"""Variables that bound them. Both hold the code, oneDNN and PyTorch's layer above it: one of them
alone bounds nothing."""


def bound_compiled_code() -> None:
    """Keep the code of fewer shapes, where the environment says nothing else.

    Counts only before PyTorch computes for the first time.
    """
    for variable in CACHES:
        os.environ.setdefault(variable, str(SHAPES))
