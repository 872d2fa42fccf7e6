"""Documents of wiki2 in every real store in turn, and what all its collections hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from argus.data.types import Document
from argus.remedies.store_blend import blend_store
from argus.remedies.store_writing import WrittenResult
from argus.stores.spec import StoreConfig, open_store, parse_store
from tests.corpora.conftest import TEMPLATE as TEMPLATE
from tests.corpora.conftest import encoder as encoder
from tests.corpora.conftest import vectors as vectors
from tests.corpora.conftest import wiki2 as wiki2
from tests.stores.conftest import postgres as postgres
from tests.support.stored_corpora import FILLS, opening


@dataclass(frozen=True)
class Home:
    """A store that holds the documents."""

    spec: str
    opening: StoreConfig
    out: Path
    encoder: object

    def blend(self, store=None, **options) -> WrittenResult:
        """Write a blend into it."""
        out = options.pop("out", self.out)
        return blend_store(
            store or self.spec, encoder=self.encoder, opening=self.opening, out=out, **options
        )

    @property
    def collection(self) -> str:
        return parse_store(self.spec).collection

    def records(self, collection: str) -> dict[str, tuple[bytes, dict]]:
        """Return vector and payload of each record, by id; none where there is no collection."""
        with open_store(self.spec, self.opening) as store:
            there = store if collection == self.collection else store.sibling(collection)
            pages = list(there.iterate(100)) if there else []
            return {i: (v.tobytes(), dict(p)) for page in pages for i, v, p in page.rows()}

    def state(self) -> dict[str, str]:
        """Return a hash over all records of each collection that there is."""
        hashes = {}
        for name in sorted(collections(self.spec)):
            records = self.records(name)
            lines = [
                f"{i} {v.hex()} {json.dumps(p, sort_keys=True)}" for i, (v, p) in records.items()
            ]
            hashes[name] = hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
        return hashes


def collections(spec: str) -> set[str]:
    """Return the names of all collections of a store, as its own client lists them."""
    kind, place = spec.partition(":")[0], parse_store(spec).place
    with open_store(spec, opening(spec)) as store:
        if kind == "qdrant":
            return {c.name for c in store._client.get_collections().collections}
        if kind == "chroma":
            return {c.name for c in store._client.list_collections()}
        if kind == "milvus":
            return set(store._client.list_collections())
        if kind == "lancedb":
            return {path.stem for path in Path(place).glob("*.lance")}
        if kind == "pgvector":
            rows = store._db.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            return {row[0] for row in rows}
        rows = store._db.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%vec0%'")
        return {row[0] for row in rows}


@pytest.fixture
def make_home(request, tmp_path, encoder) -> Callable[..., Home]:
    """Fill a store of a kind."""

    def make(kind: str, documents: list[Document], vectors) -> Home:
        place = request.getfixturevalue("postgres") if kind == "pgvector" else tmp_path / "store"
        if kind == "pgvector":
            drop_tables(place)
        spec = FILLS[kind](place, documents, vectors)
        return Home(spec, opening(spec), tmp_path / "out", encoder)

    return make


def drop_tables(uri: str) -> None:
    import psycopg

    with psycopg.connect(uri, autocommit=True) as database:
        database.execute("DROP TABLE IF EXISTS chunks, chunks_argus, docs, mine")


@pytest.fixture(params=[*FILLS])
def home(request, make_home, wiki2, vectors) -> Home:
    """Each of the stores in turn, with documents of wiki2."""
    return make_home(request.param, wiki2, vectors)


@pytest.fixture
def qdrant(make_home, wiki2, vectors) -> Home:
    return make_home("qdrant", wiki2, vectors)
