"""LanceDB: what its tables may hold."""

from __future__ import annotations

import numpy as np
import pytest

from argus.errors import InputError
from argus.stores.opening import open_store
from argus.stores.protocol import Metric, Records
from argus.stores.spec import StoreConfig
from tests.support.stores import DIM, N, vectors


@pytest.fixture
def table(tmp_path):
    """A table whose ids are whole numbers."""
    import lancedb
    import pyarrow as pa

    rows = pa.FixedSizeListArray.from_arrays(pa.array(vectors().ravel()), DIM)
    columns = {"id": list(range(N)), "vector": rows, "tenant": [i % 3 for i in range(N)]}
    return lancedb.connect(str(tmp_path)).create_table("docs", pa.table(columns))


@pytest.fixture
def spec(table, tmp_path):
    return f"lancedb:{tmp_path}/docs"


def test_whole_numbers_as_ids_are_written_and_removed(spec):
    vector = np.eye(DIM, dtype=np.float32)[:1]
    with open_store(spec) as store:
        store.upsert(Records(["999", "3"], vector.repeat(2, axis=0), [{"tenant": 7}] * 2))
        assert store.describe().records == N + 1
        hits = store.search(vector, 5, matching={"tenant": 7})[0]
        assert {id_ for id_, _ in hits} == {"999", "3"}
        store.delete(["999", "998"])
        assert store.describe().records == N
        with pytest.raises(InputError, match="a whole number"):
            store.delete(["d1"])


def test_the_metric_of_an_index_holds_from_the_start(table, spec):
    from lancedb.index import IvfFlat

    table.create_index("vector", config=IvfFlat(distance_type="cosine", num_partitions=2))
    with open_store(spec) as store:
        scores = [score for _, score in store.search(vectors()[:1], N)[0]]
        assert min(scores) >= -2 - 1e-6  # a cosine distance is no more than 2, an L2 one is
        facts = store.describe()
    assert (facts.metric, facts.is_exact) == (Metric.COSINE, False)
    with (
        pytest.raises(InputError, match="by which its index ranks"),
        open_store(spec, StoreConfig(metric="l2")),
    ):
        pass


def test_a_row_without_a_vector_is_read_and_never_a_hit(tmp_path):
    import lancedb
    import pyarrow as pa

    values = [row if i % 4 else None for i, row in enumerate(vectors().tolist())]
    columns = {
        "id": [f"d{i}" for i in range(N)],
        "vector": pa.array(values, pa.list_(pa.float32(), DIM)),
    }
    lancedb.connect(str(tmp_path)).create_table("docs", pa.table(columns), on_bad_vectors="null")
    with open_store(f"lancedb:{tmp_path}/docs") as store:
        pages = list(store.iterate(25))
        broken = {page.ids[row] for page in pages for row in page.broken}
        assert broken == {f"d{i}" for i in range(0, N, 4)}
        hits = store.search(vectors()[:1], N)[0]
        assert len(hits) == N - len(broken) and not broken & {id_ for id_, _ in hits}
