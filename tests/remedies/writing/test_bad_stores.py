"""Stores that cannot take a blend, or not all of it, and what is told of them."""

from __future__ import annotations

import pytest

from argus.errors import InputError
from argus.remedies.store_writing import list_in_store, rollback_in_store


def test_a_collection_of_other_vectors_is_refused(qdrant):
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=qdrant.spec[len("qdrant:") : -len("/docs")])
    for name, size, distance in (("small", 3, "Cosine"), ("far", 384, "Euclid")):
        params = models.VectorParams(size=size, distance=models.Distance(distance))
        client.create_collection(name, vectors_config=params)
    client.close()
    with pytest.raises(InputError, match="vectors of 3 dimensions"):
        qdrant.blend(into="small")
    with pytest.raises(InputError, match="ranks by distances"):
        qdrant.blend(into="far")
    assert not qdrant.records("small") and not qdrant.records("far")


def test_a_collection_of_the_users_names_its_remedies_and_is_never_removed(qdrant):
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=qdrant.spec[len("qdrant:") : -len("/docs")])
    params = models.VectorParams(size=384, distance=models.Distance.COSINE)
    client.create_collection("mine", vectors_config=params)
    client.close()
    before = qdrant.state()
    remedy = qdrant.blend(into="mine").remedy
    with pytest.raises(InputError, match=remedy) as error:
        rollback_in_store(qdrant.spec, "blend-00000000", into="mine")
    assert str(error.value.where).endswith("mine")
    with pytest.raises(InputError, match="there is none in it"):
        rollback_in_store(qdrant.spec, remedy, into="elsewhere")
    assert list_in_store(qdrant.spec, into="elsewhere") == []
    note = rollback_in_store(qdrant.spec, remedy, into="mine")
    assert not note["collection_removed"] and qdrant.state() == before
