"""`argus authority generate`: make a synthetic benchmark of controlling authority."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.settings import Doc


@example("argus authority generate finsuperqa --out finsuperqa/")
@with_blocks
def generate(
    name: Annotated[str, typer.Argument(help="finsuperqa, cvepatchqa or legalprecedentqa.")],
    out: Annotated[Path, Doc("Folder for the benchmark."), o.OUTPUT],
    contaminated: Annotated[
        bool,
        Doc("Some distractors get the scope that is asked about."),
    ] = False,
    hint: Annotated[
        bool,
        Doc("Questions name the product or a party (not finsuperqa)."),
    ] = False,
    seed: o.Seed = 0,
    config: o.Config = None,
) -> None:
    """Make a benchmark: corpus, questions, supersessions, judgements and rules.

    The same seed gives the same files, to the byte. `argus authority score --benchmark OUT` reads
    them; the corpus alone is a BEIR corpus.
    """
    from argus.authority.benchmarks.job import generate_benchmark

    made = generate_benchmark(name, out=out, seed=seed, contaminated=contaminated, hint=hint)
    typer.echo(
        f"{made.name}: {len(made.questions):,} questions over {len(made.records):,} documents, "
        f"{len(made.edges):,} supersessions, seed {seed}"
    )
    typer.echo(f"benchmark: {out}")
