"""Measure a machine: short runs of the real code, one process each, and what they took per unit.

Rates come from differences between a small and a larger run, so that what every run pays once
(imports, compilation, loading) is in none of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from argus.cores import available_cores
from argus.data.provenance import describe_environment
from argus.errors import ArgusError
from argus.progress import progress
from argus.workflows.plan.hardware import Hardware

TIMEOUT_S = 900
SMALL, LARGE = 10_000, 40_000
"""Entities of the two audits that are compared."""
NEIGHBOURS = 20
STEPS = ("encoding", "products", "audits", "graph")


def calibrate(
    name: str,
    *,
    shipped: Hardware,
    encoder: str,
    price_per_hour: float | None = None,
    wikipedia: Path | None = None,
    wikidata: Path | None = None,
) -> Hardware:
    """Return the coefficients of this machine; takes two or three minutes.

    shipped: gives the rates of dumps where none is given to measure with. wikipedia, wikidata:
    dumps, or pieces of them, of some megabytes. Raises ArgusError when a run fails.
    """
    with progress("measuring this machine", len(STEPS)) as advance:
        begun = time.perf_counter()
        encoding = _run("encoding", encoder)
        starting = time.perf_counter() - begun - encoding.pop("encoding_s")
        advance(1)
        products = _run("products")
        advance(1)
        with TemporaryDirectory() as folder:
            small = _run("audit", folder + "/small", str(SMALL), str(NEIGHBOURS))
            large = _run("audit", folder + "/large", str(LARGE), str(NEIGHBOURS))
            dense = _run("audit", folder + "/dense", str(SMALL), str(4 * NEIGHBOURS))
        advance(1)
        graph = _run("graph")
        advance(1)
    measured = replace(
        shipped,
        name=name,
        cores=available_cores(),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        processor=describe_environment()["processor"],
        price_per_hour=price_per_hour,
        **encoding,
        **products,
        **graph,
        **(rates := _of_audits(small, large, dense)),
        start_s=starting + max(small["rest_s"] - rates["entity_s"] * SMALL, 0.0),
    )
    with TemporaryDirectory() as folder:
        for kind, dump in (("wikipedia", wikipedia), ("wikidata", wikidata)):
            if dump is not None:
                rate = _run("dump", kind, str(dump), folder + "/" + kind)
                measured = replace(measured, **rate)
    return measured


def _of_audits(
    small: dict[str, float], large: dict[str, float], dense: dict[str, float]
) -> dict[str, Any]:
    """Return rates per pair (more neighbours, as many entities) and per entity (more entities)."""

    def per_pair(what: str) -> float:
        return max((dense[what] - small[what]) / (dense["pairs"] - small["pairs"]), 0.0)

    def per_entity(what: str, pair: float) -> float:
        rest = large[what] - small[what] - pair * (large["pairs"] - small["pairs"])
        return rest / (LARGE - SMALL)

    scoring = per_pair("scoring_s")
    memory, stored = per_pair("peak_bytes"), per_pair("stored_bytes")
    return {
        "pair_s": max(scoring, 1e-9),
        "entity_s": max(per_entity("rest_s", 0.0) + per_entity("scoring_s", scoring), 1e-9),
        "pair_bytes": max(int(memory), 1),
        "entity_bytes": max(int(per_entity("peak_bytes", memory)), 1),
        "stored_pair_bytes": max(int(stored), 1),
        "stored_entity_bytes": max(int(per_entity("stored_bytes", stored)), 1),
    }


def _run(job: str, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "argus.workflows.plan.trials", job, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise ArgusError(f"Measuring {job} took more than {TIMEOUT_S} s on this machine.") from late
    if done.returncode:
        told = done.stderr.strip().splitlines()
        raise ArgusError(f"Measuring {job} failed: {told[-1] if told else done.returncode}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
