"""`argus tune apply write` and `queries`: a repair in the store that is served."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from argus.cli import options as o
from argus.cli.config_options import Without, with_blocks
from argus.cli.groups import example
from argus.cli.tune import RECEIPTS, Into, apply, collection_of
from argus.data.fields import FieldNames
from argus.errors import InputError
from argus.retrievers.config import QueriesConfig
from argus.settings import Doc, Option, check_settings
from argus.stores.spec import PANEL, StoreConfig

if TYPE_CHECKING:
    from argus.indexes.blend import Blend


@dataclass(frozen=True, kw_only=True)
class WrittenPlace:
    """The store of the documents, and the collection that takes the records."""

    store: Annotated[
        str,
        Doc("KIND:PLACE/COLLECTION of the same documents; its records stay as they are."),
        Option(("--store",), panel=PANEL),
    ]
    into: Annotated[Into, o.Output(collection_of)] = None
    opening: StoreConfig = field(default_factory=StoreConfig)

    def __post_init__(self) -> None:
        check_settings(self)


@apply.command()
@example("argus tune apply write --index index/ --store chroma:store/docs")
@with_blocks
def write(
    index: o.IndexState,
    place: WrittenPlace,
    columns: Annotated[FieldNames, Without("title", "text", "coerce_ids", "template")],
    out: Annotated[Path, Doc("Folder for the receipt."), o.OUTPUT] = RECEIPTS,
    json: o.AsJson = False,
) -> None:
    """Write what remedies added to an index beside the documents of a store.

    Documents, sentences, scenarios and expansions become records of a collection of their own. A
    record scores cosine · argus_scale - argus_penalty, and the best of a document's is what the
    index gives it. --id-field names the field of the store's records that holds the ids of the
    index, where they are not its own ids. BM25 and a correction of queries are no part of
    records; argus.BlendedRetriever takes them of the index. The documents stay as they are, and
    `argus tune undo ID --store` takes the records out again.
    """
    from argus.remedies.store_writing import write_index

    written = write_index(
        index, place.store, into=place.into, opening=place.opening,
        id_field=columns.id, out=out,
    )  # fmt: skip
    o.show(written, as_json=json, then="\n".join(written.last_lines()))


@apply.command()
@example("argus tune apply queries --engine elasticsearch --collection docs_argus --remedy blend-1")
@with_blocks
def queries(
    *,
    remedy: Annotated[
        str | None,
        Doc("Which blend; default: the only one of --store. A store's differs from an index's."),
    ] = None,
    index: Annotated[
        Path | None,
        Doc("Index that has a blend: how much BM25 counts is taken from it."),
        o.INDEX,
    ] = None,
    store: Annotated[
        str | None,
        Doc("Store that holds the records (pgvector:PLACE/TABLE, qdrant:PLACE/COLLECTION)."),
        Option(("--store",)),
    ] = None,
    settings: QueriesConfig,
    json: o.AsJson = False,
) -> None:
    """Print the queries by which an engine serves a blend itself, and what each is equal to.

    Nothing is searched. Without --remedy the records in --store tell which it is. For stores that
    cannot do it themselves, argus.BlendedRetriever asks as much as is needed.
    """
    from argus.retrievers.engine_queries import engine_queries

    engine, collection = _place(store, settings)
    own, blend = _blend(index)
    name = remedy or _written(store, own)
    made = engine_queries(
        engine, collection, name,
        field=settings.field, k=settings.k, records=settings.records, blend=blend,
    )  # fmt: skip
    if json:
        o.print_json(made.as_dict())
    else:
        typer.echo(made.markdown())


def _place(store: str | None, settings: QueriesConfig) -> tuple[str, str]:
    """Return engine and collection. InputError where neither an option nor a store names one."""
    from argus.stores.spec import parse_store

    if store is not None:
        spec = parse_store(store)
        return settings.engine or spec.kind, spec.collection
    if settings.engine is None:
        raise InputError(
            "neither an engine nor a store", expected="--engine NAME, or --store KIND:PLACE/NAME",
            fix="Name what searches the records.", where="--engine",
        )  # fmt: skip
    return settings.engine, settings.collection


def _written(store: str | None, own: str | None) -> str:
    """Return the remedy whose records are in a store. own: the index's, if they are of it."""
    if store is None:
        raise InputError(
            "neither a remedy nor the store that holds its records", expected="the id of a blend",
            fix="Give --remedy, as `argus tune list --store` names it, or --store.",
            where="--remedy",
        )  # fmt: skip
    from argus.remedies.store_writing import remedies_in
    from argus.stores.opening import open_store
    from argus.stores.protocol import writable

    with open_store(store) as opened:
        there = list(remedies_in(writable(opened)))
    if own is not None and own in there:
        return own
    if len(there) == 1:
        return there[0]
    raise InputError(
        f"records of {len(there)} remedies",
        expected=f"one of {', '.join(there)}" if there else "the collection of a blend's records",
        fix="Name it with --remedy.", where="--store",
    )  # fmt: skip


def _blend(index: Path | None) -> tuple[str | None, Blend | None]:
    """Return remedy and blend by which an index is searched."""
    if index is None:
        return None, None
    from argus.indexes.views import ViewIndex

    recipe = ViewIndex.open(index).recipe()
    return (recipe.remedies[0], recipe.blend) if recipe.blend is not None else (None, None)
