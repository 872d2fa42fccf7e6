"""A worker on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from argus.engine.outcome import outcome_of
from argus.engine.packing import Packed


class Actor:
    """Sets work up once, then does block after block; then other work, perhaps."""

    def __init__(self) -> None:
        self._step: Callable[[Any], Any] | None = None

    def hello(self) -> bool:
        """Answer as soon as there is a process."""
        return True

    def begin(self, shared: tuple[bytes, list[Any]]) -> bytes:
        """Set up; return the outcome. shared: a pickle, and its buffers in the object store."""
        payload, buffers = shared

        def set_up() -> None:
            setup, shared = Packed(payload, buffers).unpack()
            self._step = setup(shared)

        return outcome_of(set_up)

    def rest(self) -> None:
        """Let go of what was set up."""
        self._step = None

    def do(self, payload: bytes) -> bytes:
        """Return the outcome of a block, as bytes: it is to be copied out of the object store."""

        def do() -> Any:
            assert self._step is not None
            return self._step(Packed(payload).unpack())

        return outcome_of(do)
