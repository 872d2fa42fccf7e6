"""What a store is opened with: settings that it has, and a key that is there."""

import pytest

from argus.errors import InputError
from argus.stores.spec import KINDS, TAKEN, StoreConfig, open_store
from tests.support.stores import N, qdrant

OPTIONS = {
    "vector_field": "--vector-field", "id_field": "--store-id", "metric": "--store-metric",
    "id_file": "--store-ids", "key_env": "--store-key-env",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_setting_that_a_store_lacks_is_refused(kind):
    for name, option in OPTIONS.items():
        if name not in TAKEN[kind]:
            config = StoreConfig(**{name: "l2"})
            with pytest.raises(InputError) as error, open_store(f"{kind}:here/docs", config):
                pass
            assert error.value.where == option and kind in error.value.got


def test_a_folder_of_qdrant_that_a_retriever_holds_is_read_and_stays_open(tmp_path):
    from qdrant_client import QdrantClient

    spec = qdrant(tmp_path / "store").spec
    theirs = QdrantClient(path=str(tmp_path / "store"))
    for _ in range(2):
        with open_store(spec) as store:
            assert store.describe().records == N
    assert theirs.count("docs").count == N
    theirs.close()
    with open_store(spec) as store:
        assert store.describe().records == N


@pytest.mark.parametrize("kind", ["qdrant", "chroma", "lancedb"])
def test_a_folder_that_is_no_store_stays_as_it_is(kind, tmp_path):
    (tmp_path / "plain").mkdir()
    for place in ("plain", "nowhere"):
        problem = pytest.raises(InputError, match=r"no such file or folder|no collection")
        with problem, open_store(f"{kind}:{tmp_path / place}/docs"):
            pass
    assert [str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")] == ["plain"]
