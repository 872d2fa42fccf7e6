"""Measure a machine: short runs of the real code, and what a larger one took beyond a smaller one.

Each trial is a process of its own (`argus.planning.trials`); rates are slopes between two of
them that differ in size (`argus.planning.rates`). Only `start_s`, `base_bytes` and
`report_bytes`, which are paid once, are what remains where the slopes are taken away.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from argus.cores import available_cores
from argus.data.provenance import describe_environment
from argus.errors import ArgusError
from argus.planning import rates
from argus.planning.hardware import Hardware
from argus.progress import Advance, progress

TIMEOUT_S = 900
AUDITS = 3
"""Runs of each trial audit, in turn: what a pair takes is a small part of some seconds."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How large the trials are, smaller and larger; together three or four minutes on two cores."""

    texts: tuple[int, int] = (128, 512)
    queries: tuple[int, int] = (2_048, 6_144)
    candidates: int = 20_000
    compared: tuple[int, int] = (2, 40)
    """Related entities per query."""
    worst: tuple[int, int] = (20, 200)
    explained_among: int = 200_000
    """Entities among which those are sought that outrank the worst."""
    entities: tuple[int, int] = (8_000, 24_000)
    neighbours: tuple[int, int, int] = (4, 30, 90)
    """Of the trial audit of many dimensions, of most trials, of dense ones: in most the memory of
    pairs is to exceed that of looking up who outranks the worst."""
    dims: tuple[int, int] = (32, 512)
    edges: tuple[int, int] = (500_000, 2_000_000)
    aligned: tuple[int, int] = (10_000, 30_000)
    indexed: tuple[int, int] = (10_000, 30_000)
    dump_bytes: int = 6 << 20
    """What the longer reading of a dump has at least, compressed."""


SIZES = Sizes()


def calibrate(
    name: str,
    *,
    shipped: Hardware,
    encoder: str,
    price_per_hour: float | None = None,
    wikipedia: Path | None = None,
    wikidata: Path | None = None,
    sizes: Sizes | None = None,
) -> Hardware:
    """Return the coefficients of this machine; takes three or four minutes.

    shipped: gives the rates of dumps where none is given to measure with. wikipedia, wikidata:
    dumps, or pieces of them, of some megabytes. sizes: of the trials; None takes SIZES. Raises
    ArgusError when a run fails.
    """
    dumps = {"wikipedia": wikipedia, "wikidata": wikidata}
    with progress("measuring this machine", None) as advance, TemporaryDirectory() as home:
        trials = _Trials(Path(home), sizes or SIZES, advance)
        encoding = trials.encoding(encoder)
        ranked = trials.ranking()
        related = trials.graph()
        audits = trials.audits(ranked | related)
        once_s = audits.pop("once_s") + encoding.pop("once_s")
        measured = replace(
            shipped,
            name=name,
            cores=available_cores(),
            memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            processor=describe_environment()["processor"],
            price_per_hour=price_per_hour,
            start_s=once_s,
            **encoding,
            **ranked,
            **related,
            **audits,
            **trials.knowledge(),
        )
        for kind, dump in dumps.items():
            if dump is not None:
                measured = replace(measured, **trials.dump(kind, dump))
    return measured


class _Trials:
    """Runs trials, each in a process and a folder of its own, and compares them."""

    def __init__(self, home: Path, sizes: Sizes, advance: Advance) -> None:
        self._home, self._sizes, self._advance = home, sizes, advance

    def encoding(self, encoder: str) -> dict[str, Any]:
        """Return the coefficients of an encoder, and once_s: its import, loading and check."""
        with self._folder() as folder:
            found = self._run("encoding", folder, encoder, *self._sizes.texts)
        (few, many), once_s = found.pop("trials"), found.pop("load_s")
        return {**found, **rates.of_encoding(few, many), "once_s": once_s}

    def ranking(self) -> dict[str, Any]:
        """Return the rates of products, comparisons and of the k best."""
        sizes, (narrow, dim) = self._sizes, self._sizes.dims
        short, long, compared = (
            self._run("ranking", queries, sizes.candidates, neighbours, dim)
            for queries, neighbours in (
                (sizes.queries[0], sizes.compared[0]),
                (sizes.queries[1], sizes.compared[0]),
                (sizes.queries[1], sizes.compared[1]),
            )
        )
        ranked: dict[str, Any] = rates.of_ranking(short, long, compared)
        few, many = (
            self._run("displacing", sizes.explained_among, sizes.neighbours[1], narrow, worst)
            for worst in sizes.worst
        )
        return ranked | rates.of_displacing(few, many, ranked["multiply_s"])

    def graph(self) -> dict[str, Any]:
        """Return what a relation takes that is read."""
        return rates.of_graph(*(self._in_folder("graph", n) for n in self._sizes.edges))

    def audits(self, measured: dict[str, Any]) -> dict[str, Any]:
        """Return what entities, pairs and dimensions take in an audit, and once_s."""
        (few, many), (narrow, wide) = self._sizes.entities, self._sizes.dims
        sparse, usual, dense = self._sizes.neighbours
        kinds = [
            (few, usual, narrow), (many, usual, narrow), (few, dense, narrow), (many, sparse, wide)
        ]  # fmt: skip
        runs = [[self._in_folder("audit", *kind) for kind in kinds] for _ in range(AUDITS)]
        trials = [rates.fastest(of_kind) for of_kind in zip(*runs, strict=True)]
        return rates.of_audits(*trials, measured=measured)

    def knowledge(self) -> dict[str, Any]:
        """Return what aligning and indexing take."""
        (few, many), (_, usual, dense) = self._sizes.aligned, self._sizes.neighbours
        sizes = (few, usual), (many, usual), (few, dense)
        aligned = rates.of_knowledge(*(self._in_folder("knowledge", *size) for size in sizes))
        indexed = rates.of_words(*(self._in_folder("words", n) for n in self._sizes.indexed))
        return aligned | indexed

    def dump(self, kind: str, location: Path) -> dict[str, Any]:
        """Return the rate of a dump: read once, and some times over."""
        more = 1 + max(1, -(-self._sizes.dump_bytes // max(location.stat().st_size, 1)))
        trials = []
        for copies in (1, more):
            with self._folder() as folder:
                trials.append(self._run("dump", kind, location, folder, copies))
        return rates.of_dump(kind, *trials)

    def _in_folder(self, job: str, *arguments: object) -> dict[str, Any]:
        with self._folder() as folder:
            return self._run(job, folder, *arguments)

    @contextmanager
    def _folder(self) -> Iterator[str]:
        with TemporaryDirectory(dir=self._home) as home:
            yield f"{home}/trial"

    def _run(self, job: str, *arguments: object) -> dict[str, Any]:
        found = run_trial(job, *arguments)
        self._advance(1)
        return found


def run_trial(job: str, *arguments: object) -> dict[str, Any]:
    """Return what a trial measured, in a process of its own. Raises ArgusError when it fails."""
    command = [sys.executable, "-m", "argus.planning.trials", job, *map(str, arguments)]
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
