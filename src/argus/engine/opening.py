"""From a configuration to an engine that runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from argus.engine.config import EngineConfig
from argus.engine.protocol import Engine


@contextmanager
def open_engine(config: EngineConfig | None = None) -> Iterator[Engine]:
    """Yield the engine that is asked for; at the end no process of it is left.

    A cluster is connected to here, or started. Raises MissingPackage where Ray is not installed,
    InputError where the cluster does not fit, ArgusError where it does not answer.
    """
    config = config or EngineConfig()
    if config.name == "ray":
        from argus.engine.ray_engine import RayEngine

        with RayEngine(config) as cluster:
            yield cluster
    else:
        from argus.engine.local import LocalEngine

        with LocalEngine(config) as engine:
            yield engine
