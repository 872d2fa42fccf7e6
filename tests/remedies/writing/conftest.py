"""Documents of wiki2 in every real store in turn, and what all its collections hold."""

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

    def blend(self, **options) -> WrittenResult:
        """Write a blend into it."""
        options = {"encoder": self.encoder, "opening": self.opening, "out": self.out, **options}
        return blend_store(self.spec, **options)

    @property
    def collection(self) -> str:
        return parse_store(self.spec).collection

    def records(self, collection: str) -> dict[str, tuple[bytes, dict]] | None:
        """Return vector and payload of each record, by id; None where there is no collection."""
        with open_store(self.spec, self.opening) as store:
            there = store if collection == self.collection else store.sibling(collection)
            if there is None:
                return None
            pages = list(there.iterate(100))
            return {i: (v.tobytes(), dict(p)) for page in pages for i, v, p in page.rows()}

    def state(self) -> dict[str, dict]:
        """Return all records of each collection that there is."""
        names = (self.collection, f"{self.collection}_argus", "mine")
        found = {name: self.records(name) for name in names}
        return {name: records for name, records in found.items() if records is not None}


@pytest.fixture
def make_home(request, tmp_path, encoder) -> Callable[..., Home]:
    """Fill a store of a kind."""

    def make(kind: str, documents: list[Document], vectors) -> Home:
        place = request.getfixturevalue("postgres") if kind == "pgvector" else tmp_path / "store"
        if kind == "pgvector":
            import psycopg

            with psycopg.connect(place, autocommit=True) as database:
                database.execute("DROP TABLE IF EXISTS chunks, chunks_argus, docs, mine")
        spec = FILLS[kind](place, documents, vectors)
        return Home(spec, opening(spec), tmp_path / "out", encoder)

    return make


@pytest.fixture(params=[*FILLS])
def home(request, make_home, wiki2, vectors) -> Home:
    """Each of the stores in turn, with documents of wiki2."""
    return make_home(request.param, wiki2, vectors)


@pytest.fixture
def qdrant(make_home, wiki2, vectors) -> Home:
    return make_home("qdrant", wiki2, vectors)
