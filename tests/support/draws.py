"""How many examples a property is tried on: few in `make test`, many in `make campaign`."""

from __future__ import annotations

import os

SHARE = float(os.environ.get("ARGUS_EXAMPLES", "0.3"))


def examples(n: int) -> int:
    """Return the share of n examples that this run tries, five at least."""
    return max(5, round(n * SHARE))
