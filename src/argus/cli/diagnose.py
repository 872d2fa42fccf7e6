"""`argus diagnose`: which entities of which documents are at risk, before indexing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from argus.cli import options as o


def diagnose(
    corpus: o.Corpus,
    out: o.Out = Path("argus-out"),
    kb: o.Kb = None,
    mentions: o.Mentions = "gazetteer",
    ignore_case: o.IgnoreCase = False,
    common_words: o.CommonWords = False,
    min_length: o.MinLength = 3,
    probe: o.ProbeFolder = None,
    tau: o.Tau = 0.3,
    encoder: o.EncoderName = "all-MiniLM-L6-v2",
    base_url: o.BaseUrl = "https://api.openai.com/v1",
    api_key_env: o.ApiKeyEnv = "OPENAI_API_KEY",
    precision: o.Precision = "auto",
    device: o.Device = None,
    batch: o.BatchSize = 64,
    concurrency: o.Concurrency = 4,
    store: o.Store = None,
    id_field: o.IdField = None,
    title_field: o.TitleField = None,
    text_field: o.TextField = None,
    coerce_ids: o.CoerceIds = False,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Find the entities of every document and predict which will not come back.

    Needs no query and no index. Writes diagnosis.parquet, summary.json, manifest.json and
    report.html.
    """
    from argus.data import FieldNames
    from argus.encoders import EncoderConfig
    from argus.workflows.diagnose import diagnose_corpus

    reference = o.reference(kb, mentions, ignore_case, common_words, min_length)
    result = diagnose_corpus(
        corpus,
        out=out,
        reference=reference,
        fields=FieldNames(id_field, title_field, text_field, coerce_ids),
        probe=probe,
        encoder=EncoderConfig(
            model=encoder, precision=precision, device=device, base_url=base_url,
            api_key_env=api_key_env, batch_size=batch, concurrency=concurrency,
        ),
        tau=tau,
        store=store,
        limit=limit,
        fresh=fresh,
    )  # fmt: skip
    if json:
        o.print_json(result.summary)
    else:
        print_diagnosis(result.summary)
        typer.echo(f"report: {result.report}")


def print_diagnosis(summary: dict[str, Any]) -> None:
    """Print the headline of a diagnosis."""
    counts = summary["entities"]
    share = summary["share_flagged"]
    typer.echo(
        f"{counts['total']:,} entities in {summary['documents_with_entities']:,} of "
        f"{summary['documents']:,} documents: {counts['measured']:,} scored, "
        f"{counts['not applicable']:,} beyond the probe's region, {counts['failed']:,} failed"
    )
    if share is not None:
        typer.echo(
            f"at risk (predicted RPS below {summary['tau']:g}): {share:.1%} of the scored, in "
            f"{summary['documents_at_risk']:,} documents"
        )
    if not counts["total"]:
        typer.echo(
            "no document names an entity: give a knowledge base of this corpus (--kb), take names "
            "in any case (--ignore-case) or common words, too (--common-words), or find them "
            "without one (--mentions capitals, ner:MODEL)"
        )
    if left_out := summary["finder"]["left_out"]:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in left_out.items())
        typer.echo(
            f"{sum(left_out.values()):,} names of the knowledge base were not looked for "
            f"({reasons}): see --common-words, --min-length"
        )
    if summary["unread"]["entities"]:
        typer.echo(
            f"{summary['unread']['entities']:,} entities in {summary['unread']['documents']:,} "
            "documents stand only beyond what the model reads of a document: its vector knows "
            "nothing of them"
        )
