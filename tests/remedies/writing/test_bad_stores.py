"""Stores that cannot take a blend, or not all of it, and what is told of them."""

from __future__ import annotations

import numpy as np
import pytest

from argus.data.types import Document
from argus.errors import ArgusError, InputError
from argus.remedies.store_blend import blend_store
from argus.remedies.store_writing import list_in_store, rollback_in_store
from argus.stores.opening import open_store
from argus.stores.protocol import Records
from argus.stores.records import REMEDY
from tests.support.stored_corpora import faiss


def test_a_read_only_store_is_told_before_embedding(postgres_home, encoder):
    home, before = postgres_home, postgres_home.state()
    place, _, table = home.spec.rpartition("/")
    joint = "&" if "?" in place else "?"
    read_only = f"{place}{joint}options=-c%20default_transaction_read_only%3Don/{table}"
    encoder.asked.clear()
    with pytest.raises(ArgusError, match="read-only transaction") as error:
        home.blend(read_only)
    assert "nothing was written" in str(error.value) and "--into" in str(error.value)
    assert home.state() == before
    assert len(encoder.asked) < 300  # how the vectors were made, but no sentence
    assert home.blend().summary["counts"]["there_before"] == 0


def test_faiss_is_refused_with_what_to_do(tmp_path, wiki2, vectors, encoder):
    spec = faiss(tmp_path / "store", wiki2, vectors)
    with pytest.raises(InputError, match="argus remedy blend --index") as error:
        blend_store(spec, encoder=encoder, out=tmp_path / "out")
    assert error.value.where == spec and not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="holds vectors alone"):
        rollback_in_store(spec, "blend-1")


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


@pytest.mark.parametrize("kind", ["qdrant", "chroma", "milvus"])
def test_records_among_the_users_own_are_no_documents(kind, make_home, wiki2, vectors):
    home = make_home(kind, wiki2, vectors)
    if kind == "chroma":  # its collection ranks by l2
        with open_store(home.spec) as store:
            store.make_sibling("mine")
        into = "mine"
    else:
        into = home.collection
    before = home.state()
    first = home.blend(into=into)
    again = home.blend(into=into)
    assert again.remedy == first.remedy and again.summary["counts"]["written"] == 0
    assert again.summary["sentences"]["documents"]["total"] == len(wiki2)
    note = rollback_in_store(home.spec, first.remedy, into=into, opening=home.opening)
    assert note["collection_removed"] == (into == "mine")
    after = home.state()
    assert {name: after.get(name) for name in before if name != "mine"} == {
        name: hash_ for name, hash_ in before.items() if name != "mine"
    }


def test_a_collection_of_the_users_is_never_removed(qdrant):
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=qdrant.spec[len("qdrant:") : -len("/docs")])
    params = models.VectorParams(size=384, distance=models.Distance.COSINE)
    client.create_collection("mine", vectors_config=params)
    client.close()
    before = qdrant.state()
    remedy = qdrant.blend(into="mine").remedy
    note = rollback_in_store(qdrant.spec, remedy, into="mine")
    assert not note["collection_removed"] and qdrant.state() == before


def test_an_unknown_remedy_names_those_there(qdrant):
    remedy = qdrant.blend().remedy
    with pytest.raises(InputError, match=remedy) as error:
        rollback_in_store(qdrant.spec, "blend-00000000")
    assert str(error.value.where).endswith("docs_argus")
    with pytest.raises(InputError, match="there is none in it"):
        rollback_in_store(qdrant.spec, remedy, into="elsewhere")
    assert list_in_store(qdrant.spec, into="elsewhere") == []


def test_records_that_cannot_be_reached_are_told(make_home, encoder, vectors, wiki2):
    texts = [Document(f"copy{i}", "A river in Europe. It is long.") for i in range(14)]
    own = encoder.encode_documents([d.content for d in texts])
    home = make_home("sqlite-vec", [*wiki2, *texts], np.concatenate([vectors, own]))
    result = home.blend()
    reach = result.summary["reach"]
    assert sum(reach["causes"].values()) == reach["reached"]["asked"] - reach["reached"]["reached"]
    assert reach["causes"] and {e["id"].partition("#")[0][:4] for e in reach["examples"]} == {
        "copy"
    }
    assert any(line.startswith("WARNING") for line in result.headline())
    assert (result.folder / result.remedy / "unreached.csv").exists()


def test_a_field_of_ids_that_no_record_holds_is_refused(qdrant):
    from argus.data.fields import FieldNames

    with pytest.raises(InputError, match="no record holds a field") as error:
        qdrant.blend(fields=FieldNames(id="metadata.nosuch"))
    assert error.value.where == "--id-field"


def test_a_broken_record_among_a_remedys_own_is_no_reason_to_stop(qdrant):
    """Somebody deletes records of a remedy: the same command puts them back."""
    result = qdrant.blend()
    whole = qdrant.state()
    ids = sorted(qdrant.records("docs_argus"))[:7]
    with open_store(qdrant.spec) as store:
        there = store.sibling("docs_argus")
        there.delete(ids)
        odd = Records([ids[0]], np.eye(1, 384, dtype=np.float32), [{REMEDY: "somebody's"}])
        there.upsert(odd)
    counts = qdrant.blend().summary["counts"]
    assert counts["written"] == 7 and counts["there_before"] == counts["records"] - 7
    assert qdrant.state() == whole and result.summary["others"] == []
