"""`argus research generative`: n-gram retrieval (SEAL, MINDER), and why it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from argus.cli import output
from argus.cli.explain import snippet
from argus.cli.groups import Entry, Group, example
from argus.cli.signatures import with_blocks
from argus.commands import carry, command
from argus.corpora import CorpusName, NamedCorpus
from argus.data.fields import FieldNames
from argus.devices import Device
from argus.errors import ArgusError, InputError
from argus.generative.settings import (
    FailureConfig,
    GenerativeTrainConfig,
    LearningConfig,
    NgramSearchConfig,
    Workers,
)
from argus.generative.settings import learning as learning_of
from argus.jobs import options as o
from argus.llm.config import ModelOptions
from argus.settings import (
    ALONE,
    CORPUS,
    Doc,
    Ge,
    Option,
    Setting,
    Without,
    Writes,
    settings_of,
)


def _training(_result: Any, given: Mapping[str, Any]) -> str:
    return command(
        "research", "generative", "train", "--index", given["out"], "--corpus", given["corpus"],
        *carry("research generative train"),
    )  # fmt: skip


def _searching(result: Any, given: Mapping[str, Any]) -> str:
    model = ["--model", result.model, "--query", "WORDS"]
    return command("research", "generative", "search", given["index"], *model)


app = Group(
    "Retrieve by n-grams that a language model writes (SEAL, MINDER).",
    entries=(
        Entry(
            "build", "argus.generative.index.job:build_ngrams", "Index every n-gram of a corpus.",
            example="argus research generative build --corpus docs.jsonl --tokenizer bpe:500 "
            "--out ngrams/",
            then=_training,
        ),
        Entry("train", "generative:train", "Train a model to write n-grams."),
        Entry(
            "tune", "argus.generative.training.tune:tune_generative",
            "Teach a model to rank: LTRGR.",
            example="argus research generative tune ngrams/ --model trained/ --corpus task/ "
            "--questions q.jsonl --qrels q.tsv --smoothing 0",
            then=_searching,
        ),
        Entry("search", "generative:search", "Rank passages by n-grams."),
        Entry("analyse", "generative:analyse", "Why a passage did not come first."),
    ),
)  # fmt: skip
PseudoQueries = Annotated[Path | None, Doc('JSONL of {"_id", "queries"}: MINDER\'s third view.')]


class Learning:
    """Options of the training. One that is left out has the default of the model's kind."""

    NAMES = (
        "max_minutes", "epochs", "patience", "evaluate_every", "batch_size", "accumulation",
        "learning_rate", "label_smoothing", "dtype",
    )  # fmt: skip

    def __init__(self, **options: Any) -> None:
        self.options = options

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """Return settings of LearningConfig, unset unless given where kinds of models differ."""
        settings = {s.name: s for s in settings_of(LearningConfig)}
        unset = (replace(settings[name], default=None, optional=True) for name in cls.NAMES[:-1])
        return *unset, settings["dtype"]

    def config(self, model: str, seed: int) -> LearningConfig:
        """Return how a model of this name learns."""
        return learning_of(model, seed=seed, **self.options)


@example(
    "argus research generative train --index ngrams/ --corpus docs.jsonl --d-model 32 --layers 1 "
    "--epochs 1 --out trained/"
)
@with_blocks
def train(
    *,
    index: Path,
    corpus: o.Corpus,
    questions: Path | None = None,
    qrels: Path | None = None,
    pseudo_queries: PseudoQueries = None,
    out: o.Out = o.OUT,
    what: Annotated[GenerativeTrainConfig, Without("training")],
    learning: Learning,
    device: Device = None,
    columns: Annotated[FieldNames, Without("template")],
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Train a model to write n-grams, titles and pseudo-queries of the passages that answer.

    Learns from judged questions where there are some, and from titles and passages themselves.
    Writes OUT/model, a model of transformers, with what was held out, losses.parquet, summary.json
    and manifest.json. A run that was stopped goes on where it was.

    Args:
        index: N-gram index whose tokenizer the model is to use.
        questions: Questions, BEIR queries.jsonl or TSV.
        qrels: Which passages answer the questions.
    """
    from argus.generative.training.job import train_generative

    whole = replace(what, training=learning.config(what.model, what.examples.seed))
    result = train_generative(
        corpus, index=index, config=whole, out=out, queries=questions, qrels=qrels,
        pseudo_queries=pseudo_queries, fields=columns, limit=limit, device=device,
        fresh=fresh,
    )  # fmt: skip
    search = _searching(result, {"index": index})
    output.show(result, as_json=json, then=f"Next: {search}")


SHOWN_KEYS = 5


@example(
    "argus research generative search ngrams/ --model trained/model --queries queries.jsonl "
    "--k 5 --beams 3"
)
@with_blocks
def search(
    index: Annotated[
        Path, typer.Argument(help="Folder that argus research generative build wrote.")
    ],
    *,
    how: NgramSearchConfig,
    queries: Path | None = None,
    query: str | None = None,
    out: Annotated[
        Path | None,
        Doc(f"Folder for the results; default {o.OUT}, and nowhere for --query."),
        Option(default=""),
        Writes(lambda options: None if options["query"] is not None else o.OUT),
    ] = None,
    topics: str = "auto",
    corpus: Annotated[NamedCorpus | None, CORPUS] = None,
    device: Annotated[Device, Option(panel="Decoding")] = None,
    columns: Annotated[FieldNames, Without("template")],
    limit: Annotated[int | None, Ge(1)] = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Rank passages by the n-grams that a language model writes for a question.

    Writes OUT/dpr.json (with the n-grams of each passage), kilt.jsonl and run.trec (run.json where
    ids hold white space), answers.jsonl, from which a killed search goes on, summary.json,
    manifest.json and report.html. The run is one that argus evaluate and authority lint take.

    Args:
        queries: Questions: DPR JSON, dpr_qas, KILT JSONL, BEIR (a file or its folder).
        query: One question, in words.
        topics: How --queries is read: auto, dpr, dpr_qas, kilt, queries.
        corpus: What was indexed: shows its exact texts, not those that the tokens make.
        limit: Only the first so many questions.
    """
    from argus.generative.search import ask, search_ngrams

    if (queries is None) == (query is None):
        raise InputError(
            "neither --queries nor --query" if query is None else "--queries and --query",
            expected="one of them: a file of questions, or one question",
            fix="Give --queries FILE, or --query 'words'.",
            where="--queries",
        )
    if query is not None and out is None:
        answer = ask(index, query, config=how, corpus=corpus, fields=columns, device=device)
        output.print_json(answer) if json else print_hits(answer)
        return
    from argus.data.documents import TopicFormat
    from argus.data.types import Query, Topic

    topics_asked = [Topic(Query("query", query))] if query is not None else queries
    result = search_ngrams(
        index, topics_asked or [], config=how, out=out or o.OUT,
        kind=output.one_of(TopicFormat, topics, "--topics"), corpus=corpus, fields=columns,
        limit=limit, device=device, fresh=fresh,
    )  # fmt: skip
    output.show(result, as_json=json)


def print_hits(answer: Mapping[str, Any]) -> None:
    """Print passages, each with the n-grams that speak most for it."""
    if not answer["results"]:
        output.say("nothing found")
    for hit in answer["results"]:
        title = f"  {hit['title']}" if hit["title"] else ""
        output.say(f"{hit['rank']:>3}  {hit['score']:.2f}  {hit['id']}{title}")
        for key in hit["keys"][:SHOWN_KEYS]:
            times = "once" if key["count"] == 1 else f"{key['count']:,} times"
            output.say(
                f"     {key['weight']:>8.2f}  {key['view']:<8} {key['text'].strip()} ({times})"
            )
        if len(hit["keys"]) > SHOWN_KEYS:
            rest = hit["keys"][SHOWN_KEYS:]
            weight = sum(key["weight"] for key in rest)
            output.say(f"     {weight:>8.2f}  {len(rest):,} more")
        output.say(f"     {snippet(hit['text'])}")


class Judge(ModelOptions):
    """Options that say who judges unannotated passages."""

    MODEL = replace(
        ModelOptions.MODEL,
        text="Judges passages that hold an answer but are not annotated: a model of an "
        "OpenAI-compatible endpoint, or local:FOLDER.",
        option=Option(("--llm",), panel="Language model"),
    )


@example(
    "argus research generative analyse run.trec --corpus docs.jsonl --queries queries.jsonl "
    "--qrels qrels.tsv"
)
@with_blocks
def analyse(
    outputs: Annotated[
        list[Path],
        typer.Argument(
            help="Of one or two systems: DPR JSON with keys, a folder of argus research generative "
            "search, KILT JSONL, or a run (with --corpus and --queries).",
            metavar="OUTPUT [OUTPUT2]",
            show_default=False,
        ),
    ],
    *,
    out: o.Out = o.OUT,
    qrels: Path | None = None,
    queries: Path | None = None,
    corpus: Annotated[NamedCorpus | None, CorpusName()] = None,
    measure: Annotated[FailureConfig, Without("workers")],
    device: Annotated[Device, Option(panel="Replay")] = None,
    judge: Judge,
    estimate: Annotated[bool, Option(panel="Language model"), ALONE] = False,
    columns: Annotated[FieldNames, Without("template")],
    workers: Workers = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
) -> None:
    """Say of every question why its passage did not come first.

    Writes failures.parquet (one row of figures per question), failure_diagnosis.parquet (the modes
    of failure that hold for it, with evidence), failure_tables/ (CSV), summary.json, manifest.json
    and report.html. What every figure is: docs/autopsy.md. A file that breaks off is analysed up
    to there; the exit code is then 2.

    Args:
        qrels: Judgements, in place of positive_ctxs of the outputs.
        queries: Questions of a run; ids of questions without; answers, before outputs' own.
        corpus: Texts of the passages of a run.
        estimate: Only say what --llm would be asked and what it would cost.
    """
    from argus.generative.failures.analyse import analyse_failures, estimate_verdicts

    whole = replace(measure, llm=judge.config(), workers=workers)
    if estimate:
        prompts = estimate_verdicts(
            outputs, config=whole, out=out, corpus=corpus, queries=queries, qrels=qrels,
            fields=columns,
        )  # fmt: skip
        output.print_estimate(prompts, json)
        return
    result = analyse_failures(
        outputs, config=whole, out=out, corpus=corpus, queries=queries, qrels=qrels,
        fields=columns, device=device, fresh=fresh,
    )  # fmt: skip
    output.show(result, as_json=json)
    if result.incomplete:
        raise ArgusError(
            f"the report lacks something: {'; '.join(result.incomplete)}. What could be had is "
            "analysed; mend that and run the same command again."
        )
