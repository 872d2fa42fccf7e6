"""Blocks on their way: taken as there is room, given out again when their worker died."""

from __future__ import annotations

import reprlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from argus.engine.packing import dumps
from argus.errors import ArgusError

AHEAD = 2
"""Blocks that a worker has at once: one that it works on, one that waits."""
LIVES = 3
"""Workers that may die of one block, or while they start, before the run is given up."""


@dataclass
class _Block:
    payload: bytes
    label: str
    deaths: int = 0


class Blocks:
    """The blocks of one run, numbered from 0.

    what: for messages, as in "embedding".
    """

    def __init__(self, blocks: Iterable[object], what: str) -> None:
        self.what = what
        self._fresh: Iterator[tuple[int, object]] = enumerate(blocks)
        self._lost: deque[int] = deque()
        self._open: dict[int, _Block] = {}

    def take(self) -> tuple[int, bytes] | None:
        """Return the number and the pickle of a block to give out; None when there is none left."""
        if self._lost:
            number = self._lost.popleft()
            return number, self._open[number].payload
        for number, block in self._fresh:
            payload = dumps(block)
            self._open[number] = _Block(payload, reprlib.repr(block))
            return number, payload
        return None

    @property
    def under_way(self) -> int:
        """Blocks taken that are not done."""
        return len(self._open)

    @property
    def at_work(self) -> int:
        """Those of them that a worker has."""
        return len(self._open) - len(self._lost)

    def done(self, number: int) -> None:
        """Forget a block."""
        del self._open[number]

    def lost(self, number: int, how: str, *, blamed: bool) -> None:
        """Note that a block's worker died, which gives it out again.

        how: the worker ended. blamed: it worked on this block then. Raises ArgusError when the
        block has cost too many workers.
        """
        block = self._open[number]
        block.deaths += blamed
        if block.deaths >= LIVES:
            raise ArgusError(
                f"{self.what}: block {number} ({block.label}) ended {LIVES} workers, one after the "
                f"other; the last one {how}. Most likely memory ran out: take smaller batches, "
                "fewer --workers or a larger machine, and run the same command again; what is "
                "done is kept."
            )
        self._lost.append(number)


def died_at_start(what: str, how: str) -> ArgusError:
    """Return what to raise when workers die one after the other before any block."""
    return ArgusError(
        f"{what}: {LIVES} workers ended while they started, one after the other; the last one "
        f"{how}. Most likely memory does not suffice for so many: take fewer --workers or a larger "
        "machine. (A script that uses Argus must start its work below "
        "`if __name__ == '__main__':`.)"
    )
