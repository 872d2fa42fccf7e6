"""Which names of a knowledge base count, and how they are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.settings import Doc, Ge, Option, check_settings

_PANEL = "Mentions"


@dataclass(frozen=True, kw_only=True)
class GazetteerConfig:
    """Which names count, and how they are compared.

    common_words: by default one-word names that are common words are left out, because "It" or
    "Jaws" at the beginning of a sentence is rarely the film. Common are words that occur in lower
    case in the texts; with `ignore_case`, where names are expected in lower case and that tells
    nothing, only English function words ("after", "what"), so that "jaws" is found wherever it
    stands. min_length: characters.
    """

    ignore_case: Annotated[bool, Doc("Names in any case."), Option(panel=_PANEL)] = False
    common_words: Annotated[
        bool, Doc("Also one-word names that occur in lower case."), Option(panel=_PANEL)
    ] = False
    min_length: Annotated[int, Ge(1), Doc("Shorter names are left out."), Option(panel=_PANEL)] = 3

    def __post_init__(self) -> None:
        check_settings(self)
