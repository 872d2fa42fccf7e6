"""Open a store by its name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from argus.errors import InputError
from argus.extras import MissingPackage, naming_extras
from argus.settings import settings_of
from argus.stores.config import StoreConfig
from argus.stores.protocol import Store
from argus.stores.spec import StoreSpec, parse_store

TAKEN = {
    "qdrant": ("vector_field", "key_env"),
    "chroma": ("key_env",),
    "pgvector": ("vector_field", "id_field", "metric", "key_env"),
    "lancedb": ("vector_field", "id_field", "metric"),
    "milvus": ("vector_field", "key_env"),
    "faiss": ("id_file",),
    "sqlite-vec": ("vector_field",),
}
"""What of a StoreConfig each kind takes; the rest it says itself, or does not have."""


CLIENTS = {
    "qdrant": ("qdrant_client",),
    "chroma": ("chromadb",),
    "pgvector": ("psycopg",),
    "lancedb": ("lancedb",),
    "milvus": ("pymilvus",),
    "faiss": ("faiss",),
    "sqlite-vec": ("apsw", "sqlite_vec"),
}
"""The packages by which each kind is opened."""


def check_store(store: str, config: StoreConfig) -> None:
    """Raise, before a client is loaded, what `open_store` would for a name and its settings.

    Raises InputError for a name that is none, and for settings; MissingPackage for a client that is
    not installed.
    """
    spec = parse_store(store)
    _check_taken(spec, config)
    _key(config.key_env)
    for package in CLIENTS[spec.kind]:
        if find_spec(package) is None:
            raise MissingPackage(package)


@contextmanager
def open_store(store: str | Store, config: StoreConfig | None = None) -> Iterator[Store]:
    """Open a store that is named, and close it; one that is opened stays the caller's.

    Raises InputError for a name that is none, a collection or field that is not there, a setting
    that the store does not have, a key's variable that is not set;
    ImportError, with the extra, where the store's client is not installed.
    """
    if not isinstance(store, str):
        yield store
        return
    spec, config = parse_store(store), config or StoreConfig()
    _check_taken(spec, config)
    opened = _open(spec, config, _key(config.key_env))
    try:
        yield opened
    finally:
        opened.close()


@naming_extras()
def _open(spec: StoreSpec, config: StoreConfig, key: str | None) -> Store:
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


def _check_taken(spec: StoreSpec, config: StoreConfig) -> None:
    settings = {setting.name: setting for setting in settings_of(StoreConfig)}
    taken = [settings[name].where for name in TAKEN[spec.kind]]
    for name, setting in settings.items():
        if getattr(config, name) is not None and name not in TAKEN[spec.kind]:
            raise InputError(
                f"{spec.kind} does not take it", expected=f"only {', '.join(taken)}",
                fix="Leave it out.", where=setting.where,
            )  # fmt: skip


def _key(variable: str | None) -> str | None:
    """Return the store's key. variable: of the environment; None where the store needs no key."""
    if variable is None:
        return None
    if key := os.environ.get(variable):
        return key
    raise InputError(
        f"the environment variable {variable!r} is not set", expected="one that holds the key",
        fix="Set it, or leave the option out.", where="--store-key-env",
    )  # fmt: skip
