"""`argus demo`: everything, on the standard library's documentation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.encoders.config import EncoderConfig


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
    o.show(result, as_json=json)
    if not json:
        o.print_lines([f"to work in: {o.command('serve', out)}"])
