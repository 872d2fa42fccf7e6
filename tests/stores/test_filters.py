"""A filter is by a field and a value: neither can say more to the store."""

import pytest

from argus.errors import InputError
from tests.support.stores import N, vectors

INJECTED = ["1=1 OR tenant", 'tenant" = 1 OR "tenant', "tenant` = 1 OR `tenant", "nothing = 1 --"]


@pytest.mark.parametrize("store", ["lancedb", "milvus", "pgvector", "sqlite-vec"], indirect=True)
def test_a_filter_by_no_column_is_refused_by_name(store):
    for key in INJECTED:
        with pytest.raises(InputError) as error:
            store.search(vectors()[:1], N, matching={key: 1})
        assert repr(key) in error.value.got and "id" in error.value.expected


KINDS = ["lancedb", "milvus", "pgvector", "qdrant", "chroma"]


@pytest.mark.parametrize("store", KINDS, indirect=True)
def test_a_value_is_only_ever_a_value(store):
    for value in ('\\" or id != "', "' OR '1' = '1", "\\", 'a" or 1 == 1 or "b'):
        assert store.search(vectors()[:1], N, matching={"text": value}) == [[]]
