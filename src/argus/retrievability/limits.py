"""Sizes that bound the work of an audit, for computing and for planning."""

from __future__ import annotations

WORKING_BYTES = 384 << 20
"""Memory for the products of all workers."""
RESERVOIR_QUERIES = 1024
"""Queries that share one reservoir. Fixed, so that results do not depend on block sizes."""
DIRECT_RELATED = 96
"""Related entities of one t that are compared one by one. Beyond, bisecting is faster."""
PAIRS_AT_ONCE = 1 << 22
"""Pairs that are scored in one pass."""
PROJECTED = 50_000
"""Entities that are projected: of more, a uniform sample of so many. The report shows fewer."""
WORST = 200
"""Entities for which it is looked up who outranks them."""
