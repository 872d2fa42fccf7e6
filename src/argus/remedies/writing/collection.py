"""The collection that holds a remedy's records: of Argus's own making, or one of the user's."""

from __future__ import annotations

from collections.abc import Sequence

from argus.errors import ArgusError, InputError
from argus.stores.protocol import Metric, WritableStore, sibling_name
from argus.stores.records import FIELDS, KIND, PARENT, REMEDY

SUFFIX = "_argus"
READ = 2_000
"""Payloads that are read at once."""


def home(store: WritableStore, into: str | None) -> str:
    """Return the name of the collection for a store's remedies; into: one that is named."""
    return into or store.collection + SUFFIX


def open_home(store: WritableStore, into: str | None) -> WritableStore | None:
    """Open the collection for a store's remedies; None where there is none yet."""
    name = home(store, into)
    return store if name == store.collection else store.sibling(name)


def make_home(store: WritableStore, into: str | None) -> WritableStore:
    """Open the collection for a store's remedies, or make it.

    Raises InputError for one of another dimension, ranked by distances, or without the fields that
    the records need; ArgusError where none can be made.
    """
    there = open_home(store, into)
    if there is None:
        return _made(store, home(store, into))
    facts, own = there.describe(), store.describe()
    if facts.dim not in (0, own.dim):
        raise InputError(
            f"vectors of {facts.dim} dimensions",
            expected=f"{own.dim}, as {store.name} has",
            fix="Name another collection with --into, or leave it out.",
            where=there.name,
        )
    if facts.metric is Metric.L2:
        raise InputError(
            "ranks by distances (l2)", expected="cosine, or dot product: the records are scaled",
            fix="Leave --into out: Argus makes a collection of its own.", where=there.name,
        )  # fmt: skip
    _check_columns(store, there)
    return there


def _made(store: WritableStore, name: str) -> WritableStore:
    try:
        return store.make_sibling(name)
    except ArgusError as error:
        raise ArgusError(
            f"{error}\nThe collection {name} could not be made, so nothing was written. Ask for "
            "the right to make it, or name one that is there with --into."
        ) from error


def _check_columns(store: WritableStore, there: WritableStore) -> None:
    """Raise InputError where a table lacks columns that the records need."""
    columns = there.columns
    if columns is None:
        return
    needed = [*FIELDS, *(store.columns or ())]
    if missing := [name for name in dict.fromkeys(needed) if name not in columns]:
        raise InputError(
            f"no column {', '.join(missing)}",
            expected="the columns of the documents, and those of a remedy's records",
            fix=_way_out(store, there),
            where=there.name,
        )


def _way_out(store: WritableStore, there: WritableStore) -> str:
    """Return how a table gets its columns; one that Argus made can be made again."""
    if there.name == sibling_name(store.name, store.collection + SUFFIX):
        return (
            "Roll back what is in it (argus remedy list, argus remedy rollback): it is made again "
            "with them; or add them to the table."
        )
    return "Add them (texts; argus_scale and argus_penalty are numbers), or leave --into out."


def ids_of(store: WritableStore, remedy: str) -> list[str]:
    """Return the ids of a remedy's records; none where no record can say that it is one."""
    if store.columns is not None and REMEDY not in store.columns:
        return []
    pages = store.payloads(READ, {REMEDY: remedy})
    return [id_ for ids, _ in pages for id_ in ids]


def remedies_in(store: WritableStore) -> dict[str, list[tuple[str, str]]]:
    """Return parent and kind of each record, by remedy, in the order of the ids of remedies."""
    remedies: dict[str, list[tuple[str, str]]] = {}
    for _, payloads in store.payloads(READ):
        for payload in payloads:
            if remedy := payload.get(REMEDY):
                entry = (str(payload.get(PARENT)), str(payload.get(KIND)))
                remedies.setdefault(str(remedy), []).append(entry)
    return dict(sorted(remedies.items()))


def unknown_remedy(
    remedy: str, there: Sequence[str], store: WritableStore, into: str | None
) -> InputError:
    """Return what is raised for a remedy of which no record is in the store."""
    return InputError(
        f"no record of remedy {remedy!r}",
        expected=f"one of {', '.join(there)}" if there else "a remedy; there is none in it",
        fix="Check the id (argus remedy list); records that went elsewhere need --into.",
        where=sibling_name(store.name, home(store, into)),
    )
