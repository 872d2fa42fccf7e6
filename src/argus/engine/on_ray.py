"""Choose where a job's parallel work runs, local processes or a Ray cluster, and run it on Ray.

`open_engine`: `EngineConfig` -> `LocalEngine` (`local`) or `RayEngine`, which sends blocks to
actors that Ray places, and starts again where one dies. Jobs call `open_given`, which also takes an
engine that is open, or None.
"""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any

from argus.cores import available_cores
from argus.engine.local import ADDRESS, AHEAD, Engine, EngineConfig, LocalEngine, Work, died, pack
from argus.errors import ArgusError
from argus.extras import MissingPackage

MAX_RESTARTS = 2  # of an actor, and tries of a block more than one
# Variables that workers get. Keys of endpoints are not among them: those are asked from here.
PASSED_ON = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "ARGUS_SHARED")
# Variables of Ray for a cluster of this machine: unset, it would listen on all addresses.
LOOPBACK = {"RAY_AUTH_MODE": "token", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


@contextmanager
def open_engine(config: EngineConfig | None = None) -> Iterator[Engine]:
    """Yield the engine that is asked for. No process of it is left at the end.

    Raises MissingPackage where Ray is not installed, ArgusError where a cluster does not answer.
    """
    config = config or EngineConfig()
    if config.name == "local":
        yield LocalEngine(config)
        return
    if find_spec("ray") is None:
        raise MissingPackage("ray")
    before = dict(os.environ)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if config.address is None:
        os.environ |= LOOPBACK
    ray: Any = import_module("ray")
    place: dict[str, Any] = {"address": config.address}
    if config.address is None:
        cores = config.workers or available_cores()
        place = {"address": "local", "num_cpus": cores, "include_dashboard": False}
    try:
        try:
            if (match := ADDRESS.fullmatch(config.address or "")) is not None:  # does one listen?
                socket.create_connection((match[2].strip("[]"), int(match[3])), 5.0).close()
            ray.init(log_to_driver=False, logging_level="error", **place)
        except Exception as error:  # Ray raises whatever it came upon
            raise ArgusError(
                f"--address: no Ray cluster at {config.address or 'this machine'} "
                f"({type(error).__name__}: {' '.join(str(error).split())[:300]}). Start one with "
                "`ray start --head --port 6379` and `ray start --address HEAD:6379`, of the same "
                "Python, Ray and Argus, its token in ~/.ray/auth_token; or use --engine local."
            ) from error
        yield RayEngine(ray, config.workers)
    finally:
        ray.shutdown()
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def open_given(engine: EngineConfig | Engine | None) -> Iterator[Engine | None]:
    """Open the engine that a job is given. One that is open stays so, None is none."""
    if not isinstance(engine, EngineConfig):
        yield engine
        return
    with open_engine(engine) as running:
        yield running


class RayEngine:
    """Runs work on a cluster, in actors that Ray places, and starts again where one dies.

    `shared` goes to each machine once. Files that are mapped in it, and files that blocks name,
    must be on all machines under the same path.
    """

    name = "ray"

    def __init__(self, ray: Any, workers: int | None) -> None:
        self.ray, self._workers = ray, workers
        self._nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]

    def run(self, work: Work[Any, Any, Any], blocks: Iterable[Any]) -> Iterator[tuple[int, Any]]:
        """See `Engine.run`."""
        errors, ahead = self.ray.exceptions, enumerate(blocks)
        payload, *buffers = pack((work.setup, work.shared))
        shared = self.ray.put((payload, [self.ray.put(bytes(buffer)) for buffer in buffers]))
        actors = []
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        passed["TOKENIZERS_PARALLELISM"] = "false"
        for options in self._places(work.threaded):
            env = passed | {"OMP_NUM_THREADS": str(options["num_cpus"])}
            actor = self.ray.remote(Actor).options(
                **options, scheduling_strategy="SPREAD", max_restarts=MAX_RESTARTS,
                max_task_retries=MAX_RESTARTS, runtime_env={"env_vars": env},
            )  # fmt: skip
            actors.append(actor.remote(shared))
        busy = dict.fromkeys(range(len(actors)), 0)
        out: dict[Any, tuple[int, int]] = {}  # a reference to block and actor
        try:
            while True:
                for number, block in islice(ahead, AHEAD * len(actors) - len(out)):
                    idle = min(busy, key=busy.__getitem__)
                    busy[idle] += 1
                    out[actors[idle].do.remote(pickle.dumps(block))] = number, idle
                if not out:
                    return
                (ready,), _ = self.ray.wait(list(out))
                number, idle = out.pop(ready)
                busy[idle] -= 1
                yield number, pickle.loads(self.ray.get(ready))
        except errors.RayTaskError as error:
            raise error.cause from error
        except errors.RayActorError as error:
            raise died(work.what) from error
        except errors.RayError as error:
            raise ArgusError(
                f"the cluster failed ({type(error).__name__}: {str(error)[:300]}). What was done "
                "is kept: run the same command again when it is back, or leave --engine out."
            ) from error
        finally:
            for actor in actors:
                self.ray.kill(actor)

    def _places(self, threaded: bool) -> list[dict[str, Any]]:
        """Return the resources of each actor: a core; for threaded work a GPU, else a machine."""
        cores = [int(node.get("CPU", 0)) for node in self._nodes]
        gpus = sum(int(node.get("GPU", 0)) for node in self._nodes)
        if not threaded:
            places = [{"num_cpus": 1} for _ in range(sum(cores))]
        elif gpus:
            places = [{"num_cpus": max(1, sum(cores) // gpus), "num_gpus": 1} for _ in range(gpus)]
        else:
            places = [{"num_cpus": n} for n in cores if n]
        return places[: self._workers]

    def describe(self) -> dict[str, Any]:
        """See `Engine.describe`."""
        workers = len(self._places(threaded=False))
        return {"name": self.name, "workers": workers, "machines": len(self._nodes)}


class Actor:
    """Does blocks on a machine of the cluster, set up at the first one."""

    def __init__(self, shared: tuple[bytes, list[Any]]) -> None:
        self._shared = shared
        self._step: Any = None

    def do(self, payload: bytes) -> bytes:
        """Return the packed result of a block."""
        if self._step is None:
            import ray

            setup, shared = pickle.loads(self._shared[0], buffers=ray.get(self._shared[1]))
            self._step = setup(shared)
        return pickle.dumps(self._step(pickle.loads(payload)))
