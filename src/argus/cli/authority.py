"""`argus authority`: keep superseded documents from being served."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from argus.authority.config import (
    ANCHORS,
    CHAINS,
    PLACES,
    AuthoritySource,
    Chains,
    HarmSettings,
    LintBounds,
    NamedBenchmark,
    OtherQueries,
    Places,
    ProposeConfig,
    Records,
    ScoreConfig,
    VariantConfig,
)
from argus.cli import options as o
from argus.cli.config_options import job, with_blocks
from argus.cli.explain import snippet
from argus.cli.groups import Group, example
from argus.cli.model_options import Judge, LanguageModel
from argus.encoders.config import DEFAULT_MODEL, EncoderConfig
from argus.retrievers.config import NAMES, AskingConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.settings import TOP_K, Doc, Ge, Option
from argus.tasks.released import benchmark_of

app = Group("Never serve a superseded document as current.")
benchmarks = Group("Benchmarks of supersession, and the harm of stale documents.")


@app.command()
@job(
    "argus.authority.lint:lint",
    "argus authority lint run.trec --records records.jsonl --rules rules.yaml --max-violations 0.9",
)
def lint(
    *,
    run: Annotated[
        Path | None, typer.Argument(help="TREC run file (.gz too) or JSON; or --retriever.")
    ] = None,
    source: AuthoritySource,
    k: Annotated[int, Ge(1), Doc("Results per query that are checked.")] = TOP_K,
    queries: Annotated[
        Path | None,
        Doc("Rows of _id and anchor: what each query is about; with --retriever, its text."),
    ] = None,
    retriever: Annotated[
        str | None,
        Doc(f"What is asked the --queries, in place of a run: {NAMES}."),
        Option(panel=RETRIEVER),
    ] = None,
    asking: AskingConfig,
    encoder: Annotated[str | None, Doc("For the queries of a store.")] = None,
    before: Annotated[Path | None, Doc("The run before superseded documents were removed.")] = None,
    bounds: LintBounds,
    out: Annotated[
        Path | None, Doc("Folder for table and report; default: none."), o.OUTPUT
    ] = None,
    fresh: o.Fresh = False,
) -> None:
    """Check RUN, or a retriever's answers, for superseded documents and missing controlling ones.

    A superseded document may stand beside one of its superseders (Theorem 4); --max-stale-hits 0
    forbids that, too. Exit code 0 within the bounds, 1 outside, 2 when nothing could be measured.
    """


def show_answer(answer: dict[str, Any], as_json: bool) -> None:
    """Print what controls, each result with the chain that leads to it."""
    if as_json:
        o.print_json(answer)
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
    o.print_lines(variant_lines(answer))
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
    o.say(f"{hit['rank']:>3}  {hit['score']:.4f}  {hit['id']}{when}{chance}")
    if hit["chain"]:
        shared = f"; other chains share its scope, φ {phi:.2f}" if phi < 1 else ""
        o.say(f"     in place of {hit['anchor']} (found at {hit['anchor_rank']}{shared}):")
        for link in hit["chain"]:
            since = link["time"] or link["published"]
            day = f", {since}" if since else ""
            sure = f", confidence {link['confidence']:g}" if link["confidence"] < 1 else ""
            o.say(
                f"       {link['superseded']} superseded by {link['superseder']} "
                f"({link['rule']}{day}{sure})"
            )
    o.say(f"     {snippet(' '.join((hit['title'], hit['text'])))}")


@app.command()
@job(
    "argus.authority.search:search_authority",
    'argus authority search "Which rule holds?" --records records.jsonl --rules rules.yaml',
    show=show_answer,
)
def search(
    *,
    query: Annotated[str, typer.Argument(help="The question; with --run, the id of one in it.")],
    source: AuthoritySource,
    k: o.K = TOP_K,
    anchors: Annotated[int, Ge(1), Doc("Retrieved documents that are looked at.")] = ANCHORS,
    index: Annotated[
        str | None, Doc("Search this index (PATH or PATH@STATE) for anchors."), o.INDEX
    ] = None,
    encoder: Annotated[
        str | None,
        Doc("Search the records by these vectors; default: BM25. Or for the queries of a store."),
    ] = None,
    hybrid: Annotated[
        str | None,
        Doc("Fuse vectors and BM25: rrf (best for anchors), min-max (0.8 to 0.2) or dbsf."),
    ] = None,
    places: Annotated[
        Places, Doc("What supersedes: in its anchor's place (anchor), or first.")
    ] = PLACES,
    chains: Annotated[
        Chains, Doc("Of anchors of one scope: all chains, or the first's alone.")
    ] = CHAINS,
    named: Annotated[
        bool, Doc("Look up what the question names (a CVE id, a case) first.")
    ] = False,
    run: Annotated[
        Path | None, Doc("Anchors are QUERY's results in this run (TREC or JSON).")
    ] = None,
    retriever: Annotated[
        str | None, Doc(f"Anchors are what this brings back: {NAMES}."), Option(panel=RETRIEVER)
    ] = None,
    asking: AskingConfig,
    variant: VariantConfig,
    store: Annotated[
        Path | None,
        Doc("Folder that keeps the records' vectors between calls."),
        Option(("--cache",)),
        o.OUTPUT,
    ] = None,
) -> None:
    """Answer QUERY from what is in force; every replacement shows the chain that led to it."""


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
    rules: Annotated[
        str | None, Doc("RULES.yaml that the pipelines know, instead of the benchmark's own.")
    ] = None,
    retriever: Annotated[
        str | None,
        Doc("FILE.py or FILE.py:NAME, a class with retrieve(query, corpus, k) -> list of doc_id."),
    ] = None,
    measure: ScoreConfig,
    cross_encoder: Annotated[str | None, Doc("Folder or name of a model that re-ranks.")] = None,
    encoder: EncoderConfig,
    store: o.Store = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Score the built-in systems, or a retriever of your own, on a benchmark.

    Writes authority_questions.parquet and .csv, summary.json, manifest.json and report.html. A
    question on which the retriever fails is counted apart, never as a zero; exit code 2 when all
    fail. --encoder none leaves out the systems that need one.
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
    o.show(result, as_json=json)


def show_stale(summary: dict[str, Any], as_json: bool) -> None:
    """Print each change, and what controls the answers that went stale."""
    if as_json:
        o.print_json(summary)
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
        o.say(f"{change['op']} {change['record']}: {'; '.join(effects) or 'nothing changes'}")
    for answer in summary["stale"]:
        o.say(f"  {answer['query_id']}: now {', '.join(answer['controlling']) or 'nothing'}")
    n = len(summary["stale"])
    typer.echo(f"{n:,} of {summary['cached']:,} cached answers went stale")


@app.command()
@job(
    "argus.authority.stream:stream_authority",
    "argus authority stream changes.jsonl --run run.trec --records records.jsonl "
    "--rules rules.yaml",
    show=show_stale,
)
def stream(
    *,
    changes: Annotated[
        Path,
        typer.Argument(help="Rows of records to insert; `op`: delete or correct changes others."),
    ],
    source: AuthoritySource,
    run: Annotated[Path, Doc("The cached answers: TREC run file (.gz too) or JSON.")],
    k: o.K = 10,
) -> None:
    """Make CHANGES in their order, and name the cached answers that no longer hold.

    An answer is stale when a change supersedes, deletes or corrects what it rests on; it is named
    once. At the end stands what controls each of them now.
    """


@benchmarks.command()
@example("argus research authority generate finsuperqa --out finsuperqa/")
@with_blocks
def generate(
    name: Annotated[str, typer.Argument(help="finsuperqa, cvepatchqa or legalprecedentqa.")],
    out: Annotated[Path, Doc("Folder for the benchmark."), o.OUTPUT],
    contaminated: Annotated[
        bool, Doc("Some distractors get the scope that is asked about.")
    ] = False,
    hint: Annotated[bool, Doc("Questions name the product or a party (not finsuperqa).")] = False,
    seed: o.Seed = 0,
) -> None:
    """Make a benchmark: corpus, questions, supersessions, judgements and rules.

    The same seed gives the same files, to the byte. `argus research authority score --benchmark
    OUT` reads them; the corpus alone is a BEIR corpus.
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
    seed: o.Seed = 0,
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
        o.print_json(summary)
        return
    o.print_lines(gap_lines(summary))


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
    encoder: Annotated[str | None, Doc("Of dense systems; default: all-MiniLM-L6-v2.")] = None,
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
    o.show(result, as_json=json)


@app.command()
@job(
    "argus.authority.proposals:propose_supersessions",
    "argus authority propose --records records.jsonl --to proposals.csv",
)
def propose(
    *,
    records: Records,
    out: Annotated[
        Path,
        Doc("CSV file for the proposals, to be reviewed."),
        Option(("--to",)),
        o.Output(marks=("decision,superseder,superseded,kind,",)),
    ],
    rules: Annotated[
        str | None, Doc("RULES.yaml, or a domain that ships, which reads the records.")
    ] = None,
    config: ProposeConfig,
    known: Annotated[
        Path | None, Doc("Edges of supersessions that are known, and not proposed again.")
    ] = None,
) -> None:
    """Propose which record supersedes which, from texts, titles and dates, with the evidence.

    Evidence is a word of supersession beside a name ("overruled X", "deprecated, use X"), one title
    in two versions, and near-duplicates with a later date. Write accept or reject into the column
    `decision`, then run argus authority accept.
    """


@app.command()
@job(
    "argus.authority.proposals:accept_proposals",
    "argus authority accept reviewed.csv --to edges.jsonl",
)
def accept(
    *,
    file: Annotated[Path, typer.Argument(help="Reviewed proposals.", metavar="PROPOSALS")],
    out: Annotated[
        Path,
        Doc("JSONL file for the edges."),
        Option(("--to",)),
        o.Output(marks=('"superseder": ', '"superseded": ', '"rule": ', '"evidence": ')),
    ],
) -> None:
    """Write the accepted ones of PROPOSALS as edges with their evidence, for --edges.

    Edges that make a cycle are refused.
    """
