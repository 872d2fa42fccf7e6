"""`argus generative`: n-gram generative retrieval (SEAL, MINDER)."""

from __future__ import annotations

from argus.cli.generative.analyse import analyse
from argus.cli.generative.build import build
from argus.cli.generative.search import search
from argus.cli.generative.train import train
from argus.cli.generative.tune import tune
from argus.cli.groups import Group

app = Group("Retrieve by n-grams that a language model writes (SEAL, MINDER).")
for command in (build, train, tune, search, analyse):
    app.command()(command)
