"""Where the real collections are."""

from __future__ import annotations

import os
from pathlib import Path


def collection(name: str) -> Path:
    """Return the path of a shared collection."""
    root = Path(os.environ.get("ARGUS_SHARED", Path(__file__).parents[2] / "shared"))
    return root / "data" / name
