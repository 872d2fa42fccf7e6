"""Opening the engine that a job is given, if any, and checks of its files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from argus.errors import InputError

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


def require_shared(engine: Engine | None, home: Path, n_vectors: int, dim: int) -> None:
    """Check that workers see the vectors that a store will gather on the disk.

    Vectors of more than `store.LARGE_BYTES` go to workers as the name of their file. home: the
    store's folder, which exists. Raises InputError where the cluster has several machines, and one
    of them does not see the files there.
    """
    from argus.encoders import store

    size = 4 * dim * n_vectors
    if engine is None or size <= store.LARGE_BYTES or engine.describe()["machines"] == 1:
        return
    with NamedTemporaryFile(dir=home.absolute(), prefix="seen-") as new:
        unseen = engine.unseen(new.name)
    if unseen:
        raise InputError(
            f"{', '.join(unseen)} of the cluster cannot read what is written there",
            expected=f"storage that all its machines see: {n_vectors:,} vectors, "
            f"{size / 2**30:.1f} GiB, are not sent to them but read from a file",
            fix="Give an --out (or --cache) that they share, at the same path.",
            where=home,
        )
