"""Records without a vector are read as broken and are never a hit; of several, one is named."""

import pytest

from argus.errors import InputError
from argus.stores.spec import StoreConfig, open_store
from tests.support.stores import DIM, N, vectors


def lancedb(folder):
    import lancedb
    import pyarrow as pa

    values = [row if i % 4 else None for i, row in enumerate(vectors().tolist())]
    columns = {
        "id": [str(i) for i in range(N)],
        "vector": pa.array(values, pa.list_(pa.float32(), DIM)),
    }
    lancedb.connect(str(folder)).create_table("docs", pa.table(columns), on_bad_vectors="null")
    return f"lancedb:{folder}/docs"


def qdrant(folder):
    """A collection of two vectors a point, of which every fourth point lacks the second."""
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=str(folder))
    params = models.VectorParams(size=DIM, distance=models.Distance.EUCLID)
    client.create_collection("docs", vectors_config=dict.fromkeys(("title", "body"), params))
    points = [
        models.PointStruct(id=i, vector={"title": v} | ({"body": v} if i % 4 else {}), payload={})
        for i, v in enumerate(vectors().tolist())
    ]
    client.upsert("docs", points)
    client.close()
    return f"qdrant:{folder}/docs"


@pytest.mark.parametrize(("fill", "field"), [(lancedb, None), (qdrant, "body")])
def test_a_record_without_a_vector_is_read_and_never_a_hit(tmp_path, fill, field):
    with open_store(fill(tmp_path), StoreConfig(vector_field=field)) as store:
        pages = list(store.iterate(25))
        broken = {page.ids[row] for page in pages for row in page.broken}
        assert broken == {str(i) for i in range(0, N, 4)}
        (hits,) = store.search(vectors()[:1], N)
        assert len(hits) == N - len(broken) and not broken & {id_ for id_, _ in hits}


@pytest.mark.parametrize("field", [None, "text"])
def test_of_several_vectors_one_is_named(tmp_path, field):
    spec = qdrant(tmp_path)
    with pytest.raises(InputError) as error, open_store(spec, StoreConfig(vector_field=field)):
        pass
    assert "title" in error.value.expected and "body" in error.value.expected
    assert "--vector-field" in error.value.fix
