"""What `make test` tries of what `make campaign` tries: few examples, no marked campaigns."""

import os

SHARE = float(os.environ.get("ARGUS_EXAMPLES", "0.3"))
IS_CAMPAIGN = "ARGUS_EXAMPLES" in os.environ


def examples(n: int) -> int:
    """Return the share of n examples that this run tries, five at least."""
    return max(5, round(n * SHARE))
