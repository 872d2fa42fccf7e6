"""The campaign: `python -m benchmarks.faults [PART ...] [--tries N] ...`.

Its figures go to benchmarks/results/faults.json, with the command; the table in docs/reliability.md
is made of them. What is already there and was not run this time stays.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from argus.data.artifacts import write_whole
from argus.data.locks import waiting_for
from argus.data.provenance import describe_environment, utc_now
from benchmarks.faults.coverage import covered, missing
from benchmarks.faults.fuzz import fuzzed_apart
from benchmarks.faults.readers import READERS
from benchmarks.faults.serving import NAME, kill_servers
from benchmarks.faults.shim import Fault
from benchmarks.faults.soak import PLOT, plot, soak
from benchmarks.faults.states import LONG, States, commands, states
from benchmarks.faults.strikes import Tally, moments, strike_command, whole
from benchmarks.faults.table import BAD, RESULTS, write_table
from benchmarks.faults.together import met, pairs, searched, twice

OF_READERS = ("fuzz", "coverage")
STRIKES = {
    "kills": (Fault.KILL, Fault.TERM), "disk": (Fault.FULL,), "mount": (Fault.GONE,),
    "clock": (Fault.BEHIND, Fault.AHEAD),
}  # fmt: skip
OF_SERVICE = ("serve", "soak")
PARTS = (*STRIKES, "together", *OF_READERS, *OF_SERVICE)


def main() -> None:
    """Run the parts that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults")
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all without")
    parser.add_argument("--tries", type=int, default=100, help="moments of a kill, per command")
    parser.add_argument("--mutations", type=int, default=10_000, help="per reader")
    parser.add_argument("--seconds", type=int, default=80, help="coverage: per parser")
    parser.add_argument("--kills", type=int, default=50, help="of argus serve")
    parser.add_argument("--minutes", type=float, default=120, help="soak: of argus serve")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", nargs="+", default=[""], help="commands or readers whose name holds one of these"
    )
    settings = parser.parse_args()
    if "coverage" in settings.parts and missing():
        parser.error(missing())
    parts = settings.parts or list(PARTS)
    if "fuzz" in parts:
        for reader in READERS:
            if _chosen(reader.name, settings):
                first = settings.mutations * (settings.seed - 1)
                told = fuzzed_apart(reader, first, first + settings.mutations)
                _keep("fuzz", reader.name, told.record(), settings)
    if "coverage" in parts:
        _cover(settings)
    if "serve" in parts and _chosen(NAME, settings):
        with tempfile.TemporaryDirectory() as home:
            told = kill_servers(Path(home), settings.kills, settings.seed)
        _keep("serve", NAME, told.record(), settings)
    if "soak" in parts and _chosen(NAME, settings):
        with tempfile.TemporaryDirectory() as home:
            record = soak(Path(home), settings.minutes, settings.seed)
        PLOT.write_text(plot(record), encoding="utf-8")
        _keep("soak", NAME, record, settings)
    if set(parts) - {*OF_READERS, *OF_SERVICE}:
        with tempfile.TemporaryDirectory() as home, states(Path(home)) as made:
            for part, name, record in _struck(made, parts, settings):
                _keep(part, name, record, settings)
    write_table()


def _cover(settings: argparse.Namespace) -> None:
    if missing():
        print(f"left out: {missing()}")
        return
    for name, record in covered(
        settings.seconds, settings.seed, lambda name: _chosen(name, settings)
    ):
        _keep("coverage", name, record, settings)


def _chosen(name: str, settings: argparse.Namespace) -> bool:
    return any(part in name for part in settings.only)


Figures = Iterator[tuple[str, str, dict[str, Any]]]
"""Part of the campaign, what was tried, and what became of it."""


def _struck(made: States, parts: list[str], settings: argparse.Namespace) -> Figures:
    for name in commands():
        if not _chosen(name, settings):
            continue
        if STRIKES.keys() & set(parts):
            yield from _or_failed("kills", name, _command(made, name, parts, settings))
        if "together" in parts:
            yield from _or_failed("together", name, _one("together", name, twice, made, name))
    if "together" in parts:
        for one, other in pairs():
            if _chosen(one, settings) or _chosen(other, settings):
                name = f"{one} | {other}"
                yield from _or_failed(
                    "together", name, _one("together", name, met, made, one, other)
                )
        if _chosen("argus search", settings):
            name = "8 searches | index add | index compact"
            yield from _or_failed("together", name, _one("together", name, searched, made))


def _command(made: States, name: str, parts: list[str], settings: argparse.Namespace) -> Figures:
    """Strike one command at its writes."""
    most = max(2, settings.tries // 10) if name in LONG else settings.tries
    undisturbed = whole(made, name)
    for part, faults in STRIKES.items():
        for fault in faults if part in parts else ():
            writes = undisturbed.filling if fault is Fault.FULL else undisturbed.writes
            at = moments(writes, most, settings.seed)
            tally = strike_command(made, name, fault, at, undisturbed)
            yield part, f"{name}, {fault.name.lower()}", tally.record()


def _one(part: str, name: str, tried: Callable[..., Tally], *told: Any) -> Figures:
    yield part, name, tried(*told).record()


def _or_failed(part: str, name: str, figures: Figures) -> Figures:
    """Pass figures on; where the harness itself fails, that is a record, and the rest goes on."""
    try:
        yield from figures
    except Exception as error:
        yield part, name, {"failed": str(error)[-1500:] or repr(error)}


def _keep(part: str, name: str, record: dict[str, Any], settings: argparse.Namespace) -> None:
    """Write a record at once: a campaign takes hours."""
    print(f"{utc_now()} {part}: {name}: {json.dumps(record)}", flush=True)
    lock = Path(tempfile.gettempdir()) / "argus-faults.lock"
    with waiting_for(lock, busy="the results are being written"):
        results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.is_file() else {}
        about = {"seed": settings.seed, "finished": utc_now()}
        records = results.setdefault("result", {}).setdefault(part, {})
        fewer = record.get("tries", 0) < records.get(name, {}).get("tries", 0)
        if fewer and not any(record.get(kind) for kind in BAD):
            return  # what was tried more often stays, unless fewer tries show what it does not
        records[name] = record | about
        if "failed" not in record:
            records.pop(name.rpartition(", ")[0], None)  # that it could not be run, of before
        results |= {"finished": utc_now(), "environment": describe_environment()}
        write_whole(RESULTS, json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
