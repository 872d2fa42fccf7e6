"""`argus search`: ask an index one question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import with_blocks
from argus.cli.groups import example
from argus.errors import InputError
from argus.scenarios.qa.config import MAX_CHARS
from argus.settings import TOP_K, Doc, Ge

if TYPE_CHECKING:
    from argus.indexes.retriever import Hit, MatchedScenario
    from argus.indexes.views import ViewScenario
    from argus.scenarios.context import ContextBlock

SNIPPET = 160


@example("argus search 'which one is about rivers?' --index index/")
@with_blocks
def search(
    query: Annotated[str, typer.Argument(help="The question.")],
    index: o.IndexState,
    k: o.K = TOP_K,
    hybrid: Annotated[
        str | None,
        Doc(
            "Fuse with BM25: min-max (by question), rrf or dbsf; dense: not. Default: as a blend "
            "in the index says, else dense."
        ),
    ] = None,
    weight: o.Weight = None,
    explain: Annotated[bool, Doc("Also the scenario that matched, in words.")] = False,
    context: Annotated[
        bool,
        Doc("Only a context block for a language model."),
    ] = False,
    max_chars: Annotated[int, Ge(1), Doc("Length of that block at most.")] = MAX_CHARS,
    encoder: o.IndexEncoder = None,
    device: o.Device = None,
    json: o.AsJson = False,
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
    answer = search_index(
        query, index, k=k, hybrid=hybrid, weight=weight, encoder=encoder, device=device
    )
    if answer["warning"]:
        typer.echo(f"warning: {answer['warning']}", err=True)
    block = _block(answer["results"], max_chars) if context else None
    if json:
        o.print_json(answer if block is None else answer | {"context": block.text})
    elif block is not None:
        typer.echo(block.text)
    else:
        _print_hits(answer["results"], explain=explain)


def _print_hits(hits: list[Hit], *, explain: bool) -> None:
    if not hits:
        typer.echo("nothing found")
    for hit in hits:
        through = hit["view"] if hit["kind"] not in {None, "original"} else None
        view = f"  (through {hit['kind']} {through})" if through else ""
        o.say(f"{hit['rank']:>3}  {hit['score']:.4f}  {hit['id']}{view}")
        o.say(f"     {snippet(hit['text'])}")
        if explain:
            for line in _matched(hit["scenario"]):
                o.say(f"     {line}")


def _block(hits: list[Hit], max_chars: int) -> ContextBlock:
    """Return the context block. Warn of results without room, InputError if none has room."""
    block = _context(hits, max_chars)
    if hits and not block.text:
        raise InputError(
            f"{max_chars}",
            expected="room for one document at least",
            fix="Give more characters.",
            where="--max-chars",
        )
    if block.left_out or block.cut:
        losses = f"{len(block.cut)} documents are cut, {len(block.left_out)} left out"
        typer.echo(f"warning: {losses}: --max-chars {max_chars}", err=True)
    return block


def _context(hits: list[Hit], max_chars: int) -> ContextBlock:
    """Return the results as a language model is shown them, scenarios included."""
    from argus.scenarios.context import ContextHit, build_context

    shown = [
        ContextHit(hit["id"], hit["text"], (_as_matched(scenario),))
        if (scenario := hit["scenario"])
        else ContextHit(hit["id"], hit["text"])
        for hit in hits
    ]
    return build_context(shown, max_chars=max_chars)


def _as_matched(scenario: MatchedScenario) -> ViewScenario:
    from argus.indexes.views import ViewScenario

    return ViewScenario(
        scenario["main_topic"], scenario["information_need"], scenario["explanation"]
    )


def _matched(scenario: MatchedScenario | None) -> Iterator[str]:
    """Yield the scenario that matched, whole."""
    if scenario is None:
        yield "no scenario: found by its own text"
        return
    parts = {
        "main topic": scenario["main_topic"],
        "information need": scenario["information_need"],
        "explanation": scenario["explanation"],
    }
    for name, text in parts.items():
        if text:
            yield f"{name}: {' '.join(text.split())}"


def snippet(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= SNIPPET else line[: SNIPPET - 3] + "..."
