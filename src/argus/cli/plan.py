"""`argus plan`: time, memory, storage and cost of a job, before it is begun."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.settings import Doc, Ge

if TYPE_CHECKING:
    from argus.planning import Hardware, Step, Workload

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))
GB = 10**9
_OF_MEASURING = frozenset(("encoder", "wikipedia", "wikidata"))
_OF_BOTH = frozenset(("hardware", "price", "measure", "json", "config"))


@with_blocks
def plan(
    context: typer.Context,
    *,
    entities: Annotated[
        str, typer.Option("--entities", metavar="NUMBER", help="How many, as in 7e6.")
    ] = "1e6",
    dim: Annotated[int, Ge(1), Doc("Of a vector.")] = 384,
    neighbours: Annotated[float, Ge(0), Doc("Related entities per entity.")] = 20,
    words: Annotated[float, Ge(1), Doc("Of a paragraph.")] = 80,
    parameters: Annotated[
        str | None,
        typer.Option(
            "--parameters",
            metavar="NUMBER",
            help="Of the encoder's layers, as in 568e6; default: of the one that was measured.",
        ),
    ] = None,
    reservoir: Annotated[
        int | None,
        Ge(0),
        Doc("As of argus audit; 0: exact."),
    ] = None,
    wikipedia_gb: Annotated[float, Ge(0), Doc("Compressed dump to be read, in GB.")] = 0,
    wikidata_gb: Annotated[float, Ge(0), Doc("Compressed dump to be read, in GB.")] = 0,
    stated: Annotated[
        float,
        Ge(0),
        Doc("Statements and links that the dumps hold per entity."),
    ] = 80,
    machines: Annotated[int, Ge(1), Doc("That share the work (--engine ray).")] = 1,
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
    ] = None,
    encoder: Annotated[str, Doc("What --measure encodes with.")] = "all-MiniLM-L6-v2",
    wikipedia: Annotated[
        Path | None,
        Doc("Dump, or a piece of one, that --measure reads."),
    ] = None,
    wikidata: Annotated[
        Path | None,
        Doc("Dump, or a piece of one, that --measure reads."),
    ] = None,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Predict what an audit takes, step by step, and what limits each step.

    From coefficients measured on real hardware (docs/scale.md has formulas and errors).
    """
    from dataclasses import asdict, replace

    from argus.planning import Workload, calibrate, load_hardware, save_hardware
    from argus.planning import plan as predict

    _refuse_without_effect(context, measuring=measure is not None)
    if measure is not None:
        shipped = load_hardware(hardware)
        measured = calibrate(
            measure.stem, shipped=shipped, encoder=encoder, price_per_hour=price,
            wikipedia=wikipedia, wikidata=wikidata,
        )  # fmt: skip
        save_hardware(measured, measure)
        if json:
            o.print_json(asdict(measured))
            return
        typer.echo(f"{measured.name}: {measured.cores} cores, {measured.processor}; {measure}")
        return
    machine = load_hardware(hardware)
    if price is not None:
        machine = replace(machine, price_per_hour=price)
    work = Workload(
        entities=_count(entities, "--entities"), dim=dim, neighbours=neighbours, words=words,
        parameters=None if parameters is None else _count(parameters, "--parameters"),
        reservoir=reservoir, wikipedia_bytes=_bytes(wikipedia_gb, "--wikipedia-gb"),
        wikidata_bytes=_bytes(wikidata_gb, "--wikidata-gb"), stated=stated, machines=machines,
    )  # fmt: skip
    steps = predict(work, machine)
    if json:
        o.print_json(as_json(steps, work, machine))
        return
    for line in as_lines(steps, work, machine):
        typer.echo(line)


def _refuse_without_effect(context: typer.Context, *, measuring: bool) -> None:
    """Refuse an option of the command line that would not be read.

    What stands in a --config file may be meant for the other kind of call.
    """
    from argus.errors import InputError

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


def _count(text: str, option: str) -> int:
    """Return a number of things, as in 7e6. Raises InputError for what is none."""
    try:
        return _finite(float(text), option)
    except ValueError:
        raise _no_number(text, option) from None


def _bytes(gigabytes: float, option: str) -> int:
    return _finite(gigabytes * GB, option)


def _finite(value: float, option: str) -> int:
    try:
        return int(value)
    except (ValueError, OverflowError):  # nan, inf
        raise _no_number(f"{value:g}", option) from None


def _no_number(got: str, option: str) -> Exception:
    from argus.errors import InputError

    return InputError(repr(got), expected="a number", fix="For example 7e6.", where=option)


def as_json(steps: list[Step], work: Workload, hardware: Hardware) -> dict[str, Any]:
    """Return the plan for machines."""
    from dataclasses import asdict

    costs = [step.cost(hardware, work.machines) for step in steps]
    return {
        "workload": asdict(work) | {"candidates": work.candidates, "pairs": work.pairs},
        "hardware": asdict(hardware),
        "steps": [asdict(s) | {"cost": c} for s, c in zip(steps, costs, strict=True)],
        "seconds": sum(step.seconds for step in steps),
        "memory_bytes": max(step.memory_bytes for step in steps),
        "stored_bytes": sum(step.stored_bytes for step in steps),
        "cost": None if None in costs else sum(c for c in costs if c is not None),
        "fits": max(step.memory_bytes for step in steps) <= hardware.memory_bytes,
    }


def as_lines(steps: list[Step], work: Workload, hardware: Hardware) -> list[str]:
    """Return the plan as a table, and what to do where it does not fit."""
    whole = as_json(steps, work, hardware)
    machines = f", {work.machines} machines" if work.machines > 1 else ""
    lines = [
        f"{work.entities:,} entities x {work.dim}, {work.neighbours:g} related each, ranked among "
        f"{work.candidates:,}; {hardware.name}: {hardware.cores} cores, "
        f"{hardware.accelerator or 'no accelerator'}, {_size(hardware.memory_bytes)}{machines}",
        f"{'step':<24}{'time':>10}{'memory':>11}{'disk':>11}{'cost':>9}  limited by",
    ]
    for step, row in zip(steps, whole["steps"], strict=True):
        lines.append(_line(step.name, row) + f"  {step.bound}")
    lines.append(_line("in all", whole))
    longest = max(steps, key=lambda step: step.seconds)
    lines.append(
        f"bottleneck: {longest.name} ({longest.bound}), "
        f"{longest.seconds / whole['seconds']:.0%} of the time"
    )
    if not whole["fits"]:
        worst = max(steps, key=lambda step: step.memory_bytes)
        lines.append(
            f"does not fit: {worst.name} needs {_size(worst.memory_bytes)} of "
            f"{_size(hardware.memory_bytes)}: a larger machine, fewer entities (kb build --sample)"
        )
    return lines


def _line(name: str, row: dict[str, Any]) -> str:
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
