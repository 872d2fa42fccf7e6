"""What a summary says of vectors that came with the corpus, and what a person is told of them."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.data.manifest import StoredVectorsFacts
from argus.stores.protocol import Metric

UNIT = 1e-3
"""By how much the length of a unit vector may differ from 1."""


class OfStore(TypedDict, total=False):
    """What summaries have in common whose vectors may be those of a store."""

    stored_vectors: StoredVectorsFacts
    """Missing where they are not."""


def remarks(facts: StoredVectorsFacts) -> Iterator[str]:
    """Yield which vectors were taken and how well the encoder agrees; and what is doubtful."""
    yield (
        f"vectors: those of {facts['store']} ({facts['metric']}), of title and text joined as "
        f"'{facts['template']}': the encoder agrees at a median cosine of "
        f"{facts['agreement']:.4f} (least {facts['least']:.4f}, {facts['compared']} texts)"
    )
    if facts["read"] != facts["records"]:
        yield (
            f"WARNING: {facts['read']:,} records were read, and it said {facts['records']:,}: does "
            "it change?"
        )
    for why, n in facts["broken"].items():
        yield f"failed: {n:,} records: {why}"
    shortest, longest = facts["shortest"] or 1, facts["longest"] or 1
    lengths_differ = max(abs(shortest - 1), abs(longest - 1)) > UNIT
    if facts["metric"] not in (Metric.COSINE, facts["ranking"]) and lengths_differ:
        yield (
            f"note: the store ranks by {facts['metric']}, and its vectors are {shortest:g} to "
            f"{longest:g} long: figures here are by {facts['ranking']}, and it may rank otherwise"
        )
