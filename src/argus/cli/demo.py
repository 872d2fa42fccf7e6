"""`argus demo`: everything, on the standard library's documentation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.encoders.config import EncoderConfig

if TYPE_CHECKING:
    from argus.demo.job import DemoResult


@example("argus demo --limit 300 --out argus-demo/")
@with_blocks
def demo(
    *,
    out: o.Out = Path("argus-demo"),
    encoder: Annotated[
        EncoderConfig, Without("base_url", "api_key_env", "batch_size", "concurrency")
    ],
    limit: o.Limit = None,
    seed: o.Seed = 0,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Audit a retriever on the documentation of this Python's standard library, and repair it.

    Thousands of real entities, 150 judged questions, nothing downloaded: audit, exposure, probe,
    deprecations, diagnosis, repair, evaluation before and after, receipt, scenarios. OUT is also an
    index, and OUT/corpus a BEIR folder, to try every other command on.
    """
    from argus.demo.job import demo as run
    from argus.retrievability.audit.config import AuditConfig

    result = run(
        out=out,
        encoder=encoder,
        audit_config=AuditConfig(seed=seed, device=encoder.device),
        limit=limit,
        fresh=fresh,
    )
    if json:
        o.print_json(result.summary)
        return
    _print(result)


def _print(result: DemoResult) -> None:
    """Print the headline of every job."""
    from argus.cli.audit import print_audit
    from argus.cli.authority_audit import print_audit as print_authority
    from argus.cli.diagnose import print_diagnosis
    from argus.cli.evaluate import print_change
    from argus.cli.exposure import print_exposure
    from argus.cli.remedy import print_remedy
    from argus.cli.scenarios.ablate import print_ablation
    from argus.demo.job import FEWEST

    print_audit(result.audit.summary)
    print_exposure(result.exposure.summary)
    for group in result.questions["groups"]:
        measures = ", ".join(f"{name} {value:.3f}" for name, value in group["measures"].items())
        typer.echo(f"{group['name']} ({group['queries']}): {measures}")
    if result.authority is not None:
        print_authority(result.authority.summary)
    if result.repair is None:
        typer.echo(f"fewer than {FEWEST:,} scored entities: too few to fit a probe and repair by")
    else:
        print_diagnosis(result.summary["diagnosis"])
        print_remedy(result.repair.summary)
        if result.repair.evaluation:
            print_change(result.repair.evaluation)
    if result.scenarios is not None:
        print_ablation(result.scenarios.ablation.summary)
    typer.echo(f"report: {result.report}")
