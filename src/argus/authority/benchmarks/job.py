"""`argus research authority score`, `generate` and `gap`: score systems on benchmarks, or make one.

`score_systems`: a benchmark -> accuracy of each system by hop type, and a row per question.
`generate_benchmark`: a name -> its folder (`makers`). `vocabulary_gap` (CAR section 6.4, Table 4):
how many more words a question shares with superseded documents (its anchors) than with controlling
ones (its gold), by the Jaccard index of the sets of words and by BM25 (`Okapi`). Of several
documents on one side the best counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from argus.authority.benchmarks.collection import Benchmark, write_benchmark
from argus.authority.benchmarks.judging import (
    BY_ANSWERS,
    BY_CONDITIONS,
    SHARES,
    Judge,
    Outcome,
    Scored,
    has_answer,
    question_table,
    score,
    share,
    summarise,
)
from argus.authority.benchmarks.makers import make_benchmark, open_benchmark
from argus.authority.benchmarks.systems import Bench, Okapi, choose, okapi_words
from argus.authority.config import NamedBenchmark, OtherQueries, ScoreConfig
from argus.authority.rules import corpus_of
from argus.data.folders import ArtifactFolder
from argus.data.runs import ranking
from argus.data.tables import read_table
from argus.data.types import Query
from argus.data.writing import one_writer
from argus.encoders import DEFAULT_MODEL, Encoder, EncoderConfig
from argus.encoders.config import NONE
from argus.errors import InputError
from argus.indexes.lexical import STOP_WORDS
from argus.jobs import options as o
from argus.jobs.result import TableResult
from argus.jobs.workspace import NO_ENCODER, Record, open_encoder
from argus.progress import progress
from argus.reports import write_report
from argus.reports.section import MAX_ROWS, Section, table
from argus.retrievers.config import NAMES
from argus.retrievers.names import input_path
from argus.retrievers.opening import Answerer, answers_of
from argus.settings import OUTPUT, Doc, Option, Options, Seed

TABLE = "authority_questions"
SECTION = "scoring"
HEADINGS = SHARES | {"anchor_recall": "anchor@K"}


@dataclass(frozen=True, repr=False)
class ScoreResult(TableResult):
    """Scores of the systems. The folder holds all of them, too.

    summary.benchmark: its name, and numbers of records, questions, edges and rules.
    summary.tca_by: questions by how TCA is judged: by answers, or by Theorem 4.
    summary.encoder: fingerprint of the encoder, or its substitute.
    summary.systems: of each its name, about (what it does), and what `summarise` returns.
    table: one row per system and question.
    """

    def headline(self) -> Iterator[str]:
        """Yield one line per system, then who failed."""
        summary = self.summary
        about, k, systems = summary["benchmark"], summary["k"], summary["systems"]
        width = max(len(system["name"]) for system in systems)

        def line(name: str, cells: Sequence[str]) -> str:
            return f"{name:<{width}}  " + "  ".join(f"{cell:<20}" for cell in cells).rstrip()

        def cell(mean: Mapping[str, Any] | None) -> str:
            return f"{mean['value']:.3f} [{mean['low']:.3f}, {mean['high']:.3f}]" if mean else "-"

        yield (
            f"{about['name']}: {about['questions']:,} questions over {about['records']:,} "
            f"documents, k={k}; TCA by {' and '.join(summary['tca_by'])}"
        )
        yield line("", [heading.replace("K", str(k)) for heading in HEADINGS.values()])
        for system in systems:
            yield line(system["name"], [cell(system["overall"][name]) for name in HEADINGS])
        for system in systems:
            counts = system["questions"]
            if counts["failed"]:
                reason, times = next(iter(counts["reasons"].items()))
                yield (
                    f"{system['name']}: {counts['failed']:,} of {counts['total']:,} questions "
                    f"failed, {times:,} because: {reason}"
                )


@one_writer
def score_systems(
    benchmark: NamedBenchmark,
    *,
    out: o.Out = o.OUT,
    config: ScoreConfig | None = None,
    queries: OtherQueries = None,
    rules: Annotated[Path | str | None, Option(is_name=True)] = None,
    retriever: Annotated[Any, Doc(f"Scored in place of the built-in systems: {NAMES}.")] = None,
    encoder: Annotated[
        Encoder | EncoderConfig | str | None, Options(EncoderConfig)
    ] = DEFAULT_MODEL,
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
    served documents. retriever: scored alone, such as a class of CAR's interface, retrieve(query,
    corpus, k). encoder: of the dense systems, loaded only where one
    of them is scored. None, or the name "none", leaves them out. store: of vectors, by default
    `out/embeddings`.

    Args:
        rules: RULES.yaml that the pipelines know, instead of the benchmark's own.
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
    }  # fmt: skip
    own = input_path(retriever)
    record = Record(SECTION, settings, files | {"retriever": own})
    judge = Judge(made)
    results: dict[tuple[str, str], Sequence[Scored]] = {}
    if retriever is not None:
        questions = [Query(question.id, question.text) for question in made.questions]
        with record.timed("asking"):
            name, answers = answers_of(
                Answerer(retriever), questions, config.k, documents=corpus_of(made.records),
                folder=folder, record=record,
            )  # fmt: skip
        outcomes = {q: Outcome(tuple(ranking(found))) for q, found in answers.run.items()}
        outcomes |= {q: Outcome(failure=why) for q, why in answers.failed.items()}
        results[name, name] = score(made, outcomes, judge, k=config.k)
    else:
        systems = choose(config.systems, made, encoder=encoder is not None)
        with ExitStack() as stack:
            model, opened = None, None
            if encoder is not None and any(system.dense for system in systems):
                opening = open_encoder(folder, encoder, record, store=store)
                model, opened = stack.enter_context(opening)
            else:
                record.encoder["fingerprint"] = NO_ENCODER
                record.open(folder)
            bench = Bench(made, k=config.k, encoder=model, store=opened)
            advance = stack.enter_context(progress("scoring", len(systems)))
            for system in systems:
                start = time.perf_counter()
                outcomes, closure = system.run(bench), system.closure(bench)
                scored = score(made, outcomes, judge, k=config.k, closure=closure)
                results[system.name, system.about] = scored
                record.timings_s[system.name] = round(time.perf_counter() - start, 2)
                advance(1)
    answered = sum(map(has_answer, made.questions))
    by = {BY_ANSWERS: answered, BY_CONDITIONS: len(made.questions) - answered}
    summary = {
        "benchmark": {
            "name": made.name, "records": len(made.records), "questions": len(made.questions),
            "edges": len(made.edges), "rules": len(made.rules),
        },
        "k": config.k,
        "tca_by": {name: n for name, n in by.items() if n},
        "encoder": record.encoder["fingerprint"],
        "systems": [
            {"name": name, "about": about, **summarise(scored)}
            for (name, about), scored in results.items()
        ],
    }  # fmt: skip
    answers = question_table(results)
    folder.write_table(TABLE, answers, csv=True)
    counts = {"questions": len(made.questions), "systems": len(results)}
    folder.write_results(SECTION, summary, record.manifest(counts))
    return ScoreResult(folder.path, write_report(folder.path), summary, answers)


def generate_benchmark(
    name: Annotated[str, Option(argument="NAME")],
    *,
    out: Annotated[Path | str, OUTPUT],
    contaminated: bool = False,
    hint: bool = False,
    seed: Seed = 0,
) -> Benchmark:
    """Make a benchmark: corpus, questions, supersessions, judgements and rules.

    The same seed gives the same files, to the byte. `argus research authority score --benchmark
    OUT` reads them; the corpus alone is a BEIR corpus.

    Raises InputError for an unknown name, and for a folder that holds anything but a benchmark of
    ours.

    Args:
        name: finsuperqa, cvepatchqa or legalprecedentqa.
        out: Folder for the benchmark.
        contaminated: Some distractors get the scope that is asked about (finsuperqa alone).
        hint: Questions name the product or a party (Table 8; not finsuperqa).
    """
    benchmark = make_benchmark(name, seed, contaminated, hint)
    settings = {"contaminated": contaminated, "hint": hint}
    write_benchmark(Path(out), benchmark, seed=seed, settings=settings)
    return benchmark


def section(folder: Path, scoring: Mapping[str, Any]) -> Section:
    """Build it from summary.json and authority_questions.parquet."""
    systems, about = scoring["systems"], scoring["benchmark"]
    shown = [name for name in HEADINGS if any(system["overall"][name] for system in systems)]
    columns = {"system": "text", "TCA, 95% interval": "interval"}
    columns |= dict.fromkeys((HEADINGS[name] for name in shown), "share") | {"failed": "count"}
    rows: list[list[object]] = []
    for system in systems:
        values, tca = [_value(system["overall"][name]) for name in shown], system["overall"]["tca"]
        interval = [tca["low"], tca["high"]] if tca else None
        rows.append([system["name"], interval, *values, system["questions"]["failed"]])
    tables = {"scoring_systems": table(columns, rows)}
    if hops := sorted({hop for system in systems for hop in system["hops"]}):
        columns = {"TCA by hop type": "text"} | dict.fromkeys(hops, "share")
        by_hop = [(s["name"], [s["hops"].get(hop, {}).get("tca") for hop in hops]) for s in systems]
        tables["scoring_hops"] = table(columns, [[name, *map(_value, of)] for name, of in by_hop])
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
    wrong = [r for r in read_table(folder / f"{TABLE}.parquet").to_pylist() if not r["tca"]]
    shown_of = ("system", "question", "hop", "served", "gold", "reason")
    faulty = [[row[name] or "" for name in shown_of] for row in wrong[:MAX_ROWS]]
    tables["scoring_questions"] = table(dict.fromkeys(shown_of, "text"), faulty, total=len(wrong))
    tca_of = {s["name"]: s["overall"]["tca"]["value"] for s in systems if s["overall"]["tca"]}
    brief = "every question failed"
    if tca_of:
        best = max(tca_of, key=tca_of.__getitem__)
        of_all = f"{about['name']}, {about['questions']:,} questions"
        brief = f"{of_all}: TCA@{scoring['k']} up to {tca_of[best]:.3f} ({best})"
    return Section({}, tables, brief)


def _value(share: Mapping[str, Any] | None) -> float | None:
    return None if share is None else float(share["value"])


def vocabulary_gap(
    benchmark: NamedBenchmark,
    *,
    queries: OtherQueries = None,
    words: Annotated[tuple[str, ...], Option(("--words",), repeated=True)] = (),
    seed: Seed = 0,
) -> dict[str, Any]:
    """Measure the vocabulary gap: words that questions share with each side (CAR, Table 4).

    Each question is held against the superseded document that it is about, and against what
    controls that: by Jaccard of their words, with and without stop words, and by BM25. The gap is
    positive where the superseded one is nearer.

    benchmark: a name of `MAKERS`, a folder, or a benchmark. queries: another file of questions in
    the folder. words: a vocabulary, parts of words with commas between them: the share of documents
    of either side that have one of them (CAR, 6.8 and 6.10). seed: of one that is made. Raises
    InputError where no question is about a document that another one controls.

    benchmark: name of the benchmark.
    questions: questions about something superseded.
    not_applicable: the others.
    measures: each measure averaged over questions: measure (its name), superseded, controlling,
    gap, and positive (share of questions with a gap above 0, as `share`).

    Args:
        words: Share of documents with one of these: "overrul,abrogat"; may be given again.
    """
    made, _ = open_benchmark(benchmark, queries, seed=seed)
    questions = [q for q in made.questions if set(q.anchor) - set(q.gold)]
    if not questions:
        got = f"none of {len(made.questions):,} questions is about a superseded document"
        expected = "questions whose `anchor` is not their `gold`"
        fix = "Name in `anchor` what each question is about."
        raise InputError(got, expected=expected, fix=fix, where=made.name)
    texts = {record.id: record.document.content for record in made.records}
    sides = {id_ for q in questions for id_ in (*q.anchor, *q.gold)}
    words_of = {id_: frozenset(okapi_words(texts[id_])) for id_ in sides}
    question_words = [frozenset(okapi_words(q.text)) for q in questions]
    place = {id_: number for number, id_ in enumerate(texts)}
    scores = Okapi(list(texts.values())).scores([q.text for q in questions])

    def jaccard(i: int, id_: str, without: frozenset[str]) -> float:
        first, second = question_words[i] - without, words_of[id_] - without
        both = first | second
        return len(first & second) / len(both) if both else 0.0

    def having(parts: Sequence[str]) -> Callable[[int, str], float]:
        return lambda i, id_: float(any(part in texts[id_].lower() for part in parts))

    values: dict[str, Callable[[int, str], float]] = {
        "Jaccard": lambda i, id_: jaccard(i, id_, frozenset()),
        "Jaccard (no stop words)": lambda i, id_: jaccard(i, id_, STOP_WORDS),
        "BM25": lambda i, id_: float(scores[i, place[id_]]),
    }
    for some in words:
        values[f"has {some}"] = having([p.strip().lower() for p in some.split(",") if p.strip()])
    measures, both = [], [(set(q.anchor) - set(q.gold), q.gold) for q in questions]
    for name, value in values.items():
        pairs = [[max(value(i, d) for d in side) for side in of] for i, of in enumerate(both)]
        superseded, controlling = (float(np.mean(side)) for side in zip(*pairs, strict=True))
        measures.append({
            "measure": name, "superseded": superseded, "controlling": controlling,
            "gap": superseded - controlling, "positive": share(old > new for old, new in pairs),
        })  # fmt: skip
    return {
        "benchmark": made.name,
        "questions": len(questions),
        "not_applicable": len(made.questions) - len(questions),
        "measures": measures,
    }


def gap_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures in words."""
    rest = f", {summary['not_applicable']:,} not" if summary["not_applicable"] else ""
    questions = f"{summary['questions']:,} questions about something superseded"
    yield f"{summary['benchmark']}: {questions}{rest}"
    yield "question and ...                superseded  controlling  positive gap (95% interval)"
    for of in summary["measures"]:
        positive = of["positive"]
        text = f"{positive['value']:.1%} ({positive['low']:.1%} to {positive['high']:.1%})"
        yield f"{of['measure']:<30}  {of['superseded']:>10.3f}  {of['controlling']:>11.3f}  {text}"
