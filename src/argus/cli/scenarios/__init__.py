"""`argus scenarios`: train a generator, try settings, and ask by what documents are for."""

from __future__ import annotations

from argus.cli.groups import Group
from argus.cli.scenarios.ablate import ablate
from argus.cli.scenarios.distill import distill
from argus.cli.scenarios.needs import needs
from argus.cli.scenarios.qa import qa
from argus.cli.scenarios.study import preferences, study

app = Group("What documents would be needed for: audit, ablation, answers, a study, distillation.")
for command in (needs, ablate, qa, study, preferences, distill):
    app.command()(command)
