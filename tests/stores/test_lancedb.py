"""LanceDB: what its tables may hold."""

from __future__ import annotations

from argus.stores.spec import open_store
from tests.support.stores import DIM, N, vectors


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
