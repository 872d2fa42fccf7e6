"""Declare the commands of `argus authority` and `argus research authority`; print their results.

`app` and `benchmarks` list the commands. The `show_*` functions turn a result into lines or JSON.
The jobs are in `argus.authority`: which documents supersede which, and what to serve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from argus.cli import output
from argus.cli.groups import Entry, Group

if TYPE_CHECKING:
    from argus.authority.benchmarks.collection import Benchmark


def show_answer(answer: dict[str, Any], as_json: bool) -> None:
    """Print the documents in force that answer, each with the chain of supersessions to it."""
    if as_json:
        return output.print_json(answer)
    if undated := answer["relation"]["undated"]:
        typer.echo(f"{undated:,} records have no time: taken to be in force", err=True)
    if n := len(answer["without_record"]):
        typer.echo(f"{n:,} of the documents found have no record: taken to be in force", err=True)
    if not answer["results"]:
        typer.echo(
            "nothing found that is in force: no text shares a word with the question? "
            "--named looks up ids, an --index compares meanings"
        )
    for hit in answer["results"]:
        time = f", {hit['time']}" if hit["time"] else ""
        when = f"  ({hit['type']}{time})" if hit["type"] else ""
        output.say(f"{hit['rank']:>3}  {hit['score']:.4f}  {hit['id']}{when}")
        if hit["chain"]:
            # phi: the least of 1 and 1 / documents in the scope of the one found, for each in its
            # chains (CAR Def. 5)
            phi = answer["scopes"].get(hit["anchor"], {"phi": 1.0})["phi"]
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
        output.say(f"     {output.snippet(' '.join((hit['title'], hit['text'])))}")


def show_stale(summary: dict[str, Any], as_json: bool) -> None:
    """Print each change, and what controls the answers that went stale."""
    if as_json:
        return output.print_json(summary)
    for change in summary["changes"]:
        kinds = {
            "superseded": change["superseded"], "in force again": change["reactivated"],
            "stale answers": change["stale"],
        }  # fmt: skip
        effects = [f"{what}: {', '.join(ids)}" for what, ids in kinds.items() if ids]
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


def show_gap(summary: dict[str, Any], as_json: bool) -> None:
    """Print the vocabulary gap by each measure."""
    from argus.authority.benchmarks.job import gap_lines

    output.print_json(summary) if as_json else output.print_lines(gap_lines(summary))


def show_benchmark(made: Benchmark, as_json: bool) -> None:
    """Print what a benchmark holds."""
    counts = {
        "questions": len(made.questions), "documents": len(made.records),
        "supersessions": len(made.edges),
    }  # fmt: skip
    if as_json:
        return output.print_json(counts)
    output.say(f"{made.name}: {', '.join(f'{n:,} {what}' for what, n in counts.items())}")


benchmarks = Group(
    "Benchmarks of supersession, and the harm of stale documents.",
    entries=(
        Entry(
            "score", "argus.authority.benchmarks.job:score_systems", "Score systems.",
            example="argus research authority score --benchmark finsuperqa --encoder none "
            "--system latest-okapi --out scores/",
        ),
        Entry(
            "generate", "argus.authority.benchmarks.job:generate_benchmark", "Make a benchmark.",
            example="argus research authority generate finsuperqa --out finsuperqa/",
            show=show_benchmark,
        ),
        Entry(
            "gap", "argus.authority.benchmarks.job:vocabulary_gap", "Measure the vocabulary gap.",
            example="argus research authority gap --benchmark cvepatchqa", show=show_gap,
        ),
        Entry(
            "harm", "argus.authority.harm:measure_harm", "Answer from superseded documents.",
            example="argus research authority harm --benchmark cvepatchqa --model NAME "
            "--base-url http://127.0.0.1:8000/v1 --first 4",
        ),
    ),
)  # fmt: skip
