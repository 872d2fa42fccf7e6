"""The engine on a Ray cluster, as this process sees it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any, TypeVar

from argus.cores import available_cores
from argus.engine.blocks import Blocks
from argus.engine.cluster import Node, seats
from argus.engine.config import EngineConfig
from argus.engine.outcome import result_of
from argus.engine.packing import pack
from argus.engine.processes import GRACE_S, Child, Message, Spool
from argus.engine.protocol import EngineRecord, Work
from argus.engine.verdict import NodeCheck
from argus.errors import ArgusError
from argus.extras import MissingPackage

S = TypeVar("S")
B = TypeVar("B")
R = TypeVar("R")

_IMPORT_S = 120.0
_START_S = 120.0
_FIT_S = 90.0
_END_S = 20.0
SILENCE_S = 120.0
"""After so long without a sign the cluster is taken for lost."""


class RayEngine:
    """Runs work on a cluster, one run at a time.

    What `shared` holds goes to each machine once; files that are mapped in it, and files that
    blocks name, must be on all machines under the same path.
    """

    name = "ray"

    def __init__(self, config: EngineConfig, *, strict: bool = True) -> None:
        """Connect. strict: raise where a machine cannot work with this one."""
        if find_spec("ray") is None:
            raise MissingPackage("ray")
        from argus.engine.ray_connect import environment, probe
        from argus.engine.ray_driver import drive

        self.config = config
        self._running = False
        probe(config)
        self._child = Child(drive, environment(config), "argus ray", family=True)
        try:
            self._connect(strict)
        except BaseException:
            self._child.close(grace_s=0)
            raise

    def _connect(self, strict: bool) -> None:
        from argus.engine.ray_connect import unanswered

        config = self.config
        self._child.send("connect", config, config.workers or available_cores(), strict)
        try:
            self.version: str = self._expect("imported", _IMPORT_S)[1]
        except _Gone as gone:
            raise ArgusError(
                f"the process that speaks with Ray did not start ({gone.how}); what it printed "
                "says why. A script that uses Argus must be a file, and start its work below "
                "`if __name__ == '__main__':`."
            ) from None
        patience_s = _START_S if config.address is None else config.connect_timeout_s
        try:
            self.nodes: list[Node] = self._expect("connected", patience_s)[1]
        except _Gone as gone:
            if config.address is not None:
                raise unanswered(config, gone.how) from None
            raise ArgusError(
                f"Ray did not start on this machine ({gone.how}). Its logs in "
                "/tmp/ray/session_latest/logs say why; --engine local does without it."
            ) from None
        try:
            self._expect("fits", _FIT_S)
        except _Gone as gone:
            raise self._lost(gone) from None

    def __enter__(self) -> RayEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.close(GRACE_S)

    def run(self, work: Work[S, B, R], blocks: Iterable[B]) -> Iterator[tuple[int, R]]:
        """See `Engine.run`. Raises RuntimeError while another run is under way."""
        if self._running:
            raise RuntimeError("this engine runs another work; close that one first")
        todo = Blocks(blocks, work.what)
        first = todo.take()
        if first is None:
            return
        self._running = True
        try:
            spool = Spool(pack((work.setup, work.shared)))
            try:
                self._child.send_shared("run", spool, work.what, work.threaded)
                yield from self._results(todo, first)
            except KeyboardInterrupt:  # perhaps in the middle of a message
                self._child.process.kill()
                raise
            finally:
                spool.close()
                self._end()
        except _Gone as gone:
            raise self._lost(gone) from None
        finally:
            self._running = False

    def _results(self, blocks: Blocks, first: tuple[int, bytes]) -> Iterator[tuple[int, Any]]:
        room = self._expect("room", SILENCE_S)[1]
        self._child.send("block", *first)
        while True:
            while blocks.at_work < room:
                if (block := blocks.take()) is None:
                    break
                self._child.send("block", *block)
            if not blocks.under_way:
                return
            message = self._hear(SILENCE_S)
            if message[0] == "done":
                result = result_of(message[2])
                blocks.done(message[1])
                yield message[1], result
            elif message[0] == "lost":
                blocks.lost(message[1], message[2], blamed=message[3])
            elif message[0] == "room":
                room = message[1]
            elif message[0] == "begun":
                result_of(message[1])

    def _end(self) -> None:
        """Have the workers of a run ended; what they still said is dropped."""
        self._child.send("end")
        try:
            self._expect("ended", _END_S, dropping=True)
        except _Gone:
            self._child.process.kill()

    def check(self, path: str | None) -> list[NodeCheck]:
        """Return what `ray_check.check_nodes` returns."""
        self._child.send("check", path)
        try:
            nodes: list[NodeCheck] = result_of(self._expect("checked", SILENCE_S)[1])
            return nodes
        except _Gone as gone:
            raise self._lost(gone) from None

    def unseen(self, path: str) -> list[str]:
        """See `Engine.unseen`."""
        return [node["address"] for node in self.check(path) if node["sees"] is False]

    def describe(self) -> EngineRecord:
        """See `Engine.describe`."""
        single = seats(self.nodes, threaded=False, workers=self.config.workers)
        return {
            "name": self.name,
            "workers": len(single),
            "machines": len(self.nodes),
            "cores": sum(node.cores for node in self.nodes),
            "gpus": sum(node.gpus for node in self.nodes),
            "ray": self.version,
        }

    def _expect(self, kind: str, patience_s: float, *, dropping: bool = False) -> Message:
        """Return the next message of a kind; others meanwhile are dropped."""
        until = time.monotonic() + patience_s
        while True:
            message = self._hear(until - time.monotonic(), failing=not dropping)
            if message[0] == kind:
                return message

    def _hear(self, patience_s: float, *, failing: bool = True) -> Message:
        """Return the next message; raises what the driver failed with, `_Gone` without one."""
        try:
            if not self._child.conn.poll(max(0.0, patience_s)):
                raise _Gone(f"no answer in {patience_s:.0f} s")
            message: Message = self._child.conn.recv()
        except (EOFError, OSError):
            raise _Gone(f"Ray's process here {self._child.how_it_ended()}") from None
        if message[0] == "failed" and failing:
            result_of(message[1])
        return message

    def _lost(self, gone: _Gone) -> ArgusError:
        where = self.config.address or "on this machine"
        return ArgusError(
            f"the Ray cluster {where} is gone ({gone.how}). What was done is kept: start it again "
            "(ray start --head), or leave --engine out, and run the same command, which goes on."
        )


class _Gone(Exception):
    """Ray's process ended or fell silent."""

    def __init__(self, how: str) -> None:
        self.how = how
        super().__init__(how)
