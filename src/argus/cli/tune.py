"""`argus tune`: try remedies, list them, undo them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from argus.cli import output
from argus.cli.groups import Entry, Group
from argus.cli.signatures import with_blocks
from argus.commands import command
from argus.errors import InputError
from argus.jobs import options as o
from argus.settings import INDEX, OUTPUT, Doc, Writes, check_settings
from argus.stores.spec import StoreConfig, refuse_unread

if TYPE_CHECKING:
    from argus.remedies.remedy_result import RemedyResult


app = Group(
    "Try what may help a retriever, keep what is proven, undo it.",
    entries=(
        Entry(
            "try", "argus.repair.job:repair_index", "Try the remedies; keep what is proven.",
            example="argus tune try --index index/ --queries queries.jsonl --qrels qrels.tsv",
        ),
        Entry("apply", "tune_apply:apply", "Apply one remedy, with a receipt."),
        Entry(
            "list", "tune:list_", "Show the remedies in an index or a store.",
            example="argus tune list --index index/",
        ),
        Entry(
            "undo", "tune:undo", "Remove exactly what a remedy added.",
            example="argus tune undo expand-robust-3f2a91c4 --index index/",
        ),
    ),
)  # fmt: skip


def collection_of(options: Mapping[str, object]) -> str | None:
    """Return where a remedy's records are kept, for the message after Ctrl-C."""
    from argus.stores.spec import parse_store

    store = options["store"]
    return None if store is None else str(parse_store(str(store)))


_Index = Annotated[Path | None, Doc("Folder from argus index build; or else --store."), INDEX]
Into = Annotated[
    str | None, Doc("Collection of the store for a remedy's records; default: COLLECTION_argus.")
]


@dataclass(frozen=True, kw_only=True)
class RemedyPlace:
    """An index, or a store with the collection that holds its remedies' records.

    Attributes:
        store: In place of an index: KIND:PLACE/COLLECTION of the documents.
    """

    index: _Index = None
    store: str | None = None
    into: Into = None
    opening: StoreConfig = field(default_factory=StoreConfig)

    def __post_init__(self) -> None:
        check_settings(self)
        if (self.index is None) == (self.store is None):
            raise InputError(
                "neither --index nor --store" if self.index is None else "--index and --store",
                expected="one of them", where="--index",
                fix="Name an index (argus index build), or a store such as "
                "qdrant:http://HOST:6333/docs.",
            )  # fmt: skip
        if self.store is None:
            refuse_unread(self.opening)
            refuse({"--into": self.into}, "a store (--store)")

    @property
    def folder(self) -> Path:
        """The index."""
        assert self.index is not None
        return self.index


@dataclass(frozen=True, kw_only=True)
class RepairedPlace(RemedyPlace):
    """One that is changed."""

    index: Annotated[_Index, OUTPUT] = None
    into: Annotated[Into, Writes(collection_of)] = None


def refuse(options: dict[str, object], of: str) -> None:
    """Raise InputError for options of something that the command was not given."""
    for name, value in options.items():
        if value is not None:
            raise InputError(
                "is said of what is not there", expected=f"it beside {of}", fix="Leave it out.",
                where=name,
            )  # fmt: skip


def show_rollback(note: dict[str, Any]) -> None:
    """Print the records taken out of a store."""
    typer.echo(
        f"removed {note['records_removed']:,} records of {note['remedy']} from {note['collection']}"
    )
    if note["collection_removed"]:
        typer.echo("the collection was Argus's own and is empty: it is gone as well")


def show_listed(listed: list[dict[str, Any]]) -> None:
    """Print the remedies of an index or a store."""
    if not listed:
        return typer.echo("no remedy in it")
    shown = [("id", "kind", "when (UTC)", "views", "documents")]
    for r in listed:
        counts = (f"{r['views']:,}", f"{r['documents']:,}")
        shown.append((r["id"], r["kind"] or "?", r["at"] or "?", *counts))
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        typer.echo("  ".join(map(str.ljust, row, widths)).rstrip())


def show_remedy(result: RemedyResult, as_json: bool) -> None:
    """Print a receipt, with the evaluation where there is one, and how it is undone."""
    if not result.summary.get("prescribed", True):  # of a correction: nothing to undo
        return output.show(result, as_json=as_json)
    if as_json and result.evaluation:
        return output.print_json({**result.summary, "evaluation": result.evaluation})
    undo = command("tune", "undo", result.remedy, "--index", result.summary["index"])
    output.show(result, as_json=as_json, then=f"To undo it: {undo}")


@with_blocks
def undo(
    remedy: Annotated[str, typer.Argument(help="Id of the remedy, as its receipt names it.")],
    place: RepairedPlace,
    json: o.AsJson = False,
) -> None:
    """Remove exactly what a remedy added to an index, or its records from a store."""
    if place.store is not None:
        from argus.remedies.store_writing import rollback_in_store

        gone = rollback_in_store(place.store, remedy, into=place.into, opening=place.opening)
        return output.print_json(gone) if json else show_rollback(gone)
    from argus.remedies.undo import rollback as run

    note = run(place.folder, remedy)
    if json:
        return output.print_json(note)
    if note.get("already"):
        return typer.echo(f"{remedy} was rolled back already ({note['at']}); nothing was removed")
    views = note["views_removed"]
    what = f"{views:,} views of {remedy}" if views else f"{remedy}, which had no views,"
    typer.echo(f"removed {what} from {place.index}")
    for other in note["relied_on_by"]:
        typer.echo(f"{other} left out views that this one held: run its command again to add them")


@with_blocks
def list_(place: RemedyPlace, json: o.AsJson = False) -> None:
    """Show the remedies in an index, oldest first; or those in a store, by id."""
    if place.store is not None:
        from argus.remedies.store_writing import list_in_store

        listed = list_in_store(place.store, into=place.into, opening=place.opening)
    else:
        from argus.remedies.undo import list_remedies

        listed = list_remedies(place.folder)
    if json:
        return output.print_json(listed)
    show_listed(listed)
