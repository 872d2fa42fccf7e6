"""A filter is by a field and a value: neither can say more to the store."""

from __future__ import annotations

import pytest

from argus.errors import InputError
from argus.stores.spec import StoreConfig, open_store
from tests.support.stores import LOCAL, N, pgvector, vectors

INJECTED = ["1=1 OR tenant", 'tenant" = 1 OR "tenant', "tenant` = 1 OR `tenant", "nothing = 1 --"]


def _filled(kind, request, tmp_path):
    if kind == "pgvector":
        return pgvector(request.getfixturevalue("postgres"))
    return LOCAL[kind](tmp_path / "store")


@pytest.mark.parametrize("kind", ["lancedb", "milvus", "pgvector", "sqlite-vec"])
def test_a_filter_by_no_column_is_refused_by_name(kind, request, tmp_path):
    filled = _filled(kind, request, tmp_path)
    with open_store(filled.spec, StoreConfig(**filled.options)) as store:
        for key in INJECTED:
            with pytest.raises(InputError) as error:
                store.search(vectors()[:1], N, matching={key: 1})
            assert repr(key) in error.value.got and "id" in error.value.expected


@pytest.mark.parametrize("kind", ["lancedb", "milvus", "pgvector", "qdrant", "chroma"])
def test_a_value_is_only_ever_a_value(kind, request, tmp_path):
    filled = _filled(kind, request, tmp_path)
    with open_store(filled.spec, StoreConfig(**filled.options)) as store:
        for value in ('\\" or id != "', "' OR '1' = '1", "\\", 'a" or 1 == 1 or "b'):
            assert store.search(vectors()[:1], N, matching={"text": value}) == [[]]
