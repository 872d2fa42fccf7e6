"""Declare the settings by which `argus check --sources` compares an index with its sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.settings import TOP_K, Ge, Option, TopK, check_settings

_PANEL = "Sources"


@dataclass(frozen=True, kw_only=True)
class DriftConfig:
    """Fields of chunks that name their source, and how many are asked for.

    Attributes:
        path_field: Field of a chunk that names its source; default: found, else texts tell.
        hash_field: Field of a chunk with the hash of its source; default: found.
        since: Only what changed in the sources' git checkout since this commit.
        ask_at_most: Drifted chunks that are asked for, to see which come back.
    """

    path_field: Annotated[str | None, Option(panel=_PANEL)] = None
    hash_field: Annotated[str | None, Option(panel=_PANEL)] = None
    since: Annotated[str | None, Option(panel=_PANEL)] = None
    ask_at_most: Annotated[int, Ge(1), Option(panel=_PANEL)] = 1_000
    k: TopK = TOP_K

    def __post_init__(self) -> None:
        check_settings(self)
