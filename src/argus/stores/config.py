"""How a store is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from argus.errors import InputError
from argus.settings import Doc, Option, check_settings, settings_of

PANEL = "Store"
Where = Annotated[
    tuple[str, ...],
    Doc("FIELD=VALUE that records must hold, as the team's own filter; may be repeated."),
    Option(panel=PANEL, repeated=True),
]


@dataclass(frozen=True, kw_only=True)
class StoreConfig:
    """What a store's name does not say."""

    vector_field: Annotated[
        str | None, Doc("Which of several vector fields is searched."), Option(panel=PANEL)
    ] = None
    id_field: Annotated[
        str | None,
        Doc("The field or column that holds ids, where the store has no own ones."),
        Option(("--store-id",), panel=PANEL),
    ] = None
    metric: Annotated[
        Literal["cosine", "dot", "l2"] | None,
        Doc("By what it ranks, where neither the store nor its index says so."),
        Option(("--store-metric",), panel=PANEL),
    ] = None
    id_file: Annotated[
        str | None,
        Doc("Of a FAISS index: its ids, one a line; default: INDEX.ids."),
        Option(("--store-ids",), panel=PANEL),
    ] = None
    key_env: Annotated[
        str | None,
        Doc("Environment variable that holds the store's key."),
        Option(("--store-key-env",), panel=PANEL),
    ] = None

    def __post_init__(self) -> None:
        check_settings(self)


def refuse_unread(opening: StoreConfig, where: Sequence[str] = ()) -> None:
    """Raise InputError for what is said of a store, and of its filter, where there is none."""
    named = [s.where for s in settings_of(StoreConfig) if getattr(opening, s.name) is not None]
    if where:
        named.append("--where")
    if named:
        raise InputError(
            "is said of a store, and there is none",
            expected="a store as --corpus or --retriever, such as qdrant:http://HOST:6333/docs",
            fix="Leave it out.",
            where=named[0],
        )
