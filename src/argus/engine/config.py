"""Choose and open an engine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from argus.errors import InputError
from argus.settings import Doc, Ge, Option, check_settings

Name = Literal["local", "ray"]
_PANEL = "Engine"
ADDRESS = re.compile(r"(ray://)?(\[[0-9a-fA-F:]+\]|[^\s:/@\[\]]+):(\d{1,5})")


@dataclass(frozen=True, kw_only=True)
class EngineConfig:
    """Settings of an engine.

    address: host:port of a cluster's head, ray://host:port, or auto for the one of this machine.
    None starts one of this machine alone. workers: None takes a worker per core, or per machine (or
    accelerator) for work that keeps all cores busy. env: names of variables that workers of a
    cluster get besides HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE and ARGUS_*. Secrets only so.
    object_store_bytes: memory for blocks in a cluster that is started here. None leaves it to Ray.
    """

    name: Annotated[
        Name,
        Doc(
            "local: this machine; work that keeps all cores busy by itself stays in one process. "
            "ray: a Ray cluster. Default: this process. Results are the same; models and keys have "
            "to be where workers look for them; endpoints of language models are asked from here "
            "anyway."
        ),
        Option(("--engine",), panel=_PANEL),
    ] = "local"
    address: Annotated[
        str | None,
        Doc("Of a Ray cluster that runs; default: one of this machine, for this run."),
        Option(panel=_PANEL),
    ] = None
    workers: Annotated[
        int | None,
        Ge(1),
        Doc(
            "Processes at once, of work that does not keep all cores busy by itself; on a cluster "
            "of all work. Default: what machine and work allow."
        ),
        Option(panel=_PANEL),
    ] = None
    env: tuple[str, ...] = ()
    object_store_bytes: int | None = None

    def __post_init__(self) -> None:
        check_settings(self)
        if (address := self.address) is None:
            return
        match = ADDRESS.fullmatch(address)
        if self.name == "local":
            got = f"{address!r} for the local engine"
            expected = "an address only where work runs on a cluster"
            fix = "Add --engine ray, or leave the address out."
        elif address != "auto" and (match is None or not 0 < int(match[3]) < 65536):
            got, expected = (
                f"{address!r}",
                "host:port of a cluster's head, ray://host:port, or auto",
            )
            fix = "The head says it when it starts: ray start --head --port 6379."
        else:
            return
        raise InputError(got, expected=expected, fix=fix, where="--address")

    @classmethod
    def from_options(cls, **values: Any) -> EngineConfig:
        """Return the engine to open; where only an address is given, it is that of a cluster."""
        if "name" not in values and values.get("address") is not None:
            values["name"] = "ray"
        return cls(**values)
