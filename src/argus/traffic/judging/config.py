"""How many questions are judged, and what counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.settings import TOP_K, Doc, Ge, Le, Option, Seed, TopK, check_settings

HIGHEST = 3
"""The best grade: 0 no help, 1 touches the question, 2 answers in part, 3 answers."""


@dataclass(frozen=True, kw_only=True)
class JudgingConfig:
    """What is drawn, and when a document counts as relevant."""

    budget: Annotated[int, Ge(1), Doc("Questions to judge; raised later, it goes on.")] = 50
    k: TopK = TOP_K
    relevant_from: Annotated[
        int,
        Ge(1),
        Le(HIGHEST),
        Doc(f"Least grade of a relevant document, of 0 to {HIGHEST}."),
    ] = 1
    max_chars: Annotated[int, Ge(100), Doc("Characters shown of each document.")] = 1_500
    votes: Annotated[
        int, Ge(1), Doc("Judgements per document of a model."), Option(panel="Language model")
    ] = 1
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)
