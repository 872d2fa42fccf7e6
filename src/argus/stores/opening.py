"""Open a store by its name, with the client of its kind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

from argus.errors import InputError
from argus.extras import MissingPackage, naming_extras
from argus.settings import settings_of
from argus.stores.protocol import Store
from argus.stores.spec import StoreConfig, StoreSpec, hide, parse_store, reported

TAKEN = {
    "qdrant": ("vector_field", "key_env"),
    "chroma": ("key_env",),
    "pgvector": ("vector_field", "id_field", "metric", "key_env"),
    "lancedb": ("vector_field", "id_field", "metric"),
    "milvus": ("vector_field", "key_env"),
    "faiss": ("id_file",),
    "sqlite-vec": ("vector_field",),
}
"""Settings of a StoreConfig by kind. The rest a store says itself, or does not have."""
CLIENTS = {
    "qdrant": ("qdrant_client",),
    "chroma": ("chromadb",),
    "pgvector": ("psycopg",),
    "lancedb": ("lancedb",),
    "milvus": ("pymilvus",),
    "faiss": ("faiss",),
    "sqlite-vec": ("apsw", "sqlite_vec"),
}
"""Packages of each kind's client."""


def check_store(store: str, config: StoreConfig) -> None:
    """Raise, before a client is loaded, the errors of `open_store` for a name and its settings.

    Raises InputError for a name that is none, and for settings. Raises MissingPackage for a client
    that is not installed.
    """
    spec, _ = _checked(store, config)
    for package in CLIENTS[spec.kind]:
        if find_spec(package) is None:
            raise MissingPackage(package)


@contextmanager
def open_store(store: str | Store, config: StoreConfig | None = None) -> Iterator[Store]:
    """Open a store that is named, and close it. One that is opened stays the caller's.

    Raises InputError for a name that is none, a collection or field that is not there, a setting
    that the store does not have, and a key's variable that is not set. Raises ImportError, with the
    extra, where the store's client is not installed.
    """
    if not isinstance(store, str):
        yield store
        return
    config = config or StoreConfig()
    spec, key = _checked(store, config)
    kind, hidden = spec.kind.replace("-", "_"), hide(spec.place, key)
    with reported(str(spec), hidden), naming_extras():
        opening = getattr(import_module(f"argus.stores.{kind}"), f"open_{kind}")
        opened: Store = opening(spec, config, key, hidden)
    try:
        yield opened
    finally:
        opened.close()


def _checked(store: str, config: StoreConfig) -> tuple[StoreSpec, str | None]:
    """Return a store's name in parts, and its key, of the environment, None where it has none."""
    spec = parse_store(store)
    settings = {setting.name: setting.where for setting in settings_of(StoreConfig)}
    for name, where in settings.items():
        if getattr(config, name) is not None and name not in TAKEN[spec.kind]:
            expected = f"only {', '.join(settings[name] for name in TAKEN[spec.kind])}"
            got = f"{spec.kind} does not take it"
            raise InputError(got, expected=expected, fix="Leave it out.", where=where)
    key = os.environ.get(config.key_env) if config.key_env is not None else None
    if config.key_env is not None and not key:
        got, fix = f"{config.key_env!r} is not set", "Set it, or leave the option out."
        expected = "an environment variable that holds the key"
        raise InputError(got, expected=expected, fix=fix, where="--store-key-env")
    return spec, key
