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
from typing import TypeVar

from argus.cores import available_cores
from argus.data.provenance import describe_environment
from argus.errors import ArgusError
from argus.planning import rates
from argus.planning.hardware import Hardware
from argus.planning.records import (
    AligningRates,
    AuditRates,
    AuditTrial,
    DisplacingTrial,
    DumpTrial,
    EncodingRates,
    EncodingTrial,
    GraphRates,
    GraphTrial,
    KnowledgeTrial,
    RankingRates,
    RankingTrial,
    Trial,
    WordRates,
    WordsTrial,
)
from argus.progress import Advance, progress

T = TypeVar("T", bound=Trial)

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
    with progress("measuring this machine", None) as advance, TemporaryDirectory() as home:
        trials = _Trials(Path(home), sizes or SIZES, advance)
        encoding, load_s = trials.encoding(encoder)
        ranking, graph = trials.ranking(), trials.graph()
        audits, once_s = trials.audits(ranking, graph)
        hardware = replace(
            shipped,
            name=name,
            cores=available_cores(),
            memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            processor=describe_environment()["processor"],
            price_per_hour=price_per_hour,
            start_s=once_s + load_s,
            **encoding,
            **ranking,
            **graph,
            **audits,
            **trials.aligning(),
            **trials.words(),
        )
        if wikipedia is not None:
            hardware = replace(hardware, wikipedia_byte_s=trials.dump("wikipedia", wikipedia))
        if wikidata is not None:
            hardware = replace(hardware, wikidata_byte_s=trials.dump("wikidata", wikidata))
    return hardware


class _Trials:
    """Runs trials, each in a process and a folder of its own, and compares them."""

    def __init__(self, home: Path, sizes: Sizes, advance: Advance) -> None:
        self._home, self._sizes, self._advance = home, sizes, advance

    def encoding(self, encoder: str) -> tuple[EncodingRates, float]:
        """Return the coefficients of an encoder, and its import, loading and check."""
        with self._folder() as folder:
            trial = self._run(EncodingTrial, "encoding", folder, encoder, *self._sizes.texts)
        return rates.of_encoding(trial), trial.load_s

    def ranking(self) -> RankingRates:
        """Return the rates of products, comparisons and of the k best."""
        sizes, (narrow, dim) = self._sizes, self._sizes.dims
        short, long, compared = (
            self._run(RankingTrial, "ranking", queries, sizes.candidates, neighbours, dim)
            for queries, neighbours in (
                (sizes.queries[0], sizes.compared[0]),
                (sizes.queries[1], sizes.compared[0]),
                (sizes.queries[1], sizes.compared[1]),
            )
        )
        products = rates.of_ranking(short, long, compared)
        among = sizes.explained_among, sizes.neighbours[1], narrow
        few, many = (
            self._run(DisplacingTrial, "displacing", *among, worst) for worst in sizes.worst
        )
        partition_s = rates.of_displacing(few, many, products["multiply_s"])
        return {**products, "partition_s": partition_s}

    def graph(self) -> GraphRates:
        """Return what a relation takes that is read."""
        few, many = (self._in_folder(GraphTrial, "graph", n) for n in self._sizes.edges)
        return rates.of_graph(few, many)

    def audits(self, ranking: RankingRates, graph: GraphRates) -> tuple[AuditRates, float]:
        """Return what entities, pairs and dimensions take in an audit, and what it pays once."""
        (few, many), (narrow, wide) = self._sizes.entities, self._sizes.dims
        sparse, usual, dense = self._sizes.neighbours
        kinds = [
            (few, usual, narrow), (many, usual, narrow), (few, dense, narrow), (many, sparse, wide)
        ]  # fmt: skip
        runs = [
            [self._in_folder(AuditTrial, "audit", *kind) for kind in kinds] for _ in range(AUDITS)
        ]
        trials = [rates.fastest(of_kind) for of_kind in zip(*runs, strict=True)]
        return rates.of_audits(
            *trials, edge_s=graph["edge_s"], multiply_s=ranking["multiply_s"],
            partition_s=ranking["partition_s"],
        )  # fmt: skip

    def aligning(self) -> AligningRates:
        """Return what aligning takes, and its shards."""
        (few, many), (_, usual, dense) = self._sizes.aligned, self._sizes.neighbours
        small, large, more = (
            self._in_folder(KnowledgeTrial, "knowledge", *size)
            for size in ((few, usual), (many, usual), (few, dense))
        )
        return rates.of_knowledge(small, large, more)

    def words(self) -> WordRates:
        """Return what a word takes in the BM25 index."""
        few, many = (self._in_folder(WordsTrial, "words", n) for n in self._sizes.indexed)
        return rates.of_words(few, many)

    def dump(self, kind: str, location: Path) -> float:
        """Return the rate of a dump: read once, and some times over."""
        more = 1 + max(1, -(-self._sizes.dump_bytes // max(location.stat().st_size, 1)))
        trials = []
        for copies in (1, more):
            with self._folder() as folder:
                trials.append(self._run(DumpTrial, "dump", kind, location, folder, copies))
        return rates.of_dump(*trials)

    def _in_folder(self, kind: type[T], job: str, *arguments: object) -> T:
        with self._folder() as folder:
            return self._run(kind, job, folder, *arguments)

    @contextmanager
    def _folder(self) -> Iterator[str]:
        with TemporaryDirectory(dir=self._home) as home:
            yield f"{home}/trial"

    def _run(self, kind: type[T], job: str, *arguments: object) -> T:
        trial = run_trial(kind, job, *arguments)
        self._advance(1)
        return trial


def run_trial(kind: type[T], job: str, *arguments: object) -> T:
    """Return what a trial measured, in a process of its own. Raises ArgusError when it fails."""
    command = [sys.executable, "-m", "argus.planning.trials", job, *map(str, arguments)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise ArgusError(f"Measuring {job} took more than {TIMEOUT_S} s on this machine.") from late
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise ArgusError(f"Measuring {job} failed: {lines[-1] if lines else done.returncode}")
    return kind(**json.loads(done.stdout.splitlines()[-1]))
