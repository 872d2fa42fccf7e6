"""`argus audit`: the Retrieval Probability Score of every entity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import blocks
from argus.cli import options as o

if TYPE_CHECKING:
    from argus.retrievability.audit.summary import AuditSummary


@blocks.with_blocks
def audit(
    *,
    corpus: o.Corpus,
    out: o.Out = Path("argus-out"),
    entities: Annotated[
        Path | None,
        typer.Option(
            "--entities", help="File of id, label, paragraph (or doc_id); default: every document."
        ),
    ] = None,
    relations: Annotated[
        str | None,
        typer.Option(
            "--relations",
            help='Triples file, or "mentions"; of a knowledge base also wikidata, hyperlink, '
            "triples, all. Default: its own, or edges.* beside the corpus, else mentions.",
        ),
    ] = None,
    skip_unknown: Annotated[
        bool,
        typer.Option(
            "--skip-unknown",
            help="Drop (and count) edges to ids that are not entities.",
            rich_help_panel="Input",
        ),
    ] = False,
    k: Annotated[
        str, typer.Option("--k", help="Results read; several by commas, the first is the headline.")
    ] = "50",
    pool: Annotated[
        str,
        typer.Option("--pool", help="Candidates N; several by commas, the first is the headline."),
    ] = "800",
    pooling: Annotated[
        str,
        typer.Option(
            "--pooling",
            help="span: the mention's tokens (the paper); sentence: the vector an index holds.",
        ),
    ] = "span",
    reservoir: Annotated[
        int | None,
        typer.Option(
            "--reservoir",
            help="Competitors per 1,024 queries; 0: exact; default: exact up to 50,000 entities.",
            min=0,
        ),
    ] = None,
    encoding: blocks.Encoding,
    where: blocks.Engine,
    store: o.Store = None,
    columns: blocks.Columns,
    limit: o.Limit = None,
    seed: o.Seed = 0,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Measure which entities a retriever will not bring back.

    Writes retrievability.parquet and .csv, pair_ranks.parquet, summary.json, manifest.json and
    report.html. A run that was stopped goes on where it was.
    """
    k_values, pool_values = o.whole_numbers(k, "--k"), o.whole_numbers(pool, "--pool")
    from argus.knowledge import KnowledgeSource
    from argus.retrievability.audit.config import AuditConfig
    from argus.retrievability.audit.job import audit as run

    result = run(
        corpus,
        out=out,
        source=KnowledgeSource(
            entities=entities,
            relations=relations,
            skip_unknown=skip_unknown,
            fields=columns.names(),
        ),
        encoder=encoding.config(),
        config=AuditConfig(
            k=k_values, pool=pool_values, pooling=pooling, reservoir=reservoir, seed=seed,
            device=encoding.device,
        ),
        store=store,
        limit=limit,
        fresh=fresh,
        engine=where.chosen(),
    )  # fmt: skip
    o.show(result, print_audit, as_json=json)


def print_audit(summary: AuditSummary) -> None:
    """Print the headline of an audit."""
    counts = summary["entities"]
    if summary["mean_rps"] is None:
        typer.echo("no entity could be scored; the reasons are in the report")
        return
    typer.echo(
        f"RPS at k={summary['k']}, N={summary['pool']}: mean {summary['mean_rps']:.3f}; "
        f"{summary['share_below_0.33']:.1%} of entities below 0.33 (blind spots), "
        f"{summary['share_above_0.5']:.1%} above 0.5"
    )
    typer.echo(
        f"entities: {counts['measured']:,} measured, {counts['failed']:,} failed, "
        f"{counts['not applicable']:,} not applicable; pairs: {summary['pairs']['measured']:,}"
    )
    for setting in summary["settings"][1:]:
        if setting["mean_rps"] is not None:
            typer.echo(f"  k={setting['k']}, N={setting['pool']}: mean {setting['mean_rps']:.3f}")
