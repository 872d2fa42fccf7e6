"""Open a store by its name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from argus.extras import naming_extras
from argus.stores.config import StoreConfig
from argus.stores.protocol import Store
from argus.stores.spec import StoreSpec, parse_store


@contextmanager
def open_store(store: str | Store, config: StoreConfig | None = None) -> Iterator[Store]:
    """Open a store that is named, and close it; one that is opened stays the caller's.

    Raises InputError for a name that is none, a collection or field that is not there;
    ImportError, with the extra, where the store's client is not installed.
    """
    if not isinstance(store, str):
        yield store
        return
    opened = _open(parse_store(store), config or StoreConfig())
    try:
        yield opened
    finally:
        opened.close()


@naming_extras()
def _open(spec: StoreSpec, config: StoreConfig) -> Store:
    key = os.environ.get(config.key_env) if config.key_env else None
    place, collection, field = spec.place, spec.collection, config.vector_field
    if spec.kind == "qdrant":
        from argus.stores.qdrant import open_qdrant

        return open_qdrant(place, collection, field, key)
    if spec.kind == "chroma":
        from argus.stores.chroma import open_chroma

        return open_chroma(place, collection, key)
    if spec.kind == "pgvector":
        from argus.stores.pgvector import open_pgvector

        return open_pgvector(place, collection, field=field, id_field=config.id_field,
                             password=key, metric=config.metric)  # fmt: skip
    if spec.kind == "lancedb":
        from argus.stores.lancedb import open_lancedb

        return open_lancedb(
            place, collection, field=field, id_field=config.id_field, metric=config.metric
        )
    if spec.kind == "milvus":
        from argus.stores.milvus import open_milvus

        return open_milvus(place, collection, field, key)
    if spec.kind == "faiss":
        from argus.stores.faiss import open_faiss

        return open_faiss(place, config.id_file)
    from argus.stores.sqlite_vec import open_sqlite_vec

    return open_sqlite_vec(place, collection, field)
