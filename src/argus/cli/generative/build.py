"""`argus generative build`: the n-gram index of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.generative.index.settings import NgramBuildConfig
from argus.settings import Doc


@example("argus generative build --corpus docs.jsonl --tokenizer bpe:500 --out ngrams/")
@with_blocks
def build(
    *,
    corpus: o.Corpus,
    out: o.IndexOut,
    what: NgramBuildConfig,
    pseudo_queries: Annotated[
        Path | None,
        Doc('JSONL of {"_id", "queries"}, or expansions.jsonl: the third view of MINDER.'),
    ] = None,
    columns: Annotated[FieldNames, Without("template")],
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Index every n-gram of a corpus: title, text and pseudo-queries of each passage.

    Writes the index to OUT/ngrams, summary.json and manifest.json. Memory-mapped when it is used.
    """
    from argus.generative.index.job import build_ngrams

    result = build_ngrams(
        corpus, out=out, config=what, pseudo_queries=pseudo_queries, fields=columns,
        limit=limit, fresh=fresh,
    )  # fmt: skip
    training = o.command(
        "generative", "train", "--index", out, "--corpus", corpus, *o.carry("generative train")
    )
    o.show(result, as_json=json, then=f"Next: {training}")
