"""An index with a blend, and PostgreSQL."""

from __future__ import annotations

import pytest

from tests.cli.conftest import argus  # noqa: F401
from tests.retrievers.http.conftest import server  # noqa: F401
from tests.stores.conftest import postgres  # noqa: F401
from tests.support.blended import blended_index


@pytest.fixture(scope="session")
def index(tmp_path_factory):
    """An index with a blend and a correction of queries, as a retriever."""
    return blended_index(tmp_path_factory.mktemp("blended") / "index", corrects=True)
