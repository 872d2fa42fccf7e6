"""`argus authority score`: retrieval systems on a benchmark of controlling authority."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.authority.benchmarks.config import ScoreConfig
from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.encoders.config import EncoderConfig
from argus.settings import Doc

if TYPE_CHECKING:
    from argus.authority.benchmarks.section import ShareName
    from argus.authority.benchmarks.summary import ScoringSummary, ShareFigures

NONE = "none"
"""Name of the encoder that is none."""


@example(
    "argus authority score --benchmark finsuperqa --encoder none --system latest-bm25 --out scores/"
)
@with_blocks
def score(
    *,
    benchmark: Annotated[
        str,
        Doc("finsuperqa, cvepatchqa, legalprecedentqa, or a benchmark's folder."),
    ],
    out: o.Out = Path("argus-out"),
    queries: Annotated[
        Path | None,
        Doc("Another file of questions in the benchmark's folder."),
    ] = None,
    rules: Annotated[
        str | None,
        Doc("RULES.yaml that the pipelines know, instead of the benchmark's own."),
    ] = None,
    retriever: Annotated[
        str | None,
        Doc("FILE.py or FILE.py:Class with retrieve(query, corpus, k) -> list of doc_id."),
    ] = None,
    measure: ScoreConfig,
    cross_encoder: Annotated[
        str | None,
        Doc("Folder or name of a model that re-ranks."),
    ] = None,
    encoder: EncoderConfig,
    store: o.Store = None,
    fresh: o.Fresh = False,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Score the built-in systems, or a retriever of your own, on a benchmark.

    Writes authority_questions.parquet and .csv, summary.json, manifest.json and report.html. A
    question on which the retriever fails is counted apart, never as a zero; exit code 2 when all
    fail. --encoder none leaves out the systems that need one.
    """
    from argus.authority.benchmarks.job import score_systems

    result = score_systems(
        benchmark,
        out=out,
        config=measure,
        queries=queries,
        rules=rules,
        retriever=retriever,
        encoder=None if encoder.model == NONE else encoder,
        cross_encoder=cross_encoder,
        store=store,
        fresh=fresh,
    )
    o.show(result, print_scores, as_json=json)


def print_scores(summary: ScoringSummary) -> None:
    """Print one line per system, then TCA by hop type, then who failed."""
    about, k = summary["benchmark"], summary["k"]
    typer.echo(
        f"{about['name']}: {about['questions']:,} questions over {about['records']:,} documents, "
        f"k={k}; TCA by {' and '.join(summary['tca_by'])}"
    )
    systems = summary["systems"]
    width = max(len(s["name"]) for s in systems)
    names: dict[ShareName, str] = {
        "tca": "TCA",
        "answer_correct": "answer",
        "no_ignored_superseder": "none ignored",
        "controlling_hit": f"hit@{k}",
        "controlling_hit_equivalent": f"hit@{k} (equal text)",
        "provenance_recall": "ProvRec",
        "recall": f"R@{k}",
        "anchor_recall": f"anchor@{k}",
    }
    _row("", list(names.values()), width)
    for system in systems:
        _row(system["name"], [_share(system["overall"][name]) for name in names], width)
    hops = list(dict.fromkeys(hop for s in systems for hop in s["hops"]))
    if hops:
        typer.echo("\nTCA by hop type")
        _row("", hops, width)
        for system in systems:
            shares = [system["hops"].get(hop) for hop in hops]
            cells = [_share(of and of["tca"]) for of in shares]
            _row(system["name"], cells, width)
    for system in systems:
        counts = system["questions"]
        if counts["failed"]:
            reason, n = next(iter(counts["reasons"].items()))
            typer.echo(
                f"{system['name']}: {counts['failed']:,} of {counts['total']:,} questions failed, "
                f"{n:,} because: {reason}"
            )


def _row(name: str, cells: list[str], width: int) -> None:
    typer.echo(f"{name:<{width}}  " + "  ".join(f"{cell:<20}" for cell in cells).rstrip())


def _share(mean: ShareFigures | None) -> str:
    if mean is None:
        return "-"
    return f"{mean['value']:.3f} [{mean['low']:.3f}, {mean['high']:.3f}]"
