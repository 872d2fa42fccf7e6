"""Score retrieval systems on a benchmark of controlling authority, and make such benchmarks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.authority.benchmarks.answers import answer_of
from argus.authority.benchmarks.collection import read_benchmark, write_benchmark
from argus.authority.benchmarks.cross_encoder import CrossEncoder
from argus.authority.benchmarks.first_stages import FirstStages
from argus.authority.benchmarks.loading import retrieve_all, retriever_file, retriever_of
from argus.authority.benchmarks.makers import HINTED, MAKERS
from argus.authority.benchmarks.score import score
from argus.authority.benchmarks.systems import Bench, System, choose
from argus.authority.benchmarks.types import Benchmark, Question
from argus.authority.benchmarks.writing import CORPUS, QUERIES
from argus.authority.coverage import require_covered
from argus.authority.domains import load_domain
from argus.authority.metrics import AnswerOf, Judge
from argus.authority.relation import Authority
from argus.data.artifacts import ArtifactFolder
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig
from argus.errors import InputError
from argus.progress import progress
from argus.reports import write_report
from argus.workflows.authority_score_tables import Result, question_table, summarise_results
from argus.workflows.workspace import Record, open_encoder

TABLE = "authority_questions"
SECTION = "scoring"
ANSWERED_BY = frozenset({"employee", "ticker"})
"""Scope keys of the questions whose answers `answer_of` derives."""
WITHOUT = "no-encoder"
"""In place of an encoder's fingerprint, where none was needed."""


@dataclass(frozen=True, kw_only=True)
class ScoreConfig:
    """k: documents that a system may serve. systems: names of built-in ones; all that can run.

    seed, contaminated: of a benchmark that is made, not read.
    """

    k: int = 5
    systems: tuple[str, ...] = ()
    seed: int = 0
    contaminated: bool = False

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(
                f"{self.k}", expected="a whole number from 1", fix="For example 5.", where="--k"
            )


@dataclass(frozen=True)
class ScoreResult:
    """What the systems are worth; everything in it is also in `folder`."""

    folder: Path
    report: Path
    summary: dict[str, Any]
    table: pa.Table
    """One row per system and question."""


@dataclass(frozen=True)
class _Source:
    """A benchmark and where it came from."""

    benchmark: Benchmark
    corpus: Path | None = None
    queries: Path | None = None


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
    if retriever is not None and config.systems:
        raise InputError(
            "--retriever with --system",
            expected="one of the two: a retriever is scored alone",
            fix="Run the command once for each.",
            where="--retriever",
        )
    source = _source(benchmark, queries, config)
    if rules is not None:
        source = replace(source, benchmark=_under(rules, source.benchmark))
    folder = ArtifactFolder(Path(out), fresh=fresh)
    record = Record(
        SECTION,
        {
            **asdict(config),
            "benchmark": source.benchmark.name,
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
    judge = Judge(source.benchmark, _reader(source.benchmark))
    if retriever is not None:
        results = _score_file(retriever, source.benchmark, judge, config, record)
        record.encoder["fingerprint"] = f"retriever:{results[0].name}"
        record.open(folder)
    else:
        results = _score_built_in(
            source.benchmark, judge, config, record, folder, encoder, cross_encoder, store
        )  # fmt: skip
    summary = summarise_results(
        source.benchmark, results, k=config.k, encoder=record.encoder["fingerprint"]
    )
    table = question_table(results)
    folder.write_table(TABLE, table, csv=True)
    folder.write_section("summary.json", SECTION, summary)
    counts = {"questions": len(source.benchmark.questions), "systems": len(results)}
    folder.write_section("manifest.json", SECTION, record.manifest(counts))
    return ScoreResult(folder.path, write_report(folder.path), summary, table)


def generate_benchmark(
    name: str, *, out: Path | str, seed: int = 0, contaminated: bool = False, hint: bool = False
) -> Benchmark:
    """Make a synthetic benchmark and write it as a folder; the same seed, the same bytes.

    hint: whether questions name the product or a party (Table 8).
    """
    made = _made(name, seed, contaminated, hint)
    settings = {"contaminated": contaminated, "hint": hint}
    write_benchmark(Path(out), made, seed=seed, settings=settings)
    return made


def _source(
    benchmark: Benchmark | Path | str, queries: Path | str | None, config: ScoreConfig
) -> _Source:
    is_name = isinstance(benchmark, str) and benchmark in MAKERS
    if queries is not None and (is_name or isinstance(benchmark, Benchmark)):
        raise InputError(
            f"questions {str(queries)!r} for a benchmark that has its own",
            expected="--queries with a folder",
            fix="Leave it out.",
            where="--queries",
        )
    if isinstance(benchmark, Benchmark):
        return _Source(benchmark)
    if is_name:
        return _Source(_made(str(benchmark), config.seed, config.contaminated))
    folder = Path(benchmark)
    if not folder.is_dir():
        raise InputError(
            f"no benchmark or folder {str(benchmark)!r}",
            expected=f"one of {', '.join(MAKERS)}, or a folder",
            fix="Check the name.",
            where="--benchmark",
        )
    if config.contaminated:
        raise InputError(
            "contaminated, and read from a folder",
            expected=f"--contaminated with {', '.join(MAKERS)}",
            fix="Leave it out: a folder is what it is.",
            where="--contaminated",
        )
    file = folder / QUERIES if queries is None else _queries_file(folder, Path(queries))
    return _Source(read_benchmark(folder, str(file.resolve())), folder / CORPUS, file)


def _under(rules: Path | str, benchmark: Benchmark) -> Benchmark:
    """Return the benchmark with other rules for its pipelines."""
    given = load_domain(rules).rules
    require_covered(Authority(benchmark.records, given))
    return replace(benchmark, rules=given)


def _queries_file(folder: Path, queries: Path) -> Path:
    """Return the file of questions: in the folder, or where its path says."""
    inside = folder / queries
    return queries if queries.is_file() and not inside.is_file() else inside


def _made(name: str, seed: int, contaminated: bool, hint: bool = False) -> Benchmark:
    if name not in MAKERS:
        raise InputError(
            f"benchmark {name!r}",
            expected=f"one of {', '.join(MAKERS)}",
            fix="Check the name.",
            where="argus authority",
        )
    if not hint:
        return MAKERS[name](seed=seed, contaminated=contaminated)
    if name not in HINTED:
        raise InputError(
            f"hints for {name}",
            expected=f"--hint with {' or '.join(HINTED)}",
            fix="Leave it out: its questions name employee and ticker anyway.",
            where="--hint",
        )
    return HINTED[name](seed=seed, contaminated=contaminated, hint=True)


def _reader(benchmark: Benchmark) -> AnswerOf | None:
    """Return what derives an answer from what was served, by the rules; None without answers.

    Raises InputError for answers to questions that are not about an employee and a ticker: nothing
    here could derive them.
    """
    answered = [question for question in benchmark.questions if question.answer]
    if not answered:
        return None
    strange = next((q for q in answered if not q.scope.keys() >= ANSWERED_BY), None)
    if strange is not None:
        raise InputError(
            f"question {strange.id!r} has an answer, and the scope {dict(strange.scope)}",
            expected=f"a scope with {' and '.join(sorted(ANSWERED_BY))}, as FinSuperQA has it",
            fix="Leave the answers out: TCA is then judged by Theorem 4.",
            where=benchmark.name,
        )
    edges = () if benchmark.rules else benchmark.edges
    known = Authority(benchmark.records, benchmark.rules, edges)

    def read(question: Question, served: Sequence[str]) -> str:
        return answer_of(served, question.scope, known)

    return read


def _score_file(
    retriever: Path | str, benchmark: Benchmark, judge: Judge, config: ScoreConfig, record: Record
) -> list[Result]:
    with retriever_of(retriever) as loaded:
        name = type(loaded).__name__
        with record.timed(f"asking {name}"):
            outcomes = retrieve_all(loaded, benchmark, k=config.k)
    return [Result(name, str(retriever), score(benchmark, outcomes, judge, k=config.k))]


def _score_built_in(
    benchmark: Benchmark,
    judge: Judge,
    config: ScoreConfig,
    record: Record,
    folder: ArtifactFolder,
    encoder: Encoder | EncoderConfig | str | None,
    cross_encoder: str | None,
    store: Path | None,
) -> list[Result]:
    chosen = choose(
        config.systems,
        benchmark,
        encoder=encoder is not None,
        cross_encoder=cross_encoder is not None,
    )
    ranker = None if cross_encoder is None else CrossEncoder(cross_encoder)
    with ExitStack() as stack:
        model, opened = None, None
        if encoder is not None and any(system.dense for system in chosen):
            sample = [r.document.content for r in benchmark.records if r.document.content.strip()]
            model, opened = stack.enter_context(
                open_encoder(folder, encoder, record, sample=sample, store=store)
            )
        else:
            record.encoder["fingerprint"] = WITHOUT
            record.open(folder)
        stages = FirstStages(benchmark, encoder=model, store=opened, k=config.k)
        bench = Bench(benchmark, stages, k=config.k, cross_encoder=ranker)
        return _run(chosen, bench, judge, record)


def _run(chosen: Sequence[System], bench: Bench, judge: Judge, record: Record) -> list[Result]:
    results = []
    with progress("scoring", len(chosen)) as advance:
        for system in chosen:
            start = time.perf_counter()
            closure = None if system.closure is None else system.closure(bench)
            outcomes = system.run(bench)
            scored = score(bench.benchmark, outcomes, judge, k=bench.k, closure=closure)
            results.append(Result(system.name, system.about, scored))
            record.timings_s[system.name] = round(time.perf_counter() - start, 2)
            advance(1)
    return results
