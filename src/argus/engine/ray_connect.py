"""Connecting to a cluster, or starting one: what can go wrong, and what to do about it."""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from argus.engine.cluster import Facts, Node, argus_version, facts_of_node, living
from argus.engine.config import EngineConfig
from argus.errors import ArgusError, InputError

FACTS_S = 60.0
"""How long all machines of a cluster may take to say what is installed on them."""
WHERE = "--address"
_HEAD_LOST_S = "RAY_gcs_rpc_server_reconnect_timeout_s"
_HEAD = "ray start --head --port 6379"


def environment(config: EngineConfig) -> Mapping[str, str | None]:
    """Return the variables that Ray reads when it is imported and when it starts."""
    env: dict[str, str | None] = {
        "RAY_USAGE_STATS_ENABLED": "0",
        _HEAD_LOST_S: os.environ.get(_HEAD_LOST_S, "30"),
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    }
    endpoint = config.endpoint
    if config.address is None:
        env["RAY_AUTH_MODE"] = os.environ.get("RAY_AUTH_MODE", "token")  # unset, Ray says so
    if config.address is None or (endpoint and endpoint[0] in ("127.0.0.1", "localhost")):
        env["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # this is what keeps Ray on loopback
    return env


def probe(config: EngineConfig) -> None:
    """Raise ArgusError unless something listens where the head of the cluster should be."""
    if config.endpoint is None:
        return
    try:
        socket.create_connection(config.endpoint, min(5.0, config.connect_timeout_s)).close()
    except OSError as error:
        raise unanswered(config, str(error)) from error


def unanswered(config: EngineConfig, why: str) -> ArgusError:
    """Return what to raise when nothing answers as a cluster does."""
    return ArgusError(
        f"{WHERE}: no Ray cluster answers at {config.address} ({why}). Start one with `{_HEAD}` "
        "on its head and `ray start --address HEAD:6379` on every other machine, this one "
        "included; or leave --address out to use this machine alone. A cluster that wants a token "
        "does not answer either: set RAY_AUTH_MODE=token, and have its token in ~/.ray/auth_token."
    )


def connect(ray: ModuleType, config: EngineConfig, cores: int) -> list[Node]:
    """Connect to the cluster, or start one of `cores` cores; return its machines."""
    options: dict[str, Any] = {  # what Ray takes by name
        "log_to_driver": False,
        "logging_level": "error",
    }
    if config.address is None:
        options |= {
            "address": "local",
            "num_cpus": cores,
            "include_dashboard": False,
            "object_store_memory": config.object_store_bytes,
        }
    else:
        options |= {"address": config.address}
    try:
        ray.init(**options)
    except ImportError as error:
        raise InputError(
            f"this installation of Ray has no client ({error})",
            expected="ray[client] for an address that begins with ray://",
            fix="pip install 'ray[client]', or run Argus on a machine of the cluster.",
            where=WHERE,
        ) from error
    except Exception as error:  # Ray raises whatever it came upon
        raise _refused(config, error) from error
    return living(ray.nodes())


def _refused(config: EngineConfig, error: Exception) -> ArgusError:
    """Return what a failure to connect, or to start, comes to in words."""
    words = " ".join(str(error).split())
    if config.address is None:
        return ArgusError(
            f"Ray could not start on this machine ({type(error).__name__}: {words[:400]}). Check "
            "that memory, /dev/shm and the disk of /tmp have room, or use --engine local."
        )
    if "ersion mismatch" in words:
        return InputError(
            f"the cluster runs other versions ({words[:400]})",
            expected="the same Python and the same Ray here and there",
            fix="Install them here, or there; argus engine check lists them.",
            where=WHERE,
        )
    if type(error).__name__ == "AuthenticationError":
        return InputError(
            "the cluster wants a token, or another one",
            expected="RAY_AUTH_MODE=token, and the cluster's token in ~/.ray/auth_token",
            fix="Set the variable, and copy the file from the head.",
            where=WHERE,
        )
    return unanswered(config, f"{type(error).__name__}: {words[:400]}")


def facts_of_nodes(
    ray: ModuleType, nodes: list[Node], path: str | None = None
) -> dict[str, Facts | None]:
    """Return what every machine, by its id, says of itself; None for one that does not answer."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    task = ray.remote(facts_of_node())
    tasks = {
        task.options(
            num_cpus=0,
            max_retries=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node.id, soft=False),
        ).remote(path): node.id
        for node in nodes
    }
    done, _ = ray.wait(list(tasks), num_returns=len(tasks), timeout=FACTS_S)
    facts_of: dict[str, Facts | None] = dict.fromkeys(tasks.values())
    for ref in done:
        try:
            facts_of[tasks[ref]] = ray.get(ref)
        except ray.exceptions.RayError:
            continue
    return facts_of


def misfit(node: Node, facts: Facts | None, argus: str, ray: str) -> str | None:
    """Return why a machine cannot work with this one; None where it can."""
    if facts is None:
        return f"{node.address} does not answer"
    where, python = f"{node.address} ({facts['host']})", platform.python_version()
    if facts["python"].split(".")[:2] != python.split(".")[:2]:
        return f"{where} runs Python {facts['python']}, this machine {python}"
    if facts["ray"] != ray:
        return f"{where} has Ray {facts['ray']}, this machine {ray}"
    if facts["argus"] is None:
        return f"{where} cannot import argus ({facts.get('reason', '')})"
    if facts["argus"] != argus:
        return f"{where} has argus {facts['argus']}, this machine {argus}"
    return None


def check_fit(ray: ModuleType, nodes: list[Node]) -> None:
    """Raise InputError unless every machine can work with this one."""
    version = argus_version()
    facts_of = facts_of_nodes(ray, nodes)
    reasons = [misfit(node, facts_of[node.id], version, ray.__version__) for node in nodes]
    if wrong := [reason for reason in reasons if reason is not None]:
        raise InputError(
            "; ".join(wrong),
            expected="the same Python, Ray and Argus on every machine of the cluster",
            fix=f"pip install 'argus-retrieval[ray]=={version}' on each; argus engine check "
            "lists them.",
            where=WHERE,
        )
