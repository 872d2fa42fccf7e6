"""Score retrieval systems on a benchmark of controlling authority, and make such benchmarks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from argus.authority.benchmarks.answers import reader_of
from argus.authority.benchmarks.collection import write_benchmark
from argus.authority.benchmarks.config import ScoreConfig
from argus.authority.benchmarks.cross_encoder import CrossEncoder
from argus.authority.benchmarks.first_stages import FirstStages
from argus.authority.benchmarks.loading import retrieve_all, retriever_file, retriever_of
from argus.authority.benchmarks.metrics import Judge
from argus.authority.benchmarks.score import score
from argus.authority.benchmarks.source import Source, make_benchmark, open_benchmark
from argus.authority.benchmarks.summary import ScoringSummary, headline
from argus.authority.benchmarks.systems import Bench, System, choose
from argus.authority.benchmarks.tables import ScoredSystem, question_table, summarise_results
from argus.authority.benchmarks.types import Benchmark
from argus.data.folders import ArtifactFolder
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig
from argus.errors import InputError
from argus.jobs.result import Result
from argus.jobs.workspace import NO_ENCODER, Record, open_encoder
from argus.progress import progress
from argus.reports import write_report

TABLE = "authority_questions"
SECTION = "scoring"


@dataclass(frozen=True, repr=False)
class ScoreResult(Result):
    """What the systems are worth; everything in it is also in `folder`."""

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: ScoringSummary
    table: pa.Table
    """One row per system and question."""

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def score_systems(
    benchmark: Benchmark | Path | str,
    *,
    out: Path | str,
    config: ScoreConfig | None = None,
    queries: Path | str | None = None,
    rules: Path | str | None = None,
    retriever: Path | str | None = None,
    encoder: Encoder | EncoderConfig | str | None = DEFAULT_MODEL,
    cross_encoder: str | None = None,
    store: Path | None = None,
    fresh: bool = False,
) -> ScoreResult:
    """Score the built-in systems, or a retriever of one's own, on a benchmark.

    benchmark: a name of `MAKERS`, a folder (see `read_benchmark`), or a benchmark. queries: another
    file of questions in the folder. rules: a YAML file or a domain's name, by which the pipelines
    know the relation, instead of those of the benchmark or of its edges; what is served is judged
    by the edges all the same. retriever: `FILE.py` or `FILE.py:ClassName`, scored alone.
    encoder: of the dense systems, loaded only where one of them is scored; None leaves them out.
    cross_encoder: folder or name of one. store: of vectors, `out/embeddings` if not given.
    """
    config = config or ScoreConfig()
    if retriever is not None:
        _require_alone(config)
    source = open_benchmark(
        benchmark, queries, rules, seed=config.seed, contaminated=config.contaminated
    )
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = _record(source, config, retriever, cross_encoder)
    judge = Judge(source.benchmark, reader_of(source.benchmark))
    if retriever is not None:
        results = _score_file(retriever, source.benchmark, judge, config, record)
        record.open(folder)
    else:
        models = _Models(encoder, cross_encoder, store)
        results = _score_built_in(source.benchmark, judge, config, record, folder, models)
    return _keep(folder, source.benchmark, results, config, record)


def _require_alone(config: ScoreConfig) -> None:
    if config.systems:
        raise InputError(
            "--retriever with --system",
            expected="one of the two: a retriever is scored alone",
            fix="Run the command once for each.",
            where="--retriever",
        )


def _record(
    source: Source, config: ScoreConfig, retriever: Path | str | None, cross_encoder: str | None
) -> Record:
    return Record(
        SECTION,
        {
            **asdict(config),
            "benchmark": source.benchmark.name,
            "corpus_name": source.benchmark.name,
            "rules": [rule.name for rule in source.benchmark.rules],
            "retriever": None if retriever is None else str(retriever),
            "cross_encoder": cross_encoder,
        },
        {
            "corpus": source.corpus,
            "queries": source.queries,
            "retriever": None if retriever is None else retriever_file(retriever),
        },
    )


def _keep(
    folder: ArtifactFolder,
    benchmark: Benchmark,
    results: Sequence[ScoredSystem],
    config: ScoreConfig,
    record: Record,
) -> ScoreResult:
    """Write tables, summary, manifest and report."""
    encoder = record.encoder["fingerprint"]
    summary = summarise_results(benchmark, results, k=config.k, encoder=encoder)
    table = question_table(results)
    folder.write_table(TABLE, table, csv=True)
    counts = {"questions": len(benchmark.questions), "systems": len(results)}
    folder.write_results(SECTION, summary, record.manifest(counts))
    return ScoreResult(folder.path, write_report(folder.path), summary, table)


def generate_benchmark(
    name: str, *, out: Path | str, seed: int = 0, contaminated: bool = False, hint: bool = False
) -> Benchmark:
    """Make a synthetic benchmark and write it as a folder; the same seed, the same bytes.

    hint: whether questions name the product or a party (Table 8). Raises InputError for an unknown
    name, and for a folder that holds anything but a benchmark of ours.
    """
    benchmark = make_benchmark(name, seed, contaminated, hint)
    settings = {"contaminated": contaminated, "hint": hint}
    write_benchmark(Path(out), benchmark, seed=seed, settings=settings)
    return benchmark


def _score_file(
    retriever: Path | str, benchmark: Benchmark, judge: Judge, config: ScoreConfig, record: Record
) -> list[ScoredSystem]:
    with retriever_of(retriever, benchmark.records) as loaded:
        name = loaded.name
        record.encoder["fingerprint"] = f"retriever:{name}"
        with record.timed(f"asking {name}"):
            outcomes = retrieve_all(loaded, benchmark, k=config.k)
    return [ScoredSystem(name, str(retriever), score(benchmark, outcomes, judge, k=config.k))]


@dataclass(frozen=True)
class _Models:
    """What the dense systems and the cross-encoder need, as the caller named it."""

    encoder: Encoder | EncoderConfig | str | None
    cross_encoder: str | None
    store: Path | None


def _score_built_in(
    benchmark: Benchmark,
    judge: Judge,
    config: ScoreConfig,
    record: Record,
    folder: ArtifactFolder,
    models: _Models,
) -> list[ScoredSystem]:
    systems = choose(
        config.systems,
        benchmark,
        encoder=models.encoder is not None,
        cross_encoder=models.cross_encoder is not None,
    )
    ranker = None if models.cross_encoder is None else CrossEncoder(models.cross_encoder)
    with ExitStack() as stack:
        model, opened = None, None
        if models.encoder is not None and any(system.dense for system in systems):
            sample = [r.document.content for r in benchmark.records if r.document.content.strip()]
            model, opened = stack.enter_context(
                open_encoder(folder, models.encoder, record, sample=sample, store=models.store)
            )
        else:
            record.encoder["fingerprint"] = NO_ENCODER
            record.open(folder)
        stages = FirstStages(benchmark, encoder=model, store=opened, k=config.k)
        bench = Bench(benchmark, stages, k=config.k, cross_encoder=ranker)
        return _run(systems, bench, judge, record)


def _run(
    systems: Sequence[System], bench: Bench, judge: Judge, record: Record
) -> list[ScoredSystem]:
    results = []
    with progress("scoring", len(systems)) as advance:
        for system in systems:
            start = time.perf_counter()
            closure = None if system.closure is None else system.closure(bench)
            outcomes = system.run(bench)
            scored = score(bench.benchmark, outcomes, judge, k=bench.k, closure=closure)
            results.append(ScoredSystem(system.name, system.about, scored))
            record.timings_s[system.name] = round(time.perf_counter() - start, 2)
            advance(1)
    return results
