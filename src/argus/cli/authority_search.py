"""`argus authority search`: one question, answered from what is in force."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from argus.authority.jobs.config import AuthoritySource, VariantConfig
from argus.authority.serving import ANCHORS, CHAINS, PLACES, Chains, Places
from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.cli.search import snippet
from argus.retrievers.config import NAMES, AskingConfig
from argus.retrievers.config import PANEL as RETRIEVER
from argus.settings import TOP_K, Doc, Ge, Option

if TYPE_CHECKING:
    from argus.authority.jobs.summary import SearchHit, VariantAnswer


@example('argus authority search "Which rule holds?" --records records.jsonl --rules rules.yaml')
@with_blocks
def search(
    *,
    query: Annotated[str, typer.Argument(help="The question; with --run, the id of one in it.")],
    source: AuthoritySource,
    k: o.K = TOP_K,
    anchors: Annotated[int, Ge(1), Doc("Retrieved documents that are looked at.")] = ANCHORS,
    index: Annotated[
        str | None,
        Doc("Search this index (PATH or PATH@STATE) for anchors."),
        o.INDEX,
    ] = None,
    encoder: Annotated[
        str | None,
        Doc("Search the records by these vectors; default: BM25. Or for the queries of a store."),
    ] = None,
    hybrid: Annotated[
        str | None,
        Doc("Fuse vectors and BM25: rrf (best for anchors), min-max (0.8 to 0.2) or dbsf."),
    ] = None,
    places: Annotated[
        Places,
        Doc("What supersedes: in its anchor's place (anchor), or first."),
    ] = PLACES,
    chains: Annotated[
        Chains,
        Doc("Of anchors of one scope: all chains, or the first's alone."),
    ] = CHAINS,
    named: Annotated[
        bool,
        Doc("Look up what the question names (a CVE id, a case) first."),
    ] = False,
    run: Annotated[
        Path | None,
        Doc("Anchors are QUERY's results in this run (TREC or JSON)."),
    ] = None,
    retriever: Annotated[
        str | None,
        Doc(f"Anchors are what this brings back: {NAMES}."),
        Option(panel=RETRIEVER),
    ] = None,
    asking: AskingConfig,
    variant: VariantConfig,
    store: Annotated[
        Path | None,
        Doc("Folder that keeps the records' vectors between calls."),
        o.OUTPUT,
    ] = None,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Answer QUERY from what is in force; every replacement shows the chain that led to it."""
    from argus.authority.jobs.search import search_authority

    answer = search_authority(
        query, source, k=k, anchors=anchors, index=index, encoder=encoder, hybrid=hybrid,
        places=places, chains=chains, named=named, store=store, run=run,
        retriever=retriever, asking=asking, variant=variant,
    )  # fmt: skip
    if json:
        o.print_json(answer)
        return
    if undated := answer["relation"]["undated"]:
        typer.echo(f"{undated:,} records have no time: taken to be in force", err=True)
    if n := len(answer["without_record"]):
        typer.echo(f"{n:,} of the documents found have no record: taken to be in force", err=True)
    if not answer["results"]:
        typer.echo(
            "nothing found that is in force: no text shares a word with the question? "
            "--named looks up ids, --encoder compares meanings"
        )
    if variant.alpha is not None or variant.scope is not None:
        o.print_lines(variant_lines(cast("VariantAnswer", answer)))
    for hit in answer["results"]:
        scope = answer["scopes"].get(hit["anchor"])
        print_hit(hit, scope["phi"] if scope else 1.0)


def variant_lines(answer: VariantAnswer) -> Iterator[str]:
    """Yield what a safe frontier or a latent scope rests on."""
    if answer["alpha"] is not None:
        yield f"not superseded with a probability of {answer['alpha']:g} or more:"
    if undecided := answer["undecided"]:
        shown = ", ".join(undecided[:5])
        yield f"{len(undecided):,} records are too near to it to be sure: {shown}"
    if chances := answer["scope_posterior"]:
        likely = ", ".join(f"{c['key']}={c['value']} {c['probability']:.2f}" for c in chances[:5])
        yield f"scopes by {answer['scope']}: {likely}"


def print_hit(hit: SearchHit, phi: float) -> None:
    """Print a result, and the chain from what was found to it; phi: of the scope of the latter."""
    when = f"  ({hit['type']}{', ' + hit['time'] if hit['time'] else ''})" if hit["type"] else ""
    chance = f"  p {hit['probability']:.2f}" if "probability" in hit else ""
    o.say(f"{hit['rank']:>3}  {hit['score']:.4f}  {hit['id']}{when}{chance}")
    if hit["chain"]:
        shared = f"; other chains share its scope, φ {phi:.2f}" if phi < 1 else ""
        o.say(f"     in place of {hit['anchor']} (found at {hit['anchor_rank']}{shared}):")
        for link in hit["chain"]:
            since = link["time"] or link["published"]
            day = f", {since}" if since else ""
            sure = f", confidence {link['confidence']:g}" if link["confidence"] < 1 else ""
            o.say(
                f"       {link['superseded']} superseded by {link['superseder']} "
                f"({link['rule']}{day}{sure})"
            )
    o.say(f"     {snippet(' '.join((hit['title'], hit['text'])))}")
