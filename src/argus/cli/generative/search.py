"""`argus generative search`: questions answered by the n-grams that a model writes for them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.search import snippet
from argus.data.fields import FieldNames
from argus.errors import InputError
from argus.settings import Doc, Ge, Le, Option

if TYPE_CHECKING:
    from argus.generative.decode.settings import Decoding
    from argus.generative.jobs.outputs import Format
    from argus.generative.jobs.summary import AnswerRecord, SearchSummary
    from argus.generative.scoring import Scoring

DECODING, SCORING = "Decoding", "Scoring"
OUT = Path("argus-out")
SHOWN_KEYS = 5


@dataclass(frozen=True, kw_only=True)
class DecodingOptions:
    """Options of the constrained beam search; the defaults are SEAL's."""

    beams: Annotated[int, Ge(1), Doc("Width of the search."), Option(panel=DECODING)] = 15
    body_tokens: Annotated[
        int,
        Ge(1),
        Doc("Of the longest n-gram of a text."),
        Option(("--tokens",), panel=DECODING),
    ] = 10
    title_tokens: Annotated[
        int,
        Ge(1),
        Doc("Of the longest title."),
        Option(panel=DECODING),
    ] = 15
    query_tokens: Annotated[
        int,
        Ge(1),
        Doc("Of the longest pseudo-query (minder)."),
        Option(panel=DECODING),
    ] = 30
    batch: Annotated[
        int,
        Ge(1),
        Doc("Questions at once; halved when memory runs out. Changes no score."),
        Option(panel=DECODING),
    ] = 20
    question_ngrams: Annotated[
        bool,
        Doc("Look up the question's own words, too."),
        Option(("--question-ngrams/--no-question-ngrams",), panel=DECODING),
    ] = True
    rescore: Annotated[
        bool,
        Doc("Score n-grams anew, or keep what the beam search gave them."),
        Option(("--rescore/--no-rescore",), panel=DECODING),
    ] = True
    partial_titles: Annotated[
        bool,
        Doc("Keep titles that were not written to their end."),
        Option(panel=DECODING),
    ] = False

    def settings(self) -> Decoding:
        """Return the settings."""
        from argus.generative.decode.settings import Decoding

        return Decoding(**{f.name: getattr(self, f.name) for f in fields(self)})


@dataclass(frozen=True, kw_only=True)
class ScoringOptions:
    """Options of weights and scores; the defaults are the published ones."""

    smoothing: Annotated[
        float,
        Ge(0),
        Doc("Added to an n-gram's occurrences."),
        Option(panel=SCORING),
    ] = 5.0
    exponent: Annotated[
        float,
        Ge(0),
        Doc("Of a weight: above 1, few strong n-grams count more than many weak ones."),
        Option(panel=SCORING),
    ] = 2.0
    repetition_penalty: Annotated[
        float,
        Ge(0),
        Le(1),
        Doc("How much an n-gram loses whose tokens stronger ones hold; 0: nothing."),
        Option(("--repetition-penalty", "--coverage-weight"), panel=SCORING),
    ] = 0.8
    length_penalty: Annotated[
        float,
        Ge(0),
        Doc("Above 0, long n-grams lose less; below 1."),
        Option(panel=SCORING),
    ] = 0.0
    max_occurrences: Annotated[
        int,
        Ge(1),
        Doc("An n-gram that comes more often brings no passage in."),
        Option(panel=SCORING),
    ] = 1_500
    full_documents: Annotated[
        int,
        Ge(1),
        Doc("Passages that are read in full."),
        Option(("--documents",), panel=SCORING),
    ] = 1_500
    unigrams: Annotated[
        int,
        Ge(0),
        Doc("So many single tokens count, too; 0: none."),
        Option(panel=SCORING),
    ] = 5_000
    query_bonus: Annotated[
        float,
        Ge(0),
        Doc("MINDER's: added to the log-probability of a pseudo-query."),
        Option(panel=SCORING),
    ] = 14.0

    def settings(self) -> Scoring:
        """Return the settings."""
        from argus.generative.scoring import Scoring

        if self.length_penalty >= 1:
            raise InputError(
                f"{self.length_penalty:g}",
                expected="a number from 0, below 1",
                fix="Leave it out for the default.",
                where="--length-penalty",
            )
        return Scoring(**{f.name: getattr(self, f.name) for f in fields(self)})


@with_blocks
def search(
    index: Annotated[Path, typer.Argument(help="Folder that argus generative build wrote.")],
    *,
    model: Annotated[
        Path | None,
        Doc("Folder of a seq2seq model, as argus generative train writes it."),
    ] = None,
    queries: Annotated[
        Path | None,
        Doc("Questions: DPR JSON, dpr_qas, KILT JSONL, BEIR (a file or its folder)."),
    ] = None,
    query: Annotated[str | None, Doc("One question, in words.")] = None,
    mode: Annotated[
        str,
        Doc("seal (titles and texts) or minder (pseudo-queries, too)."),
    ] = "seal",
    k: Annotated[int, Ge(1), Doc("How many passages.")] = 100,
    out: Annotated[
        Path | None,
        Doc(f"Folder for the results; default {OUT}, and nowhere for --query."),
        Option(default=""),
    ] = None,
    formats: Annotated[
        str, Doc("Of the results: dpr, kilt, trec."), Option(("--format",))
    ] = "dpr,kilt,trec",
    compact: Annotated[bool, Doc("DPR JSON with one line per question, not indented.")] = False,
    topics: Annotated[
        str,
        Doc("How --queries is read: auto, dpr, dpr_qas, kilt, queries."),
    ] = "auto",
    corpus: Annotated[
        Path | None,
        Doc("What was indexed: shows its exact texts, not those that the tokens make."),
    ] = None,
    decoding: DecodingOptions,
    scoring: ScoringOptions,
    device: Annotated[
        str | None,
        Doc("cpu, cuda, ...; default: a GPU when there is one."),
        Option(panel=DECODING),
    ] = None,
    columns: FieldNames,
    limit: Annotated[int | None, Ge(1), Doc("Only the first so many questions.")] = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Rank passages by the n-grams that a language model writes for a question.

    Writes OUT/dpr.json (with the n-grams of each passage), kilt.jsonl and run.trec (run.json where
    ids hold white space), answers.jsonl, from which a killed search goes on, summary.json,
    manifest.json and report.html. The run is one that argus evaluate and authority lint take.
    """
    from argus.generative.jobs.search import SearchConfig, ask
    from argus.generative.jobs.search import search as run
    from argus.generative.views import Mode

    _one_of_both(queries, query)
    chosen = SearchConfig(
        model=model, mode=o.one_of(Mode, mode, "--mode"), k=k, decoding=decoding.settings(),
        scoring=scoring.settings(), formats=_formats(formats), compact=compact,
    )  # fmt: skip
    if query is not None and out is None:
        found = ask(index, query, config=chosen, corpus=corpus, fields=columns,
                    device=device)  # fmt: skip
        o.print_json(found) if json else print_hits(found)
        return
    from argus.data.topics import TopicFormat
    from argus.data.types import Query, Topic

    asked = [Topic(Query("query", query))] if query is not None else queries
    result = run(
        index, asked or [], config=chosen, out=out or OUT,
        kind=o.one_of(TopicFormat, topics, "--topics"), corpus=corpus, fields=columns,
        limit=limit, device=device, fresh=fresh,
    )  # fmt: skip
    o.show(result, print_summary, as_json=json)


def _one_of_both(queries: Path | None, query: str | None) -> None:
    if (queries is None) == (query is None):
        raise InputError(
            "neither --queries nor --query" if query is None else "--queries and --query",
            expected="one of them: a file of questions, or one question",
            fix="Give --queries FILE, or --query 'words'.",
            where="--queries",
        )


def _formats(text: str) -> tuple[Format, ...]:
    from argus.generative.jobs.outputs import Format

    return tuple(o.one_of(Format, name.strip(), "--format") for name in text.split(","))


def print_hits(answer: AnswerRecord) -> None:
    """Print passages, each with the n-grams that speak most for it."""
    if not answer["results"]:
        typer.echo("nothing found")
    for hit in answer["results"]:
        title = f"  {hit['title']}" if hit["title"] else ""
        typer.echo(f"{hit['rank']:>3}  {hit['score']:.2f}  {hit['id']}{title}")
        for key in hit["keys"][:SHOWN_KEYS]:
            times = "once" if key["count"] == 1 else f"{key['count']:,} times"
            typer.echo(
                f"     {key['weight']:>8.2f}  {key['view']:<8} {key['text'].strip()} ({times})"
            )
        if len(hit["keys"]) > SHOWN_KEYS:
            rest = hit["keys"][SHOWN_KEYS:]
            weight = sum(key["weight"] for key in rest)
            typer.echo(f"     {weight:>8.2f}  {len(rest):,} more")
        typer.echo(f"     {snippet(hit['text'])}")


def print_summary(summary: SearchSummary) -> None:
    """Print the headline of a search of many questions."""
    asked = summary["questions"]
    left_out = [
        f"{n:,} {what}"
        for n, what in (
            (asked["nothing_found"], "found nothing"), (asked["without_text"], "without text"),
        )
        if n
    ]  # fmt: skip
    more = f" ({', '.join(left_out)})" if left_out else ""
    typer.echo(f"{asked['answered']:,} of {asked['total']:,} questions answered{more}")
    earlier = asked["total"] - asked["without_text"] - summary["answered_now"]
    if earlier:
        typer.echo(f"{earlier:,} of them were answered in an earlier run")
    if summary["queries_per_s"]:
        typer.echo(f"{summary['queries_per_s']:.2f} questions per second, {summary['seconds']} s")
    if summary["batch"] < summary["batch_wanted"]:
        typer.echo(
            f"out of memory with {summary['batch_wanted']:,} questions at once: "
            f"{summary['batch']:,} instead (--batch)"
        )
    if summary["view_shares"]:
        shares = ", ".join(f"{view} {share:.0%}" for view, share in summary["view_shares"].items())
        typer.echo(f"where scores come from: {shares}")
    for name, path in summary["files"].items():
        typer.echo(f"{name}: {path}")
