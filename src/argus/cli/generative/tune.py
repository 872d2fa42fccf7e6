"""`argus generative tune`: a model that writes n-grams learns to rank by them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.generative.train import PseudoQueries
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.generative.tuning.settings import GenerativeTuneConfig
from argus.settings import Doc


@example(
    "argus generative tune ngrams/ --model trained/ --corpus task/ "
    "--questions q.jsonl --qrels q.tsv --smoothing 0"
)
@with_blocks
def tune(
    index: Annotated[Path, typer.Argument(help="Folder that argus generative build wrote.")],
    *,
    corpus: o.Corpus,
    questions: Annotated[Path, Doc("What teaches to rank: BEIR queries.jsonl or TSV.")],
    qrels: o.Qrels,
    pseudo_queries: PseudoQueries = None,
    out: o.Out = Path("argus-out"),
    what: Annotated[GenerativeTuneConfig, Without("k", "formats", "compact", "batch", "rescore")],
    device: o.Device = None,
    columns: Annotated[FieldNames, Without("template")],
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Teach a trained model to rank: LTRGR, on the lists that it ranks for judged questions.

    Passages that answer are to lead others by a margin, in scores made of the n-grams that found
    them. Writes OUT/model, which search takes as --model, with losses.parquet, summary.json and
    manifest.json. A run that was stopped goes on where it was.
    """
    from argus.generative.tuning.job import tune_generative

    result = tune_generative(
        corpus, index=index, queries=questions, qrels=qrels, config=what, out=out,
        pseudo_queries=pseudo_queries, fields=columns, limit=limit, device=device, fresh=fresh,
    )  # fmt: skip
    search = o.command("generative", "search", index, "--model", result.model, "--query", "WORDS")
    o.show(result, as_json=json, then=f"Next: {search}")
