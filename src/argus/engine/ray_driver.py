"""The process that speaks with Ray for this one.

Ray ends the process of its driver, without an exception, when the head or this machine's own part
of the cluster is lost, replaces its signal handlers, and may wait for ever. So it has a process
of its own, which is told blocks over a pipe, and tells what came of them; when it falls silent or
ends, the cluster is gone.
"""

from __future__ import annotations

import os
import queue
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from types import ModuleType
from typing import TYPE_CHECKING, Any

from argus.engine.blocks import AHEAD, LIVES, died_at_start
from argus.engine.cluster import Node, Seat, living, seats
from argus.engine.config import EngineConfig
from argus.engine.outcome import outcome_of, raised
from argus.engine.packing import Packed
from argus.engine.processes import Inbox, inbox_of
from argus.errors import ArgusError

if TYPE_CHECKING:
    from concurrent.futures import Future

BEAT_S = 2.0
"""It says at least this often that it is there."""
_PASSED = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")


@dataclass(eq=False)
class _Member:
    """An actor. doing: its blocks, in the order that it does them; failed: of these.

    rested: it comes from an earlier run, and may have died since without blame on this one.
    """

    handle: Any  # of an Actor on the cluster
    seat: Seat
    rested: bool
    ready: bool = False
    dead: str | None = None
    doing: list[int] = field(default_factory=list)
    failed: set[int] = field(default_factory=set)


@dataclass(eq=False)
class _Run:
    """One piece of work. what, threaded: see `Work`. shared: in the object store."""

    what: str
    shared: Any  # a reference of Ray
    free: list[Seat]
    began: float = field(default_factory=time.monotonic)
    members: list[_Member] = field(default_factory=list)
    backlog: deque[tuple[int, bytes]] = field(default_factory=deque)
    stillborn: int = 0
    placed: bool = False

    @property
    def room(self) -> int:
        return AHEAD * (len(self.free) + len(self.members))


def drive(conn: Connection) -> None:
    """Connect as the parent says, then do what it says until it has gone."""
    _silence()
    inbox = inbox_of(conn)
    message = inbox.get()
    if message is None:
        return
    _, config, cores, strict = message
    import ray

    from argus.engine.ray_connect import check_fit, connect

    conn.send(("imported", ray.__version__))
    try:
        nodes = connect(ray, config, cores)
        conn.send(("connected", nodes))
        if strict and config.address is not None:
            check_fit(ray, nodes)
        conn.send(("fits",))
        _Driver(ray, conn, inbox, config, nodes).serve()
    except (BrokenPipeError, ConnectionResetError):
        pass
    except Exception as error:
        conn.send(("failed", raised(error)))
    finally:
        ray.shutdown()


def _silence() -> None:
    """Leave the terminal to the parent; what Ray writes is in its own logs, too."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


class _Driver:
    """Serves one run after the other.

    idle: seats with the actor of an earlier run in them, which has imported its libraries.
    """

    def __init__(
        self,
        ray: ModuleType,
        conn: Connection,
        inbox: Inbox,
        config: EngineConfig,
        nodes: list[Node],
    ) -> None:
        from argus.engine.ray_actor import Actor

        self.ray, self.conn, self.inbox, self.config, self.nodes = ray, conn, inbox, config, nodes
        self.actor = ray.remote(Actor)
        self.run: _Run | None = None
        self.idle: list[tuple[Seat, Any]] = []

    def serve(self) -> None:
        """Do what the parent says, and pass on what workers say, until the parent has gone."""
        beat = time.monotonic()
        while True:
            try:
                event = self.inbox.get(timeout=BEAT_S)
            except queue.Empty:
                event = ("tick",)
            if event is None:
                return
            try:
                getattr(self, f"_on_{event[0]}")(*event[1:])
            except (BrokenPipeError, ConnectionResetError):
                return
            except Exception as error:
                self.conn.send(("failed", raised(self._in_words(error))))
            if time.monotonic() - beat >= BEAT_S:
                beat = time.monotonic()
                self.conn.send(("beat",))

    def _on_tick(self) -> None:
        run, patience_s = self.run, self.config.start_timeout_s
        if run is None or run.placed or not run.members:
            return
        if time.monotonic() - run.began > patience_s:
            free = self.ray.available_resources()
            raise ArgusError(
                f"{run.what}: no worker found room on the cluster in {patience_s:.0f} s; "
                f"{free.get('CPU', 0):g} cores and {free.get('GPU', 0):g} GPUs of it are free. "
                "Wait for the jobs that hold them, or give --workers, and run the same command "
                "again."
            )

    def _on_run(self, packed: Packed, what: str, threaded: bool) -> None:
        import numpy as np

        shared = [np.frombuffer(buffer, np.uint8) for buffer in packed.buffers]
        free = seats(self.nodes, threaded=threaded, workers=self.config.workers)
        self._dismiss_all_but(free)
        if not free:
            raise ArgusError(
                f"{what}: no machine of the cluster has cores for workers. Start one with cores: "
                "ray start --address HEAD:6379."
            )
        self.run = _Run(what, self.ray.put((packed.payload, shared)), free[::-1])
        self.conn.send(("room", self.run.room))

    def _on_block(self, number: int, payload: bytes) -> None:
        if self.run is not None:
            self.run.backlog.append((number, payload))
            self._hand_out(self.run)

    def _on_end(self) -> None:
        """End the run: its workers rest, or go if they are still at work, with what was shared."""
        if self.run is not None:
            for member in self.run.members:
                if member.ready and not member.dead and not member.doing:
                    member.handle.rest.remote()
                    self.idle.append((member.seat, member.handle))
                else:
                    self.ray.kill(member.handle)
        self.run = None
        self.conn.send(("ended",))

    def _dismiss_all_but(self, seats: list[Seat]) -> None:
        """End the resting actors whose seats are not among those of the next run."""
        open_seats, idle = list(seats), []
        for seat, handle in self.idle:
            if seat in open_seats:
                open_seats.remove(seat)
                idle.append((seat, handle))
            else:
                self.ray.kill(handle)
        self.idle = idle

    def _on_check(self, path: str | None) -> None:
        from argus.engine.ray_check import check_nodes

        self.nodes = living(self.ray.nodes())
        self.conn.send(("checked", outcome_of(partial(check_nodes, self.ray, self.nodes, path))))

    def _hand_out(self, run: _Run) -> None:
        """Give blocks to the workers that have the fewest; start more while blocks wait."""
        while run.backlog:
            able = [m for m in run.members if m.ready and not m.dead and len(m.doing) < AHEAD]
            if not able:
                break
            member = min(able, key=lambda m: len(m.doing))
            number, payload = run.backlog.popleft()
            member.doing.append(number)
            self._follow(member.handle.do.remote(payload), "done", run, member, number)
        starting = sum(not m.ready for m in run.members)
        for _ in range(min(len(run.backlog) - starting, len(run.free))):
            self._start(run)

    def _start(self, run: _Run) -> None:
        seat = run.free.pop()
        resting = next((pair for pair in self.idle if pair[0] == seat), None)
        if resting is not None:
            self.idle.remove(resting)
        handle = resting[1] if resting is not None else self._hire(seat)
        member = _Member(handle, seat, rested=resting is not None)
        run.members.append(member)
        self._follow(handle.hello.remote(), "placed", run, member)
        self._follow(handle.begin.remote(run.shared), "begun", run, member)

    def _hire(self, seat: Seat) -> Any:
        """Start an actor."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        env = {**passed_on(os.environ, self.config.env), "OMP_NUM_THREADS": str(seat.threads)}
        return self.actor.options(
            num_cpus=seat.cores,
            num_gpus=seat.gpus,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(seat.node, soft=False),
            runtime_env={"env_vars": env},
        ).remote()

    def _follow(self, ref: Any, kind: str, run: _Run, member: _Member, *rest: object) -> None:
        """Have what comes of a call put among the events."""

        def tell(future: Future[object]) -> None:
            error = future.exception()
            value = None if error else future.result()
            self.inbox.put((kind, run, member, *rest, value, error))

        ref.future().add_done_callback(tell)

    def _on_placed(
        self, run: _Run, member: _Member, value: object, error: Exception | None
    ) -> None:
        run.placed = run.placed or error is None

    def _on_begun(
        self, run: _Run, member: _Member, outcome: bytes | None, error: Exception | None
    ) -> None:
        if run is not self.run:
            return
        if error is not None:
            self._bury(run, member, self._death(error))
            return
        self.conn.send(("begun", outcome))
        member.ready = True
        run.stillborn = 0
        self._hand_out(run)

    def _on_done(
        self,
        run: _Run,
        member: _Member,
        number: int,
        outcome: bytes | None,
        error: Exception | None,
    ) -> None:
        if run is not self.run:
            return
        if error is None:
            member.doing.remove(number)
            self.conn.send(("done", number, outcome))
        else:
            member.dead = member.dead or self._death(error)
            member.failed.add(number)
        if member.dead and len(member.failed) == len(member.doing):
            self._bury(run, member, member.dead)
        self._hand_out(run)

    def _death(self, error: Exception) -> str:
        """Return how a worker died, of what Ray says; raises what is no death."""
        e = self.ray.exceptions
        deaths = (e.RayActorError, e.ObjectLostError, e.WorkerCrashedError, e.NodeDiedError)
        if not isinstance(error, (*deaths, e.OutOfMemoryError)):
            raise error
        words = " ".join(str(error).split())
        reason = words.partition("The actor is dead because ")[2] or words
        return f"died ({reason[:300]})"

    def _bury(self, run: _Run, member: _Member, how: str) -> None:
        """Give back the blocks of a worker that died, of the first one, and free its seat."""
        run.members.remove(member)
        self.ray.kill(member.handle)
        for place, number in enumerate(member.doing):
            self.conn.send(("lost", number, how, place == 0))
        self.nodes = living(self.ray.nodes())
        alive = {node.id for node in self.nodes}
        run.free = [seat for seat in (*run.free, member.seat) if seat.node in alive]
        self.conn.send(("room", run.room))
        if not run.room:
            raise ArgusError(
                f"{run.what}: every machine of the cluster with workers is lost; the last worker "
                f"{how}. Run the same command again when it is back: it goes on."
            )
        if not (member.ready or member.rested) and member.seat.node in alive:
            run.stillborn += 1
            if run.stillborn >= LIVES:
                raise died_at_start(run.what, how)
        self._hand_out(run)

    def _in_words(self, error: Exception) -> Exception:
        """Return an error of Ray itself as one that says what to do; others as they are."""
        e = self.ray.exceptions
        if isinstance(error, (e.ObjectStoreFullError, e.OutOfDiskError)):
            return ArgusError(
                f"the cluster's object store is full ({str(error).splitlines()[0][:200]}). Take "
                "smaller batches or fewer --workers, or start Ray with more: ray start "
                "--object-store-memory BYTES."
            )
        if isinstance(error, e.RayTaskError):
            return ArgusError(f"a worker could not run: {error.cause!r}")
        if isinstance(error, e.RayError):
            return ArgusError(f"the cluster failed ({type(error).__name__}: {str(error)[:400]})")
        return error


def passed_on(environ: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """Return the variables that workers get: no secrets, unless they are named."""

    def passes(name: str) -> bool:
        return name in _PASSED or (
            name.startswith("ARGUS_") and not any(word in name for word in _SECRET)
        )

    variables = {name: value for name, value in environ.items() if passes(name) or name in names}
    return {**variables, "TOKENIZERS_PARALLELISM": "false"}
