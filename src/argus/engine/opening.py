"""Open the engine that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from argus.engine.config import EngineConfig
from argus.engine.local import Engine, LocalEngine


@contextmanager
def open_engine(config: EngineConfig | None = None) -> Iterator[Engine]:
    """Yield the engine that is asked for. No process of it is left at the end.

    Raises MissingPackage where Ray is not installed, ArgusError where a cluster does not answer.
    """
    config = config or EngineConfig()
    if config.name == "ray":
        from argus.engine.on_ray import RayEngine

        with RayEngine(config) as cluster:
            yield cluster
    else:
        yield LocalEngine(config)
