"""`argus search`: ask an index one question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.errors import InputError
from argus.settings import Doc, Ge

if TYPE_CHECKING:
    from argus.scenarios.context import ContextBlock

SNIPPET = 160


@with_blocks
def search(
    query: Annotated[str, typer.Argument(help="The question.")],
    index: Annotated[
        str,
        Doc("Index folder; PATH@STATE for an earlier one."),
    ],
    k: Annotated[int, Ge(1), Doc("How many documents.")] = 10,
    hybrid: Annotated[
        str | None,
        Doc("Fuse with BM25: rrf, min-max or z. Default: dense only."),
    ] = None,
    weight: o.Weight = 0.7,
    explain: Annotated[bool, Doc("Also the scenario that matched, in words.")] = False,
    context: Annotated[
        bool,
        Doc("Only a context block for a language model."),
    ] = False,
    max_chars: Annotated[int, Ge(1), Doc("Length of that block at most.")] = 48_000,
    encoder: Annotated[str | None, Doc("Default: the encoder that the index names.")] = None,
    device: o.Device = None,
    json: o.AsJson = False,
    config: o.Config = None,
) -> None:
    """Show the documents that answer QUERY best, each with its own text."""
    from argus.indexes.retriever import search_index

    if explain and context:
        raise InputError(
            "--explain with --context",
            expected="one of them: a context block holds the scenarios that matched",
            fix="Leave --explain out.",
            where="--explain",
        )
    found = search_index(
        query, index, k=k, hybrid=hybrid, weight=weight, encoder=encoder, device=device
    )
    if found["warning"]:
        typer.echo(f"warning: {found['warning']}", err=True)
    if context:
        block = _context(found["results"], max_chars)
        if found["results"] and not block.text:
            raise InputError(
                f"{max_chars}",
                expected="room for one document at least",
                fix="Give more characters.",
                where="--max-chars",
            )
        if block.left_out or block.cut:
            told = f"{len(block.cut)} documents are cut, {len(block.left_out)} left out"
            typer.echo(f"warning: {told}: --max-chars {max_chars}", err=True)
        o.print_json(found | {"context": block.text}) if json else typer.echo(block.text)
        return
    if json:
        o.print_json(found)
        return
    if not found["results"]:
        typer.echo("nothing found")
    for hit in found["results"]:
        through = hit["view"] if hit["kind"] not in {None, "original"} else None
        view = f"  (through {hit['kind']} {through})" if through else ""
        typer.echo(f"{hit['rank']:>3}  {hit['score']:.4f}  {hit['id']}{view}")
        typer.echo(f"     {snippet(hit['text'])}")
        if explain:
            for line in _matched(hit["scenario"]):
                typer.echo(f"     {line}")


def _context(hits: list[dict[str, Any]], max_chars: int) -> ContextBlock:
    """Return what a language model is shown of the results, scenarios included."""
    from argus.indexes.sources import ViewScenario
    from argus.scenarios.context import ContextHit, build_context

    shown = [
        ContextHit(hit["id"], hit["text"], (ViewScenario(**_without_view(hit["scenario"])),))
        if hit["scenario"]
        else ContextHit(hit["id"], hit["text"])
        for hit in hits
    ]
    return build_context(shown, max_chars=max_chars)


def _without_view(scenario: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in scenario.items() if name != "view"}


def _matched(scenario: dict[str, str] | None) -> Iterator[str]:
    """Yield the scenario that matched, whole."""
    if scenario is None:
        yield "no scenario: found by its own text"
        return
    for name in ("main_topic", "information_need", "explanation"):
        if scenario[name]:
            yield f"{name.replace('_', ' ')}: {' '.join(scenario[name].split())}"


def snippet(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= SNIPPET else line[: SNIPPET - 3] + "..."
