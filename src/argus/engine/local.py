"""The local engine: this process, or as many as there are cores."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from argus.cores import available_cores
from argus.engine.blocks import AHEAD, LIVES, Blocks, died_at_start
from argus.engine.config import EngineConfig
from argus.engine.outcome import outcome_of, raised, result_of
from argus.engine.packing import Packed, pack
from argus.engine.processes import GRACE_S, Child, Message, Spool, inbox_of
from argus.engine.protocol import EngineRecord, Work

S = TypeVar("S")
B = TypeVar("B")
R = TypeVar("R")

_ENV = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}  # the cores have their processes


class LocalEngine:
    """Runs work on this machine.

    Work that keeps all cores busy runs in this process, as all does with one worker, and a block
    that is the only one; other work in processes, which start as there are blocks for them. What
    `shared` holds is then read-only.
    """

    name = "local"

    def __init__(self, config: EngineConfig) -> None:
        self.workers = config.workers or available_cores()
        self._most = 0
        self._crews: list[Crew] = []

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *_: object) -> None:
        while self._crews:
            self._crews.pop().close(grace_s=0)

    def run(self, work: Work[S, B, R], blocks: Iterable[B]) -> Iterator[tuple[int, R]]:
        """See `Engine.run`."""
        ahead = iter(blocks)
        first = list(islice(ahead, 2))
        blocks = chain(first, ahead)
        if work.threaded or self.workers == 1 or len(first) < 2:
            yield from _here(work, blocks)
            return
        crew = Crew(work, self.workers)
        self._crews.append(crew)
        grace_s = 0.0
        try:
            yield from crew.results(Blocks(blocks, work.what))
            grace_s = GRACE_S
        finally:
            self._most = max(self._most, crew.most)
            if crew in self._crews:
                self._crews.remove(crew)
                crew.close(grace_s)

    def describe(self) -> EngineRecord:
        """See `Engine.describe`; workers: the most that there were, 0 where none was needed."""
        most = max([self._most, *(crew.most for crew in self._crews)])
        return {"name": self.name, "workers": most, "machines": 1}

    def unseen(self, path: str) -> list[str]:
        """See `Engine.unseen`."""
        return []


def _here(work: Work[S, B, R], blocks: Iterable[B]) -> Iterator[tuple[int, R]]:
    """Work in this process; what is needed for it is loaded when there is a block."""
    step = None
    for number, block in enumerate(blocks):
        step = step or work.setup(work.shared)
        yield number, step(block)


class _Member:
    """One process and the blocks that it has, the one that it works on first."""

    def __init__(self, spool: Spool, what: str) -> None:
        self.child = Child(_work, _ENV, f"argus {what}")
        self.child.send_shared("setup", spool)
        self.doing: deque[int] = deque()
        self.ready = False

    def give(self, number: int, payload: bytes) -> None:
        self.doing.append(number)
        self.child.send("block", number, payload)


class Crew:
    """The processes of one run; most: so many at once."""

    def __init__(self, work: Work[Any, Any, Any], size: int) -> None:
        self.size, self.what = size, work.what
        self.members: list[_Member] = []
        self.stillborn = self.most = 0
        self.closed = False
        self.spool = Spool(pack((work.setup, work.shared)))

    def results(self, blocks: Blocks) -> Iterator[tuple[int, Any]]:
        """Yield the number and the result of every block, as they are done."""
        while True:
            self._require_open()
            while self._has_room() and (block := blocks.take()) is not None:
                self._least_busy().give(*block)
            if not blocks.under_way:
                return
            for member in self._next_members():
                self._require_open()  # it may have been closed while a result was looked at
                if (message := _message(member)) is None:
                    self._bury(member, blocks)
                elif message[0] == "ready":
                    member.ready = True
                    self.stillborn = 0
                else:
                    result = result_of(message[2])
                    member.doing.remove(message[1])
                    blocks.done(message[1])
                    yield message[1], result

    def _require_open(self) -> None:
        if self.closed:
            raise RuntimeError("this engine is closed")

    def _has_room(self) -> bool:
        return len(self.members) < self.size or any(len(m.doing) < AHEAD for m in self.members)

    def _least_busy(self) -> _Member:
        """Return who gets the next block: an idle process, else a new one, while there is room."""
        member = min(self.members, key=lambda m: len(m.doing), default=None)
        if member is None or (member.doing and len(self.members) < self.size):
            member = _Member(self.spool, self.what)
            self.members.append(member)
            self.most = max(self.most, len(self.members))
        return member

    def _next_members(self) -> list[_Member]:
        """Wait until a process says something, or ends."""
        signs: dict[Any, _Member] = {m.child.conn: m for m in self.members}  # `wait` knows more
        signs |= {m.child.process.sentinel: m for m in self.members}
        return list(dict.fromkeys(signs[sign] for sign in wait(list(signs))))

    def _bury(self, member: _Member, blocks: Blocks) -> None:
        """Give out again what a process had that died; it died of the first one."""
        how = member.child.how_it_ended()
        self.members.remove(member)
        member.child.close(grace_s=0)
        for place, number in enumerate(member.doing):
            blocks.lost(number, how, blamed=member.ready and place == 0)
        if not member.ready:
            self.stillborn += 1
            if self.stillborn >= LIVES:
                raise died_at_start(self.what, how)

    def close(self, grace_s: float) -> None:
        """End all processes; with grace those that have nothing to do end by themselves."""
        self.closed = True
        for member in self.members:
            member.child.conn.close()
        while self.members:
            self.members.pop().child.close(grace_s)
        self.spool.close()


def _message(member: _Member) -> Message | None:
    """Return what a process says next; None when it has died."""
    with suppress(EOFError, OSError):
        if member.child.conn.poll():
            message: Message = member.child.conn.recv()
            return message
    return None


def _work(conn: Connection) -> None:
    """Be a worker: set up once, then block after block, until the parent has gone."""
    inbox = inbox_of(conn)
    message = inbox.get()
    if message is None:
        return
    try:
        step = _set_up(message[1])
    except Exception as error:
        conn.send(("failed", None, raised(error)))
        return
    conn.send(("ready",))
    while (message := inbox.get()) is not None:
        _, number, payload = message
        conn.send(("done", number, outcome_of(partial(_do, step, payload))))


def _do(step: Callable[[Any], Any], payload: bytes) -> Any:
    return step(Packed(payload).unpack())


def _set_up(packed: Packed) -> Any:
    setup, shared = packed.unpack()
    return setup(shared)
