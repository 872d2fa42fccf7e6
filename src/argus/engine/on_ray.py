"""Run work on a Ray cluster: actors that Ray places, and starts again where one dies."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any, TypeVar

from argus.cores import available_cores
from argus.engine.config import ADDRESS, EngineConfig
from argus.engine.local import AHEAD, Work, begin, died, outcome
from argus.engine.packing import Packed, dumps, pack
from argus.errors import ArgusError
from argus.extras import MissingPackage

S = TypeVar("S")
B = TypeVar("B")
R = TypeVar("R")
MAX_RESTARTS = 2  # of an actor, and tries of a block more than one
LOOPBACK = ("127.0.0.1", "localhost")
SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")


class RayEngine:
    """Runs work on a cluster.

    `shared` goes to each machine once. Files that are mapped in it, and files that blocks name,
    must be on all machines under the same path.
    """

    name = "ray"

    def __init__(self, config: EngineConfig) -> None:
        """Connect to the cluster, or start one of this machine's cores."""
        if find_spec("ray") is None:
            raise MissingPackage("ray")
        self.config = config
        self._before = dict(os.environ)
        os.environ |= environment(config)
        self.ray: Any = import_module("ray")
        started = {
            "address": "local",
            "num_cpus": config.workers or available_cores(),
            "include_dashboard": False,
            "object_store_memory": config.object_store_bytes,
        }
        place = {"address": config.address} if config.address else started
        try:
            if (match := ADDRESS.fullmatch(config.address or "")) is not None:  # does one listen?
                socket.create_connection((match[2].strip("[]"), int(match[3])), 5.0).close()
            self.ray.init(log_to_driver=False, logging_level="error", **place)
            self.nodes = [node for node in self.ray.nodes() if node["Alive"]]
        except Exception as error:  # Ray raises whatever it came upon
            self.__exit__()
            raise ArgusError(_refusal(config, error)) from error

    def __enter__(self) -> RayEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.ray.shutdown()
        os.environ.clear()
        os.environ.update(self._before)

    def run(self, work: Work[S, B, R], blocks: Iterable[B]) -> Iterator[tuple[int, R]]:
        """See `Engine.run`."""
        ahead = enumerate(blocks)
        packed = pack((work.setup, work.shared))
        shared = self.ray.put((packed.payload, [self.ray.put(bytes(b)) for b in packed.buffers]))
        actors = []
        for options in self._places(work.threaded):
            env = passed_on(os.environ, self.config.env)
            env["OMP_NUM_THREADS"] = str(options["num_cpus"])
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
                    out[actors[idle].do.remote(dumps(block))] = number, idle
                if not out:
                    return
                (ready,), _ = self.ray.wait(list(out))
                numbers = [number for number, _ in out.values()]
                done, value = self._get(ready, work.what, numbers)
                number, idle = out.pop(ready)
                busy[idle] -= 1
                if not done:
                    raise value
                yield number, Packed(value).unpack()
        finally:
            for actor in actors:
                self.ray.kill(actor)

    def _places(self, threaded: bool) -> list[dict[str, Any]]:
        """Return the resources of each actor: a core; for threaded work a GPU, else a machine."""
        cores = [int(node["Resources"].get("CPU", 0)) for node in self.nodes]
        gpus = sum(int(node["Resources"].get("GPU", 0)) for node in self.nodes)
        if not threaded:
            places = [{"num_cpus": 1} for _ in range(sum(cores))]
        elif gpus:
            places = [{"num_cpus": max(1, sum(cores) // gpus), "num_gpus": 1} for _ in range(gpus)]
        else:
            places = [{"num_cpus": n} for n in cores if n]
        return places[: self.config.workers]

    def _get(self, ref: Any, what: str, numbers: list[int]) -> Any:
        """Return an actor's result. Raises ArgusError for errors of Ray itself."""
        errors = self.ray.exceptions
        try:
            return self.ray.get(ref)
        except errors.RayActorError as error:
            raise died(what, numbers, f" ({' '.join(str(error).split())[-300:]})") from error
        except (errors.ObjectStoreFullError, errors.OutOfDiskError) as error:
            raise ArgusError(
                "the cluster's object store is full. Take smaller batches or fewer --workers, or "
                "start Ray with more: ray start --object-store-memory BYTES."
            ) from error
        except errors.RayError as error:
            raise ArgusError(
                f"the cluster failed ({type(error).__name__}: {str(error)[:300]}). What was done "
                "is kept: run the same command again when it is back, or leave --engine out."
            ) from error

    def describe(self) -> dict[str, Any]:
        """See `Engine.describe`."""
        total = self.ray.cluster_resources()
        return {
            "name": self.name,
            "workers": len(self._places(threaded=False)),
            "machines": len(self.nodes),
            "cores": int(total.get("CPU", 0)),
            "gpus": int(total.get("GPU", 0)),
            "ray": self.ray.__version__,
        }

    def unseen(self, path: str) -> list[str]:
        """See `Engine.unseen`."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        sees = self.ray.remote(os.path.exists)
        refs = {
            node["NodeManagerAddress"]: sees.options(
                num_cpus=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
            ).remote(path)
            for node in self.nodes
        }
        return [address for address, ref in refs.items() if not self.ray.get(ref)]


class Actor:
    """Does blocks on a machine of the cluster, set up once."""

    def __init__(self, shared: tuple[bytes, list[Any]]) -> None:
        import ray

        payload, references = shared
        self._step = begin(Packed(payload, ray.get(references)))

    def do(self, payload: bytes) -> tuple[bool, Any]:
        """Return the outcome of a block."""
        return outcome(self._step, payload)


def environment(config: EngineConfig) -> dict[str, str]:
    """Return the variables that Ray reads: no statistics, and a cluster of this machine is local.

    Unset, RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER would have Ray listen on all addresses.
    """
    env = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    if config.address is None:
        env["RAY_AUTH_MODE"] = os.environ.get("RAY_AUTH_MODE", "token")
    if config.address is None or config.address.rpartition(":")[0].endswith(LOOPBACK):
        env["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    return env


def passed_on(environ: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """Return the variables that workers get: no secret, unless it is named."""
    own = {
        name: value
        for name, value in environ.items()
        if name in (*names, "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
        or (name.startswith("ARGUS_") and not any(word in name for word in SECRET))
    }
    return own | {"TOKENIZERS_PARALLELISM": "false"}


def _refusal(config: EngineConfig, error: Exception) -> str:
    """Return the reason why there is no cluster, and its remedy."""
    words = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    if config.address is None:
        return (
            f"Ray could not start on this machine ({words}). Check that memory, /dev/shm and the "
            "disk of /tmp have room, or use --engine local."
        )
    return (
        f"--address: no Ray cluster answers at {config.address} ({words}). Start one with "
        "`ray start --head --port 6379` on its head and `ray start --address HEAD:6379` on the "
        "other machines, with the same Python, Ray and Argus; or leave --address out to use this "
        "machine alone. A cluster that "
        "wants a token: RAY_AUTH_MODE=token, and its token in ~/.ray/auth_token."
    )
