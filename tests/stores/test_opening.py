"""What a store is opened with: settings that it has, and a key that is there."""

from __future__ import annotations

import pytest

from argus.errors import InputError
from argus.stores.config import StoreConfig
from argus.stores.opening import TAKEN, open_store
from argus.stores.spec import KINDS

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


@pytest.mark.parametrize("value", [None, ""])
def test_a_key_that_is_not_set_is_refused(value, monkeypatch):
    monkeypatch.delenv("KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("KEY", value)
    config = StoreConfig(key_env="KEY")
    with (
        pytest.raises(InputError) as error,
        open_store("qdrant:http://127.0.0.1:9/docs", config),
    ):
        pass
    assert error.value.where == "--store-key-env" and "'KEY'" in error.value.got
