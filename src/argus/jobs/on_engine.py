"""Open the engine that a job is given, if any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argus.engine import Engine, EngineConfig


@contextmanager
def opened(engine: EngineConfig | Engine | None) -> Iterator[Engine | None]:
    """Open the engine that a configuration names. One that is open stays so, None is none."""
    if engine is None:
        yield None
        return
    from argus.engine import EngineConfig, open_engine

    if not isinstance(engine, EngineConfig):
        yield engine
        return
    with open_engine(engine) as running:
        yield running
