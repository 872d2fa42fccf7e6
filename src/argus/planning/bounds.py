"""What the code bounds by constants of its own: the model takes them from where they are set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Bounds:
    """Constants of an audit. Those in bytes bound memory."""

    gathered_bytes: int
    """Vectors of more are gathered on the disk (argus.encoders.store)."""
    working_bytes: int
    """Of the products of all workers (argus.retrievability.ranks)."""
    reservoir_queries: int
    """Queries of a product with a reservoir."""
    direct_related: int
    """Related entities that are compared one by one (argus.retrievability.rank_kernels)."""
    pass_pairs: int
    """Pairs that are scored at once (argus.retrievability.rps)."""
    projected: int
    """Entities that are projected (argus.retrievability.audit.findings)."""
    worst: int
    """Entities for which it is looked up who outranks them."""
    block_bytes: int
    """Of the products of that (argus.retrievability.displacement)."""
    joins_bytes: int
    """Of the joins of a knowledge base (argus.kb)."""


@cache
def bounds() -> Bounds:
    """Return them. Imports what an audit imports, which takes a second."""
    from argus.encoders.store import LARGE_BYTES
    from argus.kb.config import MEMORY_BYTES
    from argus.retrievability.displacement import BLOCK_BYTES
    from argus.retrievability.limits import (
        DIRECT_RELATED,
        PAIRS_AT_ONCE,
        PROJECTED,
        RESERVOIR_QUERIES,
        WORKING_BYTES,
        WORST,
    )

    return Bounds(
        gathered_bytes=LARGE_BYTES, working_bytes=WORKING_BYTES,
        reservoir_queries=RESERVOIR_QUERIES, direct_related=DIRECT_RELATED,
        pass_pairs=PAIRS_AT_ONCE, projected=PROJECTED, worst=WORST, block_bytes=BLOCK_BYTES,
        joins_bytes=MEMORY_BYTES,
    )  # fmt: skip


def reservoir_of(reservoir: int | None, n: int) -> int | None:
    """Return the competitors of a query as `argus audit` chooses them; None is all."""
    from argus.retrievability.audit.config import AuditConfig

    return AuditConfig(reservoir=reservoir).reservoir_for(n)
