"""Qdrant: several named vectors, and points that lack one."""

from __future__ import annotations

import pytest

from argus.errors import InputError
from argus.stores.spec import StoreConfig, open_store
from tests.support.stores import DIM, N, lengthy, vectors


@pytest.fixture
def spec(tmp_path):
    """A collection of two vectors a point, of which every third point lacks the second."""
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=str(tmp_path))
    distances = {"title": models.Distance.COSINE, "body": models.Distance.EUCLID}
    params = {name: models.VectorParams(size=DIM, distance=d) for name, d in distances.items()}
    client.create_collection("docs", vectors_config=params)
    client.upsert(
        "docs",
        [
            models.PointStruct(
                id=i, vector={"title": v} | ({"body": w} if i % 3 else {}), payload={}
            )
            for i, (v, w) in enumerate(zip(vectors().tolist(), lengthy().tolist(), strict=True))
        ],
    )
    client.close()
    return f"qdrant:{tmp_path}/docs"


@pytest.mark.parametrize("field", [None, "text"])
def test_of_several_vectors_one_is_named(spec, field):
    with (
        pytest.raises(InputError) as error,
        open_store(spec, StoreConfig(vector_field=field)),
    ):
        pass
    assert "title" in error.value.expected and "body" in error.value.expected
    assert "--vector-field" in error.value.fix


def test_points_without_the_vector_are_broken(spec):
    with open_store(spec, StoreConfig(vector_field="body")) as store:
        pages = list(store.iterate(25))
        broken = {page.ids[row] for page in pages for row in page.broken}
        assert broken == {str(i) for i in range(N) if i % 3 == 0}
        assert len(store.search(lengthy()[:1], N)[0]) == N - len(broken)
