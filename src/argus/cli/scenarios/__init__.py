"""`argus scenarios`: train a generator, try settings, and ask by what documents are for."""

from __future__ import annotations

import typer

from argus.cli.scenarios.ablate import ablate
from argus.cli.scenarios.distill import distill
from argus.cli.scenarios.needs import needs
from argus.cli.scenarios.qa import qa

app = typer.Typer(
    help="What documents would be needed for: audit, ablation, question answering, distillation.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (needs, ablate, qa, distill):
    app.command()(command)
