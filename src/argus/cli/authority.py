"""`argus authority`: keep superseded documents from being served."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from argus.authority.config import (
    HarmSettings,
    NamedBenchmark,
    OtherQueries,
    ScoreConfig,
)
from argus.cli import output
from argus.cli.explain import snippet
from argus.cli.groups import Entry, Group, example
from argus.cli.model_options import Judge, LanguageModel
from argus.cli.signatures import with_blocks
from argus.encoders.config import DEFAULT_MODEL, EncoderConfig
from argus.jobs import options as o
from argus.settings import (
    OUTPUT,
    Seed,
)
from argus.tasks.released import benchmark_of


def show_answer(answer: dict[str, Any], as_json: bool) -> None:
    """Print what controls, each result with the chain that leads to it."""
    if as_json:
        output.print_json(answer)
        return
    if undated := answer["relation"]["undated"]:
        typer.echo(f"{undated:,} records have no time: taken to be in force", err=True)
    if n := len(answer["without_record"]):
        typer.echo(f"{n:,} of the documents found have no record: taken to be in force", err=True)
    if not answer["results"]:
        typer.echo(
            "nothing found that is in force: no text shares a word with the question? "
            "--named looks up ids, --encoder compares meanings"
        )
    output.print_lines(variant_lines(answer))
    for hit in answer["results"]:
        scope = answer["scopes"].get(hit["anchor"])
        print_hit(hit, scope["phi"] if scope else 1.0)


def variant_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the grounds of a safe frontier or a latent scope."""
    if answer.get("alpha") is not None:
        yield f"not superseded with a probability of {answer['alpha']:g} or more:"
    if undecided := answer.get("undecided"):
        shown = ", ".join(undecided[:5])
        yield f"{len(undecided):,} records are too near to it to be sure: {shown}"
    if chances := answer.get("scope_posterior"):
        likely = ", ".join(f"{c['key']}={c['value']} {c['probability']:.2f}" for c in chances[:5])
        yield f"scopes by {answer['scope']}: {likely}"


def print_hit(hit: Mapping[str, Any], phi: float) -> None:
    """Print a result, and the chain that leads to it. phi: of the scope of the result found."""
    when = f"  ({hit['type']}{', ' + hit['time'] if hit['time'] else ''})" if hit["type"] else ""
    chance = f"  p {hit['probability']:.2f}" if "probability" in hit else ""
    output.say(f"{hit['rank']:>3}  {hit['score']:.4f}  {hit['id']}{when}{chance}")
    if hit["chain"]:
        shared = f"; other chains share its scope, φ {phi:.2f}" if phi < 1 else ""
        output.say(f"     in place of {hit['anchor']} (found at {hit['anchor_rank']}{shared}):")
        for link in hit["chain"]:
            since = link["time"] or link["published"]
            day = f", {since}" if since else ""
            sure = f", confidence {link['confidence']:g}" if link["confidence"] < 1 else ""
            output.say(
                f"       {link['superseded']} superseded by {link['superseder']} "
                f"({link['rule']}{day}{sure})"
            )
    output.say(f"     {snippet(' '.join((hit['title'], hit['text'])))}")


def show_stale(summary: dict[str, Any], as_json: bool) -> None:
    """Print each change, and what controls the answers that went stale."""
    if as_json:
        output.print_json(summary)
        return
    for change in summary["changes"]:
        effects = [
            f"{what}: {', '.join(ids)}"
            for what, ids in (
                ("superseded", change["superseded"]),
                ("in force again", change["reactivated"]),
                ("stale answers", change["stale"]),
            )
            if ids
        ]
        output.say(f"{change['op']} {change['record']}: {'; '.join(effects) or 'nothing changes'}")
    for answer in summary["stale"]:
        output.say(f"  {answer['query_id']}: now {', '.join(answer['controlling']) or 'nothing'}")
    n = len(summary["stale"])
    typer.echo(f"{n:,} of {summary['cached']:,} cached answers went stale")


app = Group(
    "Never serve a superseded document as current.",
    entries=(
        Entry(
            "lint", "argus.authority.lint:lint", "Check a run or a retriever for stale documents.",
            example="argus authority lint run.trec --records records.jsonl --rules rules.yaml "
            "--max-violations 0.9",
        ),
        Entry(
            "search", "argus.authority.search:search_authority", "Answer from what is in force.",
            example='argus authority search "Which rule holds?" --records records.jsonl '
            "--rules rules.yaml",
            show=show_answer,
        ),
        Entry(
            "stream", "argus.authority.stream:stream_authority", "Name answers that go stale.",
            example="argus authority stream changes.jsonl --run run.trec --records records.jsonl "
            "--rules rules.yaml",
            show=show_stale,
        ),
        Entry(
            "propose", "argus.authority.proposals:propose_supersessions",
            "Propose which record supersedes which.",
            example="argus authority propose --records records.jsonl --to proposals.csv",
        ),
        Entry(
            "accept", "argus.authority.proposals:accept_proposals", "Write proposals as edges.",
            example="argus authority accept reviewed.csv --to edges.jsonl",
        ),
    ),
)  # fmt: skip
benchmarks = Group("Benchmarks of supersession, and the harm of stale documents.")
NONE = "none"  # name of the encoder that is none


@benchmarks.command()
@example(
    "argus research authority score --benchmark finsuperqa --encoder none --system latest-okapi "
    "--out scores/"
)
@with_blocks
def score(
    *,
    benchmark: NamedBenchmark,
    out: o.Out = o.OUT,
    queries: OtherQueries = None,
    rules: str | None = None,
    retriever: str | None = None,
    measure: ScoreConfig,
    cross_encoder: str | None = None,
    encoder: EncoderConfig,
    store: o.Store = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Score the built-in systems, or a retriever of your own, on a benchmark.

    Writes authority_questions.parquet and .csv, summary.json, manifest.json and report.html. A
    question on which the retriever fails is counted apart, never as a zero; exit code 2 when all
    fail. --encoder none leaves out the systems that need one.

    Args:
        rules: RULES.yaml that the pipelines know, instead of the benchmark's own.
        retriever: FILE.py or FILE.py:NAME, a class with retrieve(query, corpus, k) -> list of
            doc_id.
        cross_encoder: Folder or name of a model that re-ranks.
    """
    from argus.authority.benchmarks.job import score_systems

    result = score_systems(
        benchmark_of(benchmark),
        out=out,
        config=measure,
        queries=queries,
        rules=rules,
        retriever=retriever,
        encoder=None if encoder.model == NONE else encoder,
        cross_encoder=cross_encoder,
        store=store,
        fresh=fresh,
    )
    output.show(result, as_json=json)


@benchmarks.command()
@example("argus research authority generate finsuperqa --out finsuperqa/")
@with_blocks
def generate(
    name: Annotated[str, typer.Argument(help="finsuperqa, cvepatchqa or legalprecedentqa.")],
    out: Annotated[Path, OUTPUT],
    contaminated: bool = False,
    hint: bool = False,
    seed: Seed = 0,
) -> None:
    """Make a benchmark: corpus, questions, supersessions, judgements and rules.

    The same seed gives the same files, to the byte. `argus research authority score --benchmark
    OUT` reads them; the corpus alone is a BEIR corpus.

    Args:
        out: Folder for the benchmark.
        contaminated: Some distractors get the scope that is asked about.
        hint: Questions name the product or a party (not finsuperqa).
    """
    from argus.authority.benchmarks.job import generate_benchmark

    made = generate_benchmark(name, out=out, seed=seed, contaminated=contaminated, hint=hint)
    typer.echo(
        f"{made.name}: {len(made.questions):,} questions over {len(made.records):,} documents, "
        f"{len(made.edges):,} supersessions, seed {seed}"
    )
    typer.echo(f"benchmark: {out}")


@benchmarks.command()
@example("argus research authority gap --benchmark cvepatchqa")
@with_blocks
def gap(
    *,
    benchmark: NamedBenchmark,
    queries: OtherQueries = None,
    seed: Seed = 0,
    json: o.AsJson = False,
) -> None:
    """Measure the vocabulary gap: words that questions share with each side (CAR, Table 4).

    Each question is held against the superseded document that it is about, and against what
    controls that: by Jaccard of their words, with and without stop words, and by BM25. The gap is
    positive where the superseded one is nearer.
    """
    from argus.authority.benchmarks.gap import gap_lines, vocabulary_gap

    summary = vocabulary_gap(benchmark_of(benchmark), queries=queries, seed=seed)
    if json:
        output.print_json(summary)
        return
    output.print_lines(gap_lines(summary))


@benchmarks.command()
@example(
    "argus research authority harm --benchmark cvepatchqa --model NAME "
    "--base-url http://127.0.0.1:8000/v1 --first 4"
)
@with_blocks
def harm(
    *,
    benchmark: NamedBenchmark,
    model: LanguageModel,
    judge: Judge,
    measure: HarmSettings,
    queries: OtherQueries = None,
    encoder: str | None = None,
    out: o.Out = o.OUT,
    store: o.Store = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Answer questions from superseded and from controlling documents, and judge the answers.

    Each answer is correct, confidently wrong or uncertain (CAR, Table 12). --system also answers
    from what a system of argus research authority score serves. Answers are kept in
    OUT/answers.sqlite: a run that was stopped goes on, and nothing is paid for twice. Writes
    authority_harm.parquet and .csv, summary.json, manifest.json and report.html.

    Args:
        encoder: Of dense systems; default: all-MiniLM-L6-v2.
    """
    from argus.authority.harm import measure_harm

    result = measure_harm(
        benchmark_of(benchmark),
        config=measure.by(model.required(), judge.config(model)),
        out=out,
        queries=queries,
        encoder=None if encoder == NONE else encoder or DEFAULT_MODEL,
        store=store,
        fresh=fresh,
    )
    output.show(result, as_json=json)
