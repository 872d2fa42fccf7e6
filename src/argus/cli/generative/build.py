"""`argus generative build`: the n-gram index of a corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.generative.index.settings import NgramBuildConfig
from argus.settings import Doc

if TYPE_CHECKING:
    from argus.generative.index.summary import BuildSummary


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
    columns: FieldNames,
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
    if json:
        o.print_json(result.summary)
        return
    for line in describe(result.summary):
        typer.echo(line)


def describe(summary: BuildSummary) -> list[str]:
    """Return the headline of a build, as lines."""
    passages, tokens = summary["passages"], summary["tokens"]
    lines = []
    if "added" in summary:
        added = summary["added"]
        lines.append(f"added {added['passages']:,} passages, {added['unchanged']:,} were there")
    lines.append(
        f"{passages['total']:,} passages, {tokens['total']:,} tokens of {tokens['types']:,} types; "
        f"{summary['bytes']:,} bytes, {summary['bytes_per_token']:.2f} per token"
    )
    if passages["empty"]:
        more = ", ..." if passages["empty"] > len(passages["empty_ids"]) else ""
        named = ", ".join(passages["empty_ids"]) + more
        lines.append(f"left out: {passages['empty']:,} without text or title ({named})")
    notes = {
        "passages have a title alone": passages["title_only"],
        "have no title": passages["untitled"],
    }
    lines += [f"{n:,} {what}" for what, n in notes.items() if n]
    if tokens["unknown"]:
        lines.append(
            f"warning: {tokens['unknown']:,} tokens are unknown to the tokenizer: all n-grams with "
            "them look alike"
        )
    if summary["markers_added"]:
        lines.append(
            f"note: {summary['markers_added']} markers (@@, ||) are new to this tokenizer: a model "
            "made before has to learn them (argus generative train)"
        )
    asked = summary["pseudo_queries"]
    if asked:
        elsewhere = f"; {asked['elsewhere']:,} documents are not here" if asked["elsewhere"] else ""
        lines.append(
            f"pseudo-queries: {asked['queries']:,} of {asked['documents']:,} documents{elsewhere}"
        )
    lines.append(f"index: {summary['index']} ({summary['seconds']:.1f} s)")
    return lines
