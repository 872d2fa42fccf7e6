"""`argus generative search`: questions answered by the n-grams that a model writes for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.cli.search import snippet
from argus.corpora import NamedCorpus
from argus.data.fields import FieldNames
from argus.errors import InputError
from argus.generative.jobs.settings import NgramSearchConfig
from argus.settings import Doc, Ge, Option

if TYPE_CHECKING:
    from argus.generative.jobs.summary import AnswerRecord

OUT = Path("argus-out")
SHOWN_KEYS = 5


@example(
    "argus generative search ngrams/ --model trained/model --queries queries.jsonl --k 5 --beams 3"
)
@with_blocks
def search(
    index: Annotated[Path, typer.Argument(help="Folder that argus generative build wrote.")],
    *,
    how: NgramSearchConfig,
    queries: Annotated[
        Path | None,
        Doc("Questions: DPR JSON, dpr_qas, KILT JSONL, BEIR (a file or its folder)."),
    ] = None,
    query: Annotated[str | None, Doc("One question, in words.")] = None,
    out: Annotated[
        Path | None,
        Doc(f"Folder for the results; default {OUT}, and nowhere for --query."),
        Option(default=""),
        o.Output(lambda options: None if options["query"] is not None else OUT),
    ] = None,
    topics: Annotated[
        str,
        Doc("How --queries is read: auto, dpr, dpr_qas, kilt, queries."),
    ] = "auto",
    corpus: Annotated[
        NamedCorpus | None,
        Doc("What was indexed: shows its exact texts, not those that the tokens make."),
        o.CORPUS,
    ] = None,
    device: Annotated[o.Device, Option(panel="Decoding")] = None,
    columns: Annotated[FieldNames, Without("template")],
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
    from argus.generative.jobs.search import ask, search_ngrams

    _one_of_both(queries, query)
    if query is not None and out is None:
        answer = ask(index, query, config=how, corpus=corpus, fields=columns, device=device)
        o.print_json(answer) if json else print_hits(answer)
        return
    from argus.data.topics import TopicFormat
    from argus.data.types import Query, Topic

    topics_asked = [Topic(Query("query", query))] if query is not None else queries
    result = search_ngrams(
        index, topics_asked or [], config=how, out=out or OUT,
        kind=o.one_of(TopicFormat, topics, "--topics"), corpus=corpus, fields=columns,
        limit=limit, device=device, fresh=fresh,
    )  # fmt: skip
    o.show(result, as_json=json)


def _one_of_both(queries: Path | None, query: str | None) -> None:
    if (queries is None) == (query is None):
        raise InputError(
            "neither --queries nor --query" if query is None else "--queries and --query",
            expected="one of them: a file of questions, or one question",
            fix="Give --queries FILE, or --query 'words'.",
            where="--queries",
        )


def print_hits(answer: AnswerRecord) -> None:
    """Print passages, each with the n-grams that speak most for it."""
    if not answer["results"]:
        o.say("nothing found")
    for hit in answer["results"]:
        title = f"  {hit['title']}" if hit["title"] else ""
        o.say(f"{hit['rank']:>3}  {hit['score']:.2f}  {hit['id']}{title}")
        for key in hit["keys"][:SHOWN_KEYS]:
            times = "once" if key["count"] == 1 else f"{key['count']:,} times"
            o.say(f"     {key['weight']:>8.2f}  {key['view']:<8} {key['text'].strip()} ({times})")
        if len(hit["keys"]) > SHOWN_KEYS:
            rest = hit["keys"][SHOWN_KEYS:]
            weight = sum(key["weight"] for key in rest)
            o.say(f"     {weight:>8.2f}  {len(rest):,} more")
        o.say(f"     {snippet(hit['text'])}")
