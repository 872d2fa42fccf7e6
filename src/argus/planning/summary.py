"""A plan as a record: what `argus plan --json` gives, and what the command puts into words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from typing_extensions import TypedDict

from argus.planning.hardware import Hardware
from argus.planning.model import Step
from argus.planning.workload import Workload


class PlannedStep(TypedDict):
    """A step, and what it costs; None without a price.

    name: name of the step.
    memory_bytes: peak memory of one machine, in bytes.
    stored_bytes: bytes that it leaves on disk.
    bound: what limits it.
    shared: whether more machines shorten it.
    cost: its price; None without a price per hour.
    """

    name: str
    seconds: float
    memory_bytes: float
    stored_bytes: float
    bound: str
    shared: bool
    cost: float | None


class PlanSummary(TypedDict):
    """A plan.

    workload: fields of `Workload`, with its candidates and pairs.
    hardware: fields of `Hardware`, as in its file.
    seconds: seconds of all steps.
    memory_bytes: memory of the step that needs most, in bytes.
    stored_bytes: bytes on disk of all steps.
    cost: price of all steps; None without a price per hour.
    fits: whether that memory is there.
    """

    workload: Mapping[str, float | None]
    hardware: Mapping[str, str | float | None]
    steps: list[PlannedStep]
    seconds: float
    memory_bytes: float
    stored_bytes: float
    cost: float | None
    fits: bool


def summary_of(steps: Sequence[Step], work: Workload, hardware: Hardware) -> PlanSummary:
    """Return the plan that consists of these steps."""
    rows = [_row(step, step.cost(hardware, work.machines)) for step in steps]
    costs = [row["cost"] for row in rows if row["cost"] is not None]
    memory = max(row["memory_bytes"] for row in rows)
    return {
        "workload": asdict(work) | {"candidates": work.candidates, "pairs": work.pairs},
        "hardware": asdict(hardware),
        "steps": rows,
        "seconds": sum(row["seconds"] for row in rows),
        "memory_bytes": memory,
        "stored_bytes": sum(row["stored_bytes"] for row in rows),
        "cost": sum(costs) if len(costs) == len(rows) else None,
        "fits": memory <= hardware.memory_bytes,
    }


def _row(step: Step, cost: float | None) -> PlannedStep:
    return {
        "name": step.name,
        "seconds": step.seconds,
        "memory_bytes": step.memory_bytes,
        "stored_bytes": step.stored_bytes,
        "bound": step.bound,
        "shared": step.shared,
        "cost": cost,
    }
