"""What the queries of an engine are written for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.retrievers.blended.queries import ENGINES, RECORDS, Engine
from argus.settings import TOP_K, Doc, Ge, check_settings


@dataclass(frozen=True, kw_only=True)
class QueriesConfig:
    """Where the records of a blend are, and how many documents are wanted."""

    engine: Annotated[
        Engine | None, Doc(f"What searches them: {', '.join(ENGINES)}; default: --store's.")
    ] = None
    collection: Annotated[
        str, Doc("Collection, table or index of the blend's records, where no --store names it.")
    ] = "docs_argus"
    field: Annotated[
        str | None,
        Doc("Field of their vectors; default: embedding in pgvector, vector in search engines."),
    ] = None
    records: Annotated[int, Ge(1), Doc("Records that an approximate search brings.")] = RECORDS
    k: Annotated[int, Ge(1), Doc("How many documents a query returns.")] = TOP_K

    def __post_init__(self) -> None:
        check_settings(self)
