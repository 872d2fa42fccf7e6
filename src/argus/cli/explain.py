"""`argus explain`: why one document does not come back for one query."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o

if TYPE_CHECKING:
    from argus.workflows.explain_types import Explanation, Finding, Place, Standing

WIDTH = 98
LABEL = 28


def explain(
    query: Annotated[
        str, typer.Argument(help="The question; with --queries, the id of one in that file.")
    ],
    doc_id: Annotated[str, typer.Argument(help="The document that should come back.")],
    index: Annotated[
        str,
        typer.Option("--index", help="Index folder; PATH@original or PATH@REMEDY for that state."),
    ],
    k: Annotated[int, typer.Option("--k", help="How many documents a search returns.", min=1)] = 10,
    hybrid: Annotated[
        str | None,
        typer.Option("--hybrid", help="Explain a search fused with BM25: rrf, min-max or z."),
    ] = None,
    weight: o.Weight = 0.7,
    queries: Annotated[
        Path | None, typer.Option("--queries", help="File of queries; QUERY is then an id in it.")
    ] = None,
    diagnosis: Annotated[
        Path | None,
        typer.Option("--diagnosis", help="Folder with diagnosis.parquet: predicted RPS."),
    ] = None,
    kb: Annotated[
        Path | None,
        typer.Option(
            "--kb", help="Knowledge base whose titles are the entities; default: capitalised names."
        ),
    ] = None,
    probe: Annotated[
        Path | None,
        typer.Option(
            "--probe", help="Folder of a probe; default: the one shipped for the encoder."
        ),
    ] = None,
    tau: Annotated[float, typer.Option("--tau", help="Predicted RPS below this is low.")] = 0.3,
    supersedes: Annotated[
        Path | None,
        typer.Option("--supersedes", help="File of superseder, superseded: documents replaced."),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option("--corpus", help="What the index was built from; default: as it says itself."),
    ] = None,
    encoder: Annotated[
        str | None, typer.Option("--encoder", help="Default: the encoder that the index names.")
    ] = None,
    device: o.Device = None,
    seed: o.Seed = 0,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Say why DOC_ID does not come back for QUERY: every cause checked, the likeliest first."""
    from argus.workflows.explain import ExplainConfig
    from argus.workflows.explain import explain as run
    from argus.workflows.explain_entities import RpsSource

    found = run(
        query,
        doc_id,
        index,
        ExplainConfig(
            k=k, hybrid=hybrid, weight=weight, queries=queries, supersedes=supersedes,
            corpus=corpus, seed=seed,
            rps=RpsSource(diagnosis=diagnosis, kb=kb, probe=probe, tau=tau),
        ),
        encoder=encoder,
        device=device,
    )  # fmt: skip
    if json:
        o.print_json(found.as_dict())
        return
    for line in describe(found):
        typer.echo(line)


def describe(found: Explanation) -> list[str]:
    """Return an explanation for a person, as lines."""
    lines = [*textwrap.wrap(f"{found.doc_id} {found.verdict}", WIDTH), ""]
    lines += _row("query", found.query)
    lines += _row("index", f"{found.index}, {found.standing.dense.of:,} documents")
    lines += _standing(found.standing, found.k)
    first = sorted(found.findings, key=lambda f: (f.cause != found.cause, _ORDER[f.state]))
    for before, finding in zip([None, *first], first, strict=False):
        apart = before is None or finding.state == "found" or before.state != finding.state
        lines += [""] * apart + _finding(finding)
    return lines


_ORDER = {"found": 0, "could not check": 1, "ruled out": 2}


def _standing(place: Standing, k: int) -> list[str]:
    rows = [("dense", place.dense), ("approximate", place.approximate), ("BM25", place.bm25),
            (f"fused ({place.fusion})", place.fused)]  # fmt: skip
    counts = "fused" if place.ranked_by == "fused" else place.ranked_by
    lines = []
    for name, at in rows:
        if at is not None:
            note = "  <- what a search returns" if name.startswith(counts) else ""
            lines += _row(name, _place(at) + note)
    if place.gap:
        lines += _row(f"missing to the top {k}", f"{place.gap:.4f} (needs {place.kth_score:.4f})")
    shown = [f"{v.kind} {v.score:.4f}" for v in place.views[:5]]
    more = f" and {len(place.views) - 5} more" if len(place.views) > 5 else ""
    return lines + (_row("views, best first", ", ".join(shown) + more) if shown else [])


def _place(place: Place) -> str:
    if place.rank is None:
        return f"not among {place.of:,}"
    score = "" if place.score is None else f", score {place.score:.4f}"
    return f"rank {place.rank} of {place.of:,}{score}"


def _finding(finding: Finding) -> list[str]:
    lines = _row(f"{finding.cause}", f"{str(finding.state).upper()}: {finding.summary}")
    if finding.state == "found" and finding.cause == "displaced by hubs":
        lines += [
            line
            for row in finding.evidence["outranked_by"][:5]
            for line in _row("", f"{row['rank']:>3}  {row['score']:.4f}  {row['id']}"
                             f"{'  hub' if row['hub'] else ''}")
        ]  # fmt: skip
    near = finding.evidence.get("near_ids")
    if near:
        lines += _row("", f"near ids: {', '.join(near)}")
    return lines + (_row("", f"-> {finding.advice}") if finding.advice else [])


def _row(label: str, text: str) -> list[str]:
    wrapped = textwrap.wrap(" ".join(text.split()) if label else text, WIDTH - LABEL) or [""]
    return [f"{name:<{LABEL}}{line}" for name, line in
            zip([label, *[""] * (len(wrapped) - 1)], wrapped, strict=True)]  # fmt: skip
