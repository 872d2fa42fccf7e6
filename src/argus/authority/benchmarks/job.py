"""`research authority score` and `generate`: score systems on a benchmark, and make benchmarks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
from typing_extensions import TypedDict

from argus.authority.benchmarks.collection import Benchmark, write_benchmark
from argus.authority.benchmarks.first_stages import CrossEncoder, FirstStages
from argus.authority.benchmarks.judging import CeilingFigures, Judge, ShareFigures, reader_of
from argus.authority.benchmarks.retriever_file import retrieve_all, retriever_file, retriever_of
from argus.authority.benchmarks.scoring import (
    ScoredSystem,
    ScoringSummary,
    ShareName,
    SystemFigures,
    question_table,
    score,
    summarise_results,
)
from argus.authority.benchmarks.source import make_benchmark, open_benchmark
from argus.authority.benchmarks.systems import Bench, System, choose
from argus.authority.config import ScoreConfig
from argus.authority.opening import unruled_lines
from argus.data.folders import ArtifactFolder
from argus.data.tables import read_records
from argus.data.types import State
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig
from argus.errors import InputError
from argus.jobs.result import Result
from argus.jobs.workspace import NO_ENCODER, Record, open_encoder
from argus.progress import progress
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, Table, table

TABLE = "authority_questions"
SECTION = "scoring"


@dataclass(frozen=True, repr=False)
class ScoreResult(Result):
    """Scores of the systems. The folder holds all of them, too."""

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
    know the relation, instead of those of the benchmark or of its edges. The edges still judge the
    served documents. retriever: `FILE.py` or `FILE.py:ClassName`, scored alone.
    encoder: of the dense systems, loaded only where one of them is scored. None leaves them out.
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
    source = open_benchmark(
        benchmark, queries, rules, seed=config.seed, contaminated=config.contaminated
    )
    made = source.benchmark
    folder = ArtifactFolder(Path(out), fresh=fresh)
    settings = {
        **asdict(config),
        "benchmark": made.name,
        "corpus_name": made.name,
        "rules": [rule.name for rule in made.rules],
        "retriever": None if retriever is None else str(retriever),
        "cross_encoder": cross_encoder,
    }
    inputs = {
        "corpus": source.corpus,
        "queries": source.queries,
        "retriever": None if retriever is None else retriever_file(retriever),
    }
    record = Record(SECTION, settings, inputs)
    judge = Judge(made, reader_of(made))
    if retriever is not None:
        with retriever_of(retriever, made.records) as loaded:
            record.encoder["fingerprint"] = f"retriever:{loaded.name}"
            with record.timed(f"asking {loaded.name}"):
                outcomes = retrieve_all(loaded, made, k=config.k)
        scored = score(made, outcomes, judge, k=config.k)
        results = [ScoredSystem(loaded.name, str(retriever), scored)]
        record.open(folder)
    else:
        systems = choose(
            config.systems,
            made,
            encoder=encoder is not None,
            cross_encoder=cross_encoder is not None,
        )
        ranker = None if cross_encoder is None else CrossEncoder(cross_encoder)
        with ExitStack() as stack:
            model, opened = None, None
            if encoder is not None and any(system.dense for system in systems):
                sample = [r.document.content for r in made.records if r.document.content.strip()]
                model, opened = stack.enter_context(
                    open_encoder(folder, encoder, record, sample=sample, store=store)
                )
            else:
                record.encoder["fingerprint"] = NO_ENCODER
                record.open(folder)
            stages = FirstStages(made, encoder=model, store=opened, k=config.k)
            bench = Bench(made, stages, k=config.k, cross_encoder=ranker)
            results = _run(systems, bench, judge, record)
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


SHARES: dict[ShareName, str] = {
    "tca": "TCA",
    "answer_correct": "answer correct",
    "no_ignored_superseder": "no ignored superseder",
    "controlling_hit": "controlling hit",
    "controlling_hit_equivalent": "or an equal text",
    "provenance_recall": "ProvRec",
    "recall": "R",
    "anchor_recall": "anchor recall",
}


class Answer(TypedDict):
    """Row of the report for a system's answer to a question. None where it does not apply."""

    system: str
    question: str
    hop: str | None
    state: str
    reason: str
    tca: bool | None
    answer_correct: bool | None
    no_ignored_superseder: bool | None
    controlling_hit: bool | None
    served: str
    gold: str


def section(folder: Path, scoring: ScoringSummary) -> Section:
    """Build it from summary.json and authority_questions.parquet."""
    systems = scoring["systems"]
    tables = {"scoring_systems": _systems(systems)}
    if any(system["hops"] for system in systems):
        tables["scoring_hops"] = _hops(systems)
    if any(system["factors"] for system in systems):
        tables["scoring_factors"] = _factors(systems)
    tables["scoring_questions"] = _questions(folder)
    return Section({}, tables, _brief(scoring))


def _systems(systems: list[SystemFigures]) -> Table:
    shown = {
        name: heading
        for name, heading in SHARES.items()
        if any(system["overall"][name] for system in systems)
    }
    columns = {"system": "text", "TCA, 95% interval": "interval"}
    columns |= dict.fromkeys(shown.values(), "share") | {"failed": "count"}
    rows: list[list[object]] = []
    for system in systems:
        values = [_value(system["overall"][name]) for name in shown]
        tca = system["overall"]["tca"]
        interval = [tca["low"], tca["high"]] if tca else None
        rows.append([system["name"], interval, *values, system["questions"]["failed"]])
    return table(columns, rows)


def _hops(systems: list[SystemFigures]) -> Table:
    hops = sorted({hop for system in systems for hop in system["hops"]})
    columns = {"TCA by hop type": "text"} | dict.fromkeys(hops, "share")
    rows: list[list[object]] = []
    for system in systems:
        shares = [system["hops"].get(hop) for hop in hops]
        rows.append([system["name"], *[_value(of and of["tca"]) for of in shares]])
    return table(columns, rows)


def _factors(systems: list[SystemFigures]) -> Table:
    columns = {
        "TCA = anchor × chain × frontier + rest": "text",
        "anchor found": "share",
        "right chain, given the anchor": "share",
        "TCA, given the chain": "share",
        "product": "share",
        "TCA without them": "share",
    }
    rows: list[list[object]] = [
        [
            system["name"],
            *[_value(share) for share in (of["anchor"], of["chain"], of["frontier"])],
            of["product"],
            of["tca_without"],
        ]
        for system in systems
        if (of := system["factors"])
    ]
    return table(columns, rows)


def _questions(folder: Path) -> Table:
    """Questions on which a system failed TCA, or failed to answer."""
    file = folder / "authority_questions.parquet"
    rows = read_records(Answer, file)
    wrong = [row for row in rows if not row["tca"]]
    columns = dict.fromkeys(
        ("system", "question", "hop", "served", "gold", "what was wrong"), "text"
    )
    shown: list[list[object]] = [
        [
            row["system"], row["question"], row["hop"] or "", row["served"], row["gold"], _why(row),
        ]
        for row in wrong[:MAX_ROWS]
    ]  # fmt: skip
    return table(columns, shown, total=len(wrong))


def _why(row: Answer) -> str:
    if row["state"] == State.FAILED:
        return f"failed: {row['reason']}"
    faults = []
    if row["answer_correct"] is False:
        faults.append("wrong answer")
    if not row["controlling_hit"]:
        faults.append("controlling document not served")
    if not row["no_ignored_superseder"]:
        faults.append("a superseder ignored")
    return ", ".join(faults) or "part of the frontier not served"


def _value(share: ShareFigures | None) -> float | None:
    return None if share is None else float(share["value"])


def _brief(scoring: ScoringSummary) -> str:
    about = scoring["benchmark"]
    by_system = {
        system["name"]: tca["value"]
        for system in scoring["systems"]
        if (tca := system["overall"]["tca"])
    }
    if not by_system:
        return "every question failed"
    best = max(by_system, key=by_system.__getitem__)
    return (
        f"{about['name']}, {about['questions']:,} questions: TCA@{scoring['k']} up to "
        f"{by_system[best]:.3f} ({best})"
    )


def headline(summary: ScoringSummary) -> Iterator[str]:
    """Yield one line per system, then TCA by hop type, ceilings, and who failed."""
    about, k, systems = summary["benchmark"], summary["k"], summary["systems"]
    yield (
        f"{about['name']}: {about['questions']:,} questions over {about['records']:,} documents, "
        f"k={k}; TCA by {' and '.join(summary['tca_by'])}"
    )
    if n := about["answers_without_scope"]:
        yield f"questions with an answer and no scope to derive it in: {n:,}, judged by theorem 4"
    yield from unruled_lines(about["unruled_types"])
    width = max(len(system["name"]) for system in systems)
    names: dict[ShareName, str] = {
        "tca": "TCA",
        "answer_correct": "answer",
        "no_ignored_superseder": "none ignored",
        "controlling_hit": f"hit@{k}",
        "controlling_hit_equivalent": f"hit@{k} (equal text)",
        "provenance_recall": "ProvRec",
        "recall": f"R@{k}",
        "anchor_recall": f"anchor@{k}",
    }
    yield _row("", list(names.values()), width)
    for system in systems:
        yield _row(system["name"], [_interval(system["overall"][name]) for name in names], width)
    yield from _by_hop(systems, width)
    yield from ("", _ceilings(summary["ceilings"], about["questions"], k))
    yield from _decidable(summary, width)
    yield from _by_question(systems, k)


def _ceilings(ceilings: CeilingFigures, n: int, k: int) -> str:
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


def _decidable(summary: ScoringSummary, width: int) -> Iterator[str]:
    """Yield the scores on decidable questions, unless all are decidable."""
    n, systems = summary["ceilings"]["decidable"], summary["systems"]
    if n in (0, summary["benchmark"]["questions"]):
        return
    names: dict[ShareName, str] = {"tca": "TCA", "controlling_hit": f"hit@{summary['k']}"}
    yield from (f"on the {n:,} decidable questions", _row("", list(names.values()), width))
    for system in systems:
        yield _row(system["name"], [_interval(system["decidable"][name]) for name in names], width)


def _by_question(systems: list[SystemFigures], k: int) -> Iterator[str]:
    """Yield how many questions failed, and how many were answered with longer lists."""
    for system in systems:
        counts = system["questions"]
        if longer := counts.get("longer"):
            yield f"{system['name']}: {longer:,} lists were longer than k={k}: the first {k} count"
        if counts["failed"]:
            reason, n = next(iter(counts["reasons"].items()))
            yield (
                f"{system['name']}: {counts['failed']:,} of {counts['total']:,} questions failed, "
                f"{n:,} because: {reason}"
            )


def _by_hop(systems: list[SystemFigures], width: int) -> Iterator[str]:
    hops = list(dict.fromkeys(hop for system in systems for hop in system["hops"]))
    if hops:
        yield from ("", "TCA by hop type", _row("", hops, width))
        for system in systems:
            shares = [system["hops"].get(hop) for hop in hops]
            cells = [_interval(of and of["tca"]) for of in shares]
            yield _row(system["name"], cells, width)


def _row(name: str, cells: list[str], width: int) -> str:
    return f"{name:<{width}}  " + "  ".join(f"{cell:<20}" for cell in cells).rstrip()


def _interval(mean: ShareFigures | None) -> str:
    if mean is None:
        return "-"
    return f"{mean['value']:.3f} [{mean['low']:.3f}, {mean['high']:.3f}]"
