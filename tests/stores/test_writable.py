"""Collections that Argus makes beside the user's, in every store that keeps fields."""

import numpy as np
import pytest

from argus.stores.protocol import FIELDS, Metric, Records, WritableStore
from tests.support.stores import DIM, LOCAL, N

OWN = {
    "argus_remedy": "blend-1", "argus_parent": "d1", "argus_kind": "sentence",
    "argus_encoder": "words", "argus_scale": 0.875,
}  # fmt: skip


KINDS = [*(kind for kind in LOCAL if kind != "faiss"), "pgvector"]
keeping_fields = pytest.mark.parametrize("store", KINDS, indirect=True)


def payload(store, i: int, remedy: str) -> dict:
    """Return a record of a remedy's payload: that of the first record, and its own."""
    (first,) = next(iter(store.payloads(1)))[1]
    return {**first, **OWN, "argus_remedy": remedy, "argus_parent": f"d{i}"}


def records(store, remedy: str, n: int = 5) -> Records:
    rows = np.eye(DIM, dtype=np.float32)[:n]
    ids = [store.record_id(f"d{i}#{remedy}") for i in range(n)]
    return Records(ids, rows, [payload(store, i, remedy) for i in range(n)])


@keeping_fields
def test_a_sibling_takes_the_fields_of_both(store):
    assert isinstance(store, WritableStore) and store.sibling("docs_argus") is None
    made = store.make_sibling("docs_argus")
    facts = made.describe()
    assert facts.records == 0 and facts.metric is Metric.COSINE and facts.dim in (0, DIM)
    assert made.name == f"{store.name}_argus" and made.collection == "docs_argus"
    assert made.columns is None or {*FIELDS, *store.columns} <= {*made.columns}
    made.upsert(records(store, "blend-1"))
    made.upsert(records(store, "blend-2", 3))
    payloads = [p for page in made.iterate(100) for p in page.payloads]
    assert len(payloads) == 8 and payload(store, 4, "blend-1") in payloads
    again = store.sibling("docs_argus")
    assert again is not None and again.describe().records == 8
    assert store.describe().records == N


@keeping_fields
def test_only_an_empty_collection_of_argus_is_removed(store):
    made = store.make_sibling("docs_argus")
    written = records(store, "blend-1")
    made.upsert(written)
    assert not store.drop_sibling("docs_argus")
    made.delete(written.ids)
    assert made.describe().records == 0
    assert store.drop_sibling("docs_argus") and store.sibling("docs_argus") is None
    store.delete([id_ for page in store.iterate(N) for id_ in page.ids])
    assert store.describe().records == 0 and not store.drop_sibling(store.collection)
    assert store.sibling(store.collection) is not None
