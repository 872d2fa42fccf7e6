"""`argus research generative`: n-gram retrieval (SEAL, MINDER), and why it fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from argus.cli import output
from argus.cli.explain import snippet
from argus.cli.groups import Entry, Group
from argus.commands import carry, command

SHOWN_KEYS = 5


def _training(_result: Any, given: Mapping[str, Any]) -> str:
    return command(
        "research", "generative", "train", "--index", given["out"], "--corpus", given["corpus"],
        *carry("research generative train"),
    )  # fmt: skip


def _searching(result: Any, given: Mapping[str, Any]) -> str:
    model = ["--model", result.model, "--query", "WORDS"]
    return command("research", "generative", "search", given["index"], *model)


def show_hits(answer: Any, as_json: bool) -> None:
    """Print the result of a search, or the passages for one question with their n-grams."""
    if not isinstance(answer, dict):
        output.show(answer, as_json=as_json)
        return
    if as_json:
        output.print_json(answer)
        return
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


app = Group(
    "Retrieve by n-grams that a language model writes (SEAL, MINDER).",
    entries=(
        Entry(
            "build", "argus.generative.index.job:build_ngrams", "Index every n-gram of a corpus.",
            example="argus research generative build --corpus docs.jsonl --tokenizer bpe:500 "
            "--out ngrams/",
            then=_training,
        ),
        Entry(
            "train", "argus.generative.training.job:train_generative",
            "Train a model to write n-grams.",
            example="argus research generative train --index ngrams/ --corpus docs.jsonl "
            "--d-model 32 --layers 1 --epochs 1 --out trained/",
            then=_searching,
        ),
        Entry(
            "tune", "argus.generative.training.tune:tune_generative",
            "Teach a model to rank: LTRGR.",
            example="argus research generative tune ngrams/ --model trained/ --corpus task/ "
            "--questions q.jsonl --qrels q.tsv --smoothing 0",
            then=_searching,
        ),
        Entry(
            "search", "argus.generative.search:search", "Rank passages by n-grams.",
            example="argus research generative search ngrams/ --model trained/model "
            "--queries queries.jsonl --k 5 --beams 3",
            show=show_hits,
        ),
        Entry(
            "analyse", "argus.generative.failures.analyse:analyse_failures",
            "Why a passage did not come first.",
            example="argus research generative analyse run.trec --corpus docs.jsonl "
            "--queries queries.jsonl --qrels qrels.tsv",
            estimate="argus.generative.failures.analyse:estimate_verdicts",
        ),
    ),
)  # fmt: skip
