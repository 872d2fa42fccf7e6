"""An engine of one worker that is this process; sends all that it is given through pickle."""

import pickle
from collections.abc import Iterable, Iterator
from typing import Any


class InProcessEngine:
    """Answers blocks in another order than they came, several taken at a time."""

    name = "in process"

    def __init__(self, ahead: int = 3):
        self.ahead = ahead
        # What each run was for.
        self.setups: list[str] = []
        self.blocks = 0
        # The block, of all runs, at which the engine is lost.
        self.fail_at: int | None = None

    def run(self, work: Any, blocks: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        work = pickle.loads(pickle.dumps(work))
        self.setups.append(work.what)
        answer = work.setup(work.shared)
        waiting: list[tuple[int, bytes]] = []
        for number, block in enumerate(blocks):
            waiting.append((number, pickle.dumps(block)))
            if len(waiting) == self.ahead:
                yield from self._answered(answer, waiting)
                waiting = []
        yield from self._answered(answer, waiting)

    def _answered(self, answer: Any, waiting: list[tuple[int, bytes]]) -> Iterator[tuple[int, Any]]:
        for number, block in reversed(waiting):
            if self.blocks == self.fail_at:
                raise Lost("the engine is lost")
            self.blocks += 1
            yield number, pickle.loads(pickle.dumps(answer(pickle.loads(block))))

    def describe(self) -> dict[str, object]:
        return {"name": self.name, "workers": 1, "machines": 1}


class Lost(Exception):
    """The engine broke down."""
