"""`research authority score` and `generate`: score systems on a benchmark, and make benchmarks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa

from argus.authority.benchmarks.collection import Benchmark, write_benchmark
from argus.authority.benchmarks.first_stages import CrossEncoder, FirstStages
from argus.authority.benchmarks.judging import (
    Judge,
    Scored,
    question_table,
    reader_of,
    score,
    summarise_results,
)
from argus.authority.benchmarks.retriever_file import retrieve_all, retriever_of
from argus.authority.benchmarks.source import make_benchmark, open_benchmark
from argus.authority.benchmarks.systems import Bench, choose
from argus.authority.config import NamedBenchmark, OtherQueries, ScoreConfig
from argus.authority.opening import unruled_lines
from argus.data.folders import ArtifactFolder
from argus.data.tables import read_table
from argus.data.types import State
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig
from argus.encoders.config import NONE
from argus.errors import InputError
from argus.jobs import options as o
from argus.jobs.result import Result
from argus.jobs.workspace import NO_ENCODER, Record, open_encoder
from argus.progress import progress
from argus.python_file import split_spec
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, Table, table
from argus.settings import Option, Options

TABLE = "authority_questions"
SECTION = "scoring"
# Share -> its heading on the page, and on the command line (K stands for the number served).
SHARES = {
    "tca": ("TCA", "TCA"),
    "answer_correct": ("answer correct", "answer"),
    "no_ignored_superseder": ("no ignored superseder", "none ignored"),
    "controlling_hit": ("controlling hit", "hit@K"),
    "controlling_hit_equivalent": ("or an equal text", "hit@K (equal text)"),
    "provenance_recall": ("ProvRec", "ProvRec"),
    "recall": ("R", "R@K"),
    "anchor_recall": ("anchor recall", "anchor@K"),
}


@dataclass(frozen=True, repr=False)
class ScoreResult(Result):
    """Scores of the systems. The folder holds all of them, too.

    summary: as `summarise_results` returns it.
    table: one row per system and question.
    """

    TABLES = ("table",)
    folder: Path
    report: Path
    summary: dict[str, Any]
    table: pa.Table

    def headline(self) -> Iterator[str]:
        """See `Result.headline`."""
        return headline(self.summary)


@one_writer
def score_systems(
    benchmark: NamedBenchmark,
    *,
    out: o.Out = o.OUT,
    config: ScoreConfig | None = None,
    queries: OtherQueries = None,
    rules: Annotated[Path | str | None, Option(is_name=True)] = None,
    retriever: Annotated[Path | str | None, Option(is_name=True)] = None,
    encoder: Annotated[
        Encoder | EncoderConfig | str | None, Options(EncoderConfig)
    ] = DEFAULT_MODEL,
    cross_encoder: str | None = None,
    store: o.Store = None,
    fresh: o.Fresh = False,
) -> ScoreResult:
    """Score the built-in systems, or a retriever of your own, on a benchmark.

    Writes authority_questions.parquet and .csv, summary.json, manifest.json and report.html. A
    question on which the retriever fails is counted apart, never as a zero; exit code 2 when all
    fail. --encoder none leaves out the systems that need one.

    benchmark: a name of `MAKERS`, a folder (see `read_benchmark`), or a benchmark. queries: another
    file of questions in the folder. rules: a YAML file or a domain's name, by which the pipelines
    know the relation, instead of those of the benchmark or of its edges. The edges still judge the
    served documents. retriever: scored alone. encoder: of the dense systems, loaded only where one
    of them is scored. None, or the name "none", leaves them out. store: of vectors, by default
    `out/embeddings`.

    Args:
        rules: RULES.yaml that the pipelines know, instead of the benchmark's own.
        retriever: FILE.py or FILE.py:NAME, a class with retrieve(query, corpus, k) -> list of
            doc_id.
        cross_encoder: Folder or name of a model that re-ranks.
    """
    config = config or ScoreConfig()
    if isinstance(encoder, EncoderConfig) and encoder.model == NONE:
        encoder = None
    if retriever is not None and config.systems:
        expected = "one of the two: a retriever is scored alone"
        got, fix = "--retriever with --system", "Run the command once for each."
        raise InputError(got, expected=expected, fix=fix, where="--retriever")
    made, files = open_benchmark(
        benchmark, queries, rules, seed=config.seed, contaminated=config.contaminated
    )
    folder = ArtifactFolder(Path(out), fresh=fresh)
    settings = {
        **asdict(config), "benchmark": made.name, "corpus_name": made.name,
        "rules": [rule.name for rule in made.rules],
        "retriever": None if retriever is None else str(retriever),
        "cross_encoder": cross_encoder,
    }  # fmt: skip
    own = None if retriever is None else split_spec(str(retriever))[0]
    record = Record(SECTION, settings, files | {"retriever": own})
    judge = Judge(made, reader_of(made))
    results: dict[tuple[str, str], Sequence[Scored]] = {}
    if retriever is not None:
        with retriever_of(retriever, made.records) as (name, call):
            record.encoder["fingerprint"] = f"retriever:{name}"
            with record.timed(f"asking {name}"):
                outcomes = retrieve_all(call, made, k=config.k)
        results[name, str(retriever)] = score(made, outcomes, judge, k=config.k)
        record.open(folder)
    else:
        has_ranker = cross_encoder is not None
        systems = choose(
            config.systems, made, encoder=encoder is not None, cross_encoder=has_ranker
        )
        ranker = None if cross_encoder is None else CrossEncoder(cross_encoder)
        with ExitStack() as stack:
            model, opened = None, None
            if encoder is not None and any(system.dense for system in systems):
                sample = [r.document.content for r in made.records if r.document.content.strip()]
                opening = open_encoder(folder, encoder, record, sample=sample, store=store)
                model, opened = stack.enter_context(opening)
            else:
                record.encoder["fingerprint"] = NO_ENCODER
                record.open(folder)
            stages = FirstStages(made, encoder=model, store=opened, k=config.k)
            bench = Bench(made, stages, k=config.k, cross_encoder=ranker)
            advance = stack.enter_context(progress("scoring", len(systems)))
            for system in systems:
                start = time.perf_counter()
                closure = None if system.closure is None else system.closure(bench)
                scored = score(made, system.run(bench), judge, k=config.k, closure=closure)
                results[system.name, system.about] = scored
                record.timings_s[system.name] = round(time.perf_counter() - start, 2)
                advance(1)
    fingerprint = record.encoder["fingerprint"]
    summary = summarise_results(made, results, k=config.k, encoder=fingerprint)
    answers = question_table(results)
    folder.write_table(TABLE, answers, csv=True)
    counts = {"questions": len(made.questions), "systems": len(results)}
    folder.write_results(SECTION, summary, record.manifest(counts))
    return ScoreResult(folder.path, write_report(folder.path), summary, answers)


def generate_benchmark(
    name: str, *, out: Path | str, seed: int = 0, contaminated: bool = False, hint: bool = False
) -> Benchmark:
    """Make a synthetic benchmark and write it as a folder. The same seed gives the same bytes.

    hint: whether questions name the product or a party (Table 8). Raises InputError for an unknown
    name, and for a folder that holds anything but a benchmark of ours.
    """
    benchmark = make_benchmark(name, seed, contaminated, hint)
    settings = {"contaminated": contaminated, "hint": hint}
    write_benchmark(Path(out), benchmark, seed=seed, settings=settings)
    return benchmark


def section(folder: Path, scoring: Mapping[str, Any]) -> Section:
    """Build it from summary.json and authority_questions.parquet."""
    systems, about = scoring["systems"], scoring["benchmark"]
    shown = [name for name in SHARES if any(system["overall"][name] for system in systems)]
    columns = {"system": "text", "TCA, 95% interval": "interval"}
    columns |= dict.fromkeys((SHARES[name][0] for name in shown), "share") | {"failed": "count"}
    rows: list[list[object]] = []
    for system in systems:
        values, tca = [_value(system["overall"][name]) for name in shown], system["overall"]["tca"]
        interval = [tca["low"], tca["high"]] if tca else None
        rows.append([system["name"], interval, *values, system["questions"]["failed"]])
    tables = {"scoring_systems": table(columns, rows)}
    if hops := sorted({hop for system in systems for hop in system["hops"]}):
        columns = {"TCA by hop type": "text"} | dict.fromkeys(hops, "share")
        tables["scoring_hops"] = table(
            columns,
            [
                [
                    system["name"],
                    *(_value((system["hops"].get(hop) or {}).get("tca")) for hop in hops),
                ]
                for system in systems
            ],
        )
    if staged := [system for system in systems if system["factors"]]:
        names = ("anchor found", "right chain, given the anchor", "TCA, given the chain", "product",
                 "TCA without them")  # fmt: skip
        columns = {"TCA = anchor × chain × frontier + rest": "text"} | dict.fromkeys(names, "share")
        rows = []
        for system in staged:
            of = system["factors"]
            shares = [_value(of[name]) for name in ("anchor", "chain", "frontier")]
            rows.append([system["name"], *shares, of["product"], of["tca_without"]])
        tables["scoring_factors"] = table(columns, rows)
    tables["scoring_questions"] = _questions(folder)
    tca_of = {s["name"]: s["overall"]["tca"]["value"] for s in systems if s["overall"]["tca"]}
    brief = "every question failed"
    if tca_of:
        best = max(tca_of, key=tca_of.__getitem__)
        of_all = f"{about['name']}, {about['questions']:,} questions"
        brief = f"{of_all}: TCA@{scoring['k']} up to {tca_of[best]:.3f} ({best})"
    return Section({}, tables, brief)


def _questions(folder: Path) -> Table:
    """List questions on which a system failed TCA, or failed to answer."""
    wrong = [r for r in read_table(folder / f"{TABLE}.parquet").to_pylist() if not r["tca"]]
    shown: list[list[object]] = []
    for row in wrong[:MAX_ROWS]:
        faults = [
            fault
            for fault, is_there in (
                ("wrong answer", row["answer_correct"] is False),
                ("controlling document not served", not row["controlling_hit"]),
                ("a superseder ignored", not row["no_ignored_superseder"]),
            )
            if is_there
        ]
        why = ", ".join(faults) or "part of the frontier not served"
        if row["state"] == State.FAILED:
            why = f"failed: {row['reason']}"
        names = ("system", "question", "hop", "served", "gold")
        shown.append([*(row[name] or "" for name in names), why])
    heads = ("system", "question", "hop", "served", "gold", "what was wrong")
    return table(dict.fromkeys(heads, "text"), shown, total=len(wrong))


def _value(share: Mapping[str, Any] | None) -> float | None:
    return None if share is None else float(share["value"])


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield one line per system, then TCA by hop type, ceilings, and who failed."""
    about, k, systems = summary["benchmark"], summary["k"], summary["systems"]
    n, ceilings = about["questions"], summary["ceilings"]
    width = max(len(system["name"]) for system in systems)

    def line(name: str, cells: Sequence[str]) -> str:
        return f"{name:<{width}}  " + "  ".join(f"{cell:<20}" for cell in cells).rstrip()

    def cell(mean: Mapping[str, Any] | None) -> str:
        return f"{mean['value']:.3f} [{mean['low']:.3f}, {mean['high']:.3f}]" if mean else "-"

    yield (
        f"{about['name']}: {n:,} questions over {about['records']:,} documents, "
        f"k={k}; TCA by {' and '.join(summary['tca_by'])}"
    )
    if scopeless := about["answers_without_scope"]:
        what = "questions with an answer and no scope to derive it in"
        yield f"{what}: {scopeless:,}, judged by theorem 4"
    yield from unruled_lines(about["unruled_types"])
    names = {name: heading.replace("K", str(k)) for name, (_, heading) in SHARES.items()}
    yield line("", list(names.values()))
    for system in systems:
        yield line(system["name"], [cell(system["overall"][name]) for name in names])
    if hops := list(dict.fromkeys(hop for system in systems for hop in system["hops"])):
        yield from ("", "TCA by hop type", line("", hops))
        for system in systems:
            of = [system["hops"].get(hop) for hop in hops]
            yield line(system["name"], [cell(shares and shares["tca"]) for shares in of])
    yield from ("", _ceilings(ceilings, n, k))
    if ceilings["decidable"] not in (0, n):
        yield f"on the {ceilings['decidable']:,} decidable questions"
        yield line("", [names["tca"], names["controlling_hit"]])
        for system in systems:
            of = [system["decidable"][name] for name in ("tca", "controlling_hit")]
            yield line(system["name"], [cell(share) for share in of])
    for system in systems:
        counts = system["questions"]
        if longer := counts.get("longer"):
            yield f"{system['name']}: {longer:,} lists were longer than k={k}: the first {k} count"
        if counts["failed"]:
            reason, times = next(iter(counts["reasons"].items()))
            yield (
                f"{system['name']}: {counts['failed']:,} of {counts['total']:,} questions failed, "
                f"{times:,} because: {reason}"
            )


def _ceilings(ceilings: Mapping[str, Any], n: int, k: int) -> str:
    """Return the highest reachable score, and why it is no more."""
    if ceilings["decidable"] == n:
        return (
            f"ceiling of hit@{k}: 1.000, no duplicate question or equal gold text stands against it"
        )
    return (
        f"ceilings of hit@{k}: {ceilings['duplicate_questions']:.3f} by duplicate questions "
        f"({ceilings['questions_with_duplicates']:,} share their text), "
        f"{ceilings['equal_gold_texts']:.3f} by equal gold texts for who ranks by text "
        f"({ceilings['questions_with_equal_gold']:,} have such), {ceilings['both']:.3f} by both; "
        f"{ceilings['decidable']:,} of {n:,} questions are decidable"
    )
