"""Where a remedy is, as commands take it: an index, or a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.encoders.config import EncoderConfig
from argus.errors import InputError
from argus.settings import Doc, Option, check_settings
from argus.stores.config import PANEL, StoreConfig, refuse_unread

if TYPE_CHECKING:
    from argus.remedies.repair.summary import ListedRemedy
    from argus.remedies.writing.summary import StoreRollback

NOT_OF_STORES = ("model", "device", "trust_remote_code", "batch_size", "concurrency")
"""Settings of an encoder that are not asked for beside a store: named otherwise, or seldom."""


RECEIPTS = Path("argus-out")
"""Where the receipt of what was written into a store goes, unless it is said."""


def collection_of(options: Mapping[str, object]) -> str | None:
    """Return where a remedy's records are kept, for what Ctrl-C says."""
    from argus.stores.spec import parse_store

    store = options["store"]
    return None if store is None else str(parse_store(str(store)))


_Index = Annotated[
    Path | None,
    Doc("Folder from argus index build; or else --store."),
    Option(("--index",)),
    o.INDEX,
]
Into = Annotated[
    str | None,
    Doc("Collection of the store for a remedy's records; default: COLLECTION_argus."),
    Option(panel=PANEL),
]


@dataclass(frozen=True, kw_only=True)
class RemedyPlace:
    """An index, or a store with the collection that holds its remedies' records."""

    index: _Index = None
    store: Annotated[
        str | None,
        Doc("In place of an index: KIND:PLACE/COLLECTION of the documents."),
        Option(("--store",), panel=PANEL),
    ] = None
    into: Into = None
    opening: StoreConfig = field(default_factory=StoreConfig)

    def __post_init__(self) -> None:
        check_settings(self)
        if (self.index is None) == (self.store is None):
            raise InputError(
                "neither --index nor --store" if self.index is None else "--index and --store",
                expected="one of them",
                fix="Name an index (argus index build), or a store such as "
                "qdrant:http://HOST:6333/docs.",
                where="--index",
            )
        if self.store is None:
            refuse_unread(self.opening)
            refuse({"--into": self.into}, "a store (--store)")

    @property
    def folder(self) -> Path:
        """The index."""
        assert self.index is not None
        return self.index

    @property
    def name(self) -> str:
        """What messages call it, without user and password."""
        if self.store is None:
            return str(self.index)
        from argus.stores.spec import parse_store

        return str(parse_store(self.store))


@dataclass(frozen=True, kw_only=True)
class RepairedPlace(RemedyPlace):
    """One that is changed."""

    index: Annotated[_Index, o.OUTPUT] = None
    into: Annotated[Into, o.Output(collection_of)] = None


def refuse(options: dict[str, object], of: str) -> None:
    """Raise InputError for what is said of something that the command was not given."""
    for name, value in options.items():
        if value is not None:
            raise InputError(
                "is said of what is not there", expected=f"it beside {of}", fix="Leave it out.",
                where=name,
            )  # fmt: skip


def store_encoder(
    name: str | None, device: str | None, embedding: EncoderConfig | None
) -> EncoderConfig:
    """Return what embeds for a store; InputError where it is not named."""
    if name is None:
        raise InputError(
            "a store without its encoder",
            expected="the model that made its vectors",
            fix="Name it with --encoder, such as all-MiniLM-L6-v2.",
            where="--encoder",
        )
    return replace(embedding or EncoderConfig(), model=name, device=device)


def show_rollback(note: StoreRollback) -> None:
    """Print what was taken out of a store."""
    typer.echo(
        f"removed {note['records_removed']:,} records of {note['remedy']} from {note['collection']}"
    )
    if note["collection_removed"]:
        typer.echo("the collection was Argus's own and is empty: it is gone as well")


def show_listed(listed: list[ListedRemedy], where: object) -> None:
    """Print the remedies of an index or a store."""
    if not listed:
        typer.echo(f"no remedy in {where}")
        return
    shown = [("id", "kind", "when (UTC)", "views", "documents")]
    for r in listed:
        counts = (f"{r['views']:,}", f"{r['documents']:,}")
        shown.append((r["id"], r["kind"] or "?", r["at"] or "?", *counts))
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        typer.echo("  ".join(map(str.ljust, row, widths)).rstrip())
