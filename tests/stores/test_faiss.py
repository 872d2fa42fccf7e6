"""FAISS: ids and vectors of every kind of index that holds them."""

import numpy as np
import pytest

from argus.errors import InputError
from argus.stores.spec import open_store
from tests.support.stores import DIM, N, vectors

IDS = [7 * i + 1000 for i in range(N)]


@pytest.fixture
def written(tmp_path):
    """What writes an index by its factory's name: with ids where some are named."""
    import faiss

    def write(kind, ids=None):
        index = faiss.index_factory(DIM, kind, faiss.METRIC_L2)
        index.train(vectors())
        if ids is None:
            index.add(vectors())
        else:
            index.add_with_ids(vectors(), np.array(ids))
        faiss.write_index(index, str(tmp_path / "docs.index"))
        return f"faiss:{tmp_path / 'docs.index'}"

    return write


def _held(store, size=25):
    pages = list(store.iterate(size))
    ids = [id_ for page in pages for id_ in page.ids]
    return ids, np.concatenate([page.vectors for page in pages])


@pytest.mark.parametrize("kind", ["IDMap,RR16,IVF4,Flat", "IDMap,IVF4,Flat", "IDMap,Flat"])
def test_ids_that_were_added_are_read_and_searched(kind, written):
    with open_store(written(kind, IDS)) as store:
        ids, held = _held(store)
        expected = dict(zip(map(str, IDS), vectors(), strict=True))
        assert sorted(ids) == sorted(expected)
        np.testing.assert_allclose(held, [expected[id_] for id_ in ids], atol=1e-6)
        hits = store.search(vectors(), 1)
        assert [hit[0][0] for hit in hits] == [str(id_) for id_ in IDS]


@pytest.mark.parametrize("kind", ["IVF4,Flat", "IVF4,SQ8", "PQ4x4", "HNSW8", "Flat"])
def test_rows_are_named_by_the_file_of_ids(kind, written, tmp_path):
    spec = written(kind)
    (tmp_path / "docs.index.ids").write_text("".join(f"d{i}\n" for i in range(N)))
    with open_store(spec) as store:
        ids, held = _held(store)
        assert sorted(ids) == sorted(f"d{i}" for i in range(N))
        error = np.linalg.norm(held - vectors()[[int(id_[1:]) for id_ in ids]], axis=1)
        assert error.max() < (0.9 if "PQ" in kind else 0.05)
        assert store.describe().is_exact == (kind == "Flat")


def test_an_index_without_vectors_is_an_input_error(written):
    spec = written("IVF4,PQ4x4fs")
    with open_store(spec) as store, pytest.raises(InputError, match="does not hand out"):
        list(store.iterate(25))
