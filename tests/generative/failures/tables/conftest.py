from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from argus.generative.failures.measures import COLUMNS


@pytest.fixture
def table() -> Callable[..., pa.Table]:
    """An Arrow table of the given columns; ids are q00, q01, ... where none are given."""

    def build(**columns: list[Any]) -> pa.Table:
        n = len(next(iter(columns.values())))
        columns.setdefault("query_id", [f"q{i:02d}" for i in range(n)])
        columns.setdefault("question", [f"question {i}?" for i in range(n)])
        return pa.table({name: pa.array(v, COLUMNS[name]) for name, v in columns.items()})

    return build
