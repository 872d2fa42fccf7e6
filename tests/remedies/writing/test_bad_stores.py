"""Stores that cannot take a blend, or not all of it, and what is told of them."""

import pytest

from argus.errors import InputError
from argus.remedies.store_writing import list_in_store, rollback_in_store


def collection(home, name, size, distance):
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=home.spec[len("qdrant:") : -len("/docs")])
    params = models.VectorParams(size=size, distance=models.Distance(distance))
    client.create_collection(name, vectors_config=params)
    client.close()


def test_a_collection_of_other_vectors_is_refused(qdrant):
    collection(qdrant, "small", 3, "Cosine")
    collection(qdrant, "far", 384, "Euclid")
    with pytest.raises(InputError, match="vectors of 3 dimensions"):
        qdrant.blend(into="small")
    with pytest.raises(InputError, match="ranks by distances"):
        qdrant.blend(into="far")
    assert not qdrant.records("small") and not qdrant.records("far")


def test_a_collection_of_the_users_names_its_remedies_and_is_never_removed(qdrant):
    collection(qdrant, "mine", 384, "Cosine")
    before = qdrant.state()
    remedy = qdrant.blend(into="mine").remedy
    with pytest.raises(InputError, match=remedy):
        rollback_in_store(qdrant.spec, "blend-00000000", into="mine")
    with pytest.raises(InputError, match="there is none in it"):
        rollback_in_store(qdrant.spec, remedy, into="elsewhere")
    assert list_in_store(qdrant.spec, into="elsewhere") == []
    note = rollback_in_store(qdrant.spec, remedy, into="mine")
    assert not note["collection_removed"] and qdrant.state() == before
