"""`argus diagnose`: which entities of which documents are at risk, before indexing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.data.fields import FieldNames
from argus.encoders.config import EncoderConfig
from argus.engine.config import EngineConfig
from argus.remedies.diagnosis.config import TAU
from argus.remedies.repair.config import ReferenceConfig

if TYPE_CHECKING:
    from argus.remedies.diagnosis.summary import DiagnosisSummary


@example("argus diagnose --corpus docs.jsonl --kb kb.jsonl --out diagnosis/")
@with_blocks
def diagnose(
    *,
    corpus: o.Corpus,
    out: o.Out = Path("argus-out"),
    reference: ReferenceConfig,
    probe: o.ProbeFolder = None,
    tau: o.Tau = TAU,
    encoder: EncoderConfig,
    engine: EngineConfig | None,
    store: o.Store = None,
    columns: FieldNames,
    limit: o.Limit = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Find the entities of every document and predict which will not come back.

    Needs no query and no index. Writes diagnosis.parquet, summary.json, manifest.json and
    report.html.
    """
    from argus.remedies.diagnosis.job import diagnose as run

    result = run(
        corpus,
        out=out,
        reference=reference,
        fields=columns,
        probe=probe,
        encoder=encoder,
        tau=tau,
        store=store,
        limit=limit,
        fresh=fresh,
        engine=engine,
    )  # fmt: skip
    o.show(result, print_diagnosis, as_json=json)


def print_diagnosis(summary: DiagnosisSummary) -> None:
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
