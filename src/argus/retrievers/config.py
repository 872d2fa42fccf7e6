"""Declare the settings of asking a retriever: queries at once, pace, timeout, where ids stand.

The options beside --retriever of `argus check`, `evaluate`, `explain` and others.
`argus.retrievers.session` asks by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from argus.errors import InputError
from argus.retrievers.names import NAMES as NAMES
from argus.retrievers.names import http_file
from argus.settings import Doc, Ge, Gt, Option, check_settings
from argus.stores.spec import StoreConfig, Where, asks_store, refuse_unread

PANEL = "Retriever"
NamedRetriever = Annotated[
    Any, Doc(f"What is asked in place of an encoder: {NAMES}."), Option(panel=PANEL)
]

# Multiple of k to ask for when chunks are folded to documents and k results are not enough.
DEEPER = 5


@dataclass(frozen=True, kw_only=True)
class AskingConfig:
    """Queries at once, their pace, and when to give up. Results do not depend on it.

    Attributes:
        at_once: Queries under way at once; default: 1 of a Python retriever, 16 over HTTP.
        per_minute: Queries per minute at most.
        timeout_s: Seconds until a query has failed; default: none of a Python retriever, 30 over
            HTTP.
        give_up_after: Stop after so many failed queries in a row.
        id_field: Where the id of a result stands, such as metadata.source; default: found.
        correction: Correct the queries of a store, or an http: endpoint's {vector}, as argus tune
            apply adapt learnt: its .npz file, the folder INDEX/remedies/ID, or the index.
    """

    at_once: Annotated[int | None, Ge(1), Option(panel=PANEL, default="")] = None
    per_minute: Annotated[float | None, Ge(0.001), Option(panel=PANEL, default="any")] = None
    timeout_s: Annotated[float | None, Gt(0), Option(("--timeout",), panel=PANEL, default="")] = (
        None
    )
    give_up_after: Annotated[int, Ge(1), Option(panel=PANEL)] = 20
    id_field: Annotated[str | None, Option(("--result-id",), panel=PANEL, default="")] = None

    correction: Annotated[Path | None, Option(panel=PANEL)] = None

    # Settings of a store.
    opening: StoreConfig = field(default_factory=StoreConfig)
    where: Where = ()

    def __post_init__(self) -> None:
        check_settings(self)


def check_store_settings(retrievers: Sequence[object], asking: AskingConfig) -> None:
    """Raise InputError for settings of a store if no retriever can be one."""
    named = [str(r) for r in retrievers if isinstance(r, str | Path)]
    if len(named) == len(retrievers) and not any(map(asks_store, named)):
        refuse_unread(asking.opening, asking.where)
        if asking.correction is not None and not any(map(http_file, named)):
            raise InputError(
                "corrects the vectors of queries, and nothing is asked by vector",
                expected="a store or an http: endpoint as --retriever, such as "
                "qdrant:http://HOST:6333/docs",
                fix="Leave it out: an index is searched with the correction that it holds.",
                where="--correction",
            )
