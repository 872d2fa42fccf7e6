"""`argus plan`: time, memory, storage and cost of a job, before it is begun."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.encoders.config import DEFAULT_MODEL
from argus.errors import InputError
from argus.planning.workload import Workload
from argus.settings import Doc, Ge

if TYPE_CHECKING:
    from argus.planning import Hardware
    from argus.planning.summary import PlannedStep, PlanSummary

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))
_OF_MEASURING = frozenset(("encoder", "wikipedia", "wikidata"))
_OF_BOTH = frozenset(("hardware", "price", "measure", "json", "config"))
Dump = Annotated[Path | None, Doc("Dump, or a piece of one, that --measure reads.")]


@example("argus plan --entities 7e6 --dim 1024")
@with_blocks
def plan(
    context: typer.Context,
    *,
    work: Workload,
    hardware: Annotated[
        str,
        Doc("File from --measure, or one that ships: two-cores."),
    ] = "two-cores",
    price: Annotated[
        float | None,
        Ge(0),
        Doc("Of a machine per hour; default: the file's."),
    ] = None,
    measure: Annotated[
        Path | None,
        Doc("Measure this machine (minutes) into a file for --hardware."),
        o.Output(marks=('"memory_bytes":', '"processor":')),
    ] = None,
    encoder: Annotated[str, Doc("What --measure encodes with.")] = DEFAULT_MODEL,
    wikipedia: Dump = None,
    wikidata: Dump = None,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Predict what an audit takes, step by step, and what limits each step.

    From coefficients measured on real hardware (docs/scale.md has formulas and errors).
    """
    from dataclasses import asdict, replace

    from argus.planning import calibrate, load_hardware, save_hardware
    from argus.planning import plan as predict
    from argus.planning.summary import summary_of

    _refuse_without_effect(context, measuring=measure is not None)
    machine = load_hardware(hardware)
    if measure is not None:
        machine = calibrate(
            measure.stem, shipped=machine, encoder=encoder, price_per_hour=price,
            wikipedia=wikipedia, wikidata=wikidata,
        )  # fmt: skip
        save_hardware(machine, measure)
        if json:
            o.print_json(asdict(machine))
            return
        typer.echo(f"{machine.name}: {machine.cores} cores, {machine.processor}; {measure}")
        return
    if price is not None:
        machine = replace(machine, price_per_hour=price)
    summary = summary_of(predict(work, machine), work, machine)
    if json:
        o.print_json(summary)
        return
    for line in as_lines(summary, work, machine):
        typer.echo(line)


def _refuse_without_effect(context: typer.Context, *, measuring: bool) -> None:
    """Refuse an option of the command line that would not be read.

    What stands in a --config file may be meant for the other kind of call.
    """
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in _OF_BOTH:
            continue
        if measuring != (name in _OF_MEASURING):
            spelling = "--" + name.replace("_", "-")
            raise InputError(
                "has no effect with --measure" if measuring else "has no effect without --measure",
                expected="a plan, or a measurement",
                fix=f"Leave out {spelling}, or {'' if measuring else 'give '}--measure.",
                where=spelling,
            )


def as_lines(summary: PlanSummary, work: Workload, hardware: Hardware) -> list[str]:
    """Return the plan as a table, and what to do where it does not fit."""
    machines = f", {work.machines} machines" if work.machines > 1 else ""
    lines = [
        f"{work.entities:,} entities x {work.dim}, {work.neighbours:g} related each, ranked among "
        f"{work.candidates:,}; {hardware.name}: {hardware.cores} cores, "
        f"{hardware.accelerator or 'no accelerator'}, {_size(hardware.memory_bytes)}{machines}",
        f"{'step':<24}{'time':>10}{'memory':>11}{'disk':>11}{'cost':>9}  limited by",
    ]
    steps = summary["steps"]
    lines += [_line(step["name"], step) + f"  {step['bound']}" for step in steps]
    lines.append(_line("in all", summary))
    longest = max(steps, key=lambda step: step["seconds"])
    lines.append(
        f"bottleneck: {longest['name']} ({longest['bound']}), "
        f"{longest['seconds'] / summary['seconds']:.0%} of the time"
    )
    if not summary["fits"]:
        worst = max(steps, key=lambda step: step["memory_bytes"])
        lines.append(
            f"does not fit: {worst['name']} needs {_size(worst['memory_bytes'])} of "
            f"{_size(hardware.memory_bytes)}: a larger machine, fewer entities (kb build --sample)"
        )
    return lines


def _line(name: str, row: PlannedStep | PlanSummary) -> str:
    cost = "–" if row["cost"] is None else f"{row['cost']:,.2f}"
    return (
        f"{name:<24}{_time(row['seconds']):>10}{_size(row['memory_bytes']):>11}"
        f"{_size(row['stored_bytes']):>11}{cost:>9}"
    )


def _time(seconds: float) -> str:
    for unit, name in _UNITS:
        if seconds >= unit:
            return f"{seconds / unit:,.1f} {name}"
    return f"{seconds:.1f} s"


def _size(n: float) -> str:
    return f"{n / 2**30:,.1f} GiB" if n >= 2**30 else f"{n / 2**20:,.0f} MiB"
